//! A checkpoint in the making: what files were like before the turn touched them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::record::{Changed, Record, Was};
use super::store::now;
use super::tree::{Fresh, Known, Reader, Tree, Trouble};

/// What is known of files as they were before a turn.
#[derive(Debug)]
pub(super) struct Draft {
    began: SystemTime,
    prompt: String,
    message: Option<String>,
    /// Files that a tool was about to touch.
    noted: BTreeMap<PathBuf, Was>,
    /// Directories that were not there.
    absent: BTreeSet<PathBuf>,
    /// Directories that a tool was about to delete.
    present: BTreeSet<PathBuf>,
    /// All files, before the first call that could touch any.
    tree: Option<Tree>,
    /// Whether there was no time to read all files.
    is_partial: bool,
}

impl Draft {
    pub(super) fn new(prompt: String, message: Option<String>) -> Self {
        Self {
            began: now(),
            prompt,
            message,
            noted: BTreeMap::new(),
            absent: BTreeSet::new(),
            present: BTreeSet::new(),
            tree: None,
            is_partial: false,
        }
    }

    /// Notes what a call is about to touch: a file, or a directory with all that is in it.
    pub(super) fn note(&mut self, path: &Path, reader: Reader<'_>) {
        if self.is_known(path) {
            return;
        }
        if path.symlink_metadata().is_ok_and(|stat| stat.is_dir()) {
            // What is ignored is deleted as well.
            let below = reader.walk(&[path], true, self.began, &mut Known::new());
            let below = below.unwrap_or_default();
            for (path, was) in below.files {
                if !self.is_known(&path) {
                    self.noted.insert(path, was);
                }
            }
            self.present.extend(below.directories);
            return;
        }
        for directory in path.ancestors().skip(1) {
            if directory.symlink_metadata().is_ok() {
                break;
            }
            self.absent.insert(directory.to_owned());
        }
        self.noted.insert(path.to_owned(), reader.look(path));
    }

    fn is_known(&self, path: &Path) -> bool {
        let in_tree = |tree: &Tree| tree.files.contains_key(path);
        self.noted.contains_key(path) || self.tree.as_ref().is_some_and(in_tree)
    }

    /// Says whether all files were noted, as far as there is time for it.
    pub(super) fn is_whole(&self) -> bool {
        self.tree.is_some() || self.is_partial
    }

    /// Notes that there was no time to read all files.
    pub(super) fn set_partial(&mut self) {
        self.is_partial = true;
    }

    /// Notes all files.
    pub(super) fn set_tree(&mut self, tree: Tree) {
        self.tree = Some(tree);
    }

    /// Compares with what files are like now. There is nothing to record if they are the same.
    ///
    /// # Errors
    ///
    /// The files cannot be compared; says why. What tools changed is recorded all the same.
    pub(super) fn finish(
        self,
        number: u64,
        below: &[&Path],
        reader: Reader<'_>,
        known: &mut Known,
    ) -> (Option<Record>, Result<(), Trouble>) {
        let mut record = Record::new(number, self.prompt.clone());
        record.message.clone_from(&self.message);
        let mut trouble = Ok(());
        let mut after = BTreeMap::new();
        if let Some(tree) = &self.tree {
            match reader.walk(below, false, self.began, known) {
                Ok(now) => after = compare(tree, now, reader, &mut record),
                Err(reason) => trouble = Err(reason),
            }
        }
        for path in self.noted.keys() {
            after
                .entry(path.clone())
                .or_insert_with(|| reader.look(path));
        }
        for (path, after) in after {
            let before = self.before(&path);
            if before != after {
                record.changed.push(Changed {
                    path,
                    before,
                    after,
                });
            }
        }
        let made = self.absent.iter().filter(|path| path.is_dir());
        record.made.extend(made.cloned());
        let is_gone = |path: &&PathBuf| path.symlink_metadata().is_err();
        let removed = self.present.iter().filter(is_gone);
        record.removed.extend(removed.cloned());
        for directories in [&mut record.made, &mut record.removed] {
            directories.sort();
            directories.dedup();
        }
        ((!record.is_empty()).then_some(record), trouble)
    }

    fn before(&self, path: &Path) -> Was {
        let in_tree = || self.tree.as_ref()?.files.get(path);
        let was = self.noted.get(path).or_else(in_tree);
        was.cloned().unwrap_or(Was::Missing)
    }
}

/// Returns what became of the files of a tree, and those that are new.
fn compare(
    tree: &Tree,
    now: Tree,
    reader: Reader<'_>,
    record: &mut Record,
) -> BTreeMap<PathBuf, Was> {
    let new = now.directories.difference(&tree.directories);
    record.made.extend(new.cloned());
    let gone = tree.directories.difference(&now.directories);
    // One that is ignored now is not gone.
    let gone = gone.filter(|path| path.symlink_metadata().is_err());
    record.removed.extend(gone.cloned());
    let Tree {
        mut files, fresh, ..
    } = now;
    // One that is no longer ignored is not new, and one that is ignored now is not gone.
    let is_new = |path: &PathBuf| match fresh.get(path) {
        // A file that is older than the turn came from somewhere: from the tree, or from what was ignored.
        Some(Fresh::Older(file)) => tree.has(*file),
        Some(Fresh::Born) => true,
        None => false,
    };
    files.retain(|path, _| tree.files.contains_key(path) || is_new(path));
    for path in tree.files.keys() {
        files
            .entry(path.clone())
            .or_insert_with(|| reader.look(path));
    }
    files
}
