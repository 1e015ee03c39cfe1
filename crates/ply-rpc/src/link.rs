//! The task behind a link: it moves bytes, and leaves every decision to [`Dispatch`].

use std::future::Future;
use std::io::ErrorKind;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::Sleep;

use crate::calls::Calls;
use crate::codec::Decoder;
use crate::dispatch::Dispatch;
use crate::outbox::Outbox;
use crate::peer::Shared;
use crate::served::Served;
use crate::{Closed, Handler, Options, Peer};

/// Joins `reader` and `writer` into a link to the peer at their other end.
///
/// Nothing happens until the returned [`Link`] is polled; spawn it or await it. It ends with the reason why it ended.
pub fn connect<R, W, H>(reader: R, writer: W, handler: H, options: Options) -> (Peer, Link<R, W, H>)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    H: Handler,
{
    let limits = options.limits.clone();
    let shared = Arc::new(Shared {
        outbox: Outbox::new(limits.outbox_bytes),
        calls: Calls::default(),
        served: Served::default(),
        noise: Mutex::default(),
        closed: OnceLock::new(),
        ended: Notify::new(),
        options,
    });
    let peer = Peer {
        shared: Arc::clone(&shared),
    };
    let link = Link {
        reader,
        decoder: Decoder::new(limits.line_bytes),
        dispatch: Dispatch::new(peer.clone(), handler),
        writer,
        segment: Vec::new(),
        written: 0,
        unflushed: false,
        phase: Phase::Open,
        timer: None,
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
    writer: W,
    /// What is being written, and how much of it is.
    segment: Vec<u8>,
    written: usize,
    unflushed: bool,
    phase: Phase,
    /// Ends the current wait that must not last: a stall while open, the last answers while draining.
    timer: Option<(Wait, Pin<Box<Sleep>>)>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
enum Phase {
    Open,
    /// No more is read; answers still owed are written.
    Draining(Closed),
    /// Nothing can be written any more; what the peer sent before is still read.
    Deaf(Closed),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    Stall,
    Drain,
}

/// What one attempt at reading or writing brought.
enum Step {
    Moved,
    Stuck,
}

impl<R, W, H> Future for Link<R, W, H>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    H: Handler + Unpin,
{
    type Output = Closed;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Closed> {
        match self.step(cx) {
            Ok(()) => Poll::Pending,
            Err(reason) => {
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
        loop {
            let read = self.read(cx)?;
            // After reading, so that answers given meanwhile leave in the same round.
            let wrote = self.write(cx)?;
            self.check_end(cx)?;
            if matches!((read, wrote), (Step::Stuck, Step::Stuck)) {
                return Ok(());
            }
        }
    }

    fn read(&mut self, cx: &mut Context<'_>) -> Result<Step, Closed> {
        match self.phase {
            Phase::Draining(_) => return Ok(Step::Stuck),
            Phase::Open if self.shared.outbox.poll_closing(cx) => {
                self.end_input(Closed::Local);
                // Ours to end, so what we still work on for the peer ends too, answered as cancelled.
                self.shared.served.cancel_all();
                return Ok(Step::Moved);
            }
            Phase::Open => {
                if self.must_pause(cx) {
                    return Ok(Step::Stuck);
                }
            }
            Phase::Deaf(_) => {}
        }
        let filled = pin!(self.reader.read_buf(self.decoder.buffer())).poll(cx);
        match filled {
            Poll::Pending => Ok(Step::Stuck),
            Poll::Ready(Ok(0)) => {
                let reason = match self.decoder.finish() {
                    Some(frame) => self.dispatch.last_frame(frame),
                    None => Closed::Eof,
                };
                self.end_input(reason);
                Ok(Step::Moved)
            }
            Poll::Ready(Ok(_)) => {
                while let Some(frame) = self.decoder.next_frame() {
                    self.dispatch.frame(frame)?;
                }
                Ok(Step::Moved)
            }
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => Ok(Step::Moved),
            // A child that dies resets a socket where it would close a pipe.
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::ConnectionReset => {
                self.end_input(Closed::Eof);
                Ok(Step::Moved)
            }
            Poll::Ready(Err(error)) => Err(Closed::Read(Arc::new(error))),
        }
    }

    /// Whether to leave input unread for now: our answers are not being read, or the handler wants a rest.
    fn must_pause(&mut self, cx: &mut Context<'_>) -> bool {
        let limits = &self.shared.options.limits;
        if self.shared.outbox.queued_bytes() > limits.outbox_bytes + limits.answer_bytes {
            let stall_time = limits.stall_time;
            self.arm(Wait::Stall, stall_time);
            return true;
        }
        self.dispatch.handler.poll_ready(cx).is_pending() && !self.shared.calls.has_urgent()
    }

    fn write(&mut self, cx: &mut Context<'_>) -> Result<Step, Closed> {
        if matches!(self.phase, Phase::Deaf(_)) {
            return Ok(Step::Stuck);
        }
        let mut step = Step::Stuck;
        loop {
            if self.written == self.segment.len() {
                self.shared
                    .outbox
                    .recycle(std::mem::take(&mut self.segment));
                self.written = 0;
                match self.shared.outbox.poll_take() {
                    Poll::Ready(segment) => self.segment = segment,
                    Poll::Pending => break,
                }
            }
            let rest = self.segment.get(self.written..).unwrap_or_default();
            match Pin::new(&mut self.writer).poll_write(cx, rest) {
                Poll::Pending => return Ok(step),
                Poll::Ready(Ok(0)) => return self.go_deaf(ErrorKind::WriteZero.into()),
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Ready(Ok(bytes)) => {
                    self.written += bytes;
                    self.shared.outbox.written(bytes);
                    self.unflushed = true;
                    self.timer.take_if(|(wait, _)| *wait == Wait::Stall);
                    step = Step::Moved;
                }
                Poll::Ready(Err(error)) => return self.go_deaf(error),
            }
        }
        if self.unflushed {
            match Pin::new(&mut self.writer).poll_flush(cx) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => self.unflushed = false,
                Poll::Ready(Err(error)) => return self.go_deaf(error),
            }
        }
        Ok(step)
    }

    /// Goes on reading after a failed write: the peer may have answered before it closed its end.
    fn go_deaf(&mut self, error: std::io::Error) -> Result<Step, Closed> {
        self.shared.outbox.close();
        self.segment = Vec::new();
        self.written = 0;
        self.unflushed = false;
        if let Phase::Draining(reason) = &self.phase {
            return Err(reason.clone());
        }
        self.phase = Phase::Deaf(Closed::Write(Arc::new(error)));
        let drain_time = self.shared.options.limits.drain_time;
        self.arm(Wait::Drain, drain_time);
        Ok(Step::Moved)
    }

    /// Fails our own calls at once and gives the peer's requests time to be answered.
    fn end_input(&mut self, reason: Closed) {
        self.shared.calls.close(&reason);
        self.dispatch.ended(&reason);
        self.phase = Phase::Draining(reason);
        let drain_time = self.shared.options.limits.drain_time;
        self.arm(Wait::Drain, drain_time);
    }

    fn check_end(&mut self, cx: &mut Context<'_>) -> Result<(), Closed> {
        if let Phase::Draining(reason) = &self.phase {
            let Shared { served, outbox, .. } = &*self.shared;
            let answered = served.is_empty() && outbox.queued_bytes() == 0 && !self.unflushed;
            if answered || outbox.is_closed() {
                return Err(reason.clone());
            }
        }
        let Some((wait, timer)) = &mut self.timer else {
            return Ok(());
        };
        if timer.as_mut().poll(cx).is_pending() {
            return Ok(());
        }
        Err(match (&self.phase, wait) {
            (Phase::Draining(reason) | Phase::Deaf(reason), _) => reason.clone(),
            (Phase::Open, _) => Closed::NotReading {
                after: self.shared.options.limits.stall_time,
                bytes: self.shared.outbox.queued_bytes(),
            },
        })
    }

    fn arm(&mut self, wait: Wait, after: Duration) {
        if self.timer.as_ref().is_none_or(|(armed, _)| *armed != wait) {
            self.timer = Some((wait, Box::pin(tokio::time::sleep(after))));
        }
    }
}

impl<R, W, H> Drop for Link<R, W, H> {
    fn drop(&mut self) {
        // After a regular end this changes nothing: the first reason counts.
        self.shared.close(&Closed::Local);
    }
}
