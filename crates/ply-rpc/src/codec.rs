//! Bytes to lines, without IO: any split of the bytes gives the same lines.

use bytes::{Buf as _, BytesMut};

use crate::limits::{ENDLESS_LINE_FACTOR, HEAD_BYTES_MAX, LINE_BYTES_MAX, READ_BYTES};

/// A buffer that held more than this is given back once little is left in it.
const IDLE_BYTES_MAX: usize = 1024 * 1024;

/// What the decoder found at the end of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// One line, without its newline.
    Line(&'a [u8]),
    /// A line over the limit, skipped; `head` is its beginning.
    TooLong {
        /// Length of the skipped line.
        bytes: u64,
        /// The first [`HEAD_BYTES_MAX`] bytes.
        head: &'a [u8],
    },
    /// A line that never ends. Nothing more is decoded after it.
    Endless {
        /// Bytes seen so far.
        bytes: u64,
    },
}

/// Splits a byte stream into lines under a length limit.
///
/// The driver reads into [`Decoder::buffer`] and then takes frames with [`Decoder::next_frame`] until there are none.
#[derive(Debug)]
pub struct Decoder {
    buf: BytesMut,
    /// Start of the current line in `buf`; what lies before is consumed.
    start: usize,
    /// End of the part of `buf` known to hold no newline.
    scanned: usize,
    line_bytes_max: usize,
    skipping: Option<Skipped>,
    /// A line that never ends was reported; there is nothing to find after it.
    dead: bool,
    /// Keeps the head of the last skipped line alive while its frame is borrowed.
    head: Vec<u8>,
}

#[derive(Debug)]
struct Skipped {
    bytes: u64,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(LINE_BYTES_MAX)
    }
}

impl Decoder {
    /// Returns a decoder that skips lines over `line_bytes_max`.
    #[must_use]
    pub fn new(line_bytes_max: usize) -> Self {
        Self {
            buf: BytesMut::new(),
            start: 0,
            scanned: 0,
            line_bytes_max,
            skipping: None,
            dead: false,
            head: Vec::new(),
        }
    }

    /// Returns the buffer to append input to, with room for one read.
    pub fn buffer(&mut self) -> &mut BytesMut {
        self.drop_consumed();
        let held = self.buf.len();
        if held < IDLE_BYTES_MAX || self.buf.capacity() - held >= READ_BYTES {
            self.buf.reserve(READ_BYTES);
            return &mut self.buf;
        }
        // A long line: make room for the longest at once, since growing would copy what is held. Memory that is not written
        // costs nothing.
        let room = self
            .line_bytes_max
            .saturating_add(READ_BYTES)
            .saturating_sub(held);
        self.buf.reserve(room.max(READ_BYTES));
        ply_sys::expect_large_write(self.buf.spare_capacity_mut());
        &mut self.buf
    }

    /// Appends input; for drivers that hold the bytes already.
    pub fn push(&mut self, bytes: &[u8]) {
        self.drop_consumed();
        self.buf.extend_from_slice(bytes);
    }

    fn drop_consumed(&mut self) {
        let held = self.buf.len();
        self.buf.advance(self.start);
        self.scanned -= self.start;
        self.start = 0;
        if held > IDLE_BYTES_MAX && self.buf.len() < READ_BYTES {
            self.buf = BytesMut::from(self.buf.as_ref());
        }
    }

    /// Returns the next line, or `None` when more input is needed.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.dead {
            return None;
        }
        let unseen = self.buf.get(self.scanned..).unwrap_or_default();
        let Some(offset) = memchr::memchr(b'\n', unseen) else {
            return self.wait_for_more();
        };
        let (from, to) = (self.start, self.scanned + offset);
        self.start = to + 1;
        self.scanned = self.start;
        if let Some(skipped) = self.skipping.take() {
            let bytes = skipped.bytes + (to - from) as u64;
            return Some(self.skipped(bytes));
        }
        if to - from > self.line_bytes_max {
            self.keep_head(from, to);
            return Some(self.skipped((to - from) as u64));
        }
        self.buf.get(from..to).map(Frame::Line)
    }

    /// Returns the last line when the input ended without a newline.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        if let Some(skipped) = self.skipping.take() {
            let bytes = skipped.bytes + (self.buf.len() - self.start) as u64;
            self.start = self.buf.len();
            self.scanned = self.start;
            return Some(self.skipped(bytes));
        }
        let from = self.start;
        self.start = self.buf.len();
        self.scanned = self.start;
        let line = self.buf.get(from..).unwrap_or_default();
        (!line.is_empty()).then_some(Frame::Line(line))
    }

    /// Notes that no newline is in sight, and starts or goes on skipping a line that is too long.
    fn wait_for_more(&mut self) -> Option<Frame<'_>> {
        self.scanned = self.buf.len();
        let held = self.buf.len() - self.start;
        if self.skipping.is_none() {
            if held <= self.line_bytes_max {
                return None;
            }
            self.keep_head(self.start, self.buf.len());
            self.skipping = Some(Skipped { bytes: 0 });
        }
        let skipped = self.skipping.as_mut()?;
        skipped.bytes += held as u64;
        if held > IDLE_BYTES_MAX {
            // The large buffer goes now, not when the line ends: the line may never end.
            self.buf = BytesMut::new();
        }
        self.buf.clear();
        self.start = 0;
        self.scanned = 0;
        let bytes = skipped.bytes;
        self.is_endless(bytes).then(|| self.skipped(bytes))
    }

    fn keep_head(&mut self, from: usize, to: usize) {
        let line = self.buf.get(from..to).unwrap_or_default();
        self.head = line.get(..HEAD_BYTES_MAX).unwrap_or(line).to_vec();
    }

    fn is_endless(&self, bytes: u64) -> bool {
        bytes > (self.line_bytes_max as u64).saturating_mul(ENDLESS_LINE_FACTOR)
    }

    /// Reports a skipped line; whether its end was seen does not matter once it is far too long.
    fn skipped(&mut self, bytes: u64) -> Frame<'_> {
        if self.is_endless(bytes) {
            self.dead = true;
            return Frame::Endless { bytes };
        }
        Frame::TooLong {
            bytes,
            head: &self.head,
        }
    }
}

#[cfg(test)]
mod tests;
