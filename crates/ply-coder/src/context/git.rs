//! What git knows of a directory, read from its files.
//!
//! Nothing is run: `git status` itself may start programs that the repository's configuration names.

use std::path::Path;

use crate::git::{self, Compared, Entry, Index};

/// Files that are compared with the index; in a larger repository none are.
const FILES_MAX: usize = 20_000;

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
    let data = git::data_of(root)?;
    let mut state = GitState {
        branch: branch(&data),
        ..GitState::default()
    };
    if let Some(index) = Index::read(&data.join("index"), false) {
        let files: Vec<_> = index.entries().filter(Entry::is_compared).collect();
        if files.len() <= FILES_MAX {
            state.changed = changed(root, &files);
            state.is_staged = index.is_staged();
            state.is_compared = true;
        }
    }
    Some(state)
}

fn branch(data: &Path) -> Option<String> {
    let head = git::text(&data.join("HEAD")).ok()?;
    let head = head.trim_end();
    if let Some(name) = head.strip_prefix("ref: ") {
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        return Some(format!("branch `{name}`"));
    }
    let is_commit = head.len() >= 40 && head.bytes().all(|c| c.is_ascii_hexdigit());
    is_commit.then(|| format!("commit {}, on no branch", head.get(..9).unwrap_or(head)))
}

/// Returns the files that are not as git last saw them.
fn changed(root: &Path, entries: &[Entry<'_>]) -> Vec<String> {
    let compared = entries.iter().map(|entry| (entry, entry.compare(root)));
    let compared: Vec<_> = compared.collect();
    let touched = compared.iter().filter(|(_, how)| *how == Compared::Touched);
    // In a copy every file has another time, which tells nothing.
    let is_copy = touched.count() * 2 > compared.len();
    let changed = compared.iter().filter(|(_, how)| match how {
        Compared::Same => false,
        Compared::Touched => !is_copy,
        Compared::Changed => true,
    });
    changed.map(|(entry, _)| entry.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::git;

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
