//! The task behind a link: it moves bytes, and leaves every decision to [`Dispatch`].

use std::future::Future;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::Sleep;

use crate::calls::Calls;
use crate::codec::Decoder;
use crate::dispatch::Dispatch;
use crate::limits::{BURST_MESSAGES_MAX, DRAIN_TIME_MAX, READ_IDLE_TIME_MAX};
use crate::ordered::Overdue;
use crate::outbox::Outbox;
use crate::peer::Shared;
use crate::served::Served;
use crate::writing::{self, Direct, Writing};
use crate::{Closed, Handler, Options, Peer};

/// Joins `reader` and `writer` into a link to the peer at their other end.
///
/// Nothing happens until the returned [`Link`] is polled; spawn it or await it. It ends with the reason why it ended.
pub fn connect<R, W, H>(reader: R, writer: W, handler: H, options: Options) -> (Peer, Link<R, W, H>)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
    H: Handler + Unpin,
{
    let limits = options.limits.clone();
    let writing = Arc::new(Mutex::new(Writing::new(writer)));
    let direct: Weak<dyn Direct> = Arc::downgrade(&(Arc::clone(&writing) as Arc<dyn Direct>));
    let shared = Arc::new(Shared {
        outbox: Outbox::new(limits.outbox_bytes),
        calls: Calls::default(),
        served: Served::default(),
        noise: Mutex::default(),
        unwritable: OnceLock::new(),
        closed: OnceLock::new(),
        ended: Notify::new(),
        odd_ids_get_null: AtomicBool::new(false),
        direct,
        options,
    });
    let peer = Peer {
        shared: Arc::clone(&shared),
    };
    let link = Link {
        reader,
        decoder: Decoder::new(limits.line_bytes),
        dispatch: Dispatch::new(peer.clone(), handler),
        writing,
        phase: Phase::Open,
        deadline: None,
        idle: None,
        overdue: Overdue::default(),
        shared,
    };
    (peer, link)
}

/// The task behind a link, as a future that reads, hands over and writes until the link is over.
///
/// Reading and writing take turns in one task but never wait for each other, so two peers with full pipes cannot lock up.
/// Dropping the link closes it.
#[must_use = "a link does nothing until it is polled"]
#[derive(Debug)]
pub struct Link<R, W, H> {
    reader: R,
    decoder: Decoder,
    dispatch: Dispatch<H>,
    writing: Arc<Mutex<Writing<W>>>,
    phase: Phase,
    /// Ends every phase but the first.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Runs while nothing can be written and there is nothing to read.
    idle: Option<Pin<Box<Sleep>>>,
    overdue: Overdue,
    shared: Arc<Shared>,
}

#[derive(Debug)]
enum Phase {
    Open,
    /// No more is read; answers still owed are written.
    Draining(Closed),
    /// Nothing can be written any more; what the peer sent before is still read.
    ReadOnly(Closed),
}

/// What one attempt at reading or writing brought.
enum Step {
    Moved,
    /// The transport has no more bytes, or takes no more.
    Stuck,
    /// The handler wants a rest, or other tasks their turn; there may be more to read.
    Paused,
}

impl<R, W, H> Future for Link<R, W, H>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    H: Handler + Unpin,
{
    type Output = Closed;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Closed> {
        // Neither the handler nor whoever waits for an answer would hear of a task that is gone.
        let step = catch_unwind(AssertUnwindSafe(|| self.step(cx)));
        match step.unwrap_or(Err(Closed::Panicked)) {
            Ok(()) => Poll::Pending,
            Err(reason) => {
                if !matches!(self.phase, Phase::Draining(_)) {
                    self.shared.calls.close(&reason);
                    self.dispatch.ended(&reason);
                }
                self.shared.close(&reason);
                Poll::Ready(reason)
            }
        }
    }
}

impl<R, W, H> Link<R, W, H>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    H: Handler + Unpin,
{
    /// Reads and writes until both are stuck; an error ends the link.
    fn step(&mut self, cx: &mut Context<'_>) -> Result<(), Closed> {
        let closing = self.shared.outbox.poll_closing(cx);
        if closing && !matches!(self.phase, Phase::Draining(_)) {
            // Ours to end, so what we still work on for the peer ends too, answered as cancelled.
            self.end_input(Closed::Local, self.shared.options.limits.close_time);
            self.shared.served.cancel_all();
        }
        self.overdue.poll(&self.shared, cx);
        let mut burst = BURST_MESSAGES_MAX;
        loop {
            let read = self.read(cx, &mut burst)?;
            // After reading, so that answers given meanwhile leave in the same round.
            let wrote = self.write(cx)?;
            self.dispatch.caught_up();
            self.check_end(cx, &read)?;
            if burst == 0 {
                cx.waker().wake_by_ref();
                return Ok(());
            }
            if !matches!(read, Step::Moved) && !matches!(wrote, Step::Moved) {
                return Ok(());
            }
        }
    }

    /// Hands over what has come, at most `burst` messages.
    fn read(&mut self, cx: &mut Context<'_>, burst: &mut usize) -> Result<Step, Closed> {
        if matches!(self.phase, Phase::Draining(_)) {
            return Ok(Step::Stuck);
        }
        // Asked before each message, so that a handler's wish for a rest is heard at once.
        while *burst > 0 && !self.must_pause(cx) {
            if let Some(frame) = self.decoder.next_frame() {
                *burst -= 1;
                self.dispatch.frame(frame)?;
                continue;
            }
            return match pin!(self.reader.read(self.decoder.room())).poll(cx) {
                Poll::Pending => Ok(Step::Stuck),
                Poll::Ready(Ok(0)) => Ok(self.end_of_input()),
                Poll::Ready(Ok(bytes)) => {
                    self.decoder.filled(bytes);
                    Ok(Step::Moved)
                }
                Poll::Ready(Err(error)) => match error.kind() {
                    ErrorKind::Interrupted => Ok(Step::Moved),
                    // A child that dies resets a socket where it would close a pipe.
                    ErrorKind::ConnectionReset => Ok(self.end_of_input()),
                    _ => Err(Closed::Read(Arc::new(error))),
                },
            };
        }
        Ok(Step::Paused)
    }

    /// Whether to leave input unread for now, because the handler wants a rest.
    ///
    /// While a call of ours waits for its answer, input is read all the same: the handler may need the answer to go on.
    fn must_pause(&mut self, cx: &mut Context<'_>) -> bool {
        if self.dispatch.handler.poll_ready(cx).is_ready() {
            return false;
        }
        // Before the check, so that a call made right after it is noticed.
        self.shared.outbox.wake_for_next_frame();
        !self.shared.calls.has_urgent()
    }

    fn write(&mut self, cx: &mut Context<'_>) -> Result<Step, Closed> {
        if self.shared.unwritable.get().is_some() {
            return Ok(Step::Stuck);
        }
        let outbox = &self.shared.outbox;
        let wrote = writing::lock(&self.writing).write(outbox, cx);
        match wrote {
            Ok(wrote) => {
                if wrote.emptied && outbox.let_more_in() {
                    // They go first, and what they send is written together.
                    cx.waker().wake_by_ref();
                }
                Ok(if wrote.moved {
                    Step::Moved
                } else {
                    Step::Stuck
                })
            }
            Err(error) => self.write_failed(error),
        }
    }

    /// Goes on reading after a failed write: the peer may have answered before it closed its end.
    fn write_failed(&mut self, error: std::io::Error) -> Result<Step, Closed> {
        let reason = Closed::Write(Arc::new(error));
        let reason = self.shared.unwritable.get_or_init(|| reason).clone();
        self.shared.outbox.close();
        writing::lock(&self.writing).clear();
        if let Phase::Draining(reason) = &self.phase {
            return Err(reason.clone());
        }
        self.phase = Phase::ReadOnly(reason);
        // Not the drain time of the options: that is for writing, and the client's is short.
        self.deadline = Some(Box::pin(tokio::time::sleep(DRAIN_TIME_MAX)));
        Ok(Step::Moved)
    }

    fn end_of_input(&mut self) -> Step {
        let reason = match self.decoder.finish() {
            Some(frame) => self.dispatch.last_frame(frame),
            None => Closed::Eof,
        };
        self.end_input(reason, self.shared.options.limits.drain_time);
        Step::Moved
    }

    /// Fails our own calls at once and gives the peer's requests time to be answered.
    fn end_input(&mut self, reason: Closed, drain_time: Duration) {
        self.shared.calls.close(&reason);
        self.dispatch.ended(&reason);
        self.phase = Phase::Draining(reason);
        self.shared.outbox.drain();
        self.deadline = Some(Box::pin(tokio::time::sleep(drain_time)));
    }

    fn check_end(&mut self, cx: &mut Context<'_>, read: &Step) -> Result<(), Closed> {
        let reason = match &self.phase {
            Phase::Open => return Ok(()),
            Phase::Draining(reason) | Phase::ReadOnly(reason) => reason,
        };
        if matches!(self.phase, Phase::Draining(_)) {
            let Shared { served, outbox, .. } = &*self.shared;
            // In this order: an answer is in the outbox before its request is gone.
            let answered =
                served.is_empty() && outbox.is_empty() && writing::lock(&self.writing).is_flushed();
            if answered || outbox.is_closed() {
                return Err(reason.clone());
            }
        }
        let mut passed = match &mut self.deadline {
            Some(deadline) => deadline.as_mut().poll(cx).is_ready(),
            None => true,
        };
        if matches!(self.phase, Phase::ReadOnly(_)) {
            // The time counts only while there is nothing to read, not while a handler rests on unread input.
            if matches!(read, Step::Stuck) {
                let idle = || Box::pin(tokio::time::sleep(READ_IDLE_TIME_MAX));
                passed |= self
                    .idle
                    .get_or_insert_with(idle)
                    .as_mut()
                    .poll(cx)
                    .is_ready();
            } else {
                self.idle = None;
            }
        }
        if passed { Err(reason.clone()) } else { Ok(()) }
    }
}

impl<R, W, H> Drop for Link<R, W, H> {
    fn drop(&mut self) {
        // After a regular end this changes nothing: the first reason counts.
        self.shared.close(&Closed::Local);
    }
}
