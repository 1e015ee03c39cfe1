//! Lines of files as models see them: numbered from 1, and cut where they are long.

use std::ops::Range;

/// Characters of a line that are shown.
const LINE_CHARS_MAX: usize = 2000;
/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;
/// Lines shown of all changes of a call.
const SNIPPET_LINES_MAX: usize = 60;

/// Returns a line without its end, cut to what is shown.
pub(super) fn cut(line: &str, chars_max: usize) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    match line.char_indices().nth(chars_max) {
        None => line.to_owned(),
        Some((end, _)) => {
            let shown = line.get(..end).unwrap_or_default();
            format!("{shown}… [line cut, {} bytes]", line.len())
        }
    }
}

/// Adds a numbered line.
pub(super) fn push_numbered(out: &mut String, number: usize, line: &str) {
    out.push_str(&format!("{number:>6}\t{}\n", cut(line, LINE_CHARS_MAX)));
}

/// Returns the number of the line in which the byte at `offset` is, counted from 1.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() + 1
}

/// Returns numbered lines in and around the given ranges of bytes, which are in order.
pub(super) fn snippet(text: &str, ranges: &[Range<usize>]) -> String {
    let count = text.lines().count();
    let mut windows: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        let first = line_at(text, range.start).saturating_sub(CONTEXT_LINES + 1);
        let last = line_at(text, range.end.saturating_sub(1).max(range.start)) + CONTEXT_LINES;
        let window = first..last.min(count);
        match windows.last_mut() {
            Some(before) if window.start <= before.end => before.end = before.end.max(window.end),
            _ => windows.push(window),
        }
    }
    let mut out = String::new();
    let mut left = SNIPPET_LINES_MAX;
    let mut lines = text.lines().enumerate();
    for (place, window) in windows.iter().enumerate() {
        if place > 0 {
            out.push_str("   ...\n");
        }
        let skipped = lines.by_ref().skip_while(|(line, _)| *line < window.start);
        for (line, text) in skipped.take(window.len().min(left)) {
            push_numbered(&mut out, line + 1, text);
        }
        if window.len() > left {
            out.push_str("   ... more was changed; use read_file to see it\n");
            break;
        }
        left -= window.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_the_lines_around_them() {
        let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        let at = |line: &str| {
            let start = text.find(line).unwrap();
            start..start + line.len()
        };
        let shown = snippet(&text, &[at("line 2\n"), at("line 5\n"), at("line 20")]);
        let numbers: Vec<_> = shown
            .lines()
            .map(|line| line.split('\t').next().unwrap().trim())
            .collect();
        assert_eq!(
            numbers,
            [
                "1", "2", "3", "4", "5", "6", "7", "8", "...", "17", "18", "19", "20", "21", "22",
                "23"
            ]
        );
    }

    #[test]
    fn a_large_change_is_shown_in_part() {
        let text = "x\n".repeat(1000);
        let whole = 0..text.len();
        let shown = snippet(&text, &[whole]);
        assert_eq!(shown.lines().count(), SNIPPET_LINES_MAX + 1);
        assert!(shown.ends_with("use read_file to see it\n"));
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        assert_eq!(cut("ääää\r\n", 2), "ää… [line cut, 8 bytes]");
        assert_eq!(cut("ää\r\n", 2), "ää");
    }
}
