//! Tables: columns as wide as they need to be and as narrow as they must.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

use crate::theme::Theme;
use crate::wrap::{self, Breaks, Margin};

/// Columns of the screen below which a column of a table is not squeezed.
const COLUMN_MIN: usize = 4;
/// What stands between columns.
const BETWEEN: &str = " │ ";

type Cell = Vec<Span<'static>>;

/// The cells of a table; the first row is its head.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        let rows = Vec::new();
        Self { alignments, rows }
    }

    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn push_cell(&mut self, cell: Cell) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Appends the lines. Columns that do not fit at all are left out, and a mark says so.
    pub(super) fn lines(
        &self,
        width: usize,
        margin: &Margin,
        theme: &Theme,
        lines: &mut Vec<Line<'static>>,
    ) {
        let margin_columns = wrap::columns_of(&margin.first);
        let free = width.saturating_sub(margin_columns);
        let widths = self.widths(free);
        let is_cut = widths.len() < self.alignments.len();
        for (place, row) in self.rows.iter().enumerate() {
            let first = lines.len();
            self.row(row, &widths, is_cut, theme, lines);
            for (line, row_line) in lines.iter_mut().skip(first).enumerate() {
                let is_first = place == 0 && line == 0;
                let before = if is_first {
                    &margin.first
                } else {
                    &margin.rest
                };
                row_line.spans.splice(0..0, before.iter().cloned());
                if place == 0 {
                    for span in row_line.spans.iter_mut().skip(before.len()) {
                        span.style = span.style.patch(theme.strong);
                    }
                }
            }
            if place == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                let mut line = margin.rest.clone();
                line.push(Span::styled(rules.join("─┼─"), theme.border));
                lines.push(Line::from(line));
            }
        }
        // Where even the margin does not fit, a line is cut as any other.
        for line in lines.iter_mut().rev() {
            if wrap::columns_of(&line.spans) <= width {
                continue;
            }
            *line = wrap::cut(&line.spans, width);
        }
    }

    fn row(
        &self,
        row: &[Cell],
        widths: &[usize],
        is_cut: bool,
        theme: &Theme,
        lines: &mut Vec<Line<'static>>,
    ) {
        let mut cells = Vec::with_capacity(widths.len());
        for (place, width) in widths.iter().enumerate() {
            let cell = row.get(place).map(Vec::as_slice).unwrap_or_default();
            let mut wrapped = Vec::new();
            wrap::wrap(
                cell,
                *width,
                &Margin::default(),
                Breaks::Words,
                &mut wrapped,
            );
            cells.push(wrapped);
        }
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let mut spans = Vec::new();
            for (place, (cell, width)) in cells.iter().zip(widths).enumerate() {
                if place > 0 {
                    spans.push(Span::styled(BETWEEN, theme.border));
                }
                let part = cell.get(line).cloned().unwrap_or_default();
                let missing = width.saturating_sub(wrap::columns_of(&part.spans));
                let before = match self.alignments.get(place) {
                    Some(Alignment::Right) => missing,
                    Some(Alignment::Center) => missing / 2,
                    _ => 0,
                };
                let is_last = place + 1 == widths.len() && !is_cut;
                let after = if is_last { 0 } else { missing - before };
                spans.extend(spaces(before));
                spans.extend(part.spans);
                spans.extend(spaces(after));
            }
            if is_cut {
                spans.push(Span::styled(" …", theme.dim));
            }
            lines.push(Line::from(spans));
        }
    }

    /// Returns the widths of the columns that are shown: the widest give until all fit.
    fn widths(&self, free: usize) -> Vec<usize> {
        let mut widths = vec![1; self.alignments.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(wrap::columns_of(cell));
            }
        }
        let between = wrap::columns(BETWEEN);
        let least = |widths: &[usize]| {
            let cells: usize = widths.iter().map(|width| (*width).min(COLUMN_MIN)).sum();
            cells + between * widths.len().saturating_sub(1)
        };
        let count = widths.len();
        while widths.len() > 1 && least(&widths) + if widths.len() < count { 2 } else { 0 } > free {
            widths.pop();
        }
        let mark = if widths.len() < count { 2 } else { 0 };
        let for_cells = free.saturating_sub(between * widths.len().saturating_sub(1) + mark);
        let limit = limit(&widths, for_cells);
        for width in &mut widths {
            *width = (*width).min(limit).max(1);
        }
        widths
    }
}

/// Returns the greatest width that no column exceeds if all are to fit.
fn limit(widths: &[usize], free: usize) -> usize {
    let mut sorted = widths.to_vec();
    sorted.sort_unstable();
    let mut left = free;
    for (place, width) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - place);
        if *width > share {
            return share.max(1);
        }
        left -= width;
    }
    usize::MAX
}

fn spaces(count: usize) -> Option<Span<'static>> {
    (count > 0).then(|| Span::raw(" ".repeat(count)))
}
