//! How a client's version shows what its cursor passes.

use std::time::Duration;

use ply_wire::project::{Down, EditTexts, Projector};
use ply_wire::v2;

use super::trace::For;
use super::{Apart, Call, Source, View};
use crate::core::effect::Message;
use crate::core::record::{Json, Record};
use crate::core::window::{Kind, Slot};
use crate::edits::OfRecord;
use crate::{Event, FLUSH_EVERY, Question};

impl View {
    pub(super) fn show_past(&mut self, source: &Source<'_>) {
        let Some(past) = &mut self.past else {
            return;
        };
        let Some(update) = past.transcript.update_at(past.next) else {
            self.past = None;
            self.flush();
            return self.stamp(For::Aside, |mark| mark.past = None);
        };
        past.next += 1;
        let next = past.next;
        self.show(&update, None, source.history);
        self.stamp(For::Record, |mark| {
            (mark.past, mark.shown) = (Some(next), 0);
        });
    }

    /// Shows a slot of the window.
    pub(super) fn pass(&mut self, place: u64, slot: &Slot, source: &Source<'_>) {
        if self.known.remove(&place) {
            return;
        }
        while self.answered.pop_front_if(|at| *at < place).is_some() {}
        if self.answered.pop_front_if(|at| *at == place).is_some()
            && let Some(v2::SessionUpdate::ConfigOptionUpdate(update)) = slot.update()
        {
            let options = &update.config_options;
            self.project(|projector, downs| projector.options_answered(options, downs));
            return;
        }
        match &slot.kind {
            Kind::Event(Event::Asked { ask, question, .. })
                if self.offer_here(*ask, question, place + 1) => {}
            Kind::Event(Event::Asked { ask, question, .. }) => {
                let mut asides = self.asides.iter_mut();
                // One that comes later says no more of its call than that it is about it.
                let call = asides.find_map(|aside| match &mut aside.what {
                    Apart::Offer(offered, call) if offered == ask && aside.place == place + 1 => {
                        Some(call)
                    }
                    _ => None,
                });
                match (call, call_of(question)) {
                    (Some(call), Some(update)) => *call = Call::New(Box::new(update)),
                    (None, Some(update)) => self.show(&update, None, source.history),
                    (_, None) => {}
                }
            }
            Kind::Event(Event::Edited { update, edits }) => {
                self.show(update, slot.record.update(), &OfRecord(edits));
            }
            Kind::Event(Event::Answered { ask, answer, .. }) => self.question_over(*ask, answer),
            _ => {
                if let Some(update) = slot.update() {
                    self.show(update, slot.record.update(), source.history);
                }
            }
        }
        self.arm_flush(source.now);
    }

    /// Shows a record of the journal.
    pub(super) fn pass_record(&mut self, record: &[u8], skip: usize) {
        // One that cannot be read is counted when the session is opened.
        let Ok(mut event) = serde_json::from_slice::<Event>(record) else {
            return;
        };
        if skip > 0 {
            match part_of(&event, skip, None) {
                Some(rest) => event = rest,
                None => return,
            }
        }
        match &event {
            Event::Asked { ask, question, .. } if self.offer_here(*ask, question, u64::MAX) => {}
            Event::Asked { question, .. } => self.pass_question(question, &OfRecord(&[])),
            Event::Answered { ask, answer, .. } => self.question_over(*ask, answer),
            Event::Edited { update, edits } => self.show(update, None, &OfRecord(edits)),
            event => {
                if let Some(update) = event.update() {
                    let json = Json::in_record(record).filter(|_| skip == 0);
                    self.show(update, json, &OfRecord(&[]));
                }
            }
        }
    }

    /// Tells the client that it misses records which cannot be read.
    pub(super) fn show_gap(&mut self) {
        let notice = v2::Notice::new(
            v2::NoticeSeverity::Warning,
            "Part of what happened in this session could not be read from its journal and is not shown here. \
             Load the session again to see everything that can be.",
        );
        self.show(&v2::SessionUpdate::Notice(notice), None, &OfRecord(&[]));
    }

    /// Shows what a question that this client is not asked says of its tool call (V2-PERM-03).
    pub(super) fn pass_question(&mut self, question: &Question, edits: &dyn EditTexts) {
        if let Some(update) = call_of(question) {
            self.show(&update, None, edits);
        }
    }

    pub(super) fn show(
        &mut self,
        update: &v2::SessionUpdate,
        json: Option<Json>,
        edits: &dyn EditTexts,
    ) {
        let mut json = json;
        let mut same = || json.take().unwrap_or_else(|| Json::of(update));
        let Some(projector) = &mut self.projector else {
            return self.ready.push_back(Message::Update(same()).into());
        };
        projector.apply_with(update, edits, &mut self.downs);
        for down in self.downs.drain(..) {
            let message = match down {
                Down::Update(update) => Message::UpdateV1(Box::new(update)),
                _ => Message::Update(same()),
            };
            self.ready.push_back(message.into());
        }
    }

    pub(super) fn arm_flush(&mut self, now: Duration) {
        let has_unsent = self
            .projector
            .as_ref()
            .is_some_and(|projector| projector.has_unsent());
        if !has_unsent {
            self.flush_at = None;
        } else if self.flush_at.is_none() {
            self.flush_at = Some(now + FLUSH_EVERY);
        }
    }

    /// Does so when its time has come, also if the client does not read: a deadline must pass.
    pub(crate) fn flush_if_due(&mut self, now: Duration) {
        if self.flush_at.is_some_and(|due| due <= now) {
            self.flush();
        }
    }

    /// Sends what was held back to send less often.
    pub(super) fn flush(&mut self) {
        self.flush_at = None;
        self.project(Projector::flush);
        self.stamp(For::Aside, |_| {});
    }

    /// Ends everything that is shown of the session, as it is closed.
    pub(super) fn close(&mut self) {
        self.flush_at = None;
        self.project(Projector::close);
        self.stamp(For::Aside, |_| {});
        self.asked.clear();
    }

    pub(super) fn project<T>(
        &mut self,
        then: impl FnOnce(&mut Projector, &mut Vec<Down>) -> T,
    ) -> Option<T> {
        let projector = self.projector.as_mut()?;
        let mut downs = std::mem::take(&mut self.downs);
        let done = then(projector, &mut downs);
        for down in downs.drain(..) {
            if let Down::Update(update) = down {
                let message = Message::UpdateV1(Box::new(update));
                self.ready.push_back(message.into());
            }
        }
        self.downs = downs;
        Some(done)
    }
}

/// Returns what a question says of its tool call.
pub(super) fn call_of(question: &Question) -> Option<v2::SessionUpdate> {
    match question {
        Question::Permission(request) => match &request.subject {
            Some(v2::RequestPermissionSubject::ToolCall(subject)) => {
                Some(v2::SessionUpdate::ToolCallUpdate(subject.tool_call.clone()))
            }
            _ => None,
        },
        Question::Elicitation(_) => None,
    }
}

/// Returns a part of a chunk, from one byte of its text to another, counted as they are in JSON; none if there is no such part.
pub(super) fn part_of(event: &Event, from: usize, upto: Option<usize>) -> Option<Event> {
    let record = Record::new(event);
    let text = record.text.clone()?;
    let upto = upto.map_or(text.end, |upto| text.start + upto);
    let part = record.json.get(text.start + from..upto)?;
    let part = serde_json::from_str::<String>(&format!("\"{part}\"")).ok()?;
    if part.is_empty() {
        return None;
    }
    let mut event = event.clone();
    if let Event::Update(
        v2::SessionUpdate::AgentMessageChunk(chunk) | v2::SessionUpdate::AgentThoughtChunk(chunk),
    ) = &mut event
    {
        chunk.content = part.into();
    }
    Some(event)
}
