//! Markdown as lines on the screen, also while it still grows.
//!
//! A [`Document`] remembers what it has laid out. Text that is appended costs the segment it is
//! appended to, however long the text before it is.

mod code;
mod document;
mod line;
mod pen;
mod render;
mod scan;
mod table;

use ratatui::text::Line;

pub(crate) use self::{
    code::plain_lines,
    document::Document,
    pen::{Pen, Work},
};
use crate::theme::Theme;

/// Returns the lines of a whole text.
pub(crate) fn markdown_lines(text: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let mut work = Work::unlimited();
    let mut pen = Pen {
        width: usize::from(width),
        theme,
        work: &mut work,
    };
    let mut document = Document::default();
    document.feed(text);
    let mut lines = Vec::new();
    for place in 0..document.len() {
        lines.extend_from_slice(document.lines(place, text, &mut pen));
    }
    lines
}

#[cfg(test)]
mod tests;
