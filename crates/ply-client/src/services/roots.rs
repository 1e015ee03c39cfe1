//! The directories a session may touch, and opening what lies beneath them.
//!
//! A path is never checked first and opened later: every step is an open relative to a directory that is already held, so that
//! a link put in place meanwhile leads to a refusal and not out of the roots.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::refusal::Refusal;

mod walk;

#[cfg(test)]
mod tests;

/// Symbolic links followed for one path, as many as the kernel follows.
const LINKS_MAX: usize = 40;
/// Tries for a path that changes while it is opened.
pub(super) const RACES_MAX: usize = 64;

/// How a directory is opened: to look up names in it, not to list it.
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// What to do about directories of a path that do not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Refuse,
    Make,
}

/// The directories of one session.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    roots: Arc<[Root]>,
    /// Whether the kernel is asked to keep a path beneath its root; tests try the other way too.
    kernel: bool,
}

impl Roots {
    /// Returns the roots of a session in `cwd`.
    ///
    /// Each directory is looked at once, here, and is this very directory from then on: another one in its place is refused.
    pub(crate) fn new(cwd: PathBuf, additional: Vec<PathBuf>) -> Self {
        let paths = std::iter::once(cwd).chain(additional);
        Self {
            roots: paths.map(Root::new).collect(),
            kernel: true,
        }
    }

    /// Returns the session's working directory as it was given.
    pub(super) fn cwd(&self) -> Option<&Path> {
        self.roots.first().map(|root| root.given.as_path())
    }

    /// Opens the directory at `path`.
    pub(super) fn directory(&self, path: &Path) -> Result<OwnedFd, Refusal> {
        well_formed(path)?;
        let (root, rest) = self.find(path).ok_or(Refusal::Outside)?;
        let held = root.open()?;
        if rest.as_os_str().is_empty() {
            return Ok(held);
        }
        if self.kernel {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            for _ in 0..RACES_MAX {
                match rustix::fs::openat2(&held, &rest, DIRECTORY, Mode::empty(), resolve) {
                    Ok(directory) => return Ok(directory),
                    // Something was renamed while `..` was resolved.
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    // A link leads out of this root, perhaps into another one or back; or the call is not to be had here.
                    Err(Errno::XDEV | Errno::NOSYS | Errno::PERM) => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        walk::walk(self, path)
    }

    /// Finds the file at `path`: the directory that holds it and its name there, which is no link.
    ///
    /// The file itself need not exist. By the time it is opened the name may have become a link, so it must be opened without
    /// following.
    pub(super) fn leaf(
        &self,
        path: &Path,
        missing: Missing,
    ) -> Result<(OwnedFd, OsString), Refusal> {
        let mut path = path.to_owned();
        for _ in 0..=LINKS_MAX {
            well_formed(&path)?;
            if names_directory(&path) || self.is_root(&path) {
                return Err(Refusal::NotAFile);
            }
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(Refusal::NotAFile);
            };
            let directory = match self.directory(parent) {
                Err(Refusal::NotFound) if missing == Missing::Make => self.make(parent)?,
                result => result?,
            };
            match rustix::fs::readlinkat(&directory, name, Vec::new()) {
                Ok(target) => {
                    let target = OsString::from_vec(target.into_bytes());
                    path = parent.join(target);
                }
                // The kernel's word for a name that is no link.
                Err(Errno::INVAL | Errno::NOENT) => return Ok((directory, name.to_owned())),
                Err(error) => return Err(error.into()),
            }
        }
        Err(Refusal::TooDeep)
    }

    /// Makes the directory at `path` and those above it that are missing.
    fn make(&self, path: &Path) -> Result<OwnedFd, Refusal> {
        let mut missing = Vec::new();
        let mut existing = path;
        let mut directory = loop {
            match self.directory(existing) {
                Ok(directory) => break directory,
                Err(Refusal::NotFound) => {
                    missing.push(existing.file_name().ok_or(Refusal::NotFound)?);
                    existing = existing.parent().ok_or(Refusal::NotFound)?;
                }
                Err(refusal) => return Err(refusal),
            }
        };
        for name in missing.into_iter().rev() {
            match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            directory = enter(&directory, name)?;
        }
        Ok(directory)
    }

    /// Returns the root that `path` names a place beneath, and the rest of the path.
    fn find(&self, path: &Path) -> Option<(&Root, PathBuf)> {
        let named = self
            .roots
            .iter()
            .flat_map(|root| root.names().map(move |name| (root, name)));
        let holding =
            named.filter_map(|(root, name)| Some((root, name, path.strip_prefix(name).ok()?)));
        let (root, _, rest) = holding.max_by_key(|(_, name, _)| name.components().count())?;
        // Without the dots and double slashes that the kernel would have to skip.
        Some((root, rest.components().collect()))
    }

    fn is_root(&self, path: &Path) -> bool {
        self.root_named(path).is_some()
    }

    fn root_named(&self, path: &Path) -> Option<&Root> {
        self.roots
            .iter()
            .find(|root| root.names().any(|name| name == path))
    }
}

/// Opens the directory `name` in `directory`, which must not be a link.
fn enter(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Refusal> {
    let flags = DIRECTORY | OFlags::NOFOLLOW;
    Ok(rustix::fs::openat(directory, name, flags, Mode::empty())?)
}

fn well_formed(path: &Path) -> Result<(), Refusal> {
    if path.as_os_str().as_bytes().contains(&0) {
        return Err(Refusal::Nul);
    }
    if !path.is_absolute() {
        return Err(Refusal::Relative);
    }
    Ok(())
}

/// Returns whether `path` can only name a directory, by how it ends.
fn names_directory(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/")
        || bytes.ends_with(b"/.")
        || path.components().next_back() == Some(Component::ParentDir)
}

/// One directory of a session.
#[derive(Debug)]
struct Root {
    given: PathBuf,
    pinned: OnceLock<Pinned>,
}

/// Which directory a root is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pinned {
    /// Where it really is, without links.
    real: PathBuf,
    device: u64,
    inode: u64,
}

impl Root {
    fn new(given: PathBuf) -> Self {
        let root = Self {
            given,
            pinned: OnceLock::new(),
        };
        // One that does not exist yet is looked for again when it is used.
        if let Err(refusal) = root.open() {
            tracing::debug!(%refusal, "a directory of the session cannot be opened yet");
        }
        root
    }

    fn names(&self) -> impl Iterator<Item = &Path> {
        let real = self.pinned.get().map(|pinned| pinned.real.as_path());
        // A relative one would depend on where this program happens to run.
        let given = Some(self.given.as_path()).filter(|given| given.is_absolute());
        given.into_iter().chain(real)
    }

    fn open(&self) -> Result<OwnedFd, Refusal> {
        well_formed(&self.given)?;
        let gone = |error| match error {
            Errno::NOENT | Errno::NOTDIR => Refusal::RootGone,
            error => error.into(),
        };
        let held = rustix::fs::open(&self.given, DIRECTORY, Mode::empty()).map_err(gone)?;
        let stat = rustix::fs::fstat(&held)?;
        let (device, inode) = (stat.st_dev, stat.st_ino);
        let pinned = self.pinned.get_or_init(|| Pinned {
            real: std::fs::canonicalize(&self.given).unwrap_or_else(|_| self.given.clone()),
            device,
            inode,
        });
        if (pinned.device, pinned.inode) != (device, inode) {
            return Err(Refusal::RootGone);
        }
        Ok(held)
    }
}
