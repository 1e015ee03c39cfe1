//! What commands must not touch, found by looking: repositories in writable directories, whose settings run
//! as the user without a question, and keys.

use std::path::{Path, PathBuf};

use crate::config::credentials::is_key_name;

/// How deep below a root repositories are looked for.
const DEPTH_MAX: usize = 4;
/// How many directories are looked at for that.
const DIRECTORIES_MAX: usize = 2_000;
/// How long a file may be that says where its repository is.
const POINTER_BYTES_MAX: u64 = 4 * 1024;
/// Directories of dependencies and of what was built, which are large and made anew.
const SKIPPED: [&str; 3] = ["node_modules", "target", ".venv"];

const GIT: &str = ".git";

/// Returns the repositories that commands could change because they lie in writable directories. Those
/// of the roots are named whether they are there or not.
///
/// It asks the file system, and gives up where there is too much to look at.
pub(super) fn repositories(roots: &[PathBuf], writable: &[PathBuf]) -> Vec<PathBuf> {
    let in_reach = |path: &Path| writable.iter().any(|writable| path.starts_with(writable));
    let mut found: Vec<PathBuf> = Vec::new();
    for root in roots {
        let around = root.ancestors().filter(|around| in_reach(around));
        found.extend(around.map(|around| around.join(GIT)));
        found.extend(below(root));
    }
    let elsewhere: Vec<_> = found
        .iter()
        .filter_map(|git| behind(git))
        .flatten()
        .collect();
    found.extend(elsewhere.into_iter().filter(|git| in_reach(git)));
    found.sort();
    found.dedup();
    // What lies in another one is guarded with it.
    let all = found.clone();
    found.retain(|git| {
        !all.iter()
            .any(|other| git != other && git.starts_with(other))
    });
    found
}

/// Returns the keys that lie in a home and not in a directory below it.
pub(super) fn keys(home: Option<&Path>) -> Vec<PathBuf> {
    let entries = home.and_then(|home| std::fs::read_dir(home).ok());
    let entries = entries.into_iter().flatten().flatten();
    let keys = entries.filter(|entry| {
        let name = entry.file_name();
        name.to_str().is_some_and(is_key_name)
    });
    keys.map(|entry| entry.path()).collect()
}

/// Returns the repositories below a directory, the nearest first.
fn below(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut level) = (Vec::new(), vec![root.to_owned()]);
    let mut left = DIRECTORIES_MAX;
    for _ in 0..DEPTH_MAX {
        let mut next = Vec::new();
        for directory in level {
            if left == 0 {
                return found;
            }
            left -= 1;
            let entries = std::fs::read_dir(&directory)
                .into_iter()
                .flatten()
                .flatten();
            for entry in entries {
                let name = entry.file_name();
                if name == GIT {
                    found.push(entry.path());
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir())
                    && !SKIPPED.iter().any(|skipped| name == *skipped)
                {
                    next.push(entry.path());
                }
            }
        }
        level = next;
    }
    found
}

/// Returns the directories that a file in place of a repository names: those of a further working tree
/// or a submodule, and of the repository that they belong to.
fn behind(git: &Path) -> Option<Vec<PathBuf>> {
    let about = std::fs::metadata(git).ok()?;
    if !about.is_file() || about.len() > POINTER_BYTES_MAX {
        return None;
    }
    let text = std::fs::read_to_string(git).ok()?;
    let named = git.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let named = named.canonicalize().ok()?;
    let mut ways = named.ancestors();
    let whole = ways.find(|way| way.file_name().is_some_and(|name| name == GIT));
    Some(
        [Some(named.as_path()), whole]
            .into_iter()
            .flatten()
            .map(Path::to_owned)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_found_where_commands_could_change_them() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().canonicalize().unwrap();
        for dir in [
            "root/a/b/.git",
            "root/a/b/c/d/.git",
            "root/node_modules/x/.git",
            "main/.git/worktrees/w",
            "tree",
        ] {
            std::fs::create_dir_all(at.join(dir)).unwrap();
        }
        let pointer = format!("gitdir: {}\n", at.join("main/.git/worktrees/w").display());
        std::fs::write(at.join("tree/.git"), pointer).unwrap();
        let root = at.join("root");
        let found = repositories(std::slice::from_ref(&root), std::slice::from_ref(&root));
        assert_eq!(found, [root.join(".git"), root.join("a/b/.git")]);
        // The repository of a further working tree counts where it can be reached.
        let tree = at.join("tree");
        let roots = [tree.clone()];
        assert_eq!(repositories(&roots, &roots), [tree.join(".git")]);
        let found = repositories(&roots, std::slice::from_ref(&at));
        let whole = [".git", "main/.git", "tree/.git"].map(|name| at.join(name));
        assert_eq!(found, whole);
    }
}
