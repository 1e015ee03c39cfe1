//! Text that people write for agents: where it may lie, and how much of it is read.
//!
//! Files of the project are opened beneath its root and nowhere else, so that no link in a repository leads to
//! other files of the user. The user's own may be links; many keep such files in a repository of their own.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use ply_roots::{Leaf, Roots};

use crate::permission::is_secret;
use crate::permission::text::is_deceptive;

/// How many directories above the working directory may belong to its repository.
const LEVELS_MAX: usize = 16;
/// How many names of one directory are looked at.
const NAMES_MAX: usize = 500;

/// The directories of a project: the working directory and those above it, up to the root of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Levels {
    /// The innermost first.
    pub(crate) directories: Vec<PathBuf>,
    /// The root of the repository, if the directory is in one.
    pub(crate) repository: Option<PathBuf>,
}

impl Levels {
    /// Finds them. Outside of a repository only the working directory counts.
    pub(crate) fn find(cwd: &Path) -> Self {
        let above: Vec<&Path> = cwd.ancestors().take(LEVELS_MAX).collect();
        let root = above.iter().position(|level| level.join(".git").exists());
        let within = above.get(..=root.unwrap_or(0)).unwrap_or_default();
        let repository = root.and_then(|root| above.get(root));
        Self {
            directories: within.iter().map(|level| level.to_path_buf()).collect(),
            repository: repository.map(|root| root.to_path_buf()),
        }
    }

    /// Returns the outermost of them.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.directories.last().map(PathBuf::as_path)
    }
}

/// Whose files are read.
#[derive(Debug)]
pub(crate) enum Files {
    /// Those of a project, beneath its root.
    Project(Roots),
    /// Those of the user, wherever links lead.
    User,
}

impl Files {
    /// Returns the files of a project.
    pub(crate) fn of_project(root: &Path) -> Self {
        Self::Project(Roots::new([root.to_path_buf()]))
    }

    /// Returns where a directory really is, if there is one.
    pub(crate) fn real(&self, directory: &Path) -> Option<PathBuf> {
        match self {
            Self::User => directory.canonicalize().ok().filter(|real| real.is_dir()),
            Self::Project(roots) => roots.real_path(&roots.directory(directory).ok()?).ok(),
        }
    }

    /// Returns the names in a directory, sorted; none if it cannot be read.
    pub(crate) fn names(&self, directory: &Path) -> Vec<String> {
        let listed = self
            .real(directory)
            .and_then(|directory| std::fs::read_dir(directory).ok());
        let names = listed.into_iter().flatten().take(NAMES_MAX);
        let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// Reads the beginning of a regular file that is no secret. Returns where it really is, and what a person
    /// who looks at it sees.
    pub(crate) fn read(&self, path: &Path, bytes_max: usize) -> Option<(PathBuf, String)> {
        let (file, real) = match self {
            Self::User => {
                let real = path.canonicalize().ok()?;
                // A pipe would never end.
                let is_file = real.metadata().ok()?.is_file();
                (std::fs::File::open(is_file.then_some(&real)?).ok()?, real)
            }
            Self::Project(roots) => {
                let place = roots.place(path, Leaf::Follow).ok()?;
                let real = place.real()?.to_path_buf();
                (place.open().ok()?.0, real)
            }
        };
        if is_secret(&real) {
            return None;
        }
        let mut bytes = Vec::new();
        let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        file.take(limit).read_to_end(&mut bytes).ok()?;
        Some((real, visible(&String::from_utf8_lossy(&bytes))))
    }
}

/// Returns what a person who looks at the file sees of it, so that it cannot tell the model more.
fn visible(text: &str) -> String {
    let seen = text.chars().filter_map(|c| match is_deceptive(c) {
        false => Some(c),
        true if c.is_whitespace() && !c.is_control() => Some(' '),
        true => None,
    });
    seen.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_the_project_stays_in_the_project() {
        let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let link = |target: &Path, name: &str| {
            std::os::unix::fs::symlink(target, project.path().join(name)).unwrap();
        };
        std::fs::write(elsewhere.path().join("a.md"), "theirs").unwrap();
        std::fs::write(project.path().join("b.md"), "ours").unwrap();
        std::fs::write(project.path().join(".env"), "PASSWORD=x").unwrap();
        link(&elsewhere.path().join("a.md"), "out.md");
        link(Path::new("b.md"), "in.md");
        link(Path::new(".env"), "secret.md");
        link(elsewhere.path(), "folder");
        let read = |files: &Files, name: &str| {
            let read = files.read(&project.path().join(name), 100);
            read.map(|(_, text)| text)
        };
        let ours = Files::of_project(project.path());
        assert_eq!(read(&ours, "in.md").as_deref(), Some("ours"));
        assert_eq!(read(&ours, "out.md"), None);
        assert_eq!(read(&ours, "secret.md"), None);
        assert_eq!(read(&ours, "folder/a.md"), None);
        assert!(ours.names(&project.path().join("folder")).is_empty());
        assert_eq!(read(&Files::User, "out.md").as_deref(), Some("theirs"));
        assert_eq!(read(&Files::User, "folder"), None);
    }

    #[test]
    fn a_long_file_is_read_in_part() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("a.md"), "x".repeat(1_000)).unwrap();
        let read = Files::of_project(place.path()).read(&place.path().join("a.md"), 10);
        assert_eq!(read.unwrap().1, "x".repeat(10));
    }
}
