//! The transcript on the screen: what is in sight is laid out, and nothing else.
//!
//! The view knows one place, the line at the top of the screen, as an entry, a part of it and a line
//! inside of that. From there it goes down, or from the end it goes up, until the screen is full. It
//! never knows how high the whole is, so the length of a session costs nothing.

mod ends;
mod place;
mod store;
mod times;

use std::collections::HashMap;

use ply_client::Transcript;
use ply_client::transcript::Stamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) use self::ends::End;
use self::place::Place;
use self::store::Store;
pub(crate) use crate::block::Look;
use crate::block::{Fold, FoldKind, Unit, spinner_frame};
use crate::theme::Theme;
use crate::wrap;

/// Rows that the end of the last turn takes: an empty one and its line.
const END_ROWS: usize = 2;
/// Rows of a screen that has room for them.
const END_HEIGHT_MIN: usize = 4;

/// Where to scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scroll {
    /// So many lines, up if negative.
    Lines(i32),
    /// So many screens, up if negative.
    Page(i32),
    /// To the first line.
    Top,
    /// To the last line, and along with it as it moves.
    End,
    /// To the message of the user before the first line on the screen.
    PreviousPrompt,
    /// To the message of the user after the first line on the screen.
    NextPrompt,
}

/// What is shown of one session: the place, what is folded, and lines that are still true.
pub(crate) struct TranscriptView {
    store: Store,
    top: Place,
    /// Whether new lines move the screen.
    follows: bool,
    /// What was there when the screen last showed the end.
    seen: Seen,
    height: usize,
    /// Rows below the last line in which the end of the last turn stands.
    end_rows: usize,
    /// What the rows of the screen show.
    rows: Vec<Place>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    entries: usize,
    last: Stamp,
}

/// What the reader has folded or opened, one by one or all of a kind.
#[derive(Debug, Default)]
struct Folds {
    units: HashMap<usize, (FoldKind, Fold)>,
    kinds: HashMap<FoldKind, Fold>,
}

impl TranscriptView {
    pub(crate) fn new() -> Self {
        Self {
            store: Store::new(),
            top: Place::default(),
            follows: true,
            seen: Seen::default(),
            height: 0,
            end_rows: 0,
            rows: Vec::new(),
        }
    }

    /// Draws what is in sight. Costs what is visible and has changed, never the length of the
    /// session.
    pub(crate) fn render(
        &mut self,
        transcript: &Transcript,
        area: Rect,
        buf: &mut Buffer,
        theme: &Theme,
        look: &Look,
    ) {
        self.rows.clear();
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        self.height = usize::from(area.height);
        let end = self.store.ends.after(transcript.entries().len());
        let end = end.map(|end| end.line(theme));
        self.end_rows = match end {
            Some(_) if self.height >= END_HEIGHT_MIN => END_ROWS,
            _ => 0,
        };
        self.store.begin_frame(usize::from(area.width), theme, look);
        let Some(top) = self.settled_top(transcript) else {
            return;
        };
        self.top = top;
        self.draw(transcript, area, buf);
        if let Some(line) = end.filter(|_| self.end_rows > 0) {
            let y = u16::try_from(self.rows.len() + END_ROWS - 1).unwrap_or(u16::MAX);
            if y < area.height && self.follows {
                let cut = wrap::cut(&line.spans, usize::from(area.width)).style(line.style);
                buf.set_line(area.x, area.y + y, &cut, area.width);
            }
        }
        if self.follows {
            self.seen = Seen::of(transcript);
        }
        self.store.end_frame();
    }

    /// Moves the place, by what was last drawn.
    pub(crate) fn scroll(&mut self, transcript: &Transcript, by: Scroll) {
        self.store.begin_step();
        // At the end there is nothing further down, also where the place was last found before the end moved.
        if self.follows && matches!(by, Scroll::Lines(0..) | Scroll::Page(0..)) {
            return;
        }
        let lines = match by {
            Scroll::Lines(lines) => lines,
            Scroll::Page(pages) => {
                // One line stays, for the eye to find where it was.
                let page = i32::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(i32::MAX);
                pages.saturating_mul(page)
            }
            Scroll::Top => {
                self.top = Place::default();
                0
            }
            Scroll::End => {
                self.follows = true;
                return;
            }
            Scroll::PreviousPrompt => {
                if let Some(place) = self.previous_prompt(transcript) {
                    self.top = place;
                }
                0
            }
            Scroll::NextPrompt => {
                let Some(place) = self.next_prompt(transcript) else {
                    self.follows = true;
                    return;
                };
                self.top = place;
                0
            }
        };
        if self.height == 0 || !self.store.is_drawn() {
            return;
        }
        if let Some(top) = self.store.settle(transcript, self.top) {
            self.top = self.store.moved(transcript, top, lines);
        }
        self.follows = self.store.reaches_end(transcript, self.top, self.room());
    }

    /// Keeps how a turn ended, before the entry that comes next.
    pub(crate) fn turn_ended(&mut self, next_entry: usize, end: End) {
        self.store.ends.push(next_entry, end);
    }

    /// Returns whether the end is on the screen and stays there.
    pub(crate) fn is_at_end(&self) -> bool {
        self.follows
    }

    /// Returns how many entries are new or have grown since the end was last on the screen.
    pub(crate) fn new_below(&self, transcript: &Transcript) -> usize {
        if self.follows {
            return 0;
        }
        let added = transcript.entries().len().saturating_sub(self.seen.entries);
        let last = self
            .seen
            .entries
            .checked_sub(1)
            .and_then(|last| transcript.stamp(last));
        added + usize::from(last.is_some_and(|last| last != self.seen.last))
    }

    /// Opens or closes what a row of the screen shows; returns whether there was something to.
    pub(crate) fn toggle_fold_at(&mut self, transcript: &Transcript, row_in_area: u16) -> bool {
        let Some(place) = self.rows.get(usize::from(row_in_area)) else {
            return false;
        };
        let Some(unit) = Unit::at(transcript, place.unit) else {
            return false;
        };
        let Some(kind) = unit.fold_kind(transcript) else {
            return false;
        };
        let fold = self.store.folds.of(unit, transcript).toggled();
        self.store.folds.units.insert(unit.start, (kind, fold));
        // What was clicked on stays where it is; if the end is still in sight, drawing finds out.
        self.follows = false;
        true
    }

    /// Opens or closes everything of the kind that is lowest on the screen.
    pub(crate) fn toggle_folds(&mut self, transcript: &Transcript) {
        let kinds = self.rows.iter().rev().filter_map(|place| {
            let unit = Unit::at(transcript, place.unit)?;
            unit.fold_kind(transcript)
        });
        let Some(kind) = kinds.into_iter().next() else {
            return;
        };
        let folds = &mut self.store.folds;
        folds.units.retain(|_, (of, _)| *of != kind);
        let fold = folds.kinds.entry(kind).or_default();
        *fold = fold.toggled();
    }

    /// Returns the text of rows on the screen, without what only fills them.
    pub(crate) fn text_between(
        &mut self,
        transcript: &Transcript,
        first: u16,
        last: u16,
    ) -> String {
        let (first, last) = (usize::from(first.min(last)), usize::from(first.max(last)));
        let rows = self.rows.get(first..).unwrap_or_default();
        let mut text = String::new();
        for place in rows.iter().take(last - first + 1) {
            let line = self.store.line(transcript, *place);
            text.push_str(
                line.map(|line| line.to_string())
                    .unwrap_or_default()
                    .trim_end(),
            );
            text.push('\n');
        }
        text
    }

    /// Returns whether the next frame would show more than this one, with nothing new to show: code
    /// that is still plain.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.store.work.is_unfinished
    }

    /// Returns the rows for what was said, when the end is on the screen.
    fn room(&self) -> usize {
        self.height.saturating_sub(self.end_rows)
    }

    fn settled_top(&mut self, transcript: &Transcript) -> Option<Place> {
        if !self.follows {
            let top = self.store.settle(transcript, self.top)?;
            if !self.store.reaches_end(transcript, top, self.room()) {
                return Some(top);
            }
            self.follows = true;
        }
        let last = self.store.last(transcript)?;
        let up = i32::try_from(self.room().saturating_sub(1)).unwrap_or(i32::MAX);
        Some(self.store.moved(transcript, last, -up))
    }

    fn draw(&mut self, transcript: &Transcript, area: Rect, buf: &mut Buffer) {
        let mut place = Some(self.top);
        for y in area.rows().map(|row| row.y) {
            let Some(here) = place else {
                break;
            };
            self.rows.push(here);
            let (bar, spinner) = self.store.marks(transcript, here);
            let mut x = area.x;
            if let Some(bar) = bar {
                (x, _) = buf.set_span(x, y, &bar, area.width);
            }
            if let Some(line) = self.store.line(transcript, here) {
                buf.set_line(x, y, line, area.right().saturating_sub(x));
            }
            if let Some(column) = spinner
                && column < area.width
                && let Some(cell) = buf.cell_mut((area.x + column, y))
            {
                cell.set_symbol(spinner_frame(self.store.look.tick));
            }
            place = self.store.down(transcript, here);
        }
    }

    fn previous_prompt(&self, transcript: &Transcript) -> Option<Place> {
        let mut unit = Unit::at(transcript, self.top.unit)?;
        if unit.is_prompt(transcript) && Place::begin(transcript, unit) < self.top {
            return Some(Place::begin(transcript, unit));
        }
        loop {
            unit = unit.previous(transcript)?;
            if unit.is_prompt(transcript) {
                return Some(Place::begin(transcript, unit));
            }
        }
    }

    fn next_prompt(&self, transcript: &Transcript) -> Option<Place> {
        let mut unit = Unit::at(transcript, self.top.unit)?;
        if unit.is_prompt(transcript) && self.top < Place::begin(transcript, unit) {
            return Some(Place::begin(transcript, unit));
        }
        loop {
            unit = unit.next(transcript)?;
            if unit.is_prompt(transcript) {
                return Some(Place::begin(transcript, unit));
            }
        }
    }
}

impl Seen {
    fn of(transcript: &Transcript) -> Self {
        let entries = transcript.entries().len();
        let last = entries
            .checked_sub(1)
            .and_then(|last| transcript.stamp(last));
        Self {
            entries,
            last: last.unwrap_or_default(),
        }
    }
}

impl Folds {
    fn of(&self, unit: Unit, transcript: &Transcript) -> Fold {
        if let Some((_, fold)) = self.units.get(&unit.start) {
            return *fold;
        }
        let kind = unit.fold_kind(transcript);
        kind.and_then(|kind| self.kinds.get(&kind).copied())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
