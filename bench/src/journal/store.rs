//! A store for one measurement.

use std::path::{Path, PathBuf};

use crate::Result;

/// The file of a store in a directory of its own, which is removed in the end.
pub(crate) struct Store {
    directory: PathBuf,
    path: PathBuf,
}

impl Store {
    /// Beside this program, since a directory for temporary files may be in memory.
    pub(crate) fn new() -> Result<Self> {
        let this = std::env::current_exe()?;
        let beside = this.parent().ok_or("this program is in no directory")?;
        let directory = beside.join(format!("bench-store-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        let path = directory.join("sessions.db");
        Ok(Self { directory, path })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.directory) {
            eprintln!("{} is left: {error}", self.directory.display());
        }
    }
}
