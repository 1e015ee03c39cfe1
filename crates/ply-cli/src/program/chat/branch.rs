//! The branch of a directory, read from its repository without running git.

use std::path::Path;

/// Bytes of a file that names a branch or a repository; a longer one is something else.
const FILE_BYTES_MAX: u64 = 4096;

/// Returns the branch that is checked out, or the beginning of the commit if there is none.
pub(super) fn of(directory: &Path) -> Option<String> {
    let git = directory.ancestors().map(|at| at.join(".git"));
    let git = git.into_iter().find(|git| git.exists())?;
    let git = match git.is_dir() {
        true => git,
        // A worktree or a submodule says where its repository is.
        false => {
            let place = read(&git)?;
            git.parent()?.join(place.strip_prefix("gitdir:")?.trim())
        }
    };
    let head = read(&git.join("HEAD"))?;
    match head.trim().strip_prefix("ref: refs/heads/") {
        Some(branch) => Some(branch.to_owned()),
        None => head.get(..9).map(str::to_owned),
    }
}

fn read(path: &Path) -> Option<String> {
    let facts = path.metadata().ok()?;
    let is_small = facts.is_file() && facts.len() <= FILE_BYTES_MAX;
    is_small.then(|| std::fs::read_to_string(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_read_from_the_repository_around_a_directory() {
        let place = tempfile::tempdir().unwrap();
        let below = place.path().join("a/src");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::create_dir(place.path().join(".git")).unwrap();
        std::fs::write(place.path().join(".git/HEAD"), "ref: refs/heads/fix/tea\n").unwrap();
        assert_eq!(of(&below).as_deref(), Some("fix/tea"));
        std::fs::write(place.path().join("a/.git"), "gitdir: ../other\n").unwrap();
        assert_eq!(of(&below), None);
        std::fs::create_dir(place.path().join("other")).unwrap();
        let commit = "0123456789abcdef0123456789abcdef01234567\n";
        std::fs::write(place.path().join("other/HEAD"), commit).unwrap();
        assert_eq!(of(&below).as_deref(), Some("012345678"));
    }
}
