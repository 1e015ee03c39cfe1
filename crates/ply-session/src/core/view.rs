//! One client's view of a session: a cursor, and how its version shows what the cursor passes.

mod apart;
mod show;
mod trace;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use ply_wire::negotiate::Version;
use ply_wire::project::{self, Down, Projector};
use ply_wire::transcript::Transcript;
use ply_wire::v2;

pub(crate) use self::apart::{Apart, Call};
pub(crate) use self::trace::question_name;

use self::apart::Aside;
use self::trace::{For, Trace, after};
use super::effect::Message;
use super::mark::{At, Mark};
use super::record::Json;
use super::window::{Kind, Slot, Window};
use super::{How, Viewer};
use crate::{AskId, History, Question, ViewId};

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
    ready: VecDeque<Ready>,
    /// What comes when the cursor reaches a place, in order.
    asides: VecDeque<Aside>,
    /// Questions that the client was asked, by the projector's name for them.
    asked: HashMap<AskId, Option<project::AskId>>,
    flush_at: Option<Duration>,
    pub(crate) hung_up: bool,
    /// Places of records that say what the client was shown already when the journal failed.
    known: BTreeSet<u64>,
    /// Places of options that the client is told by the answer to its request, in order.
    answered: VecDeque<u64>,
    end: End,
    /// What comes after everything else.
    last: VecDeque<Message>,
    downs: Vec<Down>,
    /// For a client that may come back by a cursor.
    trace: Option<Box<Trace>>,
}

/// A message on its way out, and how far a client that may come back is with it.
#[derive(Debug)]
struct Ready {
    message: Message,
    mark: Option<Box<Mark>>,
}

impl From<Message> for Ready {
    fn from(message: Message) -> Self {
        Self {
            message,
            mark: None,
        }
    }
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
    /// Whether the client was told that it misses something.
    has_gap: bool,
}

impl Behind {
    fn new(record: u64, skip: usize) -> Self {
        Self {
            record,
            skip,
            page: VecDeque::new(),
            is_reading: false,
            has_gap: false,
        }
    }
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
            let prefix = trace::prefix(owner, id);
            Box::new(match how {
                How::New | How::Replay => Projector::new(viewer.shows, prefix),
                How::Resume | How::Fork => {
                    Projector::resume(viewer.shows, prefix, transcript, history)
                }
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
            answered: VecDeque::new(),
            end: End::No,
            last: VecDeque::new(),
            downs: Vec::new(),
            trace: None,
        };
        if (view.viewer.version, how) == (Version::V2, How::Resume) {
            // Also when nothing is replayed (V2-RESUME-08).
            let state = v2::SessionUpdate::StateUpdate(transcript.state_snapshot());
            view.ready
                .push_back(Message::Update(Json::of(&state)).into());
        }
        view
    }

    /// Notes that the client was shown already what the record at a place says.
    pub(crate) fn knows(&mut self, place: u64) {
        self.known.insert(place);
    }

    /// Notes that the options at a place are in the answer behind it. A client that may come back needs both: it may have lost the
    /// answer.
    pub(crate) fn is_answered(&mut self, place: u64) {
        if self.trace.is_none() {
            self.answered.push_back(place);
        }
    }

    /// Sends something before everything else.
    pub(crate) fn urgent(&mut self, message: Message) {
        self.urgent.push_back(message);
    }

    /// Notes a message that the client wrote itself; version 1 is not shown it.
    pub(crate) fn owns(&mut self, message: &v2::MessageId) {
        if self.owns_later(message) {
            return;
        }
        if let Some(projector) = &mut self.projector {
            projector.own_message(message.clone());
        }
    }

    pub(crate) fn client_terminal(&mut self, terminal: v2::TerminalId) {
        if let Some(projector) = &mut self.projector {
            projector.client_terminal(terminal);
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
            self.cursor = Cursor::Journal(Behind::new(record, skip));
        }
        for aside in &mut self.asides {
            if aside.place > place + 1 {
                break;
            }
            let after = match &slot.record.text {
                // More of the same record may follow.
                Some(text) if matches!(slot.kind, Kind::Event(_)) => (record, skip + text.len()),
                _ => (slot.records, 0),
            };
            let is_before = aside.place <= place;
            let position = if is_before { (record, skip) } else { after };
            aside.position.get_or_insert(position);
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
            behind.record = next.max(behind.record + 1);
            behind.skip = 0;
            let at = At {
                record: behind.record,
                skip: 0,
            };
            // The client was told of it, or is not told of what it has seen.
            if self.is_rebuilding() {
                return;
            }
            // Once, however many there are.
            if let Cursor::Journal(behind) = &mut self.cursor
                && !std::mem::replace(&mut behind.has_gap, true)
            {
                self.show_gap();
            }
            self.stamp(For::Record, |mark| mark.moved(at));
            return;
        }
        behind.page = records.into();
    }

    /// Gives back memory that is only kept to be used again.
    pub(crate) fn rest(&mut self) {
        let lists = [&mut self.urgent, &mut self.last];
        lists.into_iter().for_each(VecDeque::shrink_to_fit);
        self.ready.shrink_to_fit();
        self.asides.shrink_to_fit();
        self.downs.shrink_to_fit();
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
        if self.waits_to_begin(window) {
            return !self.urgent.is_empty();
        }
        let has_more = match &self.cursor {
            Cursor::Window(place) => *place < self.limit(window),
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
            if let Some(message) = self.urgent.pop_front() {
                return Step::Message(message);
            }
            if self.waits_to_begin(source.window) {
                return Step::Nothing;
            }
            if let Some(ready) = self.ready.pop_front() {
                return Step::Message(self.sending(ready));
            }
            if self.is_rebuilding() {
                if let Some(step) = self.rebuild(source) {
                    return step;
                }
                continue;
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
                    if self.ready.is_empty() {
                        self.sent_all();
                    }
                    return step;
                }
                continue;
            }
            let limit = self.limit(source.window);
            match &mut self.cursor {
                Cursor::Window(place) => {
                    let at = *place;
                    let slot = source.window.get(at);
                    let Some(slot) = slot.filter(|_| at < limit) else {
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
                    self.stamp(For::Record, |mark| mark.moved(after(slot)));
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
                    let at = At {
                        record: behind.record,
                        skip: 0,
                    };
                    let skip = std::mem::take(&mut behind.skip);
                    let ready = self.ready.len();
                    self.pass_record(&record, skip);
                    self.arm_flush(source.now);
                    if skip > 0 && self.ready.len() == ready {
                        // Nothing was left of its text, so what was shown of the next step is of the next record.
                        self.stamp(For::Aside, |mark| mark.at = at);
                    } else {
                        self.stamp(For::Record, |mark| mark.moved(at));
                    }
                }
            }
        }
    }

    /// Sends something after everything else.
    pub(crate) fn last(&mut self, message: Message) {
        self.last.push_back(message);
    }
}
