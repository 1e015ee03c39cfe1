//! Terminal output as plain text.

/// A growing text that is safe to show, made from the bytes of a terminal.
///
/// Bytes may be cut anywhere, also inside a character or an escape (V2-TERM-08). Escapes, controls
/// and characters that turn the direction of text are left out, bytes that are not UTF-8 become
/// U+FFFD, a carriage return starts the line again as progress bars expect, and a backspace takes
/// one character back.
#[derive(Debug, Clone, Default)]
pub struct PlainText {
    text: String,
    partial: Vec<u8>,
    escape: Escape,
    /// Characters of the escape's text so far.
    escape_len: usize,
    returned: bool,
}

/// How long the text of an escape may be. Output that begins one and never ends it, such as a binary
/// file, must not swallow all that comes after it.
const ESCAPE_CHARS_MAX: usize = 4 * 1024;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// After ESC.
    Start,
    /// After ESC and intermediates; one more character ends it.
    Intermediate,
    /// Inside CSI; a character from `@` to `~` ends it.
    Csi,
    /// Inside OSC, DCS and the like; BEL or ESC `\` ends it, and so do CAN and SUB.
    Text,
    /// After an ESC inside such a text.
    TextEnd,
}

impl PlainText {
    /// Returns an empty text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the text so far.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Adds the next bytes of the output.
    pub fn push(&mut self, bytes: &[u8]) {
        let joined;
        let bytes = if self.partial.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.partial).as_slice(), bytes].concat();
            &joined
        };
        for part in bytes.utf8_chunks() {
            part.valid().chars().for_each(|char| self.char(char));
            let invalid = part.invalid();
            if invalid.is_empty() {
                continue;
            }
            // An unfinished character is at the very end; the next bytes may complete it.
            let at_end = std::ptr::eq(invalid.as_ptr_range().end, bytes.as_ptr_range().end);
            let unfinished =
                std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if at_end && unfinished {
                self.partial = invalid.to_vec();
            } else {
                self.char('\u{FFFD}');
            }
        }
    }

    /// Forgets text before the last `bytes_max` bytes.
    pub(crate) fn keep_last(&mut self, bytes_max: usize) {
        if let Some(cut) = self.text.len().checked_sub(bytes_max) {
            let cut = (cut..=self.text.len()).find(|at| self.text.is_char_boundary(*at));
            self.text.drain(..cut.unwrap_or(0));
        }
    }

    fn char(&mut self, char: char) {
        match (self.escape, char) {
            (Escape::Text, '\u{1b}') => self.escape = Escape::TextEnd,
            (_, '\u{18}' | '\u{1a}') if self.escape != Escape::None => self.escape = Escape::None,
            (Escape::Text, '\u{7}' | '\u{9c}') => self.escape = Escape::None,
            (Escape::Text, _) => {
                self.escape_len += 1;
                if self.escape_len >= ESCAPE_CHARS_MAX {
                    self.escape = Escape::None;
                }
            }
            (Escape::TextEnd, '\\') => self.escape = Escape::None,
            // An ESC in any other place begins a new escape.
            (Escape::TextEnd, _) => {
                self.escape = Escape::Start;
                self.char(char);
            }
            (_, '\u{1b}') => self.escape = Escape::Start,
            (Escape::Start, '[') => self.escape = Escape::Csi,
            (Escape::Start, ']' | 'P' | 'X' | '^' | '_') => self.begin_text(),
            (Escape::Start | Escape::Intermediate, ' '..='/') => self.escape = Escape::Intermediate,
            (Escape::Csi, ' '..='?') => {}
            (Escape::Start | Escape::Intermediate | Escape::Csi, '\u{20}'..='\u{7e}') => {
                self.escape = Escape::None
            }
            (Escape::None, _) => self.shown(char),
            // A control inside an escape acts as if it stood before it.
            (_, control) => self.shown(control),
        }
    }

    fn begin_text(&mut self) {
        self.escape = Escape::Text;
        self.escape_len = 0;
    }

    fn shown(&mut self, char: char) {
        let returned = std::mem::take(&mut self.returned);
        match char {
            '\r' => self.returned = true,
            '\n' => self.text.push('\n'),
            '\u{9b}' => self.escape = Escape::Csi,
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => self.begin_text(),
            '\u{8}' => {
                if !self.text.ends_with('\n') {
                    self.text.pop();
                }
            }
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            char if char.is_control() && char != '\t' => self.returned = returned,
            char => {
                if returned {
                    let line = self.text.rfind('\n').map_or(0, |end| end + 1);
                    self.text.truncate(line);
                }
                self.text.push(char);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        for cut in 0..=bytes.len() {
            let mut text = PlainText::new();
            let (head, tail) = bytes.split_at(cut);
            text.push(head);
            text.push(tail);
            assert_eq!(text.as_str(), expected, "cut at {cut}");
        }
    }

    #[test]
    fn colours_titles_and_clipboard_writes_leave_no_trace() {
        check(
            b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07a\x1b]52;c;eA==\x1b\\b\x1bPq\x1b\\c",
            "red abc",
        );
    }

    #[test]
    fn a_carriage_return_starts_the_line_again_but_crlf_ends_it() {
        check(b"one\r\n10%\r20%\rdone\n", "one\ndone\n");
    }

    #[test]
    fn characters_split_over_chunks_are_whole_again_v2_term_08() {
        check("é😀x".as_bytes(), "é😀x");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        check(b"a\xffb\xc3(", "a\u{FFFD}b\u{FFFD}(");
    }

    #[test]
    fn an_escape_that_never_ends_does_not_swallow_what_follows() {
        check(b"a\x1b]0;title\x18b\x1bPq\x1ac\x1b[3\x18d", "abcd");
        let mut text = PlainText::new();
        text.push(b"\x1b]");
        text.push("x".repeat(ESCAPE_CHARS_MAX).as_bytes());
        text.push(b"after");
        assert_eq!(text.as_str(), "after");
    }

    #[test]
    fn direction_marks_are_left_out_and_backspace_takes_one_back() {
        check("a\u{202e}b\u{8}c\n\u{8}d".as_bytes(), "ac\nd");
    }
}
