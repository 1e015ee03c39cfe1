//! Directories that last as long as a test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of its own, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self::beneath(&std::env::temp_dir())
    }

    /// Makes one in memory where there is a place for that, for tests that write much.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        match memory.is_dir() {
            true => Self::beneath(memory),
            false => Self::new(),
        }
    }

    fn beneath(directory: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ply-journal-{}-{number}", std::process::id());
        let path = directory.join(name);
        // Left by a process with the same number, if it is there.
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Returns the path of the store in it.
    pub(crate) fn store(&self) -> PathBuf {
        self.0.join("store").join("sessions.db")
    }

    #[allow(dead_code, reason = "not every test binary needs it")]
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}
