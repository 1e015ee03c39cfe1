//! The directory of the sessions, to see whether something was done in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of a file that are compared.
const COMPARED_BYTES_MAX: u64 = 1024 * 1024;

/// What a file was at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    changed: Option<SystemTime>,
    bytes: u64,
    content: Vec<u8>,
}

/// The entries of a directory at one time. Hidden ones are left out: agents keep their own things there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::agent) struct Place {
    root: PathBuf,
    entries: BTreeMap<OsString, Known>,
}

impl Place {
    /// Returns what is there now; nothing if it cannot be read.
    pub(in crate::agent) async fn look(root: &Path) -> Self {
        let mut entries = BTreeMap::new();
        if let Ok(mut found) = tokio::fs::read_dir(root).await {
            while let Ok(Some(entry)) = found.next_entry().await {
                let name = entry.file_name();
                if !name.as_encoded_bytes().starts_with(b".") {
                    entries.insert(name, known(&entry.path()).await);
                }
            }
        }
        Self {
            root: root.to_owned(),
            entries,
        }
    }

    /// Returns the names of what was not there before, or is not as it was.
    pub(in crate::agent) async fn made_since(&self) -> BTreeSet<OsString> {
        let now = Self::look(&self.root).await;
        let changed = now.entries.into_iter();
        let changed = changed.filter(|(name, known)| self.entries.get(name) != Some(known));
        changed.map(|(name, _)| name).collect()
    }

    /// Puts back what was there before under these names, so that they can be made once more.
    pub(in crate::agent) async fn clear(&self, names: &BTreeSet<OsString>) {
        for name in names {
            let path = self.root.join(name);
            // What cannot be put back is no file of a prompt, or is gone already.
            match self.entries.get(name) {
                Some(known) => drop(tokio::fs::write(path, &known.content).await),
                None => drop(tokio::fs::remove_file(path).await),
            }
        }
    }
}

async fn known(path: &Path) -> Known {
    let about = tokio::fs::symlink_metadata(path).await.ok();
    let is_file = about.as_ref().is_some_and(std::fs::Metadata::is_file);
    let bytes = about
        .as_ref()
        .filter(|_| is_file)
        .map_or(0, std::fs::Metadata::len);
    let content = match is_file && bytes <= COMPARED_BYTES_MAX {
        true => tokio::fs::read(path).await.unwrap_or_default(),
        false => Vec::new(),
    };
    Known {
        // The time of a directory changes with what is below it, which is no file of a prompt.
        changed: about
            .filter(|_| is_file)
            .and_then(|about| about.modified().ok()),
        bytes,
        content,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_is_written_again_is_seen_and_put_back() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("checked.txt");
        std::fs::write(&file, "left by an earlier probe").unwrap();
        let before = Place::look(place.path()).await;
        assert!(before.made_since().await.is_empty());
        std::fs::write(&file, "checked").unwrap();
        let made = before.made_since().await;
        assert_eq!(made.len(), 1);
        before.clear(&made).await;
        assert_eq!(std::fs::read(&file).unwrap(), b"left by an earlier probe");
    }
}
