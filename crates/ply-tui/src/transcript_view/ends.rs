//! How turns ended, between what was said in them.

use std::collections::BTreeMap;

use ratatui::text::Line;

use crate::block::Unit;
use crate::theme::Theme;
use crate::wrap;

/// Turns whose end is kept.
const ENDS_MAX: usize = 1_000;

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct End {
    pub(crate) is_good: bool,
    /// What it took, or why it did not end well.
    pub(crate) words: String,
}

impl End {
    /// Returns it as a line.
    pub(crate) fn line(&self, theme: &Theme) -> Line<'static> {
        let (mark, style) = match self.is_good {
            true => ("✓", theme.dim),
            false => ("✗", theme.failed),
        };
        Line::styled(format!("{mark} {}", wrap::clean(&self.words)), style)
    }
}

/// The ends of turns, each by the entry that came next.
#[derive(Debug, Default)]
pub(crate) struct Ends(BTreeMap<usize, End>);

impl Ends {
    /// Keeps an end before the entry that is not there yet.
    pub(crate) fn push(&mut self, next_entry: usize, end: End) {
        self.0.insert(next_entry, end);
        while self.0.len() > ENDS_MAX {
            self.0.pop_first();
        }
    }

    /// Returns the end behind so many entries.
    pub(super) fn after(&self, entries: usize) -> Option<&End> {
        self.0.get(&entries)
    }

    /// Returns the end right before a unit.
    pub(crate) fn before(&self, unit: Unit) -> Option<&End> {
        self.0.get(&unit.start)
    }
}
