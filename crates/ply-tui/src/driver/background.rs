//! Asks the terminal for the colour of its background.

use std::io::{self, Write as _};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::time::Instant;

use crate::options::Background;

/// Asks for the colour, and for what every terminal answers: once that is here, the colour is, or never will be.
const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
/// How long a terminal has to answer. Nearly all do, at once; only a long line takes time.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(1);
/// Bytes that are read while the answer is not there.
const ANSWER_BYTES_MAX: usize = 4096;

/// What the terminal sent.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    /// What the background is like, if the terminal says so.
    pub(super) background: Option<Background>,
    /// What the user typed meanwhile.
    pub(super) typed: Vec<KeyEvent>,
}

/// Asks the terminal, which has to be in raw mode, and nobody else may read from it.
pub(super) fn ask() -> io::Result<Answer> {
    let mut out = io::stdout();
    out.write_all(QUESTION)?;
    out.flush()?;
    let input = io::stdin();
    let until = Instant::now() + ANSWER_TIME_MAX;
    let mut bytes = Vec::new();
    while find_end(&bytes).is_none() && bytes.len() < ANSWER_BYTES_MAX {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        let mut watched = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut watched, Some(&left)) {
            Ok(0) => break,
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let mut part = [0; 256];
        match rustix::io::read(&input, &mut part)? {
            0 => break,
            count => bytes.extend(part.iter().take(count)),
        }
    }
    Ok(read(&bytes))
}

/// Returns where the answer that every terminal gives begins and ends.
fn find_end(bytes: &[u8]) -> Option<(usize, usize)> {
    let begin = bytes.windows(3).position(|part| part == b"\x1b[?")?;
    let rest = bytes.get(begin..)?;
    let length = rest.iter().position(|byte| *byte == b'c')?;
    Some((begin, begin + length + 1))
}

/// Returns where the answer about the colour begins, ends, and what it says.
fn find_color(bytes: &[u8]) -> Option<(usize, usize, &[u8])> {
    const BEGIN: &[u8] = b"\x1b]11;";
    let begin = bytes.windows(BEGIN.len()).position(|part| part == BEGIN)?;
    let value = bytes.get(begin + BEGIN.len()..)?;
    let length = value.iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
    let end = match value.get(length) {
        Some(0x1b) => length + 2,
        _ => length + 1,
    };
    let end = (begin + BEGIN.len() + end).min(bytes.len());
    Some((begin, end, value.get(..length)?))
}

/// Reads what the terminal sent.
fn read(bytes: &[u8]) -> Answer {
    let mut rest = bytes.to_vec();
    let mut background = None;
    if let Some((begin, end, value)) = find_color(bytes) {
        background = background_of(value);
        rest.drain(begin..end);
    }
    if let Some((begin, end)) = find_end(&rest) {
        rest.drain(begin..end);
    }
    Answer {
        background,
        typed: keys(&without_sequences(&String::from_utf8_lossy(&rest))),
    }
}

/// Returns what a colour such as `rgb:ffff/ffff/ffff` is like.
fn background_of(value: &[u8]) -> Option<Background> {
    let value = std::str::from_utf8(value).ok()?;
    let (_, parts) = value.split_once(':')?;
    let mut parts = parts.split('/').map(|part| {
        let part = part.get(..2)?;
        u32::from_str_radix(part, 16).ok()
    });
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    // As bright as it looks to the eye, of 255,000.
    let light = red * 299 + green * 587 + blue * 114;
    Some(match light > 127_500 {
        true => Background::Light,
        false => Background::Dark,
    })
}

/// Returns a text without the sequences that terminals send for keys that are no text, and when they get the focus.
fn without_sequences(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        if char != '\x1b' {
            kept.push(char);
            continue;
        }
        match rest.next() {
            // Parameters, and a letter at the end.
            Some('[') => drop(rest.by_ref().find(|char| ('@'..='~').contains(char))),
            // One more letter.
            Some('O') => drop(rest.next()),
            _ => {}
        }
    }
    kept
}

/// Returns what was typed, as keys. What is no text is left out.
fn keys(text: &str) -> Vec<KeyEvent> {
    let code = |char: char| match char {
        '\r' | '\n' => Some(KeyCode::Enter),
        '\u{7f}' => Some(KeyCode::Backspace),
        char if char.is_control() || char == char::REPLACEMENT_CHARACTER => None,
        char => Some(KeyCode::Char(char)),
    };
    let codes = text.chars().filter_map(code);
    codes
        .map(|code| KeyEvent::new(code, KeyModifiers::NONE))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_light_background_is_told_from_a_dark_one() {
        for (answer, expected) in [
            (
                "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;22c",
                Some(Background::Light),
            ),
            ("\x1b]11;rgb:fd/f6/e3\x07\x1b[?6c", Some(Background::Light)),
            (
                "\x1b]11;rgb:1e1e/1e1e/2e2e\x07\x1b[?6c",
                Some(Background::Dark),
            ),
            ("\x1b]11;what\x07\x1b[?6c", None),
            ("\x1b[?1;2c", None),
            ("", None),
        ] {
            let read = read(answer.as_bytes());
            assert_eq!(read.background, expected, "{answer:?}");
            assert_eq!(read.typed, [], "{answer:?}");
        }
    }

    #[test]
    fn what_is_typed_meanwhile_is_kept() {
        // With the focus, which came between, and an arrow.
        let read = read(b"h\x1b[I\x1bOAi\x1b]11;rgb:00/00/00\x07\r\x1b[?6c\x1b[1;5A");
        let codes: Vec<_> = read.typed.iter().map(|key| key.code).collect();
        assert_eq!(
            codes,
            [KeyCode::Char('h'), KeyCode::Char('i'), KeyCode::Enter]
        );
    }

    #[test]
    fn the_wait_ends_with_the_answer_that_every_terminal_gives() {
        assert_eq!(find_end(b"\x1b]11;rgb:00/00/00\x07"), None);
        assert_eq!(find_end(b"ab\x1b[?62;22"), None);
        assert_eq!(find_end(b"ab\x1b[?62;22c"), Some((2, 11)));
    }
}
