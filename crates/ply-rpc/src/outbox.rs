//! The outgoing queue: many senders, one writer, a byte budget that makes senders wait.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::{Notify, Semaphore};

use crate::frame::Encoded;
use crate::limits::SEGMENT_BYTES;

/// Emptied segments kept for reuse.
const SPARE_SEGMENTS_MAX: usize = 2;

/// Frames on their way out, in order.
///
/// The lock is held to copy a small frame or to move a large one, never while encoding or writing.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Senders over the budget pass one at a time, in the order they came.
    turnstile: Semaphore,
    /// There is room again, for the sender at the turnstile.
    drained: Notify,
    /// Everything was written, or nothing more will be.
    emptied: Notify,
    budget_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    segments: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    /// Bytes in `segments` and in what the writer took and has not written yet.
    queued_bytes: usize,
    /// Senders at the turnstile or before it.
    waiting: usize,
    writer: Option<Waker>,
    /// The writer found nothing to do and must be woken for the next frame.
    idle: bool,
    closing: bool,
    closed: bool,
}

/// The link can take no more messages.
#[derive(Debug)]
pub(crate) struct OutboxClosed;

impl Outbox {
    pub(crate) fn new(budget_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            turnstile: Semaphore::new(1),
            drained: Notify::new(),
            emptied: Notify::new(),
            budget_bytes,
        }
    }

    /// Queues a frame, waiting while the queue is over its budget.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the frame is not sent and no one else's turn is lost.
    pub(crate) async fn push(&self, frame: Encoded) -> Result<(), OutboxClosed> {
        match self.try_push(frame)? {
            None => Ok(()),
            Some(frame) => self.push_in_turn(frame).await,
        }
    }

    /// Queues a frame, or gives it back if it would have to wait.
    pub(crate) fn try_push(&self, frame: Encoded) -> Result<Option<Encoded>, OutboxClosed> {
        let state = self.lock();
        if state.closed {
            return Err(OutboxClosed);
        }
        if state.waiting > 0 || state.queued_bytes >= self.budget_bytes {
            return Ok(Some(frame));
        }
        Self::append(state, frame);
        Ok(None)
    }

    async fn push_in_turn(&self, frame: Encoded) -> Result<(), OutboxClosed> {
        let _waiting = Waiting::new(self);
        let _turn = self.turnstile.acquire().await.map_err(|_| OutboxClosed)?;
        loop {
            // Made before the check, so that room found between check and wait is not missed.
            let drained = self.drained.notified();
            {
                let state = self.lock();
                if state.closed {
                    return Err(OutboxClosed);
                }
                if state.queued_bytes < self.budget_bytes {
                    Self::append(state, frame);
                    return Ok(());
                }
            }
            drained.await;
        }
    }

    /// Queues a frame without waiting: answers, and messages that must not wait behind a full queue.
    pub(crate) fn push_now(&self, frame: Encoded) -> Result<(), OutboxClosed> {
        let state = self.lock();
        if state.closed {
            return Err(OutboxClosed);
        }
        Self::append(state, frame);
        Ok(())
    }

    fn append(mut state: MutexGuard<'_, State>, frame: Encoded) {
        let bytes = frame.bytes();
        state.queued_bytes += bytes.len();
        if bytes.len() >= SEGMENT_BYTES {
            state.segments.push_back(frame.into_vec());
        } else {
            match state.segments.back_mut() {
                Some(back) if back.len() + bytes.len() <= SEGMENT_BYTES => {
                    back.extend_from_slice(bytes)
                }
                _ => {
                    let mut segment = state.spare.pop().unwrap_or_default();
                    segment.extend_from_slice(bytes);
                    state.segments.push_back(segment);
                }
            }
            frame.recycle();
        }
        let writer = std::mem::take(&mut state.idle)
            .then(|| state.writer.clone())
            .flatten();
        drop(state);
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    /// Takes the next bytes to write; pending means that the writer will be woken by the next frame.
    pub(crate) fn poll_take(&self) -> Poll<Vec<u8>> {
        let mut state = self.lock();
        match state.segments.pop_front() {
            Some(segment) => Poll::Ready(segment),
            None => {
                state.idle = true;
                Poll::Pending
            }
        }
    }

    /// Returns whether the link was asked to end; if not, the task behind `cx` is woken when it is.
    pub(crate) fn poll_closing(&self, cx: &mut Context<'_>) -> bool {
        let mut state = self.lock();
        if !state
            .writer
            .as_ref()
            .is_some_and(|writer| writer.will_wake(cx.waker()))
        {
            state.writer = Some(cx.waker().clone());
        }
        state.closing
    }

    /// Notes that `bytes` of what was taken are written.
    pub(crate) fn written(&self, bytes: usize) {
        let mut state = self.lock();
        state.queued_bytes = state.queued_bytes.saturating_sub(bytes);
        let room = state.waiting > 0 && state.queued_bytes < self.budget_bytes;
        let empty = state.queued_bytes == 0;
        drop(state);
        if room {
            self.drained.notify_one();
        }
        if empty {
            self.emptied.notify_waiters();
        }
    }

    pub(crate) fn recycle(&self, mut segment: Vec<u8>) {
        if segment.capacity() > 2 * SEGMENT_BYTES {
            return;
        }
        segment.clear();
        let mut state = self.lock();
        if state.spare.len() < SPARE_SEGMENTS_MAX {
            state.spare.push(segment);
        }
    }

    pub(crate) fn queued_bytes(&self) -> usize {
        self.lock().queued_bytes
    }

    /// Waits until all that was queued is written, or never will be.
    pub(crate) async fn flushed(&self) {
        loop {
            let emptied = self.emptied.notified();
            {
                let state = self.lock();
                if state.queued_bytes == 0 || state.closed {
                    return;
                }
            }
            emptied.await;
        }
    }

    /// Asks the writer to write what is queued and then end.
    pub(crate) fn begin_close(&self) {
        let writer = {
            let mut state = self.lock();
            state.closing = true;
            state.writer.clone()
        };
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Drops what is queued and refuses everything more.
    pub(crate) fn close(&self) {
        {
            let mut state = self.lock();
            state.closed = true;
            state.segments.clear();
            state.queued_bytes = 0;
        }
        self.turnstile.close();
        self.drained.notify_waiters();
        self.emptied.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a sender as waiting for as long as it does, also when it is dropped.
struct Waiting<'a>(&'a Outbox);

impl<'a> Waiting<'a> {
    fn new(outbox: &'a Outbox) -> Self {
        outbox.lock().waiting += 1;
        Self(outbox)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn frame(bytes: usize) -> Encoded {
        Encoded::notification(&"x".repeat(bytes), &()).unwrap()
    }

    fn take(outbox: &Outbox) -> Option<Vec<u8>> {
        match outbox.poll_take() {
            Poll::Ready(segment) => Some(segment),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn small_frames_are_joined_and_large_ones_moved_in_order() {
        let outbox = Outbox::new(1 << 30);
        for bytes in [10, 20, SEGMENT_BYTES, 30] {
            outbox.push(frame(bytes)).await.unwrap();
        }
        let sizes: Vec<_> = std::iter::from_fn(|| take(&outbox))
            .map(|segment| segment.len())
            .collect();
        let frame_bytes = |bytes| frame(bytes).bytes().len();
        assert_eq!(
            sizes,
            [
                frame_bytes(10) + frame_bytes(20),
                frame_bytes(SEGMENT_BYTES),
                frame_bytes(30)
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn senders_over_the_budget_wait_and_go_on_in_order() {
        let outbox = Arc::new(Outbox::new(100));
        outbox.push(frame(200)).await.unwrap();
        let mut senders = tokio::task::JoinSet::new();
        for index in 0..20 {
            let outbox = Arc::clone(&outbox);
            senders.spawn(async move { outbox.push(frame(100 + index)).await.unwrap() });
            tokio::task::yield_now().await;
        }
        // One that gives up takes nobody's turn with it.
        senders.spawn({
            let outbox = Arc::clone(&outbox);
            async move {
                let gone = tokio::time::timeout(
                    std::time::Duration::from_millis(1),
                    outbox.push(frame(500)),
                );
                assert!(gone.await.is_err());
            }
        });
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        let mut seen = Vec::new();
        while seen.len() < 21 {
            if let Some(segment) = take(&outbox) {
                seen.push(segment.len());
                outbox.written(segment.len());
            }
            tokio::task::yield_now().await;
            assert!(outbox.queued_bytes() <= 300, "{}", outbox.queued_bytes());
        }
        assert!(seen.iter().skip(1).is_sorted(), "{seen:?}");
        while senders.join_next().await.transpose().unwrap().is_some() {}
    }

    #[tokio::test]
    async fn closing_frees_everyone_who_waits() {
        let outbox = Arc::new(Outbox::new(1));
        outbox.push(frame(10)).await.unwrap();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let outbox = Arc::clone(&outbox);
                tokio::spawn(async move { outbox.push(frame(10)).await })
            })
            .collect();
        tokio::task::yield_now().await;
        outbox.close();
        for sender in waiting {
            assert!(sender.await.unwrap().is_err());
        }
        outbox.flushed().await;
        assert!(outbox.push_now(frame(1)).is_err());
    }
}
