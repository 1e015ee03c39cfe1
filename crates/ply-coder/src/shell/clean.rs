//! Output as text: without escape sequences, without the past of progress bars, in valid UTF-8.

/// How long a line may get before it is let go without its end.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// How many bytes are looked at one by one after something that is no plain text.
const ODD_BYTES: usize = 256;
/// How many bytes are looked at together.
const BLOCK_BYTES: usize = 64;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const BACKSPACE: u8 = 0x08;
const DELETE: u8 = 0x7f;

/// Where in an escape sequence the stream is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After the escape byte.
    Escape,
    /// In a control sequence, until its final byte.
    Control,
    /// In a string for the terminal, such as a window title, until its terminator.
    Words,
    /// After an escape byte in such a string.
    WordsEscape,
}

/// Makes text of what a command writes, in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    state: State,
    line: Vec<u8>,
    /// Whether the next character of the line is written over the first.
    returned: bool,
}

impl Cleaner {
    /// Takes bytes in and returns the text that is now certain: whole lines, and pieces of long ones.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len());
        while !bytes.is_empty() {
            // Most output is lines of plain text, and a lot of it comes at once.
            let plain = self.plain_lines(bytes, &mut text);
            let rest = bytes.get(plain..).unwrap_or_default();
            let odd = rest.get(..ODD_BYTES.min(rest.len())).unwrap_or_default();
            for byte in odd {
                self.take(*byte, &mut text);
            }
            bytes = rest.get(odd.len()..).unwrap_or_default();
        }
        text
    }

    /// Takes in whole lines of plain text from the beginning of `bytes`, and returns how many bytes that
    /// were.
    fn plain_lines(&mut self, bytes: &[u8], text: &mut String) -> usize {
        if self.state != State::Text || self.returned {
            return 0;
        }
        let plain = bytes.get(..plain_bytes(bytes)).unwrap_or_default();
        let Some(last) = plain.iter().rposition(|byte| *byte == b'\n') else {
            return 0;
        };
        let lines = plain.get(..=last).unwrap_or_default();
        self.line.extend_from_slice(lines);
        text.push_str(&String::from_utf8_lossy(&self.line));
        self.line.clear();
        lines.len()
    }

    /// Returns the line that has no end yet.
    pub(super) fn partial(&self) -> String {
        String::from_utf8_lossy(&self.line).into_owned()
    }

    /// Returns the last line, if it has no end, once nothing more comes.
    pub(super) fn finish(&mut self) -> String {
        let text = self.partial();
        self.line.clear();
        text
    }

    fn take(&mut self, byte: u8, text: &mut String) {
        self.state = match (self.state, byte) {
            (State::Text, ESCAPE) => State::Escape,
            (State::Text, _) => {
                self.write(byte, text);
                State::Text
            }
            (State::Escape, b'[') => State::Control,
            (State::Escape | State::WordsEscape, b']' | b'P' | b'X' | b'^' | b'_') => State::Words,
            (State::Escape | State::Control, ESCAPE) => State::Escape,
            // Intermediate bytes; a final one follows.
            (State::Escape, 0x20..=0x2f) => State::Escape,
            // A sequence never spans lines: after one that was cut off, the text goes on.
            (_, b'\n') => {
                self.write(byte, text);
                State::Text
            }
            (State::Escape, _) => State::Text,
            (State::Control, 0x40..=0x7e) => State::Text,
            (State::Control, _) => State::Control,
            (State::Words | State::WordsEscape, BELL) | (State::WordsEscape, b'\\') => State::Text,
            (State::Words | State::WordsEscape, ESCAPE) => State::WordsEscape,
            (State::Words | State::WordsEscape, _) => State::Words,
        };
    }

    fn write(&mut self, byte: u8, text: &mut String) {
        match byte {
            b'\n' => {
                text.push_str(&String::from_utf8_lossy(&self.line));
                text.push('\n');
                self.line.clear();
                self.returned = false;
            }
            b'\r' => self.returned = true,
            BACKSPACE => {
                // The bytes of a character after its first all begin with the bits 10.
                while self.line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
            }
            0..=0x08 | 0x0b..=0x1f | DELETE => {}
            _ => {
                if std::mem::take(&mut self.returned) {
                    self.line.clear();
                }
                self.line.push(byte);
                if self.line.len() >= LINE_BYTES_MAX {
                    self.let_go(text);
                }
            }
        }
    }

    /// Lets the line go as far as its characters are complete.
    fn let_go(&mut self, text: &mut String) {
        let complete = complete_utf8(&self.line);
        let rest = self.line.split_off(complete);
        text.push_str(&String::from_utf8_lossy(&self.line));
        self.line = rest;
    }
}

/// Returns how many bytes at the beginning are text, tabs and ends of lines, or a little fewer.
fn plain_bytes(bytes: &[u8]) -> usize {
    let is_odd = |byte: &u8| {
        let control = *byte < 0x20 && *byte != b'\n' && *byte != b'\t';
        control | (*byte == DELETE)
    };
    // Without a way out of the inner loop the compiler looks at many bytes in one instruction.
    let is_plain = |block: &&[u8]| !block.iter().fold(false, |odd, byte| odd | is_odd(byte));
    let blocks = bytes.chunks(BLOCK_BYTES).take_while(is_plain);
    blocks.map(<[u8]>::len).sum()
}

/// Returns how many of the bytes come before a character that is cut off at their end.
pub(super) fn complete_utf8(bytes: &[u8]) -> usize {
    let last = bytes.len().saturating_sub(4);
    for start in (last..bytes.len()).rev() {
        let Some(byte) = bytes.get(start) else { break };
        let wanted = match byte {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            0x80..=0xbf => continue,
            _ => 1,
        };
        let cut_off = bytes.len() - start < wanted;
        return if cut_off { start } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &[u8], expected: &str) {
        for size in [1, 2, 3, 7, input.len().max(1)] {
            let mut cleaner = Cleaner::default();
            let mut text = String::new();
            for piece in input.chunks(size) {
                text.push_str(&cleaner.push(piece));
            }
            text.push_str(&cleaner.finish());
            assert_eq!(text, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn escape_sequences_are_taken_out() {
        check(
            b"\x1b[1;31mred\x1b[0m and \x1b[38;5;7mgrey\x1b[m\n",
            "red and grey\n",
        );
        check(
            b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n",
            "alink\n",
        );
        check(b"\x1b(Bplain\x1b=\x1bPq#1\x1b\\!\n", "plain!\n");
        check(b"cut \x1b[3\nnext \x1b]0;x\nlast\x1b", "cut \nnext \nlast");
    }

    #[test]
    fn progress_bars_leave_their_last_state() {
        check(b" 1%\r 50%\r100%\ndone\n", "100%\ndone\n");
        check(b"a\r\nb\r\r\n", "a\nb\n");
        check(b"1\r\x1b[2K2\r\x1b[2K3", "3");
        check("e\u{308}\u{fc}\x08x\x08\x08\x08\x08y".as_bytes(), "y");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        check(b"\xff ok \xc3\nb\0\x01c\n", "\u{fffd} ok \u{fffd}\nbc\n");
    }

    #[test]
    fn long_lines_are_let_go_between_characters() {
        let line = "\u{20ac}".repeat(20_000);
        check(line.as_bytes(), &line);
        let mut cleaner = Cleaner::default();
        let text = cleaner.push(line.as_bytes());
        assert!(text.len() + LINE_BYTES_MAX > line.len() && cleaner.line.len() < LINE_BYTES_MAX);
    }

    #[test]
    fn lines_among_odd_bytes_are_read_as_one_by_one() {
        let mut input = Vec::new();
        let mut expected = String::new();
        for count in 0..500 {
            input.extend_from_slice(format!("plain line {count} \u{20ac}\n").as_bytes());
            expected.push_str(&format!("plain line {count} \u{20ac}\n"));
            if count % 40 == 0 {
                input.extend_from_slice(b"\x1b[1mbold\x1b[0m 1%\r100%");
                expected.push_str("100%");
            }
            if count % 90 == 0 {
                input.extend_from_slice(b"\xff\xe2\x82\n");
                expected.push_str("\u{fffd}\u{fffd}\n");
            }
        }
        check(&input, &expected);
    }

    #[test]
    fn characters_that_are_cut_off_are_found() {
        for (bytes, complete) in [
            (&b"abc"[..], 3),
            (b"", 0),
            (b"ab\xe2\x82", 2),
            (b"ab\xe2\x82\xac", 5),
            (b"\xf0\x9f\x98", 0),
            (b"a\x80\x80\x80\x80", 5),
            (b"a\xff", 2),
        ] {
            assert_eq!(complete_utf8(bytes), complete, "{bytes:?}");
        }
    }
}
