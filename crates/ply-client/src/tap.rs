//! Every line between client and agent, shown to whoever wants to see it.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Who sent a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client, to the agent.
    ToAgent,
    /// The agent, to the client.
    ToClient,
}

/// Sees each line, without its line end, as it was sent.
pub(crate) type OnLine = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// Puts lines together from pieces.
pub(crate) struct Tap {
    direction: Direction,
    sink: OnLine,
    line_bytes_max: usize,
    part: Vec<u8>,
}

impl Tap {
    pub(crate) fn new(direction: Direction, sink: OnLine, line_bytes_max: usize) -> Self {
        Self {
            direction,
            sink,
            line_bytes_max,
            part: Vec::new(),
        }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.part.is_empty() {
                self.show(line);
            } else {
                self.keep(line);
                self.show(&self.part);
                self.part.clear();
            }
        }
        self.keep(bytes);
    }

    /// Shows a line. A log that panics must not cost the connection, on whose task it runs.
    fn show(&self, line: &[u8]) {
        let shown = AssertUnwindSafe(|| (self.sink)(self.direction, line));
        if catch_unwind(shown).is_err() {
            tracing::error!("the code that is shown the lines panicked");
        }
    }

    /// Keeps the beginning of a line; of one that is longer than the link takes, no more than that.
    fn keep(&mut self, bytes: &[u8]) {
        let room = self.line_bytes_max.saturating_sub(self.part.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.part.extend_from_slice(kept);
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        if !self.part.is_empty() {
            self.show(&self.part);
        }
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap")
            .field("direction", &self.direction)
            .finish_non_exhaustive()
    }
}

/// A reader or a writer, with a tap if one is wanted.
#[derive(Debug)]
pub(crate) struct Tapped<T> {
    inner: T,
    tap: Option<Tap>,
}

impl<T> Tapped<T> {
    pub(crate) fn new(inner: T, tap: Option<Tap>) -> Self {
        Self { inner, tap }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Tapped<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        if let Some(tap) = &mut self.tap {
            tap.push(buffer.filled().get(before..).unwrap_or_default());
        }
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Tapped<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        if let Some(tap) = &mut self.tap {
            tap.push(bytes.get(..written).unwrap_or(bytes));
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &[&str]) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&seen);
        let sink = move |_: Direction, line: &[u8]| {
            let line = String::from_utf8_lossy(line).into_owned();
            lines.lock().expect("no sink panicked").push(line);
        };
        let mut tap = Tap::new(Direction::ToClient, Arc::new(sink), 8);
        for piece in pieces {
            tap.push(piece.as_bytes());
        }
        drop(tap);
        assert_eq!(*seen.lock().expect("no sink panicked"), expected);
    }

    #[test]
    fn lines_are_seen_whole_however_they_come() {
        check(&["a\nb", "c\n\nd\n"], &["a", "bc", "", "d"]);
        check(&["a", "b", "\n"], &["ab"]);
        check(&["no end"], &["no end"]);
        check(&["12345", "6789", "0\n", "next\n"], &["12345678", "next"]);
    }
}
