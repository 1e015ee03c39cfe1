//! A directory for one test, removed with everything in it at the end.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::Roots;

/// A directory of its own with a `root` for the session and a place `outside` beside it.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ply-services-{}-{count}", std::process::id());
        // Without links, so that the tests know which ones there are.
        let base = std::env::temp_dir().canonicalize().unwrap().join(name);
        for directory in ["root", "outside"] {
            std::fs::create_dir_all(base.join(directory)).unwrap();
        }
        Self(base)
    }

    /// Returns the path of `name` in the directory that holds everything.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(super) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(super) fn link(&self, name: &str, target: impl AsRef<Path>) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, &path).unwrap();
        path
    }

    /// Returns the roots of a session in `root`.
    pub(super) fn roots(&self) -> Roots {
        Roots::new([self.at("root")])
    }

    /// Returns every file and link below `directory` with its content or target.
    pub(super) fn everything_in(&self, directory: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut rest = vec![self.at(directory)];
        while let Some(directory) = rest.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    rest.push(entry.path());
                } else if kind.is_file() {
                    found.push((entry.path(), std::fs::read(entry.path()).unwrap()));
                } else {
                    found.push((entry.path(), Vec::new()));
                }
            }
        }
        found.sort();
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}
