//! The newest part of what a command wrote, as text.

use std::collections::VecDeque;

/// Output up to a limit in bytes. The oldest is dropped first, always in whole characters.
///
/// Kept as text and not as raw bytes, because a byte that is no text is shown as a mark of three bytes, and the limit is on what
/// is shown.
#[derive(Debug)]
pub(super) struct Output {
    /// Valid UTF-8 at every moment.
    kept: VecDeque<u8>,
    limit: usize,
    truncated: bool,
    /// The start of a character whose rest has not come yet; at most three bytes.
    partial: Vec<u8>,
}

impl Output {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            kept: VecDeque::new(),
            limit,
            truncated: false,
            partial: Vec::new(),
        }
    }

    /// Adds what was written, and returns it as text, without a character that is not complete yet.
    pub(super) fn push(&mut self, fresh: &[u8]) -> String {
        let joined;
        let mut rest = fresh;
        if !self.partial.is_empty() {
            self.partial.extend_from_slice(fresh);
            joined = std::mem::take(&mut self.partial);
            rest = &joined;
        }
        let mut text = String::with_capacity(rest.len());
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let last = chunks.peek().is_none();
            if last && is_partial(invalid) {
                self.partial = invalid.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        self.keep(&text);
        text
    }

    /// Notes that nothing more comes, and returns what there was of an unfinished character.
    pub(super) fn finish(&mut self) -> &'static str {
        let rest = if self.partial.is_empty() {
            ""
        } else {
            "\u{fffd}"
        };
        self.partial.clear();
        self.keep(rest);
        rest
    }

    pub(super) fn text(&self) -> String {
        let (front, back) = self.kept.as_slices();
        let bytes = [front, back].concat();
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    pub(super) fn truncated(&self) -> bool {
        self.truncated
    }

    fn keep(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let surplus = (self.kept.len() + bytes.len()).saturating_sub(self.limit);
        if surplus == 0 {
            return self.kept.extend(bytes);
        }
        self.truncated = true;
        let old = surplus.min(self.kept.len());
        self.kept.drain(..old);
        self.kept
            .extend(bytes.get(surplus - old..).unwrap_or_default());
        // The cut may have gone through a character; the rest of it goes too.
        while self.kept.front().is_some_and(|byte| byte & 0xc0 == 0x80) {
            self.kept.pop_front();
        }
    }
}

/// Returns whether more bytes could make a character of `bytes`, which are not valid by themselves.
fn is_partial(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limit: usize, pieces: &[&[u8]], expected: &str, truncated: bool) {
        let mut output = Output::new(limit);
        let mut live = String::new();
        for piece in pieces {
            live.push_str(&output.push(piece));
        }
        live.push_str(output.finish());
        assert_eq!(
            (output.text().as_str(), output.truncated()),
            (expected, truncated)
        );
        assert!(live.ends_with(expected), "{live}");
        assert!(output.text().len() <= limit);
    }

    #[test]
    fn v1_term_05_past_the_limit_the_oldest_output_is_dropped() {
        check(10, &[b"0123456789"], "0123456789", false);
        check(10, &[b"0123456789", b"a"], "123456789a", true);
        check(10, &[b"0123456789abcdefghij"], "abcdefghij", true);
        check(10, &[b"01234", b"abcdefghijkl"], "cdefghijkl", true);
        check(0, &[b""], "", false);
        check(0, &[b"x"], "", true);
    }

    #[test]
    fn v1_term_06_a_cut_never_splits_a_character() {
        let crab = "\u{1f980}".as_bytes();
        let two = [crab, crab].concat();
        for limit in 4..8 {
            check(limit, &[&two], "\u{1f980}", true);
        }
        for limit in 0..4 {
            check(limit, &[crab], "", true);
        }
        check(5, &["a\u{e4}\u{20ac}b".as_bytes()], "\u{20ac}b", true);
        // Every way to split the bytes gives the same text.
        let text = "a\u{e4}\u{20ac}\u{1f980}b".as_bytes();
        for cut in 0..=text.len() {
            let (head, tail) = text.split_at(cut);
            check(100, &[head, tail], "a\u{e4}\u{20ac}\u{1f980}b", false);
            check(6, &[head, tail], "\u{1f980}b", true);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        check(100, &[b"a\xffb"], "a\u{fffd}b", false);
        check(100, &[b"a\xf0\x9f", b"b"], "a\u{fffd}b", false);
        check(100, &[b"a\xf0", b"\x9f", b"\xa6"], "a\u{fffd}", false);
        check(5, &[b"\xff\xff\xff"], "\u{fffd}", true);
        check(100, &[b"a\0b\x1b[0m"], "a\0b\x1b[0m", false);
    }
}
