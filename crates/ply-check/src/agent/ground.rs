//! The directory of the sessions: each probe finds it as the first one did.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the default prompts ask agents to read.
const README: &str = "# A scratch project\n\nA place for `ply check`. It has one file, this one.\n";
/// Bytes of a file that are kept to be put back. What is larger was not made for checks, and is left alone.
const KEPT_BYTES_MAX: u64 = 1024 * 1024;

/// The directory of the sessions, with the files that belong there.
#[derive(Debug, Clone, Default)]
pub(super) struct Ground {
    root: PathBuf,
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// What was there and is not put back: directories, and large files.
    others: Vec<PathBuf>,
}

impl Ground {
    /// Puts a README into the directory if it has none, and notes what is there.
    pub(super) fn prepare(root: &Path) -> Self {
        let readme = root.join("README.md");
        if !readme.exists()
            && let Err(error) = fs::write(&readme, README)
        {
            tracing::debug!(%error, "the directory has no README");
        }
        let mut ground = Self {
            root: root.to_owned(),
            ..Self::default()
        };
        for path in entries(root) {
            let is_small =
                fs::metadata(&path).is_ok_and(|it| it.is_file() && it.len() <= KEPT_BYTES_MAX);
            match fs::read(&path) {
                Ok(bytes) if is_small => drop(ground.files.insert(path, bytes)),
                _ => ground.others.push(path),
            }
        }
        ground
    }

    /// Removes what probes left behind and puts back what they changed. Hidden entries are the agent's own.
    pub(super) fn restore(&self) {
        for path in entries(&self.root) {
            let is_kept = self.files.contains_key(&path) || self.others.contains(&path);
            if !is_kept && let Err(error) = remove(&path) {
                tracing::debug!(%error, "something is left in the directory of the sessions");
            }
        }
        for (path, bytes) in &self.files {
            let is_same = fs::read(path).is_ok_and(|now| now == *bytes);
            if !is_same && let Err(error) = fs::write(path, bytes) {
                tracing::debug!(%error, "a file of the directory of the sessions is not put back");
            }
        }
    }
}

fn entries(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let shown = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    shown.map(|entry| entry.path()).collect()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_probe_finds_the_directory_as_the_first_one_did() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::write(root.join("kept.txt"), "before").unwrap();
        let ground = Ground::prepare(root);
        assert!(root.join("README.md").is_file());
        fs::write(root.join("kept.txt"), "after").unwrap();
        fs::write(root.join("checked.txt"), "checked").unwrap();
        fs::create_dir(root.join("below")).unwrap();
        fs::write(root.join(".agent"), "its own").unwrap();
        fs::remove_file(root.join("README.md")).unwrap();
        ground.restore();
        let mut names: Vec<_> = fs::read_dir(root)
            .unwrap()
            .map(|it| it.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, [".agent", "README.md", "kept.txt"]);
        assert_eq!(fs::read(root.join("kept.txt")).unwrap(), b"before");
    }
}
