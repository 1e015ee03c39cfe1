//! Cuts a stream of bytes into lines, however they come in.

use ply_check::trace::{FRAME_BYTES_MAX, Lost};

/// What a stream is made of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A line, without its end.
    Line(Vec<u8>),
    /// Something that is not there.
    Lost(Lost),
}

/// The beginning of a line that is not whole yet.
#[derive(Debug)]
pub(super) struct Lines {
    line: Vec<u8>,
    line_bytes_max: usize,
    /// Bytes of a line that is not recorded, and why.
    skipped: Option<(u64, &'static str)>,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new(FRAME_BYTES_MAX)
    }
}

impl Lines {
    pub(super) fn new(line_bytes_max: usize) -> Self {
        Self {
            line: Vec::new(),
            line_bytes_max,
            skipped: None,
        }
    }

    /// Notes that bytes are missing; the line they were in is given up.
    pub(super) fn skip(&mut self, bytes: u64, why: &'static str) {
        let begun = std::mem::take(&mut self.line).len();
        let (skipped, _) = self.skipped.unwrap_or((0, why));
        let begun = u64::try_from(begun).unwrap_or(u64::MAX);
        self.skipped = Some((skipped.saturating_add(bytes).saturating_add(begun), why));
    }

    /// Takes the next bytes and hands over what they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut out: impl FnMut(Part)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = bytes.split_at(end);
            self.extend(head);
            self.end(&mut out);
            bytes = tail.get(1..).unwrap_or_default();
        }
        self.extend(bytes);
    }

    /// Hands over what has no end, because the stream ended first.
    pub(super) fn finish(&mut self, mut out: impl FnMut(Part)) {
        if self.skipped.is_some() || !self.line.is_empty() {
            self.end(&mut out);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        match &mut self.skipped {
            Some((skipped, _)) => *skipped = skipped.saturating_add(count),
            None if self.line.len() + bytes.len() > self.line_bytes_max => {
                self.skip(count, "the line is too long to be recorded");
            }
            None => self.line.extend_from_slice(bytes),
        }
    }

    fn end(&mut self, out: &mut impl FnMut(Part)) {
        let line = std::mem::take(&mut self.line);
        out(match self.skipped.take() {
            Some((bytes, why)) => Part::Lost(Lost::new(1, bytes, why)),
            None => Part::Line(line),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &[&str]) {
        let mut lines = Lines::new(8);
        let mut found = Vec::new();
        let mut take = |part| {
            found.push(match part {
                Part::Line(line) => String::from_utf8(line).unwrap(),
                Part::Lost(lost) => format!("lost {}", lost.bytes),
            });
        };
        for piece in pieces {
            match piece.strip_prefix('!') {
                Some(count) => lines.skip(count.parse().unwrap(), "gap"),
                None => lines.push(piece.as_bytes(), &mut take),
            }
        }
        lines.finish(&mut take);
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_are_the_same_however_their_bytes_come() {
        check(&["a\nbc\n"], &["a", "bc"]);
        check(&["a", "\n", "b", "c\n"], &["a", "bc"]);
        check(&["\n\n"], &["", ""]);
        check(&["a\r\nb"], &["a\r", "b"]);
        check(&[], &[]);
    }

    #[test]
    fn a_line_too_long_costs_itself_alone() {
        check(&["123456789\nb\n"], &["lost 9", "b"]);
        check(&["12345", "67890", "1\nb\n"], &["lost 11", "b"]);
        check(&["12345678\nb\n"], &["12345678", "b"]);
    }

    #[test]
    fn a_gap_costs_the_lines_it_touches() {
        check(&["a\nb", "!10", "c\nd\n"], &["a", "lost 12", "d"]);
        check(&["a\nb", "!10"], &["a", "lost 11"]);
    }
}
