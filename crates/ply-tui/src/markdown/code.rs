//! Fenced code: highlighted line by line, each line once.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Pen;
use super::document::Laid;
use super::line::{End, end_of};
use super::scan::{CODE_LINES, Kind, Segment};
use crate::highlight::{self, Found, Highlighter};
use crate::wrap::{self, Breaks, Cleaner, Margin};

/// Lines of one block of code that are highlighted; what comes after them is plain.
const HIGHLIGHTED_LINES_MAX: usize = 2_048;
/// What stands before a line of code.
const MARGIN: &str = "  ";

/// How far code was read.
#[derive(Clone)]
pub(super) struct Code {
    /// Up to where.
    pub(super) read: usize,
    /// How many lines of the screen that makes.
    settled: usize,
    /// What reads the rest; none if it is plain.
    highlighter: Option<Box<Highlighter>>,
}

/// Returns whether a part of a block of code is read from where the part before it ended.
pub(super) fn depends_on_before(ordinal: usize) -> bool {
    ordinal > 0 && ordinal < HIGHLIGHTED_LINES_MAX / CODE_LINES
}

/// Lays out what was not yet. `before` is how the part before this one ended, if that is known.
pub(super) fn lay_out(
    segment: &Segment,
    end: usize,
    text: &str,
    before: Option<Code>,
    laid: &mut Laid,
    pen: &mut Pen<'_>,
) {
    let is_read = |code: &Code| code.read == segment.range.end;
    if laid.end == end && laid.code.as_ref().is_some_and(is_read) {
        return;
    }
    if laid.code.is_none() {
        laid.lines.truncate(usize::from(segment.gap));
        laid.code = begin(segment, text, before, laid.lines.len());
    }
    let lines = &mut laid.lines;
    let mut read = segment.range.start;
    if let Some(code) = &mut laid.code {
        lines.truncate(code.settled);
        while let Some(line) = next_line(text, code.read, segment.range.end) {
            if code.highlighter.is_some() && !pen.work.may_highlight(line.len()) {
                break;
            }
            push(
                line,
                segment.indent,
                code.highlighter.as_deref_mut(),
                pen,
                lines,
            );
            code.read += line.len();
        }
        code.settled = lines.len();
        read = code.read;
    }
    // The rest is an unfinished line, which may still become another, or waits for a later frame.
    pen.work.is_unfinished |= read < segment.range.end;
    while let Some(line) = next_line(text, read, end) {
        let mut copy = match &laid.code {
            Some(code) if code.read == read && read == segment.range.end => {
                code.highlighter.clone()
            }
            _ => None,
        };
        push(line, segment.indent, copy.as_deref_mut(), pen, lines);
        read += line.len();
    }
    laid.end = end;
}

/// Appends lines of plain text, each broken at the edge.
pub(crate) fn plain_lines<'a>(
    source: impl IntoIterator<Item = &'a str>,
    style: Style,
    margin: &Margin,
    width: usize,
    lines: &mut Vec<Line<'static>>,
) {
    for line in source {
        let span = Span::styled(wrap::clean(line), style);
        wrap::wrap(&[span], width, margin, Breaks::Anywhere, lines);
    }
}

fn begin(segment: &Segment, text: &str, before: Option<Code>, settled: usize) -> Option<Code> {
    let Kind::Code { language, ordinal } = &segment.kind else {
        return None;
    };
    let highlighter = if depends_on_before(*ordinal) {
        before?.highlighter
    } else if *ordinal > 0 {
        None
    } else {
        match highlight::find(text.get(language.clone()).unwrap_or_default()) {
            Found::Ready(highlighter) => Some(highlighter),
            Found::Loading => return None,
            Found::Unknown => None,
        }
    };
    Some(Code {
        read: segment.range.start,
        settled,
        highlighter,
    })
}

fn next_line(text: &str, start: usize, end: usize) -> Option<&str> {
    let text = text.get(..end)?;
    match end_of(text, start) {
        End::Whole(end) | End::Cut(end) => text.get(start..end),
        End::Open => text.get(start..).filter(|rest| !rest.is_empty()),
    }
}

fn push(
    line: &str,
    indent: usize,
    highlighter: Option<&mut Highlighter>,
    pen: &mut Pen<'_>,
    lines: &mut Vec<Line<'static>>,
) {
    pen.work.parsed_bytes += line.len();
    let line = without_indent(line, indent);
    let parts = highlighter.map(|highlighter| highlighter.line(line));
    let mut cleaner = Cleaner::default();
    let mut span = |piece: &str, style: Style| {
        Span::styled(cleaner.clean(piece.trim_end_matches(['\n', '\r'])), style)
    };
    let spans: Vec<Span<'static>> = match parts {
        Some(parts) => {
            let parts = parts.into_iter();
            let pieces = parts.filter_map(|(role, range)| Some((role, line.get(range)?)));
            pieces
                .map(|(role, piece)| span(piece, role.style(pen.theme)))
                .collect()
        }
        None => vec![span(line, pen.theme.code)],
    };
    let margin = Span::raw(format!("{}{MARGIN}", " ".repeat(indent.min(pen.width / 2))));
    let margin = Margin {
        first: vec![margin.clone()],
        rest: vec![margin],
    };
    let before = lines.len();
    wrap::wrap(&spans, pen.width, &margin, Breaks::Anywhere, lines);
    for line in lines.iter_mut().skip(before) {
        *line = wrap::tinted(std::mem::take(line), pen.width, pen.theme.panel);
    }
    pen.work.laid_out_lines += lines.len() - before;
}

/// Returns a line without the white space that the list around it gives it.
pub(super) fn without_indent(line: &str, indent: usize) -> &str {
    let mut columns = 0;
    for (place, char) in line.char_indices() {
        if columns >= indent || !matches!(char, ' ' | '\t') {
            return line.get(place..).unwrap_or_default();
        }
        columns += if char == '\t' { 4 - columns % 4 } else { 1 };
    }
    ""
}
