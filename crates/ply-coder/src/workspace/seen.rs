//! What the model has seen of files, so that it never writes over what it has not.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};

/// Files remembered at once. One that is forgotten has to be read again before it is changed.
const SEEN_FILES_MAX: usize = 4096;
/// Contents of one file on disk that are remembered, so that a buffer that lags behind is known as such.
const DISK_VERSIONS_MAX: usize = 16;

/// What is remembered of files.
#[derive(Debug, Default)]
pub(super) struct Seen {
    files: HashMap<PathBuf, File>,
    // Keyed at random for each session: nobody can prepare two contents with one print.
    prints: RandomState,
    clock: u64,
}

#[derive(Debug, Default)]
struct File {
    /// Of the content that the model was shown, all or part of it, or that it wrote.
    shown: Option<u64>,
    /// Of what was on disk, folded as buffers are, the newest last.
    disk: VecDeque<u64>,
    /// Whether the client had unsaved changes.
    unsaved: bool,
    used: u64,
}

impl Seen {
    /// Remembers that the model knows `content` of `path`.
    pub(super) fn show(&mut self, path: &Path, content: &str, unsaved: bool) {
        let print = self.prints.hash_one(content);
        let file = self.file(path);
        file.shown = Some(print);
        file.unsaved = unsaved;
    }

    /// Remembers what is on disk at `path`.
    pub(super) fn put_disk(&mut self, path: &Path, folded: &str) {
        let print = self.prints.hash_one(folded);
        let disk = &mut self.file(path).disk;
        disk.retain(|known| *known != print);
        disk.push_back(print);
        if disk.len() > DISK_VERSIONS_MAX {
            disk.pop_front();
        }
    }

    /// Forgets a file that is gone.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.retain(|known, _| !known.starts_with(path));
    }

    /// Carries what is known of a file over to its new name.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        if let Some(file) = self.files.remove(from) {
            self.files.insert(to.to_owned(), file);
        }
        self.forget(from);
    }

    /// Says whether the model was ever shown the file.
    pub(super) fn has_shown(&self, path: &Path) -> bool {
        self.files
            .get(path)
            .is_some_and(|file| file.shown.is_some())
    }

    /// Says whether `content` is what the model knows of `path`.
    pub(super) fn is_shown(&self, path: &Path, content: &str) -> bool {
        let shown = self.files.get(path).and_then(|file| file.shown);
        shown.is_some_and(|print| print == self.prints.hash_one(content))
    }

    /// Says whether `folded` was on disk once when the file was looked at.
    pub(super) fn was_disk(&self, path: &Path, folded: &str) -> bool {
        let print = self.prints.hash_one(folded);
        let file = self.files.get(path);
        file.is_some_and(|file| file.disk.contains(&print))
    }

    /// Returns files that had unsaved changes when they were read.
    pub(super) fn unsaved(&self, count_max: usize) -> Vec<PathBuf> {
        let unsaved = self.files.iter().filter(|(_, file)| file.unsaved);
        unsaved
            .map(|(path, _)| path.clone())
            .take(count_max)
            .collect()
    }

    fn file(&mut self, path: &Path) -> &mut File {
        self.clock += 1;
        if self.files.len() >= SEEN_FILES_MAX && !self.files.contains_key(path) {
            let oldest = self.files.iter().min_by_key(|(_, file)| file.used);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                self.files.remove(&oldest);
            }
        }
        let file = self.files.entry(path.to_owned()).or_default();
        file.used = self.clock;
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_was_not_used_for_longest_is_forgotten_first() {
        let mut seen = Seen::default();
        for number in 0..=SEEN_FILES_MAX {
            seen.show(Path::new(&format!("/{number}")), "x", false);
            seen.show(Path::new("/0"), "x", false);
        }
        assert_eq!(seen.files.len(), SEEN_FILES_MAX);
        assert!(seen.has_shown(Path::new("/0")));
        assert!(!seen.has_shown(Path::new("/1")));
    }

    #[test]
    fn a_directory_that_is_gone_takes_what_was_in_it_along() {
        let mut seen = Seen::default();
        seen.show(Path::new("/a/b"), "x", false);
        seen.show(Path::new("/ab"), "x", false);
        seen.forget(Path::new("/a"));
        assert!(!seen.has_shown(Path::new("/a/b")));
        assert!(seen.is_shown(Path::new("/ab"), "x"));
    }
}
