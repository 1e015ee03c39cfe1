//! The terminals of a session, and which of them have not ended.

use super::{Change, Entry, Key, Terminal, Transcript};
use crate::v2;

impl Transcript {
    /// Returns the terminals whose end was not reported, in the order in which they were first seen,
    /// without looking through the others.
    pub fn open_terminals(&self) -> impl DoubleEndedIterator<Item = &v2::TerminalId> {
        let open = self.open_terminals.iter();
        open.filter_map(|place| match self.entry(*place)? {
            Entry::Terminal(terminal) => Some(&terminal.id),
            _ => None,
        })
    }

    pub(super) fn terminal_update(&mut self, update: &v2::TerminalUpdate) -> Change {
        let id = &update.terminal_id;
        let mut is_open = true;
        let change = self.change(
            Key::Terminal(id.clone()),
            || Terminal::new(id.clone()).into(),
            |entry| {
                let terminal = entry.as_terminal_mut()?;
                terminal.apply(update);
                is_open = terminal.exit_status.is_none();
                Some(())
            },
        );
        if let Change::Added(place) | Change::Changed(place) = change {
            // An end may be taken back by null.
            if is_open {
                self.open_terminals.insert(place);
            } else {
                self.open_terminals.remove(&place);
            }
        }
        change
    }

    pub(super) fn terminal_output(&mut self, chunk: &v2::TerminalOutputChunk) -> Change {
        let id = &chunk.terminal_id;
        let change = self.extend(
            Key::Terminal(id.clone()),
            || Terminal::new(id.clone()).into(),
            |entry| {
                entry
                    .as_terminal_mut()
                    .map(|terminal| terminal.append(&chunk.data))
            },
        );
        if let Change::Added(place) = change {
            self.open_terminals.insert(place);
        }
        change
    }

    /// Finds the open ones again after entries were moved.
    pub(super) fn find_open_terminals(&mut self) {
        let open = self.entries().enumerate().filter(|(_, entry)| {
            matches!(entry, Entry::Terminal(terminal) if terminal.exit_status.is_none())
        });
        self.open_terminals = open.map(|(place, _)| place).collect();
    }
}
