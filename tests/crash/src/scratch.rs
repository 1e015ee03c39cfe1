//! Directories for stores, taken away when they are of no more use.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::failure::{Failure, Result};

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A directory of its own. It stays if it is told to, for whoever looks into a failure.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    stays: bool,
}

impl Scratch {
    pub(crate) fn new() -> Result<Self> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ply-crash-{}-{number}", std::process::id());
        // The system tells the real path of an open file, so links are followed first.
        let path = std::env::temp_dir().canonicalize()?.join(name);
        std::fs::create_dir_all(path.join("store"))?;
        let stays = false;
        Ok(Self { path, stays })
    }

    /// Does something with a new one, which stays if that fails.
    pub(crate) fn with(work: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let mut scratch = Self::new()?;
        work(&scratch).map_err(|failure| {
            scratch.stays = true;
            let words = format!("{} (see {})", failure.words, scratch.path.display());
            Failure { words, ..failure }
        })
    }

    /// The directory whose files are the store.
    pub(crate) fn store(&self) -> PathBuf {
        self.path.join("store")
    }

    /// The store's file.
    pub(crate) fn file(&self) -> PathBuf {
        self.store().join("journal.db")
    }

    /// The file to which the agent's tools write.
    pub(crate) fn effects(&self) -> PathBuf {
        self.path.join("effects")
    }

    pub(crate) fn board(&self) -> PathBuf {
        self.path.join("board")
    }

    /// What agents wrote to standard error.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("stderr")
    }

    /// What was said, both ways.
    pub(crate) fn talk(&self) -> PathBuf {
        self.path.join("talk")
    }

    pub(crate) fn copy(&self) -> PathBuf {
        self.path.join("copy")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.stays {
            // What is left is in the directory for temporary files.
            drop(std::fs::remove_dir_all(&self.path));
        }
    }
}
