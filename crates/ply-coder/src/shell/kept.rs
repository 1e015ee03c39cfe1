//! The part of a text that is kept in memory: its end, or its beginning and its end.

use std::collections::VecDeque;

/// The end of a text of any length.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    bytes_max: usize,
    /// How long the text is in all.
    total: u64,
}

impl Tail {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            bytes_max,
            total: 0,
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn push(&mut self, text: &str) {
        self.total += text.len() as u64;
        let fits = text.len().saturating_sub(self.bytes_max);
        let text = text.as_bytes().get(fits..).unwrap_or_default();
        let over = (self.bytes.len() + text.len()).saturating_sub(self.bytes_max);
        self.bytes.drain(..over);
        self.bytes.extend(text);
    }

    /// Returns the text from a position on, and how much after it is no longer there.
    pub(super) fn since(&self, position: u64) -> (String, u64) {
        let first = self.total - self.bytes.len() as u64;
        let gone = first.saturating_sub(position);
        let skip = usize::try_from(position.saturating_sub(first)).unwrap_or(usize::MAX);
        let bytes: Vec<u8> = self.bytes.iter().skip(skip).copied().collect();
        // What was pushed out may have ended inside a character.
        let start = bytes.iter().position(|byte| byte & 0xc0 != 0x80);
        let bytes = bytes.get(start.unwrap_or_default()..).unwrap_or_default();
        (String::from_utf8_lossy(bytes).into_owned(), gone)
    }
}

/// The beginning and the end of a text of any length, half and half.
#[derive(Debug)]
pub(super) struct Ends {
    head: String,
    half: usize,
    tail: Tail,
}

/// A text whose middle may be missing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) head: String,
    /// How many bytes are missing.
    pub(super) gone: u64,
    pub(super) tail: String,
}

impl Ends {
    pub(super) fn new(bytes_max: usize) -> Self {
        let half = bytes_max / 2;
        Self {
            head: String::new(),
            half,
            tail: Tail::new(half),
        }
    }

    /// Returns whether nothing would be missing after `more` bytes.
    pub(super) fn holds(&self, more: usize) -> bool {
        let head = (self.half - self.head.len()) as u64;
        // The head takes whole characters only, so up to three bytes of it may stay empty.
        self.tail.total() + more as u64 <= self.half as u64 + head.saturating_sub(3)
    }

    pub(super) fn push(&mut self, text: &str) {
        let room = self.half - self.head.len();
        // Once something went to the tail, nothing may follow in the head.
        let fits = if self.tail.total() == 0 {
            text.floor_char_boundary(room)
        } else {
            0
        };
        let (head, tail) = text.split_at(fits);
        self.head.push_str(head);
        self.tail.push(tail);
    }

    /// Returns the text; where its middle is missing, cut at ends of lines.
    pub(super) fn cut(&self) -> Cut {
        let (mut tail, gone) = self.tail.since(0);
        let mut head = self.head.clone();
        if gone > 0 {
            if let Some(end) = head.rfind('\n') {
                head.truncate(end + 1);
            }
            if let Some(start) = tail.find('\n') {
                tail.drain(..=start);
            }
        }
        let total = self.head.len() as u64 + self.tail.total();
        let gone = total - head.len() as u64 - tail.len() as u64;
        Cut { head, gone, tail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_kept_whole() {
        let mut ends = Ends::new(64);
        for _ in 0..4 {
            assert!(ends.holds(14));
            ends.push("twelve bytes\n\n");
        }
        assert!(!ends.holds(14));
        let cut = ends.cut();
        assert_eq!(cut.gone, 0);
        assert_eq!(cut.head + &cut.tail, "twelve bytes\n\n".repeat(4));
    }

    #[test]
    fn a_long_text_keeps_whole_lines_of_both_ends() {
        let mut ends = Ends::new(40);
        for line in 0..1000 {
            ends.push(&format!("line {line}\n"));
        }
        let cut = ends.cut();
        assert_eq!(cut.head, "line 0\nline 1\n");
        assert_eq!(cut.tail, "line 998\nline 999\n");
        let total: usize = (0..1000).map(|line| format!("line {line}\n").len()).sum();
        assert_eq!(cut.gone, total as u64 - 14 - 18);
    }

    #[test]
    fn characters_stay_whole() {
        let mut ends = Ends::new(14);
        ends.push(&"\u{20ac}".repeat(100));
        let cut = ends.cut();
        assert_eq!(
            (cut.head.as_str(), cut.tail.as_str()),
            ("\u{20ac}\u{20ac}", "\u{20ac}\u{20ac}")
        );
        assert_eq!(cut.gone, 288);
    }

    #[test]
    fn the_end_is_read_from_any_position() {
        let mut tail = Tail::new(5);
        tail.push("abc");
        assert_eq!(tail.since(1), ("bc".to_owned(), 0));
        tail.push("defg");
        assert_eq!(tail.since(0), ("cdefg".to_owned(), 2));
        assert_eq!(tail.since(6), ("g".to_owned(), 0));
        assert_eq!(tail.since(7), (String::new(), 0));
        tail.push("0123456789");
        assert_eq!(tail.since(7), ("56789".to_owned(), 5));
    }
}
