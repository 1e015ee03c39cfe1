//! Bytes to lines, without IO: any split of the bytes gives the same lines.

use std::ops::Range;

use ply_sys::Stretch;

use crate::limits::{ENDLESS_LINE_FACTOR, HEAD_BYTES_MAX, LINE_BYTES_MAX, READ_BYTES};

/// What is longer is kept apart, and given back as soon as little is left of it.
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
/// The driver reads into [`Decoder::room`], says how much with [`Decoder::filled`], and then takes frames with
/// [`Decoder::next_frame`] until there are none.
#[derive(Debug)]
pub struct Decoder {
    input: Input,
    /// End of the input; what lies behind it is room.
    end: usize,
    /// Start of the current line; what lies before is consumed.
    start: usize,
    /// End of the part known to hold no newline.
    scanned: usize,
    line_bytes_max: usize,
    skipping: Option<Skipped>,
    /// A line that never ends was reported; there is nothing to find after it.
    dead: bool,
    /// Keeps the head of the last skipped line alive while its frame is borrowed.
    head: Vec<u8>,
}

/// Where the input is, with the room behind it.
#[derive(Debug)]
struct Input {
    short: Vec<u8>,
    /// A long line, which grows without being copied.
    long: Option<Stretch>,
}

impl Input {
    fn bytes(&self) -> &[u8] {
        self.long.as_deref().unwrap_or(&self.short)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.long.as_deref_mut().unwrap_or(&mut self.short)
    }

    /// Goes on in a vector of that length, into which so much of the input goes.
    fn shorten(&mut self, bytes: usize, input: Range<usize>) {
        let kept = self.bytes().get(input).unwrap_or_default();
        let mut short = vec![0; bytes];
        if let Some(to) = short.get_mut(..kept.len()) {
            to.copy_from_slice(kept);
        }
        *self = Self { short, long: None };
    }
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
            input: Input {
                short: Vec::new(),
                long: None,
            },
            end: 0,
            start: 0,
            scanned: 0,
            line_bytes_max,
            skipping: None,
            dead: false,
            head: Vec::new(),
        }
    }

    /// Returns where the next input goes, which is not empty.
    pub fn room(&mut self) -> &mut [u8] {
        self.drop_consumed();
        let has = self.input.bytes().len();
        if has < READ_BYTES || has - self.end < READ_BYTES / 2 {
            self.grow();
        }
        let end = self.end;
        self.input.bytes_mut().get_mut(end..).unwrap_or_default()
    }

    /// Takes as many bytes as were written into the room.
    pub fn filled(&mut self, bytes: usize) {
        self.end = (self.end + bytes).min(self.input.bytes().len());
    }

    /// Appends input; for drivers that hold the bytes already.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            if let Some(room) = room.get_mut(..now.len()) {
                room.copy_from_slice(now);
            }
            self.filled(now.len());
            bytes = later;
        }
    }

    /// Makes room for one read more.
    fn grow(&mut self) {
        let wanted = self.end + READ_BYTES;
        // As much as a driver needs that looks for lines after each read.
        let bytes_max = self.line_bytes_max.saturating_add(2 * READ_BYTES);
        let is_long = wanted > IDLE_BYTES_MAX && wanted <= bytes_max;
        if self.input.long.is_none() && is_long {
            self.input.long = Stretch::new(bytes_max).and_then(|mut long| {
                let held = self.input.short.get(..self.end)?;
                if !long.grow(wanted) {
                    return None;
                }
                long.get_mut(..held.len())?.copy_from_slice(held);
                Some(long)
            });
            if self.input.long.is_some() {
                // It is as long as it was, for the lines that follow.
                return;
            }
        }
        let has_grown = self.input.long.as_mut().is_some_and(|it| it.grow(wanted));
        if !has_grown {
            let doubled = match wanted <= IDLE_BYTES_MAX {
                true => IDLE_BYTES_MAX.min(2 * self.end),
                false => 2 * self.end,
            };
            self.input.shorten(wanted.max(doubled), 0..self.end);
        }
    }

    fn drop_consumed(&mut self) {
        if self.start == 0 {
            return;
        }
        let left = self.start..self.end;
        self.scanned -= self.start;
        (self.start, self.end) = (0, left.len());
        if let Some(long) = self.input.long.take_if(|_| left.len() < READ_BYTES) {
            let (to, from) = (self.input.short.get_mut(..left.len()), long.get(left));
            if let Some((to, from)) = to.zip(from) {
                to.copy_from_slice(from);
            }
        } else {
            self.input.bytes_mut().copy_within(left, 0);
        }
    }

    /// Returns the next line, or `None` when more input is needed.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.dead {
            return None;
        }
        let unseen = self.between(self.scanned, self.end);
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
        Some(Frame::Line(self.between(from, to)))
    }

    /// Returns the last line when the input ended without a newline.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        let from = self.start;
        self.start = self.end;
        self.scanned = self.end;
        if let Some(skipped) = self.skipping.take() {
            let bytes = skipped.bytes + (self.end - from) as u64;
            return Some(self.skipped(bytes));
        }
        let line = self.between(from, self.end);
        (!line.is_empty()).then_some(Frame::Line(line))
    }

    fn between(&self, from: usize, to: usize) -> &[u8] {
        self.input.bytes().get(from..to).unwrap_or_default()
    }

    /// Notes that no newline is in sight, and starts or goes on skipping a line that is too long.
    fn wait_for_more(&mut self) -> Option<Frame<'_>> {
        self.scanned = self.end;
        let held = self.end - self.start;
        if self.skipping.is_none() {
            if held <= self.line_bytes_max {
                return None;
            }
            self.keep_head(self.start, self.end);
            self.skipping = Some(Skipped { bytes: 0 });
        }
        let skipped = self.skipping.as_mut()?;
        skipped.bytes += held as u64;
        // The large buffer goes now, not when the line ends: the line may never end.
        self.input.long = None;
        self.end = 0;
        self.start = 0;
        self.scanned = 0;
        let bytes = skipped.bytes;
        self.is_endless(bytes).then(|| self.skipped(bytes))
    }

    fn keep_head(&mut self, from: usize, to: usize) {
        let line = self.between(from, to);
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
