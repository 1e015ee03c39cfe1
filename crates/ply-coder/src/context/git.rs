//! What git knows of a directory, read from its files.
//!
//! Nothing is run: `git status` itself may start programs that the repository's configuration names.

use std::fs::Metadata;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Bytes of an index that are read.
const INDEX_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of a small file that are read.
const SMALL_BYTES_MAX: u64 = 4 * 1024;
/// Files that are compared with the index; in a larger repository none are.
const FILES_MAX: usize = 20_000;
/// Bytes of an entry before its name.
const ENTRY_BYTES: usize = 62;
/// The bits of an entry's flags: not to be compared, more flags follow, the length of the name.
const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
/// The bits of an entry's mode that say what it is, and that of a regular file.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;

/// What git knows of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct GitState {
    /// The branch, or the commit if there is none.
    pub(crate) branch: Option<String>,
    /// Files that differ from the index by size or time, from the root of the repository.
    pub(crate) changed: Vec<String>,
    /// Whether something was added to the index and not committed.
    pub(crate) is_staged: bool,
    /// Whether the files were compared.
    pub(crate) is_compared: bool,
}

/// Reads the state of the repository that has its `.git` in a directory.
pub(crate) fn read(root: &Path) -> Option<GitState> {
    let git = directory(root)?;
    let mut state = GitState {
        branch: branch(&git),
        ..GitState::default()
    };
    if let Some(index) = small_or_large(&git.join("index"), INDEX_BYTES_MAX)
        && let Some((files, rest)) = entries(&index)
        && files.len() <= FILES_MAX
    {
        state.changed = changed(root, &files);
        state.is_staged = is_staged(rest);
        state.is_compared = true;
    }
    Some(state)
}

/// Returns git's own directory. In a worktree `.git` is a file that names it.
fn directory(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = String::from_utf8(small_or_large(&git, SMALL_BYTES_MAX)?).ok()?;
    let named = text.strip_prefix("gitdir: ")?.trim_end();
    Some(root.join(named)).filter(|git| git.is_dir())
}

fn branch(git: &Path) -> Option<String> {
    let head = String::from_utf8(small_or_large(&git.join("HEAD"), SMALL_BYTES_MAX)?).ok()?;
    let head = head.trim_end();
    if let Some(name) = head.strip_prefix("ref: ") {
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        return Some(format!("branch `{name}`"));
    }
    let is_commit = head.len() >= 40 && head.bytes().all(|c| c.is_ascii_hexdigit());
    is_commit.then(|| format!("commit {}, on no branch", head.get(..9).unwrap_or(head)))
}

/// Reads a regular file; a pipe would never end.
fn small_or_large(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > bytes_max {
        return None;
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A file as it was when git last looked.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    path: String,
    seconds: u32,
    nanoseconds: u32,
    bytes: u32,
}

/// Reads the entries of an index of versions 2 to 4, and returns what follows them. None if it is something else.
fn entries(index: &[u8]) -> Option<(Vec<Entry>, &[u8])> {
    let (head, mut rest) = index.split_at_checked(12)?;
    let version = number(head, 4)?;
    let count = number(head, 8)? as usize;
    if !head.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut entries = Vec::new();
    let mut name = Vec::new();
    for _ in 0..count {
        let entry = rest;
        let flags = u16::from_be_bytes(entry.get(60..62)?.try_into().ok()?);
        let is_extended = flags & EXTENDED != 0;
        let before = ENTRY_BYTES + if is_extended { 2 } else { 0 };
        let mut tail = entry.get(before..)?;
        if version == 4 {
            // A name is what it has in common with the one before, and the rest.
            let (dropped, after) = variable_length(tail)?;
            name.truncate(name.len().checked_sub(dropped)?);
            tail = after;
        } else {
            name.clear();
        }
        let end = tail.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(tail.get(..end)?);
        rest = match version {
            4 => tail.get(end + 1..)?,
            // Entries are padded to a multiple of eight bytes, with at least one.
            _ => entry.get((before + end) / 8 * 8 + 8..)?,
        };
        // The extended flags say that a file is not checked out, or is only meant to be added.
        if number(entry, 24)? & KIND == REGULAR && flags & ASSUME_VALID == 0 && !is_extended {
            entries.push(Entry {
                path: String::from_utf8(name.clone()).ok()?,
                seconds: number(entry, 8)?,
                nanoseconds: number(entry, 12)?,
                bytes: number(entry, 36)?,
            });
        }
    }
    Some((entries, rest))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

fn variable_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, mut rest) = bytes.split_first()?;
    let mut value = usize::from(first & 0x7f);
    let mut more = first & 0x80 != 0;
    while more {
        let (byte, after) = rest.split_first()?;
        value = (value.checked_add(1)? << 7) | usize::from(byte & 0x7f);
        more = byte & 0x80 != 0;
        rest = after;
    }
    Some((value, rest))
}

/// Returns the files that are not as git last saw them.
fn changed(root: &Path, entries: &[Entry]) -> Vec<String> {
    let compared = entries.iter().map(|entry| {
        let now = root.join(&entry.path).symlink_metadata();
        (
            entry,
            now.map_or(Compared::Changed, |now| entry.compare(&now)),
        )
    });
    let compared: Vec<_> = compared.collect();
    let touched = compared.iter().filter(|(_, how)| *how == Compared::Touched);
    // In a copy every file has another time, which tells nothing.
    let is_copy = touched.count() * 2 > compared.len();
    let changed = compared.iter().filter(|(_, how)| match how {
        Compared::Same => false,
        Compared::Touched => !is_copy,
        Compared::Changed => true,
    });
    changed.map(|(entry, _)| entry.path.clone()).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compared {
    Same,
    /// Written since, with as many bytes as before.
    Touched,
    Changed,
}

impl Entry {
    fn compare(&self, now: &Metadata) -> Compared {
        let has_size = u64::from(self.bytes) == now.size() & u64::from(u32::MAX);
        let has_time = i64::from(self.seconds) == now.mtime() & i64::from(u32::MAX)
            // Some write no parts of seconds.
            && (self.nanoseconds == 0 || i64::from(self.nanoseconds) == now.mtime_nsec());
        match (has_size, has_time) {
            (true, true) => Compared::Same,
            (true, false) => Compared::Touched,
            (false, _) => Compared::Changed,
        }
    }
}

/// Says whether something was added since the last commit: git then drops the tree that it keeps for the whole.
fn is_staged(extensions: &[u8]) -> bool {
    let mut rest = extensions;
    while let Some((head, after)) = rest.split_at_checked(8) {
        let Some(bytes) = number(head, 4).map(|bytes| bytes as usize) else {
            return false;
        };
        let Some((data, next)) = after.split_at_checked(bytes) else {
            return false;
        };
        if head.starts_with(b"TREE") {
            return data.starts_with(b"\0-1 ");
        }
        rest = next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(place: &Path, arguments: &[&str]) {
        let mut command = std::process::Command::new("git");
        command
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b.example",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments)
            .current_dir(place)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        let done = command.output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    fn repository() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("src")).unwrap();
        for name in ["a.txt", "src/b.rs", "src/long-name.rs"] {
            std::fs::write(place.path().join(name), name).unwrap();
        }
        git(place.path(), &["init", "-q"]);
        git(place.path(), &["add", "."]);
        git(place.path(), &["commit", "-q", "-m", "first"]);
        place
    }

    #[test]
    fn a_clean_repository_has_a_branch_and_nothing_else() {
        for version in ["2", "4"] {
            let place = repository();
            git(place.path(), &["update-index", "--index-version", version]);
            let state = read(place.path()).unwrap();
            assert_eq!(state.branch.as_deref(), Some("branch `main`"));
            assert_eq!(state.changed, [""; 0]);
            assert!(state.is_compared && !state.is_staged, "{state:?}");
        }
    }

    #[test]
    fn what_changed_is_found_in_every_version_of_the_index() {
        for version in ["2", "4"] {
            let place = repository();
            git(place.path(), &["update-index", "--index-version", version]);
            std::fs::write(place.path().join("src/b.rs"), "another text").unwrap();
            std::fs::remove_file(place.path().join("a.txt")).unwrap();
            let state = read(place.path()).unwrap();
            assert_eq!(state.changed, ["a.txt", "src/b.rs"], "version {version}");
            assert!(!state.is_staged);
            git(place.path(), &["add", "src/b.rs"]);
            let state = read(place.path()).unwrap();
            assert_eq!(state.changed, ["a.txt"]);
            assert!(state.is_staged);
        }
    }

    #[test]
    fn a_worktree_and_a_commit_without_a_branch_are_understood() {
        let place = repository();
        git(
            place.path(),
            &["worktree", "add", "-q", "--detach", "other"],
        );
        let state = read(&place.path().join("other")).unwrap();
        let branch = state.branch.unwrap();
        assert!(
            branch.starts_with("commit ") && branch.ends_with("on no branch"),
            "{branch}"
        );
        assert!(state.is_compared);
    }

    #[test]
    fn what_is_no_index_is_not_compared() {
        let place = repository();
        for bytes in [
            &b""[..],
            b"DIRC",
            b"DIRC\0\0\0\x02\0\0\0\x09short",
            b"nonsense that is long enough",
        ] {
            std::fs::write(place.path().join(".git/index"), bytes).unwrap();
            let state = read(place.path()).unwrap();
            assert!(!state.is_compared, "{bytes:?}");
        }
        assert_eq!(read(&place.path().join("src")), None);
    }
}
