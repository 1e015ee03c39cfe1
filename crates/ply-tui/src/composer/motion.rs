//! Moving and deleting: by graphemes, words and lines.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

use super::piece::{is_mark, place_of};
use super::{Composer, Piece, TEXT_BYTES_MAX};

/// Where the cursor goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Start,
    End,
}

impl Composer {
    /// Moves the cursor.
    pub(crate) fn go(&mut self, to: Move) {
        self.cursor = self.target(to);
        self.column = None;
    }

    /// Deletes from the cursor to where the move would lead. What more than one grapheme was is kept for [`Composer::yank`].
    pub(crate) fn delete(&mut self, to: Move) {
        let target = self.target(to);
        let removed = self.remove(target.min(self.cursor)..target.max(self.cursor));
        let is_kill = !matches!(to, Move::Left | Move::Right);
        if is_kill && !removed.is_empty() {
            self.keep_killed(&removed);
        }
    }

    /// Puts back what was deleted last.
    pub(crate) fn yank(&mut self) {
        let killed = self.killed.clone();
        let more = killed.text.len() + killed.pieces.iter().map(Piece::bytes).sum::<usize>();
        if self.bytes() + more > TEXT_BYTES_MAX {
            return;
        }
        // Piece by piece, since their marks count from the beginning there.
        for part in killed.text.split_inclusive(is_mark) {
            self.insert(part);
            let last = part.chars().next_back().and_then(place_of);
            if let Some(piece) = last.and_then(|place| killed.pieces.get(place)) {
                self.add(piece.clone());
            }
        }
    }

    /// Moves one line up; returns false in the first line.
    pub(crate) fn up(&mut self) -> bool {
        let start = self.target(Move::LineStart);
        let Some(end) = start.checked_sub(1) else {
            return false;
        };
        let above = self.text.get(..end).and_then(|text| text.rfind('\n'));
        self.enter_line(above.map_or(0, |place| place + 1), end);
        true
    }

    /// Moves one line down; returns false in the last line.
    pub(crate) fn down(&mut self) -> bool {
        let end = self.target(Move::LineEnd);
        if end >= self.text.len() {
            return false;
        }
        let start = end + 1;
        let rest = self.text.get(start..).unwrap_or_default();
        let end = rest
            .find('\n')
            .map_or(self.text.len(), |place| start + place);
        self.enter_line(start, end);
        true
    }

    fn enter_line(&mut self, start: usize, end: usize) {
        let line_start = self.target(Move::LineStart);
        let before = self.text.get(line_start..self.cursor).unwrap_or_default();
        let column = self
            .column
            .unwrap_or_else(|| before.graphemes(true).count());
        let line = self.text.get(start..end).unwrap_or_default();
        let place = line.grapheme_indices(true).nth(column);
        self.cursor = start + place.map_or(line.len(), |(place, _)| place);
        self.column = Some(column);
    }

    fn target(&self, to: Move) -> usize {
        let text = self.text.as_str();
        let before = text.get(..self.cursor).unwrap_or_default();
        let after = text.get(self.cursor..).unwrap_or_default();
        let mut graphemes = GraphemeCursor::new(self.cursor, text.len(), true);
        match to {
            Move::Left => graphemes.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
            Move::Right => {
                let next = graphemes.next_boundary(text, 0).ok().flatten();
                next.unwrap_or(text.len())
            }
            Move::WordLeft => {
                let trimmed = before.trim_end();
                let is_word = |char: char| char.is_alphanumeric() || char == '_';
                let last = trimmed.chars().next_back().is_some_and(is_word);
                let start = trimmed
                    .trim_end_matches(|char: char| !char.is_whitespace() && is_word(char) == last);
                start.len()
            }
            Move::WordRight => {
                let skipped = after.len() - after.trim_start().len();
                let rest = after.trim_start();
                let is_word = |char: char| char.is_alphanumeric() || char == '_';
                let first = rest.chars().next().is_some_and(is_word);
                let end = rest.trim_start_matches(|char: char| {
                    !char.is_whitespace() && is_word(char) == first
                });
                self.cursor + skipped + rest.len() - end.len()
            }
            Move::LineStart => before.rfind('\n').map_or(0, |place| place + 1),
            Move::LineEnd => after
                .find('\n')
                .map_or(text.len(), |place| self.cursor + place),
            Move::Start => 0,
            Move::End => text.len(),
        }
    }
}
