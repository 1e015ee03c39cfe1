//! What commands must not touch, found by looking: repositories in writable directories, whose settings run
//! as the user without a question, and secrets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::config::credentials::is_key_name;
use crate::git::{self, DATA as GIT};
use crate::permission::{is_bare, is_environment};

/// How deep below a root is looked.
const DEPTH_MAX: usize = 8;
/// How many directories are looked at for that.
const DIRECTORIES_MAX: usize = 2_000;
/// Directories of dependencies and of what was built, which are large and made anew.
const SKIPPED: [&str; 3] = ["node_modules", "target", ".venv"];

/// What is guarded in the roots of a workspace, as it was found last.
#[derive(Debug, Default)]
pub(in crate::shell) struct Guarded {
    roots: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    repositories: BTreeSet<PathBuf>,
    /// Roots that are laid out as a repository without a working tree. They are not guarded as a whole, since
    /// commands work in them.
    bare_roots: BTreeSet<PathBuf>,
    /// Those of both that a command made.
    made: BTreeSet<PathBuf>,
    secrets: BTreeSet<PathBuf>,
}

impl Guarded {
    /// Looks for it. It asks the file system, and gives up where there is too much to look at.
    pub(super) fn find(roots: &[PathBuf], writable: &[PathBuf]) -> Self {
        let guarded = Self {
            roots: roots.to_vec(),
            writable: writable.to_vec(),
            found: Mutex::default(),
        };
        guarded.look_again();
        guarded
    }

    pub(super) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Looks again, and returns the repositories that were not there before. From now on they are guarded
    /// too: a command only ever adds to what the next one may not change.
    pub(in crate::shell) fn look_again(&self) -> Vec<PathBuf> {
        let seen: Vec<_> = self.roots.iter().map(|root| below(root)).collect();
        let mut found = self.found();
        let mut new = Vec::new();
        for root in self.roots.iter().filter(|root| is_bare(root)) {
            if found.bare_roots.insert(root.clone()) {
                new.push(root.clone());
            }
        }
        for (repositories, secrets) in seen {
            found.secrets.extend(secrets);
            for repository in repositories {
                if found.repositories.insert(repository.clone()) {
                    new.push(repository);
                }
            }
        }
        new.sort();
        new
    }

    /// Looks again after a command, and returns the repositories that commands made and that are there, each with
    /// whether it is new.
    pub(super) fn made_by_commands(&self) -> Vec<(PathBuf, bool)> {
        let new = self.look_again();
        let mut found = self.found();
        found.made.extend(new.iter().cloned());
        let is_there = |git: &&PathBuf| match git.ends_with(GIT) && !git.is_dir() {
            true => git.symlink_metadata().is_ok(),
            false => is_bare(git),
        };
        let made = found.made.iter().filter(is_there);
        made.map(|git| (git.clone(), new.contains(git))).collect()
    }

    /// Returns what commands could change of repositories because it lies in writable directories. Those of
    /// the roots are named whether they are there or not.
    pub(super) fn repositories(&self) -> Vec<PathBuf> {
        let in_reach = |path: &Path| self.writable.iter().any(|it| path.starts_with(it));
        let around = self.roots.iter().flat_map(|root| root.ancestors());
        let around = around.filter(|around| in_reach(around));
        let mut found: Vec<PathBuf> = around.map(|around| around.join(GIT)).collect();
        found.extend(self.found().repositories.iter().cloned());
        let behind: Vec<_> = found.iter().flat_map(|git| behind(git)).collect();
        found.extend(behind.into_iter().filter(|git| in_reach(git)));
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

    /// Returns the files of the workspace with passwords for programs.
    pub(super) fn secrets(&self) -> Vec<PathBuf> {
        self.found().secrets.iter().cloned().collect()
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

/// Returns the repositories below a directory and the files with passwords, the nearest first.
fn below(root: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut repositories, mut secrets) = (Vec::new(), Vec::new());
    let mut level = vec![root.to_owned()];
    let mut left = DIRECTORIES_MAX;
    for _ in 0..DEPTH_MAX {
        let mut next = Vec::new();
        for directory in level {
            if left == 0 {
                return (repositories, secrets);
            }
            left -= 1;
            if directory != root && is_bare(&directory) {
                repositories.push(directory);
                continue;
            }
            let entries = std::fs::read_dir(&directory);
            for entry in entries.into_iter().flatten().flatten() {
                let (name, kind) = (entry.file_name(), entry.file_type().ok());
                if name == GIT {
                    repositories.push(entry.path());
                } else if kind.is_some_and(|kind| kind.is_dir()) {
                    if !SKIPPED.iter().any(|skipped| name == *skipped) {
                        next.push(entry.path());
                    }
                } else if name.to_str().is_some_and(is_environment) {
                    secrets.push(entry.path());
                }
            }
        }
        level = next;
    }
    (repositories, secrets)
}

/// Returns the directories that stand behind a repository: where a link leads, what a file in its place
/// names for a further working tree or a submodule, and the repository that these belong to.
fn behind(repository: &Path) -> Vec<PathBuf> {
    let Ok(real) = repository.canonicalize() else {
        return Vec::new();
    };
    let pointed_to = |file: &Path, word| git::named_by(file, word)?.canonicalize().ok();
    let own = match real.is_dir() {
        true => Some(real.clone()),
        false => pointed_to(&real, "gitdir:"),
    };
    let Some(own) = own else {
        return vec![real];
    };
    let common = pointed_to(&own.join("commondir"), "");
    let mut ways = own.ancestors();
    let whole = ways.find(|way| way.file_name().is_some_and(|name| name == GIT));
    let whole = whole.map(Path::to_owned);
    let all = [Some(real), Some(own), common, whole];
    let all = all.into_iter().flatten();
    all.filter(|path| path != repository).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn repositories(roots: &[PathBuf], writable: &[PathBuf]) -> Vec<PathBuf> {
        Guarded::find(roots, writable).repositories()
    }

    fn scratch(directories: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().canonicalize().unwrap();
        for directory in directories {
            std::fs::create_dir_all(at.join(directory)).unwrap();
        }
        (scratch, at)
    }

    #[test]
    fn repositories_are_found_where_commands_could_change_them() {
        let (_scratch, at) = scratch(&[
            "root/a/b/.git",
            "root/a/b/c/d/e/f/g/h/.git",
            "root/node_modules/x/.git",
            "main/.git/worktrees/w",
            "tree",
        ]);
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

    #[test]
    fn a_repository_behind_a_link_or_without_a_working_tree_is_one_too() {
        let (_scratch, at) = scratch(&[
            "root/data/real",
            "root/linked",
            "root/bare.git/objects",
            "root/bare.git/refs",
            "root/bare.git/worktrees/w",
            "root/tree",
        ]);
        let root = at.join("root");
        symlink("../data/real", root.join("linked/.git")).unwrap();
        std::fs::write(root.join("bare.git/HEAD"), "").unwrap();
        std::fs::write(root.join("bare.git/worktrees/w/commondir"), "../..\n").unwrap();
        std::fs::write(root.join("tree/.git"), "gitdir: ../bare.git/worktrees/w\n").unwrap();
        let found = repositories(std::slice::from_ref(&root), std::slice::from_ref(&root));
        let expected = [".git", "bare.git", "data/real", "linked/.git", "tree/.git"];
        assert_eq!(found, expected.map(|name| root.join(name)));
        let tree = root.join("tree");
        let found = repositories(&[tree], std::slice::from_ref(&root));
        let expected = [".git", "bare.git", "tree/.git"];
        assert_eq!(found, expected.map(|name| root.join(name)));
    }

    #[test]
    fn what_came_since_is_told_once_and_guarded_from_then_on() {
        let (_scratch, at) = scratch(&["root/old/.git"]);
        let root = at.join("root");
        let guarded = Guarded::find(std::slice::from_ref(&root), std::slice::from_ref(&root));
        assert!(guarded.look_again().is_empty());
        for directory in ["new/.git", "bare/objects", "bare/refs"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        std::fs::write(root.join("bare/HEAD"), "").unwrap();
        let new = guarded.look_again();
        assert_eq!(new, [root.join("bare"), root.join("new/.git")]);
        assert!(guarded.look_again().is_empty());
        assert!(guarded.repositories().contains(&root.join("bare")));
    }

    #[test]
    fn files_with_passwords_are_found_and_examples_of_them_are_none() {
        let (_scratch, at) = scratch(&["app"]);
        for file in [".env", "app/.env.local", ".env.example", "app/cert.pem"] {
            std::fs::write(at.join(file), "").unwrap();
        }
        let guarded = Guarded::find(std::slice::from_ref(&at), &[]);
        let expected = [".env", "app/.env.local"];
        assert_eq!(guarded.secrets(), expected.map(|name| at.join(name)));
    }
}
