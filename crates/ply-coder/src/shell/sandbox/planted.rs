//! Repositories that commands made while nobody looked. Git obeys their settings and hooks without a question,
//! as the user, whenever it is run in there; so those that run something are put out of its sight.

use std::path::{Path, PathBuf};

use ply_roots::{Error, Roots};

use super::guarded::Guarded;
use crate::permission::is_armed;

/// What is put behind the name of a file that made a directory a repository.
const ASIDE: &str = "disarmed";
/// How many names are tried for it.
const NAMES_MAX: usize = 100;

/// Disarms what commands made in some roots, and returns what is to be known about it.
pub(in crate::shell) fn disarm(guarded: &Guarded) -> Vec<String> {
    let made = guarded.made_by_commands();
    let notes = made.into_iter().filter_map(|(git, is_new)| {
        let at = git.display();
        if !is_armed(&git) {
            return is_new.then(|| {
                format!("[it made a git repository at {at}; tell the user, unless they asked for it]")
            });
        }
        let why = format!("it made a git repository at {at} with settings or hooks that run programs");
        Some(match put_aside(guarded.roots(), &git) {
            Ok((file, aside)) => format!(
                "[{why}. Git ignores it now: {} was renamed to {}. Tell the user, who can rename it back]",
                file.display(),
                aside.display()
            ),
            Err(error) => format!(
                "[{why}, and it could not be disarmed: {error}. Tell the user to delete it before they use git \
                 there]"
            ),
        })
    });
    notes.collect()
}

/// Renames the file without which git takes the directory for none of its own.
fn put_aside(roots: &[PathBuf], git: &Path) -> Result<(PathBuf, PathBuf), Error> {
    let file = match git.symlink_metadata().is_ok_and(|about| about.is_dir()) {
        true => git.join("HEAD"),
        false => git.to_owned(),
    };
    // A process that still runs can put a link on the way, which must lead nowhere else.
    let roots = Roots::open(roots.iter().cloned())?;
    let place = roots.find(&file)?;
    for number in 1..=NAMES_MAX {
        let mut aside = file.clone().into_os_string();
        aside.push(match number {
            1 => format!(".{ASIDE}"),
            number => format!(".{ASIDE}-{number}"),
        });
        let aside = PathBuf::from(aside);
        match place.rename(&mut roots.find(&aside)?) {
            Err(Error::Exists) => {}
            done => return done.map(|()| (file, aside)),
        }
    }
    Err(Error::Exists)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn scratch() -> (tempfile::TempDir, PathBuf, Guarded) {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        let roots = [root.clone()];
        let guarded = Guarded::find(&roots, &roots);
        (scratch, root, guarded)
    }

    fn plant(git: &Path, settings: &str) {
        for folder in ["objects", "refs", "hooks"] {
            std::fs::create_dir_all(git.join(folder)).unwrap();
        }
        std::fs::write(git.join("HEAD"), "ref: refs/heads/x\n").unwrap();
        std::fs::write(git.join("config"), settings).unwrap();
    }

    const ARMED: &str = "[core]\n\tfsmonitor = touch owned\n";
    const PLAIN: &str = "[core]\n\tbare = true\n";

    #[test]
    fn h3_a_repository_that_runs_something_is_disarmed_and_a_plain_one_is_told() {
        let (_scratch, root, guarded) = scratch();
        assert!(disarm(&guarded).is_empty());
        plant(&root.join("docs"), ARMED);
        plant(&root.join("plain"), PLAIN);
        plant(&root.join("new/.git"), PLAIN);
        std::fs::write(root.join("new/.git/hooks/pre-commit"), "").unwrap();
        std::fs::write(root.join("plain/hooks/pre-commit.sample"), "").unwrap();
        let notes = disarm(&guarded);
        assert_eq!(notes.len(), 3, "{notes:#?}");
        for (place, is_armed) in [("docs", false), ("new/.git", false), ("plain", true)] {
            let has_head = root.join(place).join("HEAD").exists();
            assert_eq!(has_head, is_armed, "{place}");
        }
        assert!(root.join("docs/HEAD.disarmed").exists());
        assert!(disarm(&guarded).is_empty());
    }

    #[test]
    fn h3_what_was_disarmed_or_was_plain_is_looked_at_again() {
        let (_scratch, root, guarded) = scratch();
        plant(&root.join("data"), PLAIN);
        symlink("data", root.join(".git")).unwrap();
        assert_eq!(disarm(&guarded).len(), 2);
        std::fs::write(root.join("data/config"), ARMED).unwrap();
        std::fs::write(root.join("data/HEAD.disarmed"), "in the way").unwrap();
        assert_eq!(disarm(&guarded).len(), 2);
        assert!(root.join("data/HEAD.disarmed-2").exists());
        assert!(root.join(".git.disarmed").is_symlink());
        assert!(disarm(&guarded).is_empty());
        plant(&root.join("data"), ARMED);
        assert_eq!(disarm(&guarded).len(), 1);
    }

    #[test]
    fn h3_the_root_itself_becomes_no_repository_without_a_working_tree() {
        let (_scratch, root, guarded) = scratch();
        plant(&root, ARMED);
        assert_eq!(disarm(&guarded).len(), 1);
        assert!(root.join("HEAD.disarmed").exists() && !root.join("HEAD").exists());
        // Commands can still work there.
        assert!(!guarded.repositories().contains(&root));
    }

    #[test]
    fn what_the_user_made_stays() {
        let (_scratch, root, guarded) = scratch();
        plant(&root.join("users/.git"), ARMED);
        plant(&root, ARMED);
        guarded.look_again();
        assert!(disarm(&guarded).is_empty());
        assert!(root.join("users/.git/HEAD").exists() && root.join("HEAD").exists());
    }
}
