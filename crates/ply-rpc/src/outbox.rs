//! The outgoing queue: many senders, one writer, a byte budget that makes senders wait.

mod gather;
mod room;
mod segment;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;

pub(crate) use self::gather::Gathered;
use self::room::Rooms;
pub(crate) use self::segment::Segment;
use crate::frame::Encoded;
use crate::limits::SEGMENT_BYTES;

/// Emptied segments kept for reuse.
const SPARE_SEGMENTS_MAX: usize = 2;

/// Frames on their way out, in the order they were sent.
///
/// The lock is held to copy a small frame or to move a large one, never while encoding or writing. Frames over the budget wait
/// inside the queue, each with its sender's waker, so a sender that is not polled holds up nobody else.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Something was flushed, or nothing more will be.
    flushed: Notify,
    budget_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    segments: VecDeque<Segment>,
    spare: Vec<Vec<u8>>,
    /// Bytes in `segments` and in what the writer took and has not written yet.
    queued_bytes: usize,
    waiting: VecDeque<Waiting>,
    rooms: Rooms,
    /// Bytes in `waiting` that no sender waits for.
    unawaited_bytes: usize,
    last_ticket: u64,
    /// Bytes that ever entered `segments`, and how many of them the transport has taken for good.
    entered_total: u64,
    flushed_total: u64,
    writer: Option<Waker>,
    /// The writer found nothing to do, or pauses reading, and must be woken for the next frame.
    asleep: bool,
    /// The writer pauses reading, and looks anew when a frame comes.
    rests: bool,
    /// How many senders send several frames and see to the writer afterwards.
    gathering: usize,
    closing: bool,
    /// The writer ends when nothing is left to write, and has to see that.
    drains: bool,
    closed: bool,
}

#[derive(Debug)]
struct Waiting {
    ticket: u64,
    frame: Encoded,
    sender: Sender,
}

#[derive(Debug)]
enum Sender {
    /// Waits for its frame to enter the queue, or will.
    Waits(Option<Waker>),
    /// Went on at once.
    Gone,
}

/// The link can take no more messages.
#[derive(Debug)]
pub(crate) struct OutboxClosed;

/// Whether a frame is on its way or has to wait for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Admission {
    Entered,
    Waits(Ticket),
}

/// Who has to see to it that a frame is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Quietly {
    /// The writer, as ever.
    Sent(Admission),
    /// The sender: the frame is alone in the queue, and the writer was not woken for it.
    Yours,
}

/// The place of a waiting frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl Outbox {
    pub(crate) fn new(budget_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            flushed: Notify::new(),
            // With none at all nobody would ever be let in.
            budget_bytes: budget_bytes.max(1),
        }
    }

    /// Takes a frame. Over the budget it waits inside the queue, and [`Outbox::admitted`] tells when its turn has come.
    pub(crate) fn send(&self, frame: Encoded) -> Result<Admission, OutboxClosed> {
        let mut state = self.open()?;
        if state.has_room(self.budget_bytes) {
            state.enter(frame);
            Self::wake_writer(state);
            return Ok(Admission::Entered);
        }
        let ticket = state.wait(frame, Sender::Waits(None));
        Self::wake_writer(state);
        Ok(Admission::Waits(ticket))
    }

    /// Takes a frame as [`Outbox::send`] does, but does not wake a writer that would find nothing else: whoever sends it writes
    /// it, or wakes the writer.
    pub(crate) fn send_quietly(&self, frame: Encoded) -> Result<Quietly, OutboxClosed> {
        let mut state = self.open()?;
        let is_empty = state.queued_bytes == 0 && state.waiting.is_empty();
        if state.asleep && !state.rests && is_empty && state.rooms.is_empty() {
            state.enter(frame);
            return Ok(Quietly::Yours);
        }
        drop(state);
        self.send(frame).map(Quietly::Sent)
    }

    /// Takes a frame without regard to the budget: answers, and messages whose sender cannot wait.
    ///
    /// It still keeps its place behind frames that wait.
    pub(crate) fn send_now(&self, frame: Encoded) -> Result<(), OutboxClosed> {
        let mut state = self.open()?;
        if state.waiting.is_empty() {
            state.enter(frame);
        } else {
            state.unawaited_bytes += frame.len();
            state.wait(frame, Sender::Gone);
        }
        Self::wake_writer(state);
        Ok(())
    }

    /// Waits until a frame has entered the queue.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the frame is withdrawn.
    pub(crate) fn admitted(&self, ticket: Ticket) -> Admitted<'_> {
        Admitted {
            outbox: self,
            ticket: Some(ticket),
        }
    }

    /// Asks whether a frame has entered the queue, and to be woken when it does.
    pub(crate) fn poll_admitted(
        &self,
        ticket: Ticket,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), OutboxClosed>> {
        let mut state = match self.open() {
            Ok(state) => state,
            Err(closed) => return Poll::Ready(Err(closed)),
        };
        match state.find(ticket) {
            None => Poll::Ready(Ok(())),
            Some(at) => {
                if let Some(waiting) = state.waiting.get_mut(at) {
                    waiting.sender = Sender::Waits(Some(cx.waker().clone()));
                }
                Poll::Pending
            }
        }
    }

    /// Takes a waiting frame back; returns whether it was still waiting.
    pub(crate) fn withdraw(&self, ticket: Ticket) -> bool {
        let mut state = self.lock();
        let Some(at) = state.find(ticket) else {
            return false;
        };
        state.waiting.remove(at);
        // It may have held back frames that do not wait for the budget.
        let woken = state.admit(self.budget_bytes);
        Self::wake_writer(state);
        woken.into_iter().for_each(Waker::wake);
        true
    }

    /// Takes the next bytes to write; pending means that the writer will be woken by the next frame.
    pub(crate) fn poll_take(&self) -> Poll<Segment> {
        let mut state = self.lock();
        match state.segments.pop_front() {
            Some(segment) => Poll::Ready(segment),
            None => {
                state.asleep = true;
                Poll::Pending
            }
        }
    }

    /// Makes the next frame wake the writer's task, although it has things to write.
    pub(crate) fn wake_for_next_frame(&self) {
        let mut state = self.lock();
        state.asleep = true;
        state.rests = true;
    }

    /// Wakes the writer's task, whatever it waits for.
    pub(crate) fn wake(&self) {
        let mut state = self.lock();
        state.asleep = true;
        Self::rouse(state);
    }

    /// Notes that `bytes` of what was taken are written.
    pub(crate) fn written(&self, bytes: usize) {
        let mut state = self.lock();
        state.queued_bytes = state.queued_bytes.saturating_sub(bytes);
        let woken = state.admit(self.budget_bytes);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Notes that the transport holds nothing back of what was written.
    pub(crate) fn flushed(&self) {
        let mut state = self.lock();
        state.flushed_total = state.entered_total - state.queued_bytes as u64;
        drop(state);
        self.flushed.notify_waiters();
    }

    pub(crate) fn recycle(&self, segment: Segment) {
        let Segment::Own(mut segment) = segment else {
            return;
        };
        if segment.capacity() == 0 || segment.capacity() > 2 * SEGMENT_BYTES {
            return;
        }
        segment.clear();
        let mut state = self.lock();
        if state.spare.len() < SPARE_SEGMENTS_MAX {
            state.spare.push(segment);
        }
    }

    /// Returns the bytes that nobody waits with: what is to be written, and answers behind it.
    pub(crate) fn queued_bytes(&self) -> usize {
        let state = self.lock();
        state.queued_bytes + state.unawaited_bytes
    }

    /// Returns whether the next frame would have to wait.
    pub(crate) fn is_full(&self) -> bool {
        let state = self.lock();
        !state.closed && !state.has_room(self.budget_bytes)
    }

    /// Returns whether nothing is left to write.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.lock();
        state.queued_bytes == 0 && state.waiting.is_empty()
    }

    /// Waits until all that has entered so far is flushed, or never will be.
    pub(crate) async fn flush(&self) {
        let goal = self.lock().entered_total;
        loop {
            // Made before the check, so that a flush between check and wait is not missed.
            let flushed = self.flushed.notified();
            {
                let state = self.lock();
                if state.flushed_total >= goal || state.closed {
                    return;
                }
            }
            flushed.await;
        }
    }

    /// Returns whether the link was asked to end; if not, the task behind `cx` is woken when it is.
    ///
    /// That task runs now and will look for frames, so it need not be woken for those that come meanwhile.
    pub(crate) fn poll_closing(&self, cx: &mut Context<'_>) -> bool {
        let mut state = self.lock();
        (state.asleep, state.rests) = (false, false);
        let known = state.writer.as_ref();
        if !known.is_some_and(|writer| writer.will_wake(cx.waker())) {
            state.writer = Some(cx.waker().clone());
        }
        state.closing
    }

    /// Notes that the writer waits for the last frame to be written.
    pub(crate) fn drain(&self) {
        self.lock().drains = true;
    }

    pub(crate) fn drains(&self) -> bool {
        self.lock().drains
    }

    /// Asks the writer to write what is queued and then end.
    pub(crate) fn begin_close(&self) {
        let mut state = self.lock();
        state.closing = true;
        state.asleep = true;
        Self::rouse(state);
    }

    /// Drops what is queued and refuses everything more.
    pub(crate) fn close(&self) {
        let (waiting, rooms) = {
            let mut state = self.lock();
            state.closed = true;
            state.segments.clear();
            state.queued_bytes = 0;
            state.unawaited_bytes = 0;
            (std::mem::take(&mut state.waiting), state.rooms.take_all())
        };
        for waiting in waiting {
            waiting.sender.wake();
        }
        rooms.for_each(Waker::wake);
        self.flushed.notify_waiters();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Wakes the writer for a frame, unless somebody sees to that.
    fn wake_writer(state: MutexGuard<'_, State>) {
        if state.gathering == 0 {
            Self::rouse(state);
        }
    }

    fn rouse(mut state: MutexGuard<'_, State>) {
        let asleep = std::mem::take(&mut state.asleep);
        state.rests &= !asleep;
        let writer = asleep.then(|| state.writer.clone()).flatten();
        drop(state);
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    fn open(&self) -> Result<MutexGuard<'_, State>, OutboxClosed> {
        let state = self.lock();
        if state.closed {
            Err(OutboxClosed)
        } else {
            Ok(state)
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn enter(&mut self, mut frame: Encoded) {
        self.queued_bytes += frame.len();
        self.entered_total += frame.len() as u64;
        let (text, shared) = frame.parts();
        match shared {
            Some((at, body)) => {
                let (before, after) = text.split_at(at);
                self.append(before);
                self.segments.push_back(Segment::Shared(body));
                self.append(after);
            }
            None if text.len() < SEGMENT_BYTES => self.append(text),
            None => return self.segments.push_back(Segment::Own(frame.into_vec())),
        }
        frame.recycle();
    }

    /// Copies something short behind what is there.
    fn append(&mut self, bytes: &[u8]) {
        if let Some(Segment::Own(back)) = self.segments.back_mut()
            && back.len() + bytes.len() <= SEGMENT_BYTES
        {
            return back.extend_from_slice(bytes);
        }
        let mut segment = self.spare.pop().unwrap_or_default();
        segment.extend_from_slice(bytes);
        self.segments.push_back(Segment::Own(segment));
    }

    fn wait(&mut self, frame: Encoded, sender: Sender) -> Ticket {
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        self.waiting.push_back(Waiting {
            ticket,
            frame,
            sender,
        });
        Ticket(ticket)
    }

    /// Lets in what the budget allows, and returns whom to tell.
    fn admit(&mut self, budget_bytes: usize) -> Vec<Waker> {
        let mut woken = Vec::new();
        while let Some(first) = self.waiting.front() {
            let gone = matches!(first.sender, Sender::Gone);
            if !gone && self.queued_bytes >= budget_bytes {
                break;
            }
            let Some(first) = self.waiting.pop_front() else {
                break;
            };
            if gone {
                self.unawaited_bytes -= first.frame.len();
            }
            self.enter(first.frame);
            if let Sender::Waits(Some(waker)) = first.sender {
                woken.push(waker);
            }
        }
        // Not for every bit of room, of which whoever comes first would take all.
        if self.waiting.is_empty() && self.queued_bytes <= budget_bytes / 2 {
            woken.extend(self.rooms.let_in());
        }
        woken
    }

    /// Returns whether the next frame would enter at once.
    fn has_room(&self, budget_bytes: usize) -> bool {
        self.waiting.is_empty() && self.queued_bytes < budget_bytes
    }

    fn find(&self, ticket: Ticket) -> Option<usize> {
        // Tickets grow along the queue.
        self.waiting
            .binary_search_by_key(&ticket.0, |waiting| waiting.ticket)
            .ok()
    }
}

impl Sender {
    fn wake(self) {
        if let Self::Waits(Some(waker)) = self {
            waker.wake();
        }
    }
}

/// Waits for a frame's turn; see [`Outbox::admitted`].
#[derive(Debug)]
pub(crate) struct Admitted<'a> {
    outbox: &'a Outbox,
    ticket: Option<Ticket>,
}

impl Future for Admitted<'_> {
    type Output = Result<(), OutboxClosed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(ticket) = self.ticket else {
            return Poll::Ready(Ok(()));
        };
        let admitted = self.outbox.poll_admitted(ticket, cx);
        if admitted.is_ready() {
            self.ticket = None;
        }
        admitted
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.outbox.withdraw(ticket);
        }
    }
}

#[cfg(test)]
mod tests;
