//! The directory of the sessions, to see whether something was done in it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The names in a directory at one time. Hidden ones are left out: agents keep their own things there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::agent) struct Place {
    root: PathBuf,
    names: BTreeSet<OsString>,
}

impl Place {
    /// Returns what is there now; nothing if it cannot be read.
    pub(in crate::agent) async fn look(root: &Path) -> Self {
        let mut names = BTreeSet::new();
        if let Ok(mut entries) = tokio::fs::read_dir(root).await {
            while let Ok(Some(entry)) = entries.next_entry().await {
                let name = entry.file_name();
                if !name.as_encoded_bytes().starts_with(b".") {
                    names.insert(name);
                }
            }
        }
        Self {
            root: root.to_owned(),
            names,
        }
    }

    /// Returns the names that are there now and were not before.
    pub(in crate::agent) async fn made_since(&self) -> BTreeSet<OsString> {
        let now = Self::look(&self.root).await;
        now.names.difference(&self.names).cloned().collect()
    }

    /// Removes files of these names, so that they can be made once more.
    pub(in crate::agent) async fn clear(&self, names: &BTreeSet<OsString>) {
        for name in names {
            // What cannot be removed is no file of a prompt, or is gone already.
            drop(tokio::fs::remove_file(self.root.join(name)).await);
        }
    }
}
