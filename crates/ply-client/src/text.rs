//! Text of others, made harmless: titles, messages and file names may hold anything.
//!
//! Characters that a terminal acts on, and those that turn or hide what is around them, are shown
//! escaped. That is done wherever text goes, since a pipe or a file often ends in a terminal.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What stands where something was cut off.
const CUT: char = '…';

/// Text that is shown on one line: line ends are escaped too.
///
/// ```
/// use ply_client::text::Line;
///
/// assert_eq!(Line("red: \x1b[31m\n").to_string(), r"red: \u{1b}[31m\n");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Line<'a>(pub &'a str);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|char| match escaped(char) {
            Some(escaped) => f.write_str(&escaped),
            None => f.write_char(char),
        })
    }
}

/// Returns the lines of a text, each harmless. Tabs stay, and so does what CRLF means.
pub fn lines(text: &str) -> impl Iterator<Item = String> {
    let lines = text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut shown = String::with_capacity(line.len());
        for char in line.chars() {
            match escaped(char).filter(|_| char != '\t') {
                Some(escaped) => shown.push_str(&escaped),
                None => shown.push(char),
            }
        }
        shown
    });
    // A text that ends with a line end has no empty line after it, and none has no lines.
    let has_no_last = text.is_empty() || text.ends_with('\n');
    let count = text.split('\n').count() - usize::from(has_no_last);
    lines.take(count)
}

/// Returns a path on one line; bytes that are not UTF-8 are shown as `\xNN`.
pub fn path(path: &Path) -> String {
    let mut shown = String::new();
    for part in path.as_os_str().as_bytes().utf8_chunks() {
        shown.push_str(&Line(part.valid()).to_string());
        for byte in part.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

/// Returns whether a character does nothing but stand there.
///
/// Joiners (U+200C and U+200D) are: scripts and emoji need them.
pub fn is_harmless(char: char) -> bool {
    let turns = matches!(char, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let hides = matches!(char, '\u{180e}' | '\u{200b}' | '\u{2028}'..='\u{2029}' | '\u{2060}'..='\u{2065}')
        || matches!(char, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !char.is_control() && !turns && !hides
}

/// Returns what stands for a character that is not harmless.
fn escaped(char: char) -> Option<String> {
    match char {
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\t' => Some("\\t".to_owned()),
        _ if is_harmless(char) => None,
        _ => Some(char.escape_unicode().to_string()),
    }
}

/// Returns the columns that a text takes.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Returns the beginning of a text that fits into so many columns.
pub fn beginning(text: &str, columns_max: usize) -> Cow<'_, str> {
    cut(text, columns_max, text.chars(), |kept| {
        let mut shown: String = kept.iter().collect();
        shown.push(CUT);
        shown
    })
}

/// Returns the end of a text that fits into so many columns.
pub fn end(text: &str, columns_max: usize) -> Cow<'_, str> {
    cut(text, columns_max, text.chars().rev(), |kept| {
        let kept = kept.iter().rev();
        std::iter::once(&CUT).chain(kept).collect()
    })
}

fn cut<'a>(
    text: &'a str,
    columns_max: usize,
    chars: impl Iterator<Item = char>,
    with_mark: impl FnOnce(&[char]) -> String,
) -> Cow<'a, str> {
    if columns(text) <= columns_max {
        return Cow::Borrowed(text);
    }
    // One column is for the mark.
    let mut free = columns_max.saturating_sub(1);
    let mut kept = Vec::new();
    for char in chars {
        let Some(left) = free.checked_sub(char.width().unwrap_or(0)) else {
            break;
        };
        free = left;
        kept.push(char);
    }
    Cow::Owned(with_mark(&kept))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Line(text).to_string(), expected);
    }

    #[test]
    fn j1_escapes_controls_and_marks_of_direction_are_shown_and_not_sent() {
        check(
            "plain, é, 漢字, 👩\u{200d}👧",
            "plain, é, 漢字, 👩\u{200d}👧",
        );
        check("\x1b]52;c;eA==\x07", "\\u{1b}]52;c;eA==\\u{7}");
        check("a\u{9b}2Jb\u{7f}\0", "a\\u{9b}2Jb\\u{7f}\\u{0}");
        check("\u{202e}gpj.exe\u{2066}", "\\u{202e}gpj.exe\\u{2066}");
        check(
            "a\u{200b}b\u{feff}\u{e0041}",
            "a\\u{200b}b\\u{feff}\\u{e0041}",
        );
        check("one\r\ntwo\tthree\u{2028}", "one\\r\\ntwo\\tthree\\u{2028}");
    }

    #[test]
    fn lines_keep_tabs_and_lose_nothing_else() {
        let of = |text| lines(text).collect::<Vec<_>>();
        assert_eq!(of("a\n\tb\r\nc\rd\n"), ["a", "\tb", "c\\rd"]);
        assert_eq!(of("a\n\n"), ["a", ""]);
        assert_eq!(of("\x1b[2J"), ["\\u{1b}[2J"]);
        assert!(of("").is_empty());
    }

    #[test]
    fn g5_a_path_that_is_not_utf8_keeps_its_bytes_in_sight() {
        let odd = Path::new(OsStr::from_bytes(b"/tmp/\xff\xfe/a\nb"));
        assert_eq!(path(odd), "/tmp/\\xff\\xfe/a\\nb");
    }

    #[test]
    fn what_is_too_wide_is_cut_by_columns() {
        assert_eq!(beginning("abcdef", 6), "abcdef");
        assert_eq!(beginning("abcdef", 4), "abc…");
        assert_eq!(beginning("漢字漢字", 6), "漢字…");
        assert_eq!(end("/home/me/project", 9), "…/project");
        assert_eq!(end("abc", 0), "…");
    }
}
