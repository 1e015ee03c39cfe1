//! One client's view of a session: a cursor, and how its version shows what the cursor passes.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use ply_wire::negotiate::Version;
use ply_wire::project::{self, Down, EditTexts, PermissionDown, Projector};
use ply_wire::transcript::Transcript;
use ply_wire::{convert, v1, v2};

use super::effect::{Form, Message};
use super::record::{Json, Record};
use super::response::Response;
use super::window::{Kind, Slot, Window};
use super::{How, Viewer};
use crate::edits::OfRecord;
use crate::{AskId, Event, FLUSH_EVERY, History, Question, Reply, RequestId, ViewId};

/// A client and how far it has been shown the session.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) id: ViewId,
    pub(crate) viewer: Viewer,
    projector: Option<Box<Projector>>,
    /// What is left to show of the time before the client attached.
    past: Option<Box<Past>>,
    pub(crate) cursor: Cursor,
    /// What overtakes everything.
    urgent: VecDeque<Message>,
    /// What the cursor has passed and the client was not sent yet.
    ready: VecDeque<Message>,
    /// What comes when the cursor reaches a place, in order.
    asides: VecDeque<Aside>,
    /// Questions that the client was asked, by the projector's name for them.
    asked: HashMap<AskId, Option<project::AskId>>,
    flush_at: Option<Duration>,
    pub(crate) hung_up: bool,
    /// Places of records that say what the client was shown already when the journal failed.
    known: BTreeSet<u64>,
    end: End,
    /// What comes after everything else.
    last: VecDeque<Message>,
    downs: Vec<Down>,
}

/// How far the end of the session has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    No,
    /// No record that is not visible will be.
    Over,
    /// The client was shown everything.
    Shown,
}

#[derive(Debug)]
struct Past {
    transcript: Transcript,
    next: usize,
}

/// Where a view is.
#[derive(Debug)]
pub(crate) enum Cursor {
    /// At a place of the window.
    Window(u64),
    /// Behind the window, in the journal.
    Journal(Behind),
}

/// A place in the journal.
#[derive(Debug)]
pub(crate) struct Behind {
    /// The number of the next record.
    record: u64,
    /// Bytes of its escaped text that were shown already.
    skip: usize,
    page: VecDeque<Vec<u8>>,
    is_reading: bool,
}

#[derive(Debug)]
struct Aside {
    place: u64,
    /// How many records of the journal come before it, once its slot left the window.
    records: Option<u64>,
    what: Apart,
}

/// What a client is sent besides the records.
#[derive(Debug)]
pub(crate) enum Apart {
    Respond(RequestId, Result<Response, v2::Error>),
    /// The answer to the request that attached the client, with the mode that it names.
    Setup(RequestId, Response, Option<v1::SessionModeId>),
    Show(Box<v2::SessionUpdate>),
    /// A question, and whether what it says of its call is new to the client.
    Offer(AskId, Call),
    /// A question is over, which version 1 may have to be shown.
    AskEnded(project::AskId, v1::RequestPermissionOutcome),
    Passed(u64),
}

/// What a client knows of the call that a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Known,
    New,
}

/// What a view does next.
#[derive(Debug)]
pub(crate) enum Step {
    Message(Message),
    Read(u64),
    /// The client cannot be asked this question.
    CannotAsk(AskId),
    Nothing,
}

/// What a view reads from.
pub(crate) struct Source<'a> {
    pub(crate) window: &'a Window,
    pub(crate) history: &'a History,
    pub(crate) question: &'a dyn Fn(AskId) -> Option<&'a Question>,
    pub(crate) now: Duration,
}

impl View {
    pub(crate) fn new(
        (id, viewer): (ViewId, Viewer),
        how: How,
        place: u64,
        transcript: &Transcript,
        history: &History,
        owner: u64,
    ) -> Self {
        let projector = (viewer.version == Version::V1).then(|| {
            // New for each view of each owner, since a client may still know what an earlier one made up.
            let prefix = format!("{owner}.{}/", id.0);
            Box::new(match how {
                How::New | How::Replay => Projector::new(viewer.shows, prefix),
                How::Resume => Projector::resume(viewer.shows, prefix, transcript, history),
            })
        });
        let past = match (viewer.version, how) {
            (_, How::Replay) => Some(Box::new(Past {
                transcript: transcript.clone(),
                next: 0,
            })),
            _ => None,
        };
        let mut view = Self {
            id,
            viewer,
            projector,
            past,
            cursor: Cursor::Window(place),
            urgent: VecDeque::new(),
            ready: VecDeque::new(),
            asides: VecDeque::new(),
            asked: HashMap::new(),
            flush_at: None,
            hung_up: false,
            known: BTreeSet::new(),
            end: End::No,
            last: VecDeque::new(),
            downs: Vec::new(),
        };
        if (view.viewer.version, how) == (Version::V2, How::Resume) {
            // Also when nothing is replayed (V2-RESUME-08).
            let state = v2::SessionUpdate::StateUpdate(transcript.state_snapshot());
            view.ready.push_back(Message::Update(Json::of(&state)));
        }
        view
    }

    /// Notes that the client was shown already what the record at a place says.
    pub(crate) fn knows(&mut self, place: u64) {
        self.known.insert(place);
    }

    /// Sends something before everything else.
    pub(crate) fn urgent(&mut self, message: Message) {
        self.urgent.push_back(message);
    }

    /// Sends something when the cursor reaches a place.
    pub(crate) fn at(&mut self, place: u64, window: &Window, what: Apart) {
        let records = (place <= window.start()).then(|| window.start_records());
        let after = self.asides.partition_point(|aside| aside.place <= place);
        let aside = Aside {
            place,
            records,
            what,
        };
        self.asides.insert(after, aside);
    }

    /// Notes a message that the client wrote itself; version 1 is not shown it.
    pub(crate) fn owns(&mut self, message: &v2::MessageId) {
        if let Some(projector) = &mut self.projector {
            projector.own_message(message.clone());
        }
    }

    pub(crate) fn client_terminal(&mut self, terminal: v2::TerminalId) {
        if let Some(projector) = &mut self.projector {
            projector.client_terminal(terminal);
        }
    }

    /// Forgets what was to come behind records that could not be kept, and answers requests with that.
    pub(crate) fn roll_back(&mut self, visible: u64, error: &v2::Error) {
        self.fail_answers(visible, error);
        self.asides.retain(|aside| {
            let is_gone = matches!(aside.what, Apart::Offer(..) | Apart::Show(_));
            aside.place <= visible || !is_gone
        });
        for aside in &mut self.asides {
            aside.place = aside.place.min(visible);
        }
    }

    /// Notes that slots leave the window. Whoever has not passed them goes on in the journal.
    pub(crate) fn evicted(&mut self, place: u64, slot: &Slot) {
        let (record, skip) = match slot.kind {
            Kind::Event(_) => (slot.records.saturating_sub(1), slot.text_before),
            Kind::Told(_) => (slot.records, 0),
        };
        if let Cursor::Window(at) = self.cursor
            && at == place
        {
            self.cursor = Cursor::Journal(Behind {
                record,
                skip,
                page: VecDeque::new(),
                is_reading: false,
            });
        }
        for aside in &mut self.asides {
            if aside.place > place + 1 {
                break;
            }
            let before = if skip > 0 { slot.records } else { record };
            let records = if aside.place <= place {
                before
            } else {
                slot.records
            };
            aside.records.get_or_insert(records);
        }
    }

    /// Takes the records that were read for it.
    pub(crate) fn page(&mut self, from: u64, records: Vec<Vec<u8>>, next: u64) {
        let Cursor::Journal(behind) = &mut self.cursor else {
            return;
        };
        behind.is_reading = false;
        if from != behind.record {
            return;
        }
        if records.is_empty() {
            // They cannot be read any more, and the client is told so when it loads the session.
            behind.record = next.max(behind.record + 1);
            behind.skip = 0;
        }
        behind.page = records.into();
    }

    /// Returns when something waits to be sent less often.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.flush_at
    }

    /// Returns whether the client was sent everything up to a place.
    pub(crate) fn has_passed(&self, place: u64) -> bool {
        let at = matches!(self.cursor, Cursor::Window(at) if at >= place);
        let has_unsent =
            !self.urgent.is_empty() || !self.ready.is_empty() || !self.asides.is_empty();
        at && self.past.is_none() && !has_unsent
    }

    /// Returns whether there may be something for the client.
    pub(crate) fn has_news(&self, window: &Window) -> bool {
        let has_more = match &self.cursor {
            Cursor::Window(place) => *place < window.visible(),
            Cursor::Journal(behind) => !behind.is_reading,
        };
        has_more
            || self.past.is_some()
            || self.end != End::No
            || !self.urgent.is_empty()
            || !self.ready.is_empty()
            || self.asides.front().is_some_and(|aside| self.is_due(aside))
    }

    /// Returns what the client is sent next.
    pub(crate) fn next(&mut self, source: &Source<'_>) -> Step {
        loop {
            let waits = self.urgent.pop_front().or_else(|| self.ready.pop_front());
            if let Some(message) = waits {
                return Step::Message(message);
            }
            if self.past.is_some() {
                self.show_past(source);
                continue;
            }
            if self.asides.front().is_some_and(|aside| self.is_due(aside)) {
                let Some(aside) = self.asides.pop_front() else {
                    continue;
                };
                if let Some(step) = self.apart(aside.what, source) {
                    return step;
                }
                continue;
            }
            match &mut self.cursor {
                Cursor::Window(place) => {
                    let at = *place;
                    let slot = source.window.get(at);
                    let Some(slot) = slot.filter(|_| at < source.window.visible()) else {
                        if self.flush_at.is_some_and(|due| due <= source.now) {
                            self.flush();
                            continue;
                        }
                        if self.end == End::Over {
                            self.end = End::Shown;
                            self.close();
                            continue;
                        }
                        return match self.last.pop_front().filter(|_| self.end == End::Shown) {
                            Some(message) => Step::Message(message),
                            None => Step::Nothing,
                        };
                    };
                    *place += 1;
                    self.pass(at, slot, source);
                }
                Cursor::Journal(behind) => {
                    if let Some(place) = source.window.place_of(behind.record)
                        && behind.skip == 0
                    {
                        self.cursor = Cursor::Window(place);
                        continue;
                    }
                    let Some(record) = behind.page.pop_front() else {
                        let from = behind.record;
                        return match std::mem::replace(&mut behind.is_reading, true) {
                            true => Step::Nothing,
                            false => Step::Read(from),
                        };
                    };
                    behind.record += 1;
                    let skip = std::mem::take(&mut behind.skip);
                    self.pass_record(&record, skip);
                    self.arm_flush(source.now);
                }
            }
        }
    }

    fn is_due(&self, aside: &Aside) -> bool {
        match &self.cursor {
            Cursor::Window(place) => aside.place <= *place,
            Cursor::Journal(behind) => aside
                .records
                .is_some_and(|records| records <= behind.record && behind.skip == 0),
        }
    }

    fn show_past(&mut self, source: &Source<'_>) {
        let Some(past) = &mut self.past else {
            return;
        };
        let Some(update) = past.transcript.update_at(past.next) else {
            self.past = None;
            self.flush();
            return;
        };
        past.next += 1;
        self.show(&update, None, source.history);
    }

    /// Shows a slot of the window.
    fn pass(&mut self, place: u64, slot: &Slot, source: &Source<'_>) {
        if self.known.remove(&place) {
            return;
        }
        match &slot.kind {
            Kind::Event(Event::Asked { ask, question, .. }) => {
                let mut asides = self.asides.iter_mut();
                // One that comes later says no more of its call than that it is about it.
                let call = asides.find_map(|aside| match &mut aside.what {
                    Apart::Offer(offered, call) if offered == ask && aside.place == place + 1 => {
                        Some(call)
                    }
                    _ => None,
                });
                match call {
                    Some(call) => *call = Call::New,
                    None => self.pass_question(question, source.history),
                }
            }
            Kind::Event(Event::Edited { update, edits }) => {
                self.show(update, slot.record.update(), &OfRecord(edits));
            }
            _ => {
                if let Some(update) = slot.update() {
                    self.show(update, slot.record.update(), source.history);
                }
            }
        }
        self.arm_flush(source.now);
    }

    /// Shows a record of the journal.
    fn pass_record(&mut self, record: &[u8], skip: usize) {
        // One that cannot be read is counted when the session is opened.
        let Ok(mut event) = serde_json::from_slice::<Event>(record) else {
            return;
        };
        if skip > 0 {
            cut_text(&mut event, skip);
        }
        match &event {
            Event::Asked { question, .. } => self.pass_question(question, &OfRecord(&[])),
            Event::Edited { update, edits } => self.show(update, None, &OfRecord(edits)),
            event => {
                if let Some(update) = event.update() {
                    let json = Json::in_record(record).filter(|_| skip == 0);
                    self.show(update, json, &OfRecord(&[]));
                }
            }
        }
    }

    /// Shows what a question that this client is not asked says of its tool call (V2-PERM-03).
    fn pass_question(&mut self, question: &Question, edits: &dyn EditTexts) {
        if let Question::Permission(request) = question
            && let Some(v2::RequestPermissionSubject::ToolCall(subject)) = &request.subject
        {
            let update = v2::SessionUpdate::ToolCallUpdate(subject.tool_call.clone());
            self.show(&update, None, edits);
        }
    }

    fn show(&mut self, update: &v2::SessionUpdate, json: Option<Json>, edits: &dyn EditTexts) {
        let mut json = json;
        let mut same = || json.take().unwrap_or_else(|| Json::of(update));
        let Some(projector) = &mut self.projector else {
            return self.ready.push_back(Message::Update(same()));
        };
        projector.apply_with(update, edits, &mut self.downs);
        for down in self.downs.drain(..) {
            self.ready.push_back(match down {
                Down::Update(update) => Message::UpdateV1(Box::new(update)),
                _ => Message::Update(same()),
            });
        }
    }

    fn arm_flush(&mut self, now: Duration) {
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
    fn flush(&mut self) {
        self.flush_at = None;
        self.project(Projector::flush);
    }

    /// Ends everything that is shown of the session, as it is closed.
    fn close(&mut self) {
        self.flush_at = None;
        self.project(Projector::close);
        self.asked.clear();
    }

    fn project<T>(&mut self, then: impl FnOnce(&mut Projector, &mut Vec<Down>) -> T) -> Option<T> {
        let projector = self.projector.as_mut()?;
        let mut downs = std::mem::take(&mut self.downs);
        let done = then(projector, &mut downs);
        for down in downs.drain(..) {
            if let Down::Update(update) = down {
                self.ready.push_back(Message::UpdateV1(Box::new(update)));
            }
        }
        self.downs = downs;
        Some(done)
    }

    fn apart(&mut self, what: Apart, source: &Source<'_>) -> Option<Step> {
        let message = match what {
            Apart::Respond(request, response) => Message::Respond { request, response },
            Apart::Setup(request, response, mode) => {
                if let (Some(projector), Some(mode)) = (&mut self.projector, mode) {
                    projector.mode_answered(mode);
                }
                let response = Ok(response);
                Message::Respond { request, response }
            }
            Apart::Show(update) => {
                self.show(&update, None, source.history);
                return None;
            }
            Apart::Offer(ask, call) => return self.offer(ask, call, source),
            Apart::AskEnded(down, outcome) => {
                self.project(|projector, downs| {
                    projector.permission_answered(down, &outcome, downs)
                });
                return None;
            }
            Apart::Passed(barrier) => Message::Passed { barrier },
        };
        Some(Step::Message(message))
    }

    fn offer(&mut self, ask: AskId, call: Call, source: &Source<'_>) -> Option<Step> {
        let question = (source.question)(ask)?.clone();
        let question = &match call {
            Call::New => question,
            Call::Known => question.without_call(),
        };
        let form = match (self.viewer.version, question) {
            (Version::V2, Question::Permission(request)) => Form::Permission(request.clone()),
            (Version::V2, Question::Elicitation(request)) => Form::Elicitation(request.clone()),
            (Version::V1, Question::Permission(request)) => {
                let history = source.history;
                let down =
                    self.project(|projector, downs| projector.permission(request, history, downs));
                match down {
                    Some(PermissionDown::Ask(id, request)) => {
                        self.asked.insert(ask, Some(id));
                        let form = Form::PermissionV1(request);
                        self.ready.push_back(Message::Ask { ask, form });
                        return None;
                    }
                    // No option is left that this client could show.
                    _ => {
                        self.pass_question(question, history);
                        return Some(Step::CannotAsk(ask));
                    }
                }
            }
            (Version::V1, Question::Elicitation(request)) => {
                // Requests are named by the id they have on this link, which no agent code knows.
                match convert::elicitation::request_down(request, |_| None) {
                    Some(request) => Form::ElicitationV1(Box::new(request)),
                    None => return Some(Step::CannotAsk(ask)),
                }
            }
        };
        self.asked.insert(ask, None);
        Some(Step::Message(Message::Ask { ask, form }))
    }

    /// Notes that a question is over for this client. What that changes is shown at a place.
    ///
    /// Returns whether the client was asked and waits to hear that no answer is wanted any more.
    pub(crate) fn ask_ended(
        &mut self,
        ask: AskId,
        reply: &Reply,
        place: u64,
        window: &Window,
    ) -> bool {
        self.asides
            .retain(|aside| !matches!(aside.what, Apart::Offer(offered, _) if offered == ask));
        // One that is on its way out is not sent, though what it says of its call was shown with it.
        let is_ready =
            |message: &Message| matches!(message, Message::Ask { ask: ready, .. } if *ready == ask);
        let was_sent = !self.ready.iter().any(is_ready);
        self.ready.retain(|message| !is_ready(message));
        let Some(down) = self.asked.remove(&ask) else {
            return false;
        };
        if let Some(down) = down {
            let outcome = match reply {
                Reply::Selected(option) => v1::RequestPermissionOutcome::Selected(
                    v1::SelectedPermissionOutcome::new(option.0.clone()),
                ),
                _ => v1::RequestPermissionOutcome::Cancelled,
            };
            self.at(place, window, Apart::AskEnded(down, outcome));
        }
        was_sent
    }

    /// Takes the questions that the client was asked and has not answered.
    pub(crate) fn take_asked(&mut self) -> Vec<AskId> {
        let mut asked: Vec<AskId> = std::mem::take(&mut self.asked).into_keys().collect();
        asked.sort();
        for message in &self.ready {
            if let Message::Ask { ask: ready, .. } = message {
                asked.retain(|ask| ask != ready);
            }
        }
        asked
    }

    /// Takes the barriers that the client will not pass any more.
    pub(crate) fn take_barriers(&mut self) -> Vec<u64> {
        let passed = |what: &Apart| match what {
            Apart::Passed(barrier) => Some(*barrier),
            _ => None,
        };
        let barriers = self.asides.iter().filter_map(|aside| passed(&aside.what));
        let barriers: Vec<u64> = barriers.collect();
        self.asides.retain(|aside| passed(&aside.what).is_none());
        barriers
    }

    /// Takes the answers that the client was not sent; those that are not safe yet are an error.
    pub(crate) fn take_answers(
        &mut self,
        visible: u64,
        error: &v2::Error,
    ) -> Vec<(RequestId, Result<Response, v2::Error>)> {
        self.fail_answers(visible, error);
        let asides = std::mem::take(&mut self.asides).into_iter();
        let asides = asides.filter_map(|aside| match aside.what {
            Apart::Respond(request, response) => Some((request, response)),
            Apart::Setup(request, response, _) => Some((request, Ok(response))),
            _ => None,
        });
        let sent = self.urgent.drain(..).chain(self.ready.drain(..));
        let sent = sent.filter_map(|message| match message {
            Message::Respond { request, response } => Some((request, response)),
            _ => None,
        });
        sent.chain(asides).collect()
    }

    /// Answers with an error, and at once, what waits for records that may never be safe.
    pub(crate) fn fail_answers(&mut self, visible: u64, error: &v2::Error) {
        let (safe, others) = std::mem::take(&mut self.asides)
            .into_iter()
            .partition(|aside| aside.place <= visible || !matches!(aside.what, Apart::Respond(..)));
        self.asides = safe;
        let others: VecDeque<Aside> = others;
        for aside in others {
            if let Apart::Respond(request, _) = aside.what {
                let response = Err(error.clone());
                self.urgent
                    .push_back(Message::Respond { request, response });
            }
        }
    }

    /// Sends something after everything else.
    pub(crate) fn last(&mut self, message: Message) {
        self.last.push_back(message);
    }

    /// Ends the view with what is visible: the session is over, and what is not safe never will be.
    pub(crate) fn end(&mut self, visible: u64, error: &v2::Error) {
        self.end = End::Over;
        for mut aside in std::mem::take(&mut self.asides) {
            match aside.what {
                Apart::Respond(request, _) if aside.place > visible => {
                    let response = Err(error.clone());
                    self.last.push_back(Message::Respond { request, response });
                }
                _ => {
                    aside.place = aside.place.min(visible);
                    self.asides.push_back(aside);
                }
            }
        }
    }
}

/// Takes away the beginning of a chunk's text, as many bytes as it has in JSON.
fn cut_text(event: &mut Event, skip: usize) {
    let record = Record::new(event);
    let Some(text) = record.text.clone() else {
        return;
    };
    let rest = record.json.get(text.start + skip..text.end);
    let rest = rest.and_then(|rest| serde_json::from_str::<String>(&format!("\"{rest}\"")).ok());
    if let (Some(rest), Event::Update(update)) = (rest, event)
        && let v2::SessionUpdate::AgentMessageChunk(chunk)
        | v2::SessionUpdate::AgentThoughtChunk(chunk) = update
    {
        chunk.content = rest.into();
    }
}
