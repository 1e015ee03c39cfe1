//! Senders that wait for room before they send.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::Outbox;

/// How many are let in at a time, once half of the room is free: those after them would find it taken and have been woken for
/// nothing.
const LET_IN_AT_ONCE: usize = 4;

/// Those who wait, in the order they came.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    waiting: VecDeque<(u64, Waker)>,
    last_ticket: u64,
}

impl Rooms {
    fn join(&mut self, waker: Waker) -> u64 {
        self.last_ticket += 1;
        self.waiting.push_back((self.last_ticket, waker));
        self.last_ticket
    }

    /// Returns the waker of who still waits.
    fn waker(&mut self, ticket: u64) -> Option<&mut Waker> {
        let at = self.find(ticket)?;
        self.waiting.get_mut(at).map(|(_, waker)| waker)
    }

    fn leave(&mut self, ticket: u64) {
        if let Some(at) = self.find(ticket) {
            self.waiting.remove(at);
        }
    }

    fn find(&self, ticket: u64) -> Option<usize> {
        // Tickets grow along the queue.
        let found = self
            .waiting
            .binary_search_by_key(&ticket, |(known, _)| *known);
        found.ok()
    }

    /// Takes out the next few.
    pub(super) fn let_in(&mut self) -> impl Iterator<Item = Waker> {
        let count = self.waiting.len().min(LET_IN_AT_ONCE);
        self.waiting.drain(..count).map(|(_, waker)| waker)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        std::mem::take(&mut self.waiting)
            .into_iter()
            .map(|(_, waker)| waker)
    }
}

impl Outbox {
    /// Waits until the next frame would not have to wait, or never will be sent.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, only the place in the row is lost.
    pub(crate) fn room(&self) -> Room<'_> {
        Room {
            outbox: self,
            ticket: None,
        }
    }

    /// Returns whether somebody waits for room.
    pub(crate) fn has_waiting_for_room(&self) -> bool {
        !self.lock().rooms.is_empty()
    }

    /// Lets the next few in, once the writer has nothing to do; returns whether it has to come back for more.
    ///
    /// Whoever is let in may have nothing to send, and then nobody but the writer can call the next ones.
    pub(crate) fn let_more_in(&self) -> bool {
        let mut state = self.lock();
        if state.rooms.is_empty() {
            return false;
        }
        let woken = state.admit(self.budget_bytes);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        true
    }
}

/// Waits for room; see [`Outbox::room`].
#[derive(Debug)]
pub(crate) struct Room<'a> {
    outbox: &'a Outbox,
    ticket: Option<u64>,
}

impl Future for Room<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let outbox = self.outbox;
        let mut state = outbox.lock();
        match self.ticket {
            // Those who wait come first.
            None if state.closed
                || state.rooms.is_empty() && state.has_room(outbox.budget_bytes) =>
            {
                Poll::Ready(())
            }
            None => {
                self.ticket = Some(state.rooms.join(cx.waker().clone()));
                Poll::Pending
            }
            Some(ticket) => match state.rooms.waker(ticket) {
                Some(waker) => {
                    waker.clone_from(cx.waker());
                    Poll::Pending
                }
                None => {
                    self.ticket = None;
                    Poll::Ready(())
                }
            },
        }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.outbox.lock().rooms.leave(ticket);
        }
    }
}
