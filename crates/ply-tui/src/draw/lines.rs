//! Putting text on the screen: harmless, cut or wrapped.

use ply_client::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::wrap::{Breaks, Margin};

/// Bytes of a text of others that are looked at for one line.
const LINE_BYTES_MAX: usize = 4096;
/// Bytes that a column usually takes at most.
const CELL_BYTES: usize = 16;
/// Bytes of a text of others that are looked at for several lines.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// Returns a text of others on one line, harmless and bounded.
pub(super) fn clean(text: &str) -> String {
    let end = text.floor_char_boundary(LINE_BYTES_MAX);
    crate::wrap::clean(text.get(..end).unwrap_or_default())
}

/// Writes one line, cut to the area.
pub(super) fn put(buf: &mut Buffer, area: Rect, text: &str, style: Style) {
    if !area.intersection(buf.area).is_empty() {
        buf.set_stringn(area.x, area.y, text, usize::from(area.width), style);
    }
}

/// Writes lines from the top, as many as fit.
pub(super) fn put_lines(buf: &mut Buffer, area: Rect, lines: &[Line<'_>]) {
    let area = area.intersection(buf.area);
    for (row, line) in (area.top()..area.bottom()).zip(lines) {
        buf.set_line(area.x, row, line, area.width);
    }
}

/// Breaks a text of others into harmless rows of a width, at most so many; the last one says if more was left out.
pub(super) fn wrap(text: &str, width: u16, rows_max: usize) -> Vec<String> {
    let (mut rows, is_whole) = wrap_whole(text, width, rows_max);
    if !is_whole && let Some(last) = rows.last_mut() {
        let kept = usize::from(width).saturating_sub(2);
        let cut = text::beginning(last, kept);
        *last = match cut.ends_with('…') {
            true => cut.into_owned(),
            false => format!("{cut} …"),
        };
    }
    rows
}

/// Breaks a text of others into harmless rows of a width, at most so many, and returns whether they are all.
pub(super) fn wrap_whole(text: &str, width: u16, rows_max: usize) -> (Vec<String>, bool) {
    let width = usize::from(width.max(1));
    // No more than what can fill the rows, since this is done for every frame.
    let needed = (rows_max + 1).saturating_mul((width + 1) * CELL_BYTES);
    let bytes_max = needed
        .saturating_add(4 * LINE_BYTES_MAX)
        .min(TEXT_BYTES_MAX);
    let end = text.floor_char_boundary(bytes_max);
    let mut is_whole = end == text.len();
    let mut rows = Vec::new();
    for line in text.get(..end).unwrap_or_default().lines() {
        if rows.len() >= rows_max {
            is_whole = false;
            break;
        }
        // Characters without a width are bounded there, so that they cannot push the rest out of what is looked at.
        let line = Span::raw(crate::wrap::clean(line));
        let mut lines = Vec::new();
        let margin = Margin::default();
        crate::wrap::wrap(&[line], width, &margin, Breaks::Words, &mut lines);
        is_whole &= rows.len() + lines.len() <= rows_max;
        let free = rows_max.saturating_sub(rows.len());
        rows.extend(lines.into_iter().take(free).map(|line| line.to_string()));
    }
    (rows, is_whole)
}

/// Returns a line of one style.
pub(super) fn styled(text: impl Into<String>, style: Style) -> Line<'static> {
    Line::styled(text.into(), style)
}

/// Returns a piece of a line.
pub(super) fn span(text: impl Into<String>, style: Style) -> Span<'static> {
    Span::styled(text.into(), style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_and_cut_by_rows() {
        assert_eq!(wrap("abcdef", 4, 9), ["abcd", "ef"]);
        assert_eq!(wrap("a\nb\nc\nd", 9, 2), ["a", "b …"]);
        assert_eq!(wrap("漢字漢", 5, 9), ["漢字", "漢"]);
        assert_eq!(wrap("\x1b[2J", 20, 9), ["\\u{1b}[2J"]);
        assert_eq!(wrap("abc", 0, 2).len(), 2);
        assert!(wrap("", 5, 2).is_empty());
    }

    #[test]
    fn what_is_left_out_is_always_told() {
        let long = format!("{}; rm -rf /", "x".repeat(TEXT_BYTES_MAX));
        let (rows, is_whole) = wrap_whole(&long, 80, 100_000);
        assert!(!is_whole && !rows.is_empty());
        assert!(wrap(&long, 80, 100_000).last().unwrap().ends_with('…'));
        assert!(wrap("abcdefgh", 4, 1).last().unwrap().ends_with('…'));
        assert!(wrap_whole("abcdefgh", 4, 2).1);
    }

    #[test]
    fn characters_without_a_width_do_not_hide_the_end() {
        let joiners = "\u{200d}".repeat(20_000);
        let text = format!("ls{joiners} && rm -rf /");
        let rows = wrap(&text, 80, 2000);
        assert_eq!(rows.len(), 1);
        assert!(rows[0].ends_with("&& rm -rf /"), "{rows:?}");
    }
}
