//! The queues between the link and whoever reads a session's events.
//!
//! Each is bounded, and none holds up the link: one that is full is emptied, and its reader goes on from the transcript.

use std::collections::VecDeque;
use std::sync::Weak;
use std::task::{Context, Poll, Waker};

use ply_wire::transcript::{Change, Transcript};
use ply_wire::v2;

use super::cell::SessionCell;
use super::known::Known;
use super::lag::Lag;
use crate::ask::Ticket;
use crate::event::{Event, TurnId};
use crate::limits::{JOIN_FROM_EVENTS, QUEUED_BYTES_MAX, QUEUED_EVENTS_MAX, VISITS_MAX};
use crate::turn::TurnResult;

/// The readers of one session.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    list: Vec<Reader>,
    made: u64,
}

/// One reader: a turn, or a stream of everything.
#[derive(Debug)]
pub(crate) struct Reader {
    id: u64,
    kind: Kind,
    queue: Queue,
    bytes: usize,
    /// Bytes of the longest event that waits.
    longest: usize,
    /// Where it stood before the first event that waits.
    known: Option<Known>,
    /// Set while the reader has to go on from the transcript; then only questions and ends of visits wait in the queue.
    lag: Option<Lag>,
    waker: Option<Waker>,
    /// Whether there is something to wake it for.
    is_due: bool,
    /// How the turn or the session ended.
    end: Option<TurnResult>,
    pub(super) message_id: Option<v2::MessageId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Turn,
    Stream,
}

/// Something that waits for a reader.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(super) turn: Option<TurnId>,
    pub(super) item: Item,
}

impl Queued {
    fn is_visit(&self) -> bool {
        matches!(self.item, Item::Event(Event::VisitFinished(_)))
    }
}

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all items are events, and boxing each would cost more"
)]
pub(super) enum Item {
    Event(Event),
    Ask(Ticket),
}

pub(crate) type Queue = VecDeque<Queued>;

/// Takes the next event out of a queue.
pub(crate) fn next_of(queue: &mut Queue) -> Option<(Option<TurnId>, Event)> {
    let Queued { turn, item } = queue.pop_front()?;
    let event = match item {
        Item::Event(event) => event,
        Item::Ask(ticket) => ticket.redeem(),
    };
    Some((turn, event))
}

/// What a reader finds.
#[derive(Debug)]
pub(crate) enum Taken {
    Events,
    Ended(TurnResult),
}

/// What an event is made of and where it goes.
pub(super) struct Delivery<'a> {
    pub(super) turn: Option<TurnId>,
    pub(super) bytes: usize,
    /// What the update changed in the transcript, which has it already.
    pub(super) change: Change,
    pub(super) transcript: &'a Transcript,
    pub(super) session: &'a Weak<SessionCell>,
}

impl Readers {
    pub(super) fn add(&mut self, kind: Kind) -> u64 {
        self.made += 1;
        self.list.push(Reader {
            id: self.made,
            kind,
            queue: VecDeque::new(),
            bytes: 0,
            longest: 0,
            known: None,
            lag: None,
            waker: None,
            is_due: false,
            end: None,
            message_id: None,
        });
        self.made
    }

    /// Removes a reader and returns it, to be dropped outside the lock: questions in its queue may be answered when dropped.
    #[must_use]
    pub(super) fn remove(&mut self, id: u64) -> Option<Reader> {
        let at = self.list.iter().position(|reader| reader.id == id)?;
        Some(self.list.swap_remove(at))
    }

    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Reader> {
        self.list.iter_mut().find(|reader| reader.id == id)
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        self.list.iter().any(|reader| reader.id == id)
    }

    pub(super) fn streams_mut(&mut self) -> impl Iterator<Item = &mut Reader> {
        let is_stream = |reader: &&mut Reader| reader.kind == Kind::Stream;
        self.list.iter_mut().filter(is_stream)
    }

    /// Hands an update to the running turn and to every stream.
    pub(super) fn update(&mut self, update: v2::SessionUpdate, to: &Delivery<'_>) {
        let mut hearing = self.list.iter_mut().filter(|reader| reader.hears(to.turn));
        let Some(mut reader) = hearing.next() else {
            return;
        };
        // Everyone but the last gets a copy; nearly always there is only one.
        for next in hearing {
            reader.push_update(update.clone(), to);
            reader = next;
        }
        reader.push_update(update, to);
    }

    /// Hands a question to the same readers.
    pub(super) fn ask(&mut self, turn: Option<TurnId>, ticket: impl Fn() -> Ticket) {
        let hearing = self.list.iter_mut().filter(|reader| reader.hears(turn));
        for reader in hearing {
            reader.push_ask(turn, ticket());
        }
    }

    /// Tells the same readers that the visit to a URL is over.
    pub(super) fn visit_finished(&mut self, turn: Option<TurnId>, id: &v2::ElicitationId) {
        let hearing = self.list.iter_mut().filter(|reader| reader.hears(turn));
        for reader in hearing {
            reader.push_visit(turn, id.clone());
        }
    }

    /// Takes out whom to wake.
    pub(super) fn take_due(&mut self) -> Vec<Waker> {
        let due = self.list.iter_mut().filter(|reader| reader.is_due);
        due.filter_map(|reader| {
            reader.is_due = false;
            reader.waker.take()
        })
        .collect()
    }

    /// Takes everything that waits for a reader, or notes who to wake.
    pub(super) fn poll_take(
        &mut self,
        id: u64,
        batch: &mut Queue,
        cx: &mut Context<'_>,
        transcript: &Transcript,
        session: &Weak<SessionCell>,
    ) -> Poll<Option<Taken>> {
        let Some(reader) = self.get_mut(id) else {
            return Poll::Ready(None);
        };
        // What it was to be woken for is what it finds now.
        reader.is_due = false;
        if let Some(lag) = reader.lag.take() {
            lag.catch_up(transcript, session, batch);
            // The questions are told last: they are what is to be acted on. So are the ends of visits.
            batch.append(&mut reader.queue);
            return Poll::Ready(Some(Taken::Events));
        }
        if !reader.queue.is_empty() {
            std::mem::swap(&mut reader.queue, batch);
            (reader.bytes, reader.longest) = (0, 0);
            reader.known = None;
            return Poll::Ready(Some(Taken::Events));
        }
        if let Some(end) = &reader.end {
            return Poll::Ready(Some(Taken::Ended(end.clone())));
        }
        match &mut reader.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Reader {
    fn hears(&self, turn: Option<TurnId>) -> bool {
        self.end.is_none() && (self.kind == Kind::Stream || Some(TurnId(self.id)) == turn)
    }

    fn push_update(&mut self, update: v2::SessionUpdate, to: &Delivery<'_>) {
        if let Some(lag) = &mut self.lag {
            lag.known.grew(to.change, &update, to.transcript);
            return lag.miss(&update, to.turn);
        }
        if self.queue.len() >= JOIN_FROM_EVENTS
            && let Some(last) = self.queue.back_mut()
            && last.turn == to.turn
            && let Item::Event(last) = &mut last.item
            && let Some(bytes) = last.join(&update)
        {
            return self.grow(bytes);
        }
        let before = || Known::before(to.change, to.transcript);
        let known = self.known.get_or_insert_with(before);
        known.grew(to.change, &update, to.transcript);
        let event = Event::from_update(update, to.session);
        self.queue.push_back(Queued {
            turn: to.turn,
            item: Item::Event(event),
        });
        self.grow(to.bytes);
        self.wake();
    }

    pub(super) fn push_ask(&mut self, turn: Option<TurnId>, ticket: Ticket) {
        if self.queue.len() >= QUEUED_EVENTS_MAX {
            // Those that are open are as many as the link takes requests.
            let is_open = |queued: &Queued| match &queued.item {
                Item::Ask(ticket) => ticket.is_open(),
                Item::Event(_) => true,
            };
            self.queue.retain(is_open);
        }
        let item = Item::Ask(ticket);
        self.queue.push_back(Queued { turn, item });
        self.wake();
    }

    fn push_visit(&mut self, turn: Option<TurnId>, id: v2::ElicitationId) {
        // The transcript does not have them, so one that reads nothing is told of the newest.
        let waiting = self.queue.iter().filter(|queued| queued.is_visit()).count();
        if waiting >= VISITS_MAX
            && let Some(oldest) = self.queue.iter().position(Queued::is_visit)
        {
            self.queue.remove(oldest);
        }
        let item = Item::Event(Event::VisitFinished(id));
        self.queue.push_back(Queued { turn, item });
        self.wake();
    }

    /// Adds the bytes of an event, and drops the events of a queue that is too long; its questions stay, and the ends of visits.
    /// The longest of them does not count: to tell it from the transcript would take as much memory.
    fn grow(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.longest = self.longest.max(bytes);
        let others = self.bytes - self.longest;
        if self.queue.len() <= QUEUED_EVENTS_MAX && others <= QUEUED_BYTES_MAX {
            return;
        }
        let Some(known) = self.known.take() else {
            return;
        };
        let mut lag = Lag::new(known);
        self.queue.retain(|queued| match &queued.item {
            Item::Event(_) if queued.is_visit() => true,
            Item::Event(event) => {
                lag.drop_event(event, queued.turn);
                false
            }
            Item::Ask(ticket) => ticket.is_open(),
        });
        (self.bytes, self.longest) = (0, 0);
        self.lag = Some(lag);
    }

    /// Ends what the reader hears. What waits for it can be read at leisure.
    pub(super) fn end(&mut self, result: TurnResult, transcript: &Transcript) {
        self.end = Some(result);
        if let Some(lag) = &mut self.lag {
            lag.end(transcript);
        }
        self.wake();
    }

    /// Has the reader woken as soon as the session is unlocked.
    pub(super) fn wake(&mut self) {
        self.is_due = true;
    }
}
