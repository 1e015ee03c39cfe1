//! The composer, wrapped, with its cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::lines::{clean, put};
use crate::app::{App, Focus};

/// What stands before the text.
const PROMPT: &str = "› ";
const PROMPT_COLUMNS: u16 = 2;

/// A piece of a row: column, text, and whether it is a piece of its own such as a paste.
type Part = (u16, String, bool);

/// The text in rows.
#[derive(Debug, Default)]
pub(super) struct LaidOut {
    rows: Vec<Vec<Part>>,
    cursor: (usize, u16),
}

impl LaidOut {
    pub(super) fn rows(&self) -> u16 {
        u16::try_from(self.rows.len()).unwrap_or(u16::MAX)
    }
}

/// Breaks the text into rows.
pub(super) fn lay_out(app: &App, width: u16) -> LaidOut {
    let mut laid = LaidOut {
        rows: vec![Vec::new()],
        cursor: (0, 0),
    };
    let Some(tab) = app.tab() else {
        return laid;
    };
    // One column is for the cursor behind the last character.
    let width = width.saturating_sub(PROMPT_COLUMNS + 1).max(1);
    let mut column = 0;
    for (place, grapheme) in tab.composer.text().grapheme_indices(true) {
        if place == tab.composer.cursor() {
            laid.cursor = (laid.rows.len().saturating_sub(1), column);
        }
        if grapheme == "\n" {
            laid.rows.push(Vec::new());
            column = 0;
            continue;
        }
        let piece = grapheme
            .chars()
            .next()
            .and_then(|char| tab.composer.piece(char));
        let (text, is_piece) = match piece {
            Some(piece) => (piece.label(), true),
            None if grapheme == "\t" => ("    ".to_owned(), false),
            None => (clean(grapheme), false),
        };
        let wide = u16::try_from(text.width()).unwrap_or(width).min(width);
        if column + wide > width {
            laid.rows.push(Vec::new());
            column = 0;
            if place == tab.composer.cursor() {
                laid.cursor = (laid.rows.len().saturating_sub(1), 0);
            }
        }
        if let Some(row) = laid.rows.last_mut() {
            row.push((column, text, is_piece));
        }
        column += wide;
    }
    if tab.composer.cursor() == tab.composer.text().len() {
        laid.cursor = (laid.rows.len().saturating_sub(1), column);
    }
    laid
}

/// Draws the rows around the cursor and returns where it is, if keys go here.
pub(super) fn draw(app: &App, laid: &LaidOut, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return None;
    }
    let theme = &app.theme;
    if let Some(search) = &app.search {
        let found = app.found().unwrap_or("nothing found");
        let text = format!("search `{}`: {}", clean(&search.words), clean(found));
        put(buf, area, &text, theme.accent);
        return None;
    }
    put(buf, area, PROMPT, theme.accent);
    let is_empty = app.tab().is_none_or(|tab| tab.composer.is_empty());
    let text = Rect {
        x: area.x + PROMPT_COLUMNS.min(area.width),
        width: area.width.saturating_sub(PROMPT_COLUMNS),
        ..area
    };
    if is_empty {
        put(buf, text, "Say something", theme.dim);
    }
    let height = usize::from(area.height);
    let (row, column) = laid.cursor;
    let first = (row + 1).saturating_sub(height);
    for (y, parts) in (area.top()..area.bottom()).zip(laid.rows.iter().skip(first)) {
        for (x, part, is_piece) in parts {
            let style = if *is_piece {
                theme.accent
            } else {
                Style::new()
            };
            let place = Rect {
                x: text.x.saturating_add(*x),
                y,
                width: text.width.saturating_sub(*x),
                height: 1,
            };
            put(buf, place, part, style);
        }
    }
    if app.focus != Focus::Composer {
        return None;
    }
    let y = area.y + u16::try_from(row - first).unwrap_or(0);
    Some(Position::new(text.x.saturating_add(column), y))
}
