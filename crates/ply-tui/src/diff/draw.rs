//! Rows of a diff as lines.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::code::Parts;
use super::{Row, Words};
use crate::theme::Theme;
use crate::wrap::{self, Breaks, Cleaner, Margin};

/// What stands between two sides.
const BETWEEN: &str = " │ ";
/// What stands for lines that are left out.
const SKIP: &str = "⋯";

/// What rows are drawn with.
pub(super) struct Ink<'a> {
    /// Columns of a line.
    pub(super) width: usize,
    pub(super) theme: &'a Theme,
    /// Lines after which no further row is begun.
    pub(super) lines_max: usize,
    /// Bytes of a line that are shown.
    pub(super) line_bytes_max: usize,
    /// The parts of the rows, by their places.
    pub(super) code: Vec<Parts>,
}

/// What one side of a row shows.
struct Side<'a> {
    number: usize,
    sign: &'static str,
    text: &'a str,
    words: &'a [Range<usize>],
    colours: Colours,
}

/// What a row looks like.
#[derive(Clone, Copy)]
struct Colours {
    sign: Style,
    /// Behind the whole line.
    tint: Style,
    /// Text that is no code.
    text: Style,
    /// Added to the words that differ.
    word: Style,
}

impl Colours {
    fn same(theme: &Theme) -> Self {
        Self {
            sign: theme.text,
            tint: Style::new(),
            text: theme.text,
            word: Style::new(),
        }
    }

    fn added(theme: &Theme) -> Self {
        Self::changed(theme.added, theme.added_line, theme.added_word, theme)
    }

    fn removed(theme: &Theme) -> Self {
        Self::changed(theme.removed, theme.removed_line, theme.removed_word, theme)
    }

    /// On a tint, code keeps its own colours; without one, the text says what becomes of it.
    fn changed(sign: Style, tint: Style, word: Style, theme: &Theme) -> Self {
        match tint.bg {
            Some(_) => Self {
                sign,
                tint,
                text: theme.text,
                word: Style {
                    bg: word.bg,
                    ..Style::new()
                },
            },
            None => Self {
                sign,
                tint,
                text: sign,
                word,
            },
        }
    }

    fn is_tinted(&self) -> bool {
        self.tint.bg.is_some()
    }
}

/// Appends the lines of a diff in one column until there are enough; returns how many rows they show.
pub(super) fn unified(rows: &[Row<'_>], ink: &Ink<'_>, lines: &mut Vec<Line<'static>>) -> usize {
    let digits = digits(rows);
    let begin = lines.len();
    for (place, row) in rows.iter().enumerate() {
        if lines.len() - begin >= ink.lines_max {
            return place;
        }
        let Some(side) = side(row, Column::New, ink.theme) else {
            lines.push(skip(digits, ink.width, ink.theme));
            continue;
        };
        let margin = Margin {
            first: vec![number(&side, digits, ink.theme), sign(&side)],
            rest: vec![Span::raw(" ".repeat(digits + 3))],
        };
        let first = lines.len();
        let spans = pieces(&side, ink.code.get(place), ink);
        wrap::wrap(&spans, ink.width, &margin, Breaks::Anywhere, lines);
        for line in lines.iter_mut().skip(first) {
            *line = wrap::tinted(std::mem::take(line), ink.width, side.colours.tint);
        }
    }
    rows.len()
}

/// Appends the lines of a diff in two columns until there are enough; returns how many rows they
/// show.
pub(super) fn side_by_side(
    rows: &[Row<'_>],
    ink: &Ink<'_>,
    lines: &mut Vec<Line<'static>>,
) -> usize {
    let digits = digits(rows);
    let half = ink.width.saturating_sub(wrap::columns(BETWEEN)) / 2;
    let cell =
        |place: usize, column: Column| cell(rows.get(place), place, column, digits, half, ink);
    let begin = lines.len();
    let mut place = 0;
    while place < rows.len() {
        if lines.len() - begin >= ink.lines_max {
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
            let (left, right) = (cell(place, Column::Old), cell(place, Column::New));
            lines.push(joined(left, right, half, ink.theme));
            place += 1;
            continue;
        }
        for pair in 0..removed.max(added) {
            let left = (pair < removed).then(|| cell(place + pair, Column::Old));
            let right = (pair < added).then(|| cell(place + removed + pair, Column::New));
            let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
            lines.push(joined(left, right, half, ink.theme));
        }
        place += removed + added;
    }
    rows.len()
}

#[derive(Clone, Copy)]
enum Column {
    Old,
    New,
}

/// Returns what a row shows in a column; nothing for lines that are left out.
fn side<'a>(row: &'a Row<'_>, column: Column, theme: &Theme) -> Option<Side<'a>> {
    let (number, sign, text, words, colours) = match (row, column) {
        (Row::Skip, _) => return None,
        (Row::Same { old, text, .. }, Column::Old) => {
            (old, " ", text, &[][..], Colours::same(theme))
        }
        (Row::Same { new, text, .. }, Column::New) => {
            (new, " ", text, &[][..], Colours::same(theme))
        }
        (Row::Removed { old, text, words }, _) => {
            (old, "-", text, words.as_slice(), Colours::removed(theme))
        }
        (Row::Added { new, text, words }, _) => {
            (new, "+", text, words.as_slice(), Colours::added(theme))
        }
    };
    Some(Side {
        number: *number,
        sign,
        text,
        words,
        colours,
    })
}

/// Returns one side of a line in two columns.
fn cell(
    row: Option<&Row<'_>>,
    place: usize,
    column: Column,
    digits: usize,
    width: usize,
    ink: &Ink<'_>,
) -> Line<'static> {
    let Some(row) = row else {
        return Line::default();
    };
    let Some(side) = side(row, column, ink.theme) else {
        return skip(digits, width, ink.theme);
    };
    let mut spans = vec![number(&side, digits, ink.theme), sign(&side)];
    spans.extend(pieces(&side, ink.code.get(place), ink));
    wrap::tinted(wrap::cut(&spans, width), width, side.colours.tint)
}

fn skip(digits: usize, width: usize, theme: &Theme) -> Line<'static> {
    let text = format!("{:>digits$} {SKIP}", "");
    wrap::cut(&[Span::styled(text, theme.dim)], width)
}

fn number(side: &Side<'_>, digits: usize, theme: &Theme) -> Span<'static> {
    // On a tint the usual grey is hard to read.
    let style = match side.colours.is_tinted() {
        true => theme.dim,
        false => theme.line_number,
    };
    Span::styled(format!("{:>digits$} ", side.number), style)
}

fn sign(side: &Side<'_>) -> Span<'static> {
    Span::styled(format!("{} ", side.sign), side.colours.sign)
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

/// Returns the text of a row in pieces of one style each.
fn pieces(side: &Side<'_>, code: Option<&Parts>, ink: &Ink<'_>) -> Vec<Span<'static>> {
    let (text, colours, theme) = (side.text, &side.colours, ink.theme);
    let end = text.floor_char_boundary(ink.line_bytes_max);
    let is_coloured = colours.is_tinted() || side.sign == " ";
    let code = code.filter(|_| is_coloured).map_or(&[][..], Vec::as_slice);
    let mut cuts: Words = side.words.to_vec();
    cuts.extend(code.iter().map(|(_, range)| range.clone()));
    let mut cuts: Vec<usize> = cuts
        .iter()
        .flat_map(|range| [range.start, range.end])
        .collect();
    cuts.extend([0, end]);
    cuts.retain(|cut| *cut <= end && text.is_char_boundary(*cut));
    cuts.sort_unstable();
    cuts.dedup();
    let mut cleaner = Cleaner::default();
    let mut spans = Vec::new();
    for (start, stop) in cuts.iter().zip(cuts.iter().skip(1)) {
        let Some(piece) = text.get(*start..*stop) else {
            continue;
        };
        let role = code.iter().find(|(_, range)| range.contains(start));
        let mut style = role.map_or(colours.text, |(role, _)| role.style(theme));
        if side.words.iter().any(|word| word.contains(start)) {
            style = style.patch(colours.word);
        }
        spans.push(Span::styled(cleaner.clean(piece), style));
    }
    if end < text.len() {
        spans.push(Span::styled("…", colours.text));
    }
    spans
}
