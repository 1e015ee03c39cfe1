//! Reads a trace, also one that is damaged.

use std::io::{self, BufRead, Read as _};

use super::{Entry, Header, LINE_BYTES_MAX};

/// Reads the entries of a trace, one line at a time.
///
/// A recording may have been cut off in the middle of a line, and other programs may have written
/// between its lines. Such lines are counted and left out.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    header: Option<Header>,
    line: Vec<u8>,
    /// The first line, if it is no header.
    first: Option<Vec<u8>>,
    foreign: u64,
    is_torn: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// The input cannot be read. A header that is missing is no error: see [`Reader::header`].
    pub fn new(input: R) -> io::Result<Self> {
        let mut reader = Self {
            input,
            header: None,
            line: Vec::new(),
            first: None,
            foreign: 0,
            is_torn: false,
        };
        if reader.read_line()? {
            match Header::decode(&reader.line) {
                Some(header) => reader.header = Some(header),
                None => reader.first = Some(std::mem::take(&mut reader.line)),
            }
        }
        Ok(reader)
    }

    /// Returns what the first line said, if it was a header.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Returns how many lines so far were no entries.
    pub fn foreign(&self) -> u64 {
        self.foreign
    }

    /// Returns whether the last line was cut off.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Reads the next line that is not too long; false at the end.
    fn read_line(&mut self) -> io::Result<bool> {
        loop {
            self.line.clear();
            let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
            let mut limited = (&mut self.input).take(limit);
            if limited.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(false);
            }
            if self.line.last() == Some(&b'\n') {
                self.line.pop();
                return Ok(true);
            }
            if self.line.len() < LINE_BYTES_MAX {
                self.is_torn = true;
                return Ok(true);
            }
            self.foreign += 1;
            self.input.skip_until(b'\n')?;
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.first.take() {
                Some(line) => self.line = line,
                None => match self.read_line() {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(error) => return Some(Err(error)),
                },
            }
            match Entry::decode(&self.line) {
                Some(entry) => {
                    // Whole after all, but for its end.
                    self.is_torn = false;
                    return Some(Ok(entry));
                }
                // Counted as torn already.
                None if self.is_torn => {}
                None if self.line.iter().all(u8::is_ascii_whitespace) => {}
                None => self.foreign += 1,
            }
        }
    }
}
