//! The files of a directory, for mentions.

use std::path::PathBuf;

use tokio::sync::mpsc;

use super::sessions::Note;
use crate::app::{Event, TabId};

/// Files listed.
const FILES_MAX: usize = 100_000;
/// Files after which what was found so far is told.
const FILES_FIRST: usize = 2000;

/// Looks for files in a thread of its own, leaving out what Git ignores.
pub(super) fn find(tab: TabId, directory: PathBuf, notes: mpsc::Sender<Note>) {
    tokio::task::spawn_blocking(move || {
        let mut files = Vec::new();
        let walk = ignore::WalkBuilder::new(&directory)
            .hidden(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for entry in walk.flatten() {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            // A name that is no text cannot be typed, nor put into a link.
            let name = entry.path().strip_prefix(&directory).ok();
            files.extend(name.and_then(|name| name.to_str()).map(str::to_owned));
            if files.len() == FILES_FIRST {
                drop(notes.blocking_send(Note::App(Event::Files(tab, files.clone()))));
            }
            if files.len() >= FILES_MAX || notes.is_closed() {
                break;
            }
        }
        files.sort();
        drop(notes.blocking_send(Note::App(Event::Files(tab, files))));
    });
}
