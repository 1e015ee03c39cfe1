//! What is on disk, and what runs there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Every file below a directory with its content, and every link with its target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, Vec<u8>>);

impl Snapshot {
    pub(crate) fn of(root: &Path) -> Self {
        let mut found = BTreeMap::new();
        let mut left = vec![root.to_owned()];
        while let Some(directory) = left.pop() {
            for entry in std::fs::read_dir(&directory).unwrap() {
                let entry = entry.unwrap();
                let path = entry.path();
                let kind = entry.file_type().unwrap();
                let name = path.strip_prefix(root).unwrap().to_owned();
                if kind.is_dir() {
                    left.push(path);
                } else if kind.is_symlink() {
                    let target = std::fs::read_link(&path).unwrap();
                    found.insert(name, target.into_os_string().into_encoded_bytes());
                } else {
                    found.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
        Self(found)
    }

    /// Returns the paths that are new, gone or different now.
    pub(crate) fn changes(&self, now: &Self) -> BTreeSet<PathBuf> {
        let all = self.0.keys().chain(now.0.keys());
        all.filter(|path| self.0.get(*path) != now.0.get(*path))
            .cloned()
            .collect()
    }
}

/// Returns the command lines of processes that work in one of the directories or name it.
pub(crate) fn processes_at(places: &[&Path]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let process = entry.path();
        let number = entry.file_name().to_string_lossy().parse::<u32>();
        if !number.is_ok_and(|number| number != std::process::id()) {
            continue;
        }
        // One that ended meanwhile has neither, and neither has a zombie.
        let cwd = std::fs::read_link(process.join("cwd")).unwrap_or_default();
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let there =
            |place: &&Path| cwd.starts_with(place) || line.contains(&*place.to_string_lossy());
        if places.iter().any(there) {
            found.push(line);
        }
    }
    found
}
