//! Lines out of a blocking reader.

use std::io::Read;

use memchr::memchr;

use crate::Result;

/// One read takes at most what a pipe holds.
const READ_BYTES: usize = 64 * 1024;

/// Splits a byte stream at line ends and lends out each line from its own buffer.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// The unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Lines {
            source,
            buffer: vec![0; 2 * READ_BYTES],
            start: 0,
            end: 0,
        }
    }

    pub(crate) fn source(&mut self) -> &mut R {
        &mut self.source
    }

    /// Whether the next line is here without another read.
    pub(crate) fn has_line(&self) -> bool {
        self.find_end(self.start).is_some()
    }

    /// Returns the next line without its end, or `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>> {
        // A long line arrives in many reads; each byte is searched once.
        let mut searched = self.start;
        loop {
            if let Some(end) = self.find_end(searched) {
                let line = self.start..end;
                self.start = end + 1;
                return Ok(self.buffer.get(line));
            }
            let pending = self.end - self.start;
            if self.fill()? == 0 {
                return match pending {
                    0 => Ok(None),
                    _ => Err("the stream ended inside a line".into()),
                };
            }
            // `fill` may have moved the pending bytes to the front.
            searched = self.start + pending;
        }
    }

    /// Returns the next line of a peer that must not stop yet.
    pub(crate) fn expect_next(&mut self) -> Result<&[u8]> {
        self.next()?
            .ok_or_else(|| "the agent closed its output".into())
    }

    fn find_end(&self, from: usize) -> Option<usize> {
        let unsearched = self.buffer.get(from..self.end)?;
        memchr(b'\n', unsearched).map(|offset| from + offset)
    }

    fn fill(&mut self) -> Result<usize> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
        if self.buffer.len() - self.end < READ_BYTES {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            if self.buffer.len() - self.end < READ_BYTES {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let count = self.source.read(room)?;
        self.end += count;
        Ok(count)
    }
}
