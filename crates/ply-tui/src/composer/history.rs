//! What was sent before.

use std::collections::VecDeque;

/// Entries kept.
pub(crate) const HISTORY_ENTRIES_MAX: usize = 1000;

/// What was sent before, the oldest first, and the place in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    entries: VecDeque<String>,
    /// The entry that is shown, counted from the newest.
    place: Option<usize>,
    /// What was written before the first look back.
    draft: String,
}

impl History {
    pub(crate) fn new(entries: impl IntoIterator<Item = String>) -> Self {
        let mut history = Self::default();
        for entry in entries {
            history.push(entry);
        }
        history
    }

    /// Adds an entry, unless it repeats the last one; returns whether it did.
    pub(crate) fn push(&mut self, entry: String) -> bool {
        self.place = None;
        if entry.trim().is_empty() || self.entries.back() == Some(&entry) {
            return false;
        }
        self.entries.push_back(entry);
        while self.entries.len() > HISTORY_ENTRIES_MAX {
            self.entries.pop_front();
        }
        true
    }

    /// Returns the entry before the one that is shown.
    pub(crate) fn older(&mut self, current: &str) -> Option<&str> {
        let place = self.place.map_or(0, |place| place + 1);
        let at = self.entries.len().checked_sub(place + 1)?;
        if self.place.is_none() {
            self.draft = current.to_owned();
        }
        self.place = Some(place);
        self.entries.get(at).map(String::as_str)
    }

    /// Returns the entry after the one that is shown; after the newest, what was being written.
    pub(crate) fn newer(&mut self) -> Option<&str> {
        let place = self.place?;
        self.place = place.checked_sub(1);
        match self.place {
            Some(place) => {
                let at = self.entries.len().checked_sub(place + 1)?;
                self.entries.get(at).map(String::as_str)
            }
            None => Some(&self.draft),
        }
    }

    /// Forgets the place: what is shown is now being written.
    pub(crate) fn leave(&mut self) {
        self.place = None;
    }

    /// Forgets the place and returns what was being written before, if it was anything.
    pub(crate) fn take_draft(&mut self) -> Option<String> {
        self.place.take()?;
        Some(std::mem::take(&mut self.draft)).filter(|draft| !draft.trim().is_empty())
    }

    /// Returns whether an entry is shown.
    pub(crate) fn is_shown(&self) -> bool {
        self.place.is_some()
    }

    /// Returns the newest entry that holds the words, after leaving out `skip` of them.
    pub(crate) fn find(&self, words: &str, skip: usize) -> Option<&str> {
        let words = words.to_lowercase();
        let found = self.entries.iter().rev();
        let mut found = found.filter(|entry| entry.to_lowercase().contains(&words));
        found.nth(skip).map(String::as_str)
    }
}
