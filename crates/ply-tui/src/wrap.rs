//! Lines that fit: text made harmless, measured as the screen measures it, and broken to a width.
//!
//! Everything that is drawn goes through [`clean`] or [`Cleaner`] first and is measured by cells, one
//! user-perceived character at a time, as the buffer does when it draws.

use std::fmt::Write as _;

use ply_client::text;
use ratatui::buffer::CellWidth as _;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthChar as _;

/// Columns between tab stops.
const TAB_COLUMNS: usize = 4;
/// Marks in a row that one character may carry; no script needs as many.
const MARKS_MAX: usize = 8;
/// Bytes of one user-perceived character that is shown as itself. Families of emoji need 40.
const CHARACTER_BYTES_MAX: usize = 64;
/// What stands for a character that cannot be shown in the space there is.
const UNFIT: &str = "\u{fffd}";
/// What stands where something was cut off.
const CUT: &str = "…";

/// Where a line may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// At spaces and between wide characters; inside a word only if it is wider than the line.
    Words,
    /// Anywhere, so that every character stays where it is in its line, as code wants it.
    Anywhere,
}

/// What stands before the first line and before those after it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Margin {
    pub(crate) first: Vec<Span<'static>>,
    pub(crate) rest: Vec<Span<'static>>,
}

impl Margin {
    /// Returns a margin that is the same before every line.
    pub(crate) fn of(text: &'static str, style: Style) -> Self {
        Self::hanging(text, text, style)
    }

    /// Returns a margin with a mark before the first line.
    pub(crate) fn hanging(first: &'static str, rest: &'static str, style: Style) -> Self {
        let span = |text: &'static str| match text {
            "" => Vec::new(),
            text => vec![Span::styled(text, style)],
        };
        Self {
            first: span(first),
            rest: span(rest),
        }
    }
}

/// Makes the pieces of one line harmless; tabs go to the next stop of the whole line.
#[derive(Debug, Default)]
pub(crate) struct Cleaner {
    column: usize,
    marks: usize,
}

impl Cleaner {
    /// Returns the next piece as it may be shown. Ends of lines are escaped too.
    pub(crate) fn clean(&mut self, piece: &str) -> String {
        let mut shown = String::with_capacity(piece.len());
        for char in piece.chars() {
            if char == '\t' {
                let columns = TAB_COLUMNS - self.column % TAB_COLUMNS;
                shown.extend(std::iter::repeat_n(' ', columns));
                self.column += columns;
                continue;
            }
            if !text::is_harmless(char) {
                let before = shown.len();
                // Writing to a string cannot fail.
                _ = write!(shown, "{}", text::Line(char.encode_utf8(&mut [0; 4])));
                self.column += shown.len() - before;
                continue;
            }
            let columns = char.width().unwrap_or(0);
            self.marks = if columns == 0 { self.marks + 1 } else { 0 };
            if self.marks <= MARKS_MAX {
                shown.push(char);
                self.column += columns;
            }
        }
        shown
    }
}

/// Returns a text as it may be shown on one line.
pub(crate) fn clean(text: &str) -> String {
    Cleaner::default().clean(text)
}

/// Returns the columns that a clean text takes on the screen.
pub(crate) fn columns(text: &str) -> usize {
    text.graphemes(true).map(cell_columns).sum()
}

/// Returns the columns that clean spans take on the screen.
pub(crate) fn columns_of(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| columns(&span.content)).sum()
}

/// Appends the lines that clean spans take at a width. No line is wider than that.
pub(crate) fn wrap(
    spans: &[Span<'_>],
    width: usize,
    margin: &Margin,
    breaks: Breaks,
    lines: &mut Vec<Line<'static>>,
) {
    let margin_columns = columns_of(&margin.first).max(columns_of(&margin.rest));
    // Where there is hardly room for text, the text is what matters.
    let fits = margin_columns < width;
    let free = width.saturating_sub(if fits { margin_columns } else { 0 });
    let cells = cells(spans, free.max(1));
    let mut first = true;
    for range in breaks_of(&cells, free.max(1), breaks) {
        let before = match first {
            _ if !fits => &[][..],
            true => &margin.first,
            false => &margin.rest,
        };
        first = false;
        let mut line = before.to_vec();
        join(cells.get(range).unwrap_or_default(), spans, &mut line);
        lines.push(Line::from(line));
    }
}

/// Returns the beginning of clean spans that fits into one line.
pub(crate) fn cut(spans: &[Span<'_>], width: usize) -> Line<'static> {
    let cells = cells(spans, width.max(1));
    let all: usize = cells.iter().map(|cell| cell.columns).sum();
    let mut line = Vec::new();
    if all <= width {
        join(&cells, spans, &mut line);
        return Line::from(line);
    }
    let mut free = width.saturating_sub(1);
    let kept = cells.iter().take_while(|cell| {
        let left = free.checked_sub(cell.columns);
        free = left.unwrap_or(0);
        left.is_some()
    });
    let kept = kept.count();
    join(cells.get(..kept).unwrap_or_default(), spans, &mut line);
    if width > 0 {
        let style = cells.get(kept).and_then(|cell| spans.get(cell.span));
        line.push(Span::styled(
            CUT,
            style.map_or(Style::new(), |span| span.style),
        ));
    }
    Line::from(line)
}

/// Returns a line that is filled with spaces up to the width.
pub(crate) fn filled(mut line: Line<'static>, width: usize) -> Line<'static> {
    let missing = width.saturating_sub(columns_of(&line.spans));
    if missing > 0 {
        line.spans.push(Span::raw(" ".repeat(missing)));
    }
    line
}

/// Returns a line with a background up to the width, if the style has one.
pub(crate) fn tinted(line: Line<'static>, width: usize, tint: Style) -> Line<'static> {
    if tint.bg.is_none() {
        return line;
    }
    let mut line = filled(line, width);
    for span in &mut line.spans {
        span.style = tint.patch(span.style);
    }
    line
}

/// One user-perceived character.
struct Cell<'a> {
    span: usize,
    text: &'a str,
    columns: usize,
}

fn cell_columns(character: &str) -> usize {
    if character.contains(char::is_control) {
        return 0;
    }
    usize::from(character.cell_width())
}

fn cells<'a>(spans: &'a [Span<'_>], columns_max: usize) -> Vec<Cell<'a>> {
    let characters = spans.iter().enumerate().flat_map(|(span, of)| {
        let characters = of.content.graphemes(true);
        characters.map(move |text| (span, text))
    });
    let cells = characters.map(|(span, text)| {
        let columns = cell_columns(text);
        if columns > columns_max || text.len() > CHARACTER_BYTES_MAX {
            let text = UNFIT;
            return Cell {
                span,
                text,
                columns: 1,
            };
        }
        Cell {
            span,
            text,
            columns,
        }
    });
    cells.collect()
}

fn breaks_of(cells: &[Cell<'_>], free: usize, breaks: Breaks) -> Vec<std::ops::Range<usize>> {
    let mut lines = Vec::new();
    let (mut start, mut column, mut place) = (0, 0, 0);
    // The last place where a word ended, and the columns up to there.
    let mut word: Option<(usize, usize)> = None;
    while let Some(cell) = cells.get(place) {
        let by_words = breaks == Breaks::Words;
        if column + cell.columns > free {
            let (end, next) = match word.take() {
                _ if by_words && cell.text == " " => (place, place + 1),
                Some((end, _)) if by_words => (end, end),
                _ => (place, place),
            };
            lines.push(start..trimmed(cells, start..end, breaks));
            start = next;
            // At the beginning of a line nothing but the word goes on.
            if by_words {
                while cells.get(start).is_some_and(|cell| cell.text == " ") {
                    start += 1;
                }
            }
            place = start;
            column = 0;
            continue;
        }
        column += cell.columns;
        place += 1;
        let wide = cell.columns > 1 || cells.get(place).is_some_and(|next| next.columns > 1);
        if by_words && (cell.text == " " || wide) {
            word = Some((place, column));
        }
    }
    if start < cells.len() || lines.is_empty() {
        lines.push(start..trimmed(cells, start..cells.len(), breaks));
    }
    lines
}

/// Returns the end of a line without the spaces that nobody sees.
fn trimmed(cells: &[Cell<'_>], range: std::ops::Range<usize>, breaks: Breaks) -> usize {
    let Some(line) = cells.get(range.clone()) else {
        return range.end;
    };
    if breaks == Breaks::Anywhere {
        return range.end;
    }
    let spaces = line.iter().rev().take_while(|cell| cell.text == " ");
    range.end - spaces.count()
}

fn join(cells: &[Cell<'_>], spans: &[Span<'_>], line: &mut Vec<Span<'static>>) {
    for run in cells.chunk_by(|one, next| one.span == next.span) {
        let text: String = run.iter().map(|cell| cell.text).collect();
        let span = run.first().and_then(|cell| spans.get(cell.span));
        line.push(Span::styled(
            text,
            span.map_or(Style::new(), |span| span.style),
        ));
    }
}

#[cfg(test)]
mod tests;
