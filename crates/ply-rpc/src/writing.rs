//! The writing half of a link.
//!
//! It belongs to the link's task. A caller that finds the task asleep and nothing else to write may use it for one request:
//! waking another thread only to have it write takes longer than writing.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::AsyncWrite;

use crate::outbox::{Outbox, Segment};

/// Where bytes go, and what is on its way there.
#[derive(Debug)]
pub(crate) struct Writing<W> {
    writer: W,
    /// What is being written, and how much of it is.
    segment: Segment,
    written: usize,
    unflushed: bool,
}

/// How far writing has come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wrote {
    /// Whether the transport took anything.
    pub(crate) moved: bool,
    /// Whether the outbox has no more.
    pub(crate) emptied: bool,
}

impl<W: AsyncWrite + Unpin> Writing<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self {
            writer,
            segment: Segment::default(),
            written: 0,
            unflushed: false,
        }
    }

    /// Writes until there is no more, or the transport takes no more.
    pub(crate) fn write(&mut self, outbox: &Outbox, cx: &mut Context<'_>) -> io::Result<Wrote> {
        let mut wrote = Wrote {
            moved: false,
            emptied: false,
        };
        loop {
            if self.written == self.segment.len() {
                let segment = std::mem::take(&mut self.segment);
                outbox.recycle(segment);
                self.written = 0;
                match outbox.poll_take() {
                    Poll::Ready(segment) => self.segment = segment,
                    Poll::Pending => {
                        wrote.emptied = true;
                        break;
                    }
                }
            }
            let rest = self.segment.get(self.written..).unwrap_or_default();
            match Pin::new(&mut self.writer).poll_write(cx, rest) {
                Poll::Pending => return Ok(wrote),
                Poll::Ready(Ok(0)) => return Err(ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(bytes)) => {
                    self.written += bytes;
                    outbox.written(bytes);
                    self.unflushed = true;
                    wrote.moved = true;
                }
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        if self.unflushed {
            match Pin::new(&mut self.writer).poll_flush(cx) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => {
                    self.unflushed = false;
                    outbox.flushed();
                }
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        Ok(wrote)
    }

    /// Gives up what was not written.
    pub(crate) fn clear(&mut self) {
        self.segment = Segment::default();
        self.written = 0;
        self.unflushed = false;
    }

    pub(crate) fn is_flushed(&self) -> bool {
        !self.unflushed
    }

    fn is_idle(&self) -> bool {
        self.written == self.segment.len() && !self.unflushed
    }
}

/// A writing half that callers can use.
pub(crate) trait Direct: Send + Sync {
    /// Writes what is in the outbox, if nobody else does; returns whether nothing is left for the link's task.
    fn write_now(&self, outbox: &Outbox) -> bool;
}

impl<W: AsyncWrite + Unpin + Send> Direct for Mutex<Writing<W>> {
    fn write_now(&self, outbox: &Outbox) -> bool {
        let Ok(mut writing) = self.try_lock() else {
            return false;
        };
        if !writing.is_idle() {
            return false;
        }
        // The link's task is woken for everything but success, and asks again for itself.
        let mut cx = Context::from_waker(Waker::noop());
        let wrote = writing.write(outbox, &mut cx);
        wrote.is_ok_and(|wrote| wrote.emptied) && writing.is_flushed()
    }
}

pub(crate) fn lock<W>(writing: &Mutex<Writing<W>>) -> MutexGuard<'_, Writing<W>> {
    // A transport that panics has said all that it will, and the rest is whole.
    writing.lock().unwrap_or_else(PoisonError::into_inner)
}
