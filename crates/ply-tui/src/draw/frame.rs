//! The frame around a question. On a small screen there is only its head, and the room is for the question.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::lines::{span, styled};
use crate::theme::Theme;
use crate::wrap;

/// Columns from which a question has a frame.
const COLUMNS_MIN: u16 = 40;
/// Columns that the sides of a frame take.
const SIDES_COLUMNS: u16 = 4;
/// Rows of a question that a frame leaves room for.
const BODY_ROWS_MIN: usize = 2;

pub(super) struct Frame {
    width: u16,
    style: Style,
    /// Whether there is room for all of it.
    pub(super) is_drawn: bool,
}

impl Frame {
    /// Returns the columns inside a frame of a width, drawn or not.
    pub(super) fn inside(width: u16) -> u16 {
        match width >= COLUMNS_MIN {
            true => width - SIDES_COLUMNS,
            false => width.saturating_sub(1),
        }
    }

    /// Returns the frame for a question with so many rows of answers.
    pub(super) fn new(
        width: u16,
        rows_max: usize,
        answers: usize,
        is_focused: bool,
        theme: &Theme,
    ) -> Self {
        let style = match is_focused {
            true => theme.accent,
            false => theme.waiting,
        };
        Self {
            width,
            style: style.add_modifier(Modifier::BOLD),
            is_drawn: width >= COLUMNS_MIN && rows_max >= 2 + answers + BODY_ROWS_MIN,
        }
    }

    /// Returns the rows that it takes below the question.
    pub(super) fn foot(&self) -> usize {
        usize::from(self.is_drawn)
    }

    /// Returns the row above the question, which says how many there are.
    pub(super) fn head(&self, place: usize, count: usize) -> Line<'static> {
        let (left, right) = match self.is_drawn {
            true => ("╭─", "╮"),
            false => ("─", "─"),
        };
        let words = match count {
            1 => format!("{left} needs you "),
            count => format!("{left} needs you: {} of {count} ", place + 1),
        };
        styled(self.ruled(words, right), self.style)
    }

    /// Returns the rows of a question with what is around them.
    pub(super) fn around(
        &self,
        head: Option<Line<'static>>,
        lines: Vec<Line<'static>>,
    ) -> Vec<Line<'static>> {
        let mut framed: Vec<Line<'static>> = head.into_iter().collect();
        framed.extend(lines.into_iter().map(|line| self.sided(line)));
        if self.is_drawn {
            framed.push(styled(self.ruled("╰".to_owned(), "╯"), self.style));
        }
        framed
    }

    fn sided(&self, line: Line<'static>) -> Line<'static> {
        let mut line = line;
        for span in &mut line.spans {
            span.style = line.style.patch(span.style);
        }
        if self.is_drawn {
            let inside = usize::from(Self::inside(self.width));
            line = wrap::filled(wrap::cut(&line.spans, inside), inside);
        }
        let mut spans = vec![match self.is_drawn {
            true => span("│ ", self.style),
            false => Span::raw(" "),
        }];
        spans.extend(line.spans);
        if self.is_drawn {
            spans.push(span(" │", self.style));
        }
        Line::from(spans)
    }

    fn ruled(&self, words: String, end: &str) -> String {
        let taken = ply_client::text::columns(&words) + 1;
        let filled = usize::from(self.width).saturating_sub(taken);
        format!("{words}{}{end}", "─".repeat(filled))
    }
}
