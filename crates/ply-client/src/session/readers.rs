//! The queues between the link and whoever reads a session's events.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use ply_wire::v2;

use super::cell::SessionCell;
use crate::event::Event;
use crate::limits::{JOIN_FROM_EVENTS, QUEUED_BYTES_MAX, QUEUED_EVENTS_MAX};
use crate::pressure::Pressure;
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
    queue: VecDeque<Event>,
    bytes: usize,
    /// Set while the queue is over its bound.
    full: Option<Arc<Pressure>>,
    waker: Option<Waker>,
    /// How the turn or the session ended.
    end: Option<TurnResult>,
    pub(super) message_id: Option<v2::MessageId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Turn,
    Stream,
}

/// What a reader finds.
#[derive(Debug)]
pub(crate) enum Taken {
    Events,
    Ended(TurnResult),
}

/// What an event is made of and where it goes.
pub(super) struct Delivery<'a> {
    pub(super) turn: Option<u64>,
    pub(super) bytes: usize,
    pub(super) session: &'a Weak<SessionCell>,
    pub(super) pressure: Option<&'a Arc<Pressure>>,
}

impl Readers {
    pub(super) fn add(&mut self, kind: Kind) -> u64 {
        self.made += 1;
        self.list.push(Reader {
            id: self.made,
            kind,
            queue: VecDeque::new(),
            bytes: 0,
            full: None,
            waker: None,
            end: None,
            message_id: None,
        });
        self.made
    }

    /// Removes a reader and returns it, to be dropped outside the lock: questions in its queue are answered when dropped.
    #[must_use]
    pub(super) fn remove(&mut self, id: u64) -> Option<Reader> {
        let at = self.list.iter().position(|reader| reader.id == id)?;
        let mut reader = self.list.swap_remove(at);
        reader.relieve();
        Some(reader)
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

    /// Returns whether anybody would get an event.
    pub(super) fn would_hear(&self, turn: Option<u64>) -> bool {
        self.list.iter().any(|reader| reader.hears(turn))
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

    /// Hands an event that is no update to the same readers.
    pub(super) fn event(&mut self, event: &Event, to: &Delivery<'_>) {
        let hearing = self.list.iter_mut().filter(|reader| reader.hears(to.turn));
        for reader in hearing {
            reader.push(event.clone(), to);
        }
    }

    /// Takes everything that waits for a reader, or notes who to wake.
    pub(super) fn poll_take(
        &mut self,
        id: u64,
        batch: &mut VecDeque<Event>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Taken>> {
        let Some(reader) = self.get_mut(id) else {
            return Poll::Ready(None);
        };
        if !reader.queue.is_empty() {
            std::mem::swap(&mut reader.queue, batch);
            reader.bytes = 0;
            reader.relieve();
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
    fn hears(&self, turn: Option<u64>) -> bool {
        self.end.is_none() && (self.kind == Kind::Stream || Some(self.id) == turn)
    }

    fn push_update(&mut self, update: v2::SessionUpdate, to: &Delivery<'_>) {
        let is_behind = self.queue.len() >= JOIN_FROM_EVENTS;
        if is_behind && self.queue.back_mut().is_some_and(|last| last.join(&update)) {
            self.bytes += to.bytes;
            return self.check_bound(to);
        }
        self.push(Event::from_update(update, to.session), to);
    }

    fn push(&mut self, event: Event, to: &Delivery<'_>) {
        self.queue.push_back(event);
        self.bytes += to.bytes;
        self.check_bound(to);
        self.wake();
    }

    fn check_bound(&mut self, to: &Delivery<'_>) {
        let is_over = self.queue.len() > QUEUED_EVENTS_MAX || self.bytes > QUEUED_BYTES_MAX;
        if is_over
            && self.full.is_none()
            && let Some(pressure) = to.pressure
        {
            pressure.add();
            self.full = Some(Arc::clone(pressure));
        }
    }

    fn relieve(&mut self) {
        if let Some(pressure) = self.full.take() {
            pressure.remove();
        }
    }

    /// Ends what the reader hears. What waits for it can be read at leisure: it no longer holds up the agent.
    pub(super) fn end(&mut self, result: TurnResult) {
        self.end = Some(result);
        self.relieve();
        self.wake();
    }

    pub(super) fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
