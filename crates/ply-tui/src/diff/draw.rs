//! Rows of a diff as lines.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Row, Words};
use crate::theme::Theme;
use crate::wrap::{self, Breaks, Cleaner, Margin};

/// Bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 2_000;
/// What stands between two sides.
const BETWEEN: &str = " │ ";
/// What stands for lines that are left out.
const SKIP: &str = "⋯";

/// Appends the lines of a diff in one column until there are enough; returns how many rows they show.
pub(super) fn unified(
    rows: &[Row<'_>],
    width: usize,
    theme: &Theme,
    lines_max: usize,
    lines: &mut Vec<Line<'static>>,
) -> usize {
    let digits = digits(rows);
    let begin = lines.len();
    for (place, row) in rows.iter().enumerate() {
        if lines.len() - begin >= lines_max {
            return place;
        }
        let (number, sign, text, words, style, word_style) = match row {
            Row::Skip => {
                let text = format!("{:>digits$} {SKIP}", "");
                lines.push(wrap::cut(&[Span::styled(text, theme.dim)], width));
                continue;
            }
            Row::Same { new, text, .. } => (new, " ", text, &Words::new(), theme.text, theme.text),
            Row::Removed { old, text, words } => {
                (old, "-", text, words, theme.removed, theme.removed_word)
            }
            Row::Added { new, text, words } => {
                (new, "+", text, words, theme.added, theme.added_word)
            }
        };
        let spans = pieces(text, words, style, word_style);
        let margin = Margin {
            first: vec![
                Span::styled(format!("{number:>digits$} "), theme.line_number),
                Span::styled(format!("{sign} "), style),
            ],
            rest: vec![Span::raw(" ".repeat(digits + 3))],
        };
        wrap::wrap(&spans, width, &margin, Breaks::Anywhere, lines);
    }
    rows.len()
}

/// Appends the lines of a diff in two columns until there are enough; returns how many rows they
/// show.
pub(super) fn side_by_side(
    rows: &[Row<'_>],
    width: usize,
    theme: &Theme,
    lines_max: usize,
    lines: &mut Vec<Line<'static>>,
) -> usize {
    let digits = digits(rows);
    let half = width.saturating_sub(wrap::columns(BETWEEN)) / 2;
    let begin = lines.len();
    let mut place = 0;
    while let Some(row) = rows.get(place) {
        if lines.len() - begin >= lines_max {
            return place;
        }
        let rest = rows.get(place..).unwrap_or_default();
        let removed = rest
            .iter()
            .take_while(|row| matches!(row, Row::Removed { .. }))
            .count();
        let after = rest.get(removed..).unwrap_or_default();
        let added = after
            .iter()
            .take_while(|row| matches!(row, Row::Added { .. }))
            .count();
        if removed + added == 0 {
            let left = side(Some(row), Side::Old, digits, half, theme);
            let right = side(Some(row), Side::New, digits, half, theme);
            lines.push(joined(left, right, half, theme));
            place += 1;
            continue;
        }
        for pair in 0..removed.max(added) {
            let left = rest.get(pair).filter(|_| pair < removed);
            let right = after.get(pair).filter(|_| pair < added);
            let left = side(left, Side::Old, digits, half, theme);
            let right = side(right, Side::New, digits, half, theme);
            lines.push(joined(left, right, half, theme));
        }
        place += removed + added;
    }
    rows.len()
}

#[derive(Clone, Copy)]
enum Side {
    Old,
    New,
}

fn side(
    row: Option<&Row<'_>>,
    side: Side,
    digits: usize,
    width: usize,
    theme: &Theme,
) -> Line<'static> {
    let none = Words::new();
    let (number, sign, text, words, style, word_style) = match (row, side) {
        (None, _) => return Line::default(),
        (Some(Row::Skip), _) => {
            let text = format!("{:>digits$} {SKIP}", "");
            return wrap::cut(&[Span::styled(text, theme.dim)], width);
        }
        (Some(Row::Same { old, text, .. }), Side::Old) => {
            (old, " ", text, &none, theme.text, theme.text)
        }
        (Some(Row::Same { new, text, .. }), Side::New) => {
            (new, " ", text, &none, theme.text, theme.text)
        }
        (Some(Row::Removed { old, text, words }), _) => {
            (old, "-", text, words, theme.removed, theme.removed_word)
        }
        (Some(Row::Added { new, text, words }), _) => {
            (new, "+", text, words, theme.added, theme.added_word)
        }
    };
    let mut spans = vec![
        Span::styled(format!("{number:>digits$} "), theme.line_number),
        Span::styled(format!("{sign} "), style),
    ];
    spans.extend(pieces(text, words, style, word_style));
    wrap::cut(&spans, width)
}

fn joined(left: Line<'static>, right: Line<'static>, half: usize, theme: &Theme) -> Line<'static> {
    let mut line = wrap::filled(left, half);
    line.spans.push(Span::styled(BETWEEN, theme.border));
    line.spans.extend(right.spans);
    line
}

/// Returns the columns that the highest line number takes.
fn digits(rows: &[Row<'_>]) -> usize {
    let numbers = rows.iter().map(|row| match row {
        Row::Skip => 0,
        Row::Same { old, new, .. } => *old.max(new),
        Row::Removed { old, .. } => *old,
        Row::Added { new, .. } => *new,
    });
    numbers.max().unwrap_or(0).max(1).to_string().len()
}

fn pieces(text: &str, words: &Words, style: Style, word_style: Style) -> Vec<Span<'static>> {
    let end = text.floor_char_boundary(LINE_BYTES_MAX);
    let mut cleaner = Cleaner::default();
    let mut spans = Vec::new();
    let mut push = |range: std::ops::Range<usize>, style: Style| {
        if let Some(piece) = text.get(range).filter(|piece| !piece.is_empty()) {
            spans.push(Span::styled(cleaner.clean(piece), style));
        }
    };
    let mut at = 0;
    for word in words {
        let (start, stop) = (word.start.min(end), word.end.min(end));
        push(at..start, style);
        push(start..stop, word_style);
        at = stop;
    }
    push(at..end, style);
    if end < text.len() {
        spans.push(Span::styled("…", style));
    }
    spans
}
