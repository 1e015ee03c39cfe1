//! What is kept for a client that may come back: how far it has been shown the session, and how its next view goes on from there.

use std::collections::BTreeMap;
use std::time::Duration;

use ply_wire::project::{self, EditTexts, PermissionDown, Projector};
use ply_wire::{convert, v1, v2};

use super::apart::Aside;
use super::show::{call_of, part_of};
use super::{Apart, Behind, Call, Cursor, End, Past, Ready, Source, Step, View};
use crate::core::effect::{Form, Message};
use crate::core::input::How;
use crate::core::mark::{At, Began, Mark, NOBODY, print};
use crate::core::response;
use crate::core::window::{Kind, Slot, Window};
use crate::edits::OfRecord;
use crate::{Answer, AskId, Event, History, Question};

/// How far a client that may come back has been shown the session.
#[derive(Debug)]
pub(crate) struct Trace {
    /// The place up to which everything must be written before the client is shown anything: it could not go on from a record
    /// that nobody has.
    began: u64,
    /// What the client has.
    sent: Mark,
    /// What it has when it was sent what is ready, too.
    next: Mark,
    /// What is read again first, muted.
    rebuild: Option<Box<Rebuild>>,
    /// Questions that the client shows since an earlier view, as it was sent them.
    asks: BTreeMap<AskId, (project::AskId, Box<v1::RequestPermissionRequest>)>,
    /// Keys of prompts that the client sent through an earlier view.
    keys: Vec<String>,
    /// Whether nobody can tell any more how far the client is, since the journal failed.
    is_lost: bool,
}

/// A view on its way to where an earlier one was.
#[derive(Debug)]
struct Rebuild {
    /// What was there when the first view began.
    history: History,
    is_built: bool,
    prefix: String,
    own: Vec<v2::MessageId>,
    /// Questions that were answered though what is shown of them was not ended.
    answered: Vec<(AskId, Answer)>,
}

/// What messages are shown for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// A record, or an update of the past: one that was cut off is shown again from the message that is missing.
    Record,
    /// A question, with what is shown of it before: who was shown that was asked, and is asked again if the question was cut off.
    Question,
    /// Anything else, which can be shown again as a whole.
    Aside,
}

impl View {
    /// Keeps how far the client is shown the session, from the beginning.
    pub(crate) fn trace(&mut self, began: u64, mark: Mark) {
        self.trace = Some(Box::new(Trace {
            began,
            sent: mark.clone(),
            next: mark,
            rebuild: None,
            asks: BTreeMap::new(),
            keys: Vec::new(),
            is_lost: false,
        }));
    }

    /// Goes on where an earlier view of the client was.
    pub(crate) fn go_on(&mut self, mark: Mark, owner: u64) {
        let at = mark.at;
        let is_shown_as_is = self.projector.is_none() && mark.past.is_none() && mark.after == 0;
        let (record, skip) = match is_shown_as_is {
            true => (at.record, at.skip),
            false => (0, 0),
        };
        self.trace(0, mark);
        self.cursor = Cursor::Journal(Behind::new(record, skip));
        if let Some(trace) = self.trace.as_mut().filter(|_| !is_shown_as_is) {
            trace.rebuild = Some(Box::new(Rebuild {
                history: History::default(),
                is_built: false,
                prefix: prefix(owner, self.id),
                own: Vec::new(),
                answered: Vec::new(),
            }));
        }
    }

    /// The same in a window that has everything: there may be no journal yet.
    pub(crate) fn go_on_in(&mut self, window: &Window, now: Duration) {
        let Some(trace) = &self.trace else {
            return;
        };
        let (base, at) = (trace.next.base, trace.next.at);
        let mut place = window.start();
        while let Some(slot) = window.get(place).filter(|slot| after(slot) <= at) {
            place += 1;
            let Kind::Event(event) = &slot.kind else {
                continue;
            };
            if after(slot) > base {
                self.build();
                self.mute(event);
            } else if let Some(trace) = &mut self.trace
                && let Some(rebuild) = &mut trace.rebuild
            {
                rebuild.history.apply(event);
            }
        }
        self.cursor = Cursor::Window(place);
        self.rebuilt(now);
    }

    /// Notes the keys of prompts that the client sent through an earlier view, and that may not have come yet.
    pub(crate) fn writes(&mut self, keys: Vec<String>) {
        if let Some(trace) = &mut self.trace {
            trace.keys = keys;
        }
    }

    /// Returns whether the client sent a prompt through an earlier view.
    pub(crate) fn wrote(&self, key: &String) -> bool {
        let trace = self.trace.as_ref();
        trace.is_some_and(|trace| trace.keys.contains(key))
    }

    pub(crate) fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    /// Gives up telling the client how far it is: it has to see everything anew if it comes back.
    pub(crate) fn lose_trace(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.is_lost = true;
        }
    }

    /// Returns what the client has been shown, if it wants to know, for a session that has this owner.
    pub(crate) fn cursor(&self, session: &v2::SessionId, owner: u64) -> Option<String> {
        let trace = self.trace.as_ref()?;
        let owner = if trace.is_lost { NOBODY } else { owner };
        Some(trace.sent.text(session, owner))
    }

    /// Returns whether the client may only see what it could come back to.
    fn is_bound(&self) -> bool {
        let trace = self.trace.as_ref();
        self.end == End::No && trace.is_some_and(|trace| !trace.is_lost)
    }

    /// Returns up to which place the client may be shown slots. What it could not come back to it must not see.
    pub(super) fn limit(&self, window: &Window) -> u64 {
        match self.is_bound() {
            true => window.visible().min(window.safe()),
            false => window.visible(),
        }
    }

    /// Returns whether the client may not be shown anything yet.
    pub(super) fn waits_to_begin(&self, window: &Window) -> bool {
        let trace = self.trace.as_ref();
        self.is_bound() && trace.is_some_and(|trace| trace.began > window.safe())
    }

    pub(super) fn is_rebuilding(&self) -> bool {
        let trace = self.trace.as_ref();
        trace.is_some_and(|trace| trace.rebuild.is_some())
    }

    /// Notes a message of the client's own that may not have come yet; returns whether that was done.
    pub(super) fn owns_later(&mut self, message: &v2::MessageId) -> bool {
        let rebuild = self.trace.as_mut().and_then(|trace| trace.rebuild.as_mut());
        rebuild.map(|it| it.own.push(message.clone())).is_some()
    }

    /// Notes how far the client is when it was sent what has just been made ready.
    pub(super) fn stamp(&mut self, what: For, change: impl FnOnce(&mut Mark)) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        let before = trace.next.clone();
        change(&mut trace.next);
        if let Some(projector) = &self.projector {
            trace.next.unsent = projector.held_back().cloned().collect();
        }
        let first = self.ready.iter().position(|ready| ready.mark.is_none());
        let first = first.unwrap_or(self.ready.len());
        if what == For::Record {
            // The client has these.
            let known = before.shown.min(self.ready.len() - first);
            self.ready.drain(first..first + known);
        }
        let last = self.ready.len().checked_sub(1);
        for (at, ready) in self.ready.iter_mut().enumerate().skip(first) {
            let is_last = Some(at) == last || (what == For::Question && Some(at + 1) == last);
            let mut mark = if is_last {
                trace.next.clone()
            } else {
                before.clone()
            };
            if what == For::Record && !is_last {
                mark.shown += at - first + 1;
            }
            ready.mark = Some(Box::new(mark));
        }
        if self.ready.is_empty() {
            trace.sent = trace.next.clone();
        }
    }

    /// Returns whether the client has not been shown everything that belongs to the answer with which it began.
    pub(super) fn is_owed_more(&self) -> bool {
        self.trace
            .as_ref()
            .is_some_and(|trace| trace.next.after > 0)
    }

    pub(super) fn sending(&mut self, ready: Ready) -> Message {
        if let (Some(trace), Some(mark)) = (&mut self.trace, ready.mark) {
            trace.sent = *mark;
        }
        ready.message
    }

    /// Notes that the client is sent everything that was made ready for it.
    pub(super) fn sent_all(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.sent = trace.next.clone();
        }
    }

    /// Reads the next record again that the client has seen, or ends that.
    pub(super) fn rebuild(&mut self, source: &Source<'_>) -> Option<Step> {
        let at = self.trace.as_ref()?.next.at;
        let Cursor::Journal(behind) = &mut self.cursor else {
            self.rebuilt(source.now);
            return None;
        };
        let number = behind.record;
        if number > at.record || (number == at.record && at.skip == 0) {
            self.rebuilt(source.now);
            return None;
        }
        let Some(record) = behind.page.pop_front() else {
            return Some(match std::mem::replace(&mut behind.is_reading, true) {
                true => Step::Nothing,
                false => Step::Read(number),
            });
        };
        if number < at.record {
            behind.record += 1;
            self.read_again(number, &record, None);
            return None;
        }
        self.read_again(number, &record, Some(at.skip));
        if let Cursor::Journal(behind) = &mut self.cursor {
            behind.page.push_front(record);
            behind.skip = at.skip;
        }
        self.rebuilt(source.now);
        None
    }

    /// Takes a record that the client has seen, or as much of its text.
    fn read_again(&mut self, number: u64, record: &[u8], upto: Option<usize>) {
        let Ok(event) = serde_json::from_slice::<Event>(record) else {
            return;
        };
        let Some(trace) = &mut self.trace else {
            return;
        };
        let base = trace.next.base;
        let Some(rebuild) = &mut trace.rebuild else {
            return;
        };
        if number < base.record {
            rebuild.history.apply(&event);
            return;
        }
        let mut from = 0;
        if number == base.record && base.skip > 0 {
            from = base.skip;
            if let Some(head) = part_of(&event, 0, Some(base.skip)) {
                rebuild.history.apply(&head);
            }
        }
        self.build();
        if from == 0 && upto.is_none() {
            return self.mute(&event);
        }
        if let Some(part) = part_of(&event, from, upto) {
            self.mute(&part);
        }
    }

    /// Brings the projector to where the first view of the client began.
    fn build(&mut self) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        let (began, past, missing) = (trace.next.began, trace.next.past, trace.next.after);
        let Some(rebuild) = trace.rebuild.as_mut().filter(|rebuild| !rebuild.is_built) else {
            return;
        };
        rebuild.is_built = true;
        let Some(projector) = &mut self.projector else {
            return;
        };
        let (history, downs) = (&rebuild.history, &mut self.downs);
        let transcript = history.transcript();
        match began {
            Began::New => {}
            Began::Replay => {
                let mut next = 0;
                while past.is_none_or(|past| next < past)
                    && let Some(update) = transcript.update_at(next)
                {
                    projector.apply_with(&update, history, downs);
                    downs.clear();
                    next += 1;
                }
                if past.is_none() {
                    projector.flush(downs);
                }
            }
            Began::Resume => {
                let prefix = std::mem::take(&mut rebuild.prefix);
                **projector = Projector::resume(self.viewer.shows, prefix, transcript, history);
            }
        }
        let shown = response::after(how(began), transcript, self.viewer.version);
        let shown_upto = shown.len().saturating_sub(missing);
        for update in shown.iter().take(shown_upto) {
            projector.apply_with(update, history, downs);
        }
        downs.clear();
        if past.is_none()
            && let Some(modes) = convert::config::modes_down(transcript.config_options())
        {
            projector.mode_answered(modes.current_mode_id);
        }
    }

    /// Shows the projector what the client has seen already.
    fn mute(&mut self, event: &Event) {
        match event {
            Event::Asked { ask, question, .. } => {
                let Some(trace) = &self.trace else {
                    return;
                };
                match question {
                    Question::Permission(request) if trace.next.asked.contains(ask) => {
                        let name = question_name(*ask, question);
                        self.mute_question(*ask, name, request);
                    }
                    question => {
                        if let Some(update) = call_of(question) {
                            self.mute_update(&update, &OfRecord(&[]));
                        }
                    }
                }
            }
            Event::Answered { ask, answer, .. } => {
                if let Some(trace) = &mut self.trace
                    && trace.asks.contains_key(ask)
                    && let Some(rebuild) = &mut trace.rebuild
                {
                    rebuild.answered.push((*ask, answer.clone()));
                }
            }
            Event::Edited { update, edits } => self.mute_update(update, &OfRecord(edits)),
            event => {
                if let Some(update) = event.update() {
                    self.mute_update(update, &OfRecord(&[]));
                }
            }
        }
    }

    fn mute_update(&mut self, update: &v2::SessionUpdate, edits: &dyn EditTexts) {
        if let Some(projector) = &mut self.projector {
            projector.apply_with(update, edits, &mut self.downs);
            self.downs.clear();
        }
    }

    fn mute_question(&mut self, ask: AskId, name: String, request: &v2::RequestPermissionRequest) {
        let (Some(projector), Some(trace)) = (&mut self.projector, &mut self.trace) else {
            return;
        };
        projector.name_stand_in(name);
        let down = projector.permission(request, &OfRecord(&[]), &mut self.downs);
        self.downs.clear();
        if let PermissionDown::Ask(id, request) = down {
            trace.asks.insert(ask, (id, request));
        }
    }

    /// Goes on with what the client has not seen.
    fn rebuilt(&mut self, now: Duration) {
        self.build();
        let Some(trace) = &mut self.trace else {
            return;
        };
        let Some(rebuild) = trace.rebuild.take() else {
            return;
        };
        let mark = trace.next.clone();
        if let Some(projector) = &mut self.projector {
            projector.hold_back(mark.unsent.iter().cloned());
            for message in rebuild.own {
                projector.own_message(message);
            }
        }
        let transcript = rebuild.history.transcript();
        let after = response::after(how(mark.began), transcript, self.viewer.version);
        let missing = after.len().saturating_sub(mark.after);
        for update in after.into_iter().skip(missing).rev() {
            self.asides.push_front(Aside {
                place: 0,
                position: Some((0, 0)),
                what: Apart::Show(Box::new(update)),
            });
        }
        if let Some(next) = mark.past {
            let transcript = transcript.clone();
            self.past = Some(Box::new(Past { transcript, next }));
        }
        for (ask, answer) in rebuild.answered {
            self.question_over(ask, &answer);
        }
        self.arm_flush(now);
    }

    /// Ends what is shown of a question that the client was asked through an earlier view, and that is not asked any more.
    pub(super) fn question_over(&mut self, ask: AskId, answer: &Answer) {
        let trace = self.trace.as_mut();
        let Some((down, _)) = trace.and_then(|trace| trace.asks.remove(&ask)) else {
            return;
        };
        let outcome = match answer {
            Answer::Selected(option) => v1::RequestPermissionOutcome::Selected(
                v1::SelectedPermissionOutcome::new(option.0.clone()),
            ),
            _ => v1::RequestPermissionOutcome::Cancelled,
        };
        self.project(|projector, downs| projector.permission_answered(down, &outcome, downs));
        self.stamp(For::Aside, |mark| {
            mark.asked.remove(&ask);
        });
    }

    /// Asks a client that goes on where it was what is asked here and still open, instead of at the end of what it missed; returns
    /// whether that is so. A question at its own place is asked there in any case.
    pub(super) fn offer_here(&mut self, ask: AskId, question: &Question, own: u64) -> bool {
        let is_it = |aside: &Aside| {
            let is_offer = matches!(aside.what, Apart::Offer(offered, _) if offered == ask);
            is_offer && aside.place != own
        };
        if !self.is_traced() {
            return false;
        }
        let Some(at) = self.asides.iter().position(is_it) else {
            return false;
        };
        self.asides.remove(at);
        let call = call_of(question).map_or(Call::Known, |call| Call::New(Box::new(call)));
        self.asides.push_front(Aside {
            place: 0,
            position: Some((0, 0)),
            what: Apart::Offer(ask, call),
        });
        true
    }

    /// Asks again what the client was asked through an earlier view; returns whether it was.
    pub(super) fn ask_again(&mut self, ask: AskId) -> bool {
        let trace = self.trace.as_mut();
        let Some((down, request)) = trace.and_then(|trace| trace.asks.remove(&ask)) else {
            return false;
        };
        self.asked.insert(ask, Some(down));
        let form = Form::PermissionV1(request);
        self.ready.push_back(Message::Ask { ask, form }.into());
        true
    }
}

fn how(began: Began) -> How {
    match began {
        Began::New => How::New,
        Began::Replay => How::Replay,
        Began::Resume => How::Resume,
    }
}

/// Returns where a reader is that has passed a slot.
pub(super) fn after(slot: &Slot) -> At {
    match (&slot.kind, &slot.record.text) {
        (Kind::Event(_), Some(text)) => At {
            record: slot.records.saturating_sub(1),
            skip: slot.text_before + text.len(),
        },
        _ => At {
            record: slot.records,
            skip: 0,
        },
    }
}

/// Returns what ids are made of that a view makes up: new for each view of each owner, since a client may still know what an
/// earlier one made up.
pub(super) fn prefix(owner: u64, view: crate::ViewId) -> String {
    format!("{owner}.{}/", view.0)
}

/// Returns a name for a question that it has in every process, unlike its number, which another one may have later.
pub(crate) fn question_name(ask: AskId, question: &Question) -> String {
    let json = serde_json::to_vec(question).unwrap_or_default();
    format!("{}-{:016x}", ask.0, print(&json))
}
