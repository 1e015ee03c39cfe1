//! What could be meant by the word at the cursor: a file, a command of the agent, a command of ours.

use nucleo_matcher::Config;

use super::{Action, App, Focus};
use crate::composer::Piece;
use crate::fuzzy;
use crate::help::{self, LocalCommand};

/// Entries that can be gone through; a screen shows a few of them.
const ENTRIES_MAX: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    /// After a slash: of the agent or of this client.
    Command,
    /// After a colon: of this client.
    LocalCommand,
}

/// A list at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Popup {
    pub(crate) kind: Kind,
    /// Names and what is said about them.
    pub(crate) entries: Vec<(String, String)>,
    pub(crate) selected: usize,
    /// Where the word begins.
    start: usize,
}

impl App {
    /// Looks again at the word at the cursor.
    pub(crate) fn refresh_popup(&mut self, out: &mut Vec<Action>) {
        let wanted = (!self.popup_closed && self.focus == Focus::Composer)
            .then(|| self.find_popup())
            .flatten();
        let wants_files = wanted
            .as_ref()
            .is_some_and(|popup| popup.kind == Kind::File);
        if wants_files
            && (self.files.is_none() || self.are_files_stale)
            && let Some(id) = self.tab().map(|tab| tab.id)
        {
            self.are_files_stale = false;
            self.files.get_or_insert_default();
            out.push(Action::FindFiles(id));
        }
        let selected = self.popup.take().map_or(0, |popup| popup.selected);
        self.popup = wanted
            .filter(|popup| !popup.entries.is_empty())
            .map(|popup| Popup {
                selected: selected.min(popup.entries.len().saturating_sub(1)),
                ..popup
            });
    }

    fn find_popup(&self) -> Option<Popup> {
        let tab = self.tab()?;
        let max = ENTRIES_MAX;
        let named = |kind, start, word: &str, all: Vec<(String, String)>| {
            let names = all.iter().map(|(name, _)| name.as_str());
            let found = fuzzy::find(word, names, Config::DEFAULT, max);
            let entries = found
                .into_iter()
                .filter_map(|place| all.get(place).cloned());
            Popup {
                kind,
                entries: entries.collect(),
                selected: 0,
                start,
            }
        };
        if let Some((0, word)) = tab.composer.word_with('/') {
            let of_agent = tab.commands.iter();
            let of_agent =
                of_agent.map(|command| (command.name.clone(), command.description.clone()));
            let is_of_agent = |name: &str| tab.commands.iter().any(|known| known.name == name);
            let ours = help::COMMANDS.iter();
            let ours = ours.filter(|command| !is_of_agent(command.name));
            let ours = ours.map(entry);
            let all = of_agent.chain(ours);
            return Some(named(Kind::Command, 0, word, all.collect()));
        }
        if let Some((0, word)) = tab.composer.word_with(':') {
            let all = help::COMMANDS.iter();
            let all = all.map(entry);
            return Some(named(Kind::LocalCommand, 0, word, all.collect()));
        }
        let (start, word) = tab.composer.word_with('@')?;
        let files = self.files.as_deref().unwrap_or_default();
        let names = files.iter().map(String::as_str);
        let found = fuzzy::find(word, names, Config::DEFAULT.match_paths(), max);
        let entries = found.into_iter().filter_map(|place| files.get(place));
        let mut popup = named(Kind::File, start, "", Vec::new());
        popup.entries = entries.map(|file| (file.clone(), String::new())).collect();
        if popup.entries.is_empty() && self.files.is_none() {
            // Something must be there for the search to begin.
            popup
                .entries
                .push((String::new(), "looking for files…".to_owned()));
        }
        Some(popup)
    }

    /// Takes the entry that is chosen.
    pub(crate) fn take_popup(&mut self, out: &mut Vec<Action>) {
        let Some(popup) = self.popup.take() else {
            return;
        };
        let Some((name, _)) = popup.entries.get(popup.selected).cloned() else {
            return;
        };
        if let Some(tab) = self.tab_mut() {
            match popup.kind {
                Kind::File if name.is_empty() => {}
                Kind::File => {
                    let piece = Piece::File(name.into());
                    tab.composer.replace_with_piece(popup.start, piece);
                }
                Kind::Command => tab
                    .composer
                    .replace_back_to(popup.start, &format!("/{name} ")),
                Kind::LocalCommand => tab
                    .composer
                    .replace_back_to(popup.start, &format!(":{name} ")),
            }
        }
        self.refresh_popup(out);
    }

    /// Returns whether the word is already the name that is chosen, so that Enter need not complete it.
    pub(crate) fn is_popup_complete(&self) -> bool {
        let Some(popup) = &self.popup else {
            return false;
        };
        let sign = match popup.kind {
            Kind::File => return false,
            Kind::Command => '/',
            Kind::LocalCommand => ':',
        };
        let word = self.tab().and_then(|tab| tab.composer.word_with(sign));
        let chosen = popup.entries.get(popup.selected);
        matches!((word, chosen), (Some((_, word)), Some((name, _))) if word == name)
    }
}

/// Returns the entry of a command of this client, described like those of agents: with a capital letter.
fn entry(command: &LocalCommand) -> (String, String) {
    let mut chars = command.what.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    let what = first.into_iter().chain(chars).collect();
    (command.name.to_owned(), what)
}
