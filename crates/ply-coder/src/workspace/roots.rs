//! The directories of a session, and finding places beneath them.
//!
//! A path is never checked first and opened later: each open is relative to a directory that is held
//! already, so a link that is put in place meanwhile leads to a refusal and not out of the roots.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::{Error, PATH_BYTES_MAX, ROOTS_MAX};

mod follow;

#[cfg(test)]
mod tests;

/// Symbolic links followed for one path, as many as the kernel follows.
const LINKS_MAX: usize = 40;
/// Tries for a path that changes while it is opened.
const RACES_MAX: usize = 64;
/// How a directory is held: to look up names in it, not to list it.
const HELD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// What a path means when its last name is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// What the link points to.
    Follow,
    /// The link itself.
    Keep,
}

/// What sort of thing is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Special,
    Missing,
}

impl Kind {
    pub(super) fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}

/// A place beneath the roots, by name. What is there may change; whoever acts finds it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Absolute, without `.`, `..` and links: what permission is decided on.
    pub(crate) real: PathBuf,
    /// The same place as the client named its root: what the client is told.
    pub(crate) shown: PathBuf,
    /// What was there.
    pub(crate) kind: Kind,
}

/// A place that is held: a name in an open directory.
#[derive(Debug)]
pub(super) struct Place {
    /// The deepest directory on the way that exists.
    pub(super) directory: OwnedFd,
    /// Directories between it and the name that do not exist.
    pub(super) missing: Vec<OsString>,
    pub(super) name: OsString,
    pub(super) real: PathBuf,
}

/// The directories of one session.
#[derive(Debug)]
pub(super) struct Roots {
    roots: Vec<Root>,
    /// Whether the kernel is asked to keep paths beneath their root; tests try the other way too.
    kernel: bool,
}

/// One of them. It is this very directory for good, whatever has its name later.
#[derive(Debug)]
struct Root {
    given: PathBuf,
    real: PathBuf,
    held: OwnedFd,
}

impl Roots {
    pub(super) fn new(cwd: PathBuf, additional: Vec<PathBuf>) -> Result<Self, Error> {
        let mut roots: Vec<Root> = Vec::new();
        for given in std::iter::once(cwd).chain(additional) {
            if roots.len() == ROOTS_MAX {
                return Err(Error::TooManyRoots { limit: ROOTS_MAX });
            }
            if !given.is_absolute() {
                return Err(Error::RelativeRoot);
            }
            let held = rustix::fs::open(&given, HELD, Mode::empty())?;
            let real = real_path(&held)?;
            roots.push(Root { given, real, held });
        }
        Ok(Self {
            roots,
            kernel: true,
        })
    }

    /// Returns where the roots are, the working directory first.
    pub(super) fn reals(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.real.as_path())
    }

    /// Finds out what `path`, as a model gave it, means.
    pub(super) fn spot(&self, path: &str, leaf: Leaf) -> Result<Spot, Error> {
        let path = self.absolute(Path::new(path))?;
        match self.place(&path, leaf) {
            Ok(place) => {
                let kind = place.kind()?;
                Ok(self.spot_at(place.real, kind))
            }
            // By how it is written, or by a link to a root.
            Err(Error::IsADirectory) => {
                let real = self.beneath(real_path(&self.directory(&path)?)?)?;
                Ok(self.spot_at(real, Kind::Directory))
            }
            Err(error) => Err(error),
        }
    }

    /// Finds a place again by its real path, which must lead nowhere else by now.
    pub(super) fn find(&self, real: &Path) -> Result<Place, Error> {
        let place = self.place(real, Leaf::Keep)?;
        match place.real == real {
            true => Ok(place),
            false => Err(Error::Moved),
        }
    }

    /// Opens a directory again by its real path, which must lead nowhere else by now.
    pub(super) fn find_directory(&self, real: &Path) -> Result<OwnedFd, Error> {
        let directory = self.directory(real)?;
        match real_path(&directory)? == real {
            true => Ok(directory),
            false => Err(Error::Moved),
        }
    }

    /// Says whether a root is at `real` or below it.
    pub(super) fn holds_root(&self, real: &Path) -> bool {
        self.reals().any(|root| root.starts_with(real))
    }

    /// Returns the root that `real` lies in.
    pub(super) fn root_of(&self, real: &Path) -> Option<&Path> {
        self.reals()
            .filter(|root| real.starts_with(root))
            .max_by_key(|root| root.components().count())
    }

    /// Returns the spot of a real path.
    pub(super) fn spot_at(&self, real: PathBuf, kind: Kind) -> Spot {
        let root = self
            .roots
            .iter()
            .filter(|root| real.starts_with(&root.real))
            .max_by_key(|root| root.real.components().count());
        let rest = root.and_then(|root| Some((root, real.strip_prefix(&root.real).ok()?)));
        let shown = match rest {
            Some((root, rest)) if rest.as_os_str().is_empty() => root.given.clone(),
            Some((root, rest)) => root.given.join(rest),
            None => real.clone(),
        };
        Spot { real, shown, kind }
    }

    fn absolute(&self, path: &Path) -> Result<PathBuf, Error> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.is_empty() {
            return Err(Error::Empty);
        }
        if bytes.contains(&0) {
            return Err(Error::Nul);
        }
        if bytes.len() > PATH_BYTES_MAX {
            return Err(Error::TooLong);
        }
        let cwd = self.roots.first().ok_or(Error::RootGone)?;
        Ok(cwd.real.join(path))
    }

    fn place(&self, path: &Path, leaf: Leaf) -> Result<Place, Error> {
        let mut path = path.to_owned();
        for _ in 0..=LINKS_MAX {
            if names_directory(&path) || self.named(&path).is_some() {
                return Err(Error::IsADirectory);
            }
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(Error::Outside);
            };
            let (directory, missing) = self.deepest(parent)?;
            let mut real = self.beneath(real_path(&directory)?)?;
            if leaf == Leaf::Follow && missing.is_empty() {
                match rustix::fs::readlinkat(&directory, name, Vec::new()) {
                    Ok(target) => {
                        path = real.join(OsString::from_vec(target.into_bytes()));
                        continue;
                    }
                    // The kernel's words for a name that is no link.
                    Err(Errno::INVAL | Errno::NOENT) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            real.extend(&missing);
            real.push(name);
            return Ok(Place {
                directory,
                missing,
                name: name.to_owned(),
                real,
            });
        }
        Err(Error::Links)
    }

    /// Opens the deepest directory on the way to `path` that exists, and returns the names after it.
    fn deepest(&self, path: &Path) -> Result<(OwnedFd, Vec<OsString>), Error> {
        let mut missing = Vec::new();
        let mut existing = path;
        let directory = loop {
            match self.directory(existing) {
                Err(Error::NotFound) => {
                    // `..` after a name that does not exist means nothing.
                    missing.push(existing.file_name().ok_or(Error::NotFound)?.to_owned());
                    existing = existing.parent().ok_or(Error::NotFound)?;
                }
                found => break found?,
            }
        };
        missing.reverse();
        if let Some(first) = missing.first() {
            match rustix::fs::statat(&directory, first, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => {}
                Ok(stat) if Kind::of(&stat) == Kind::Link => return Err(Error::Dangling),
                Ok(_) => return Err(Error::Moved),
                Err(error) => return Err(error.into()),
            }
        }
        Ok((directory, missing))
    }

    /// Opens the directory at an absolute path.
    fn directory(&self, path: &Path) -> Result<OwnedFd, Error> {
        let (root, rest) = self.split(path).ok_or(Error::Outside)?;
        // The kernel takes no empty path.
        let rest = match rest.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => rest,
        };
        if self.kernel {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            for _ in 0..RACES_MAX {
                match rustix::fs::openat2(&root.held, &rest, HELD, Mode::empty(), resolve) {
                    Ok(directory) => return Ok(directory),
                    // Something was renamed while `..` was resolved.
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    // A link leads out of this root, perhaps into another one or, being absolute, back
                    // into this; or the call is not to be had here.
                    Err(Errno::XDEV | Errno::NOSYS | Errno::PERM) => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        follow::follow(self, path)
    }

    /// Returns the root that `path` names a place in, and the rest of the path.
    fn split(&self, path: &Path) -> Option<(&Root, PathBuf)> {
        let named = self
            .roots
            .iter()
            .flat_map(|root| root.names().map(move |name| (root, name)));
        let holding =
            named.filter_map(|(root, name)| Some((root, name, path.strip_prefix(name).ok()?)));
        let (root, _, rest) = holding.max_by_key(|(_, name, _)| name.components().count())?;
        Some((root, rest.components().collect()))
    }

    fn named(&self, path: &Path) -> Option<&Root> {
        self.roots.iter().find(|root| root.names().contains(&path))
    }

    /// Passes a real path on that is beneath a root still: a root, or a directory in it, may have been
    /// moved away under our hands.
    fn beneath(&self, real: PathBuf) -> Result<PathBuf, Error> {
        match self.root_of(&real) {
            Some(_) => Ok(real),
            None => Err(Error::RootGone),
        }
    }
}

impl Root {
    fn names(&self) -> [&Path; 2] {
        [&self.given, &self.real]
    }
}

impl Place {
    /// Says what is there.
    pub(super) fn kind(&self) -> Result<Kind, Error> {
        Ok(self.stat()?.as_ref().map_or(Kind::Missing, Kind::of))
    }

    pub(super) fn stat(&self) -> Result<Option<Stat>, Error> {
        if !self.missing.is_empty() {
            return Ok(None);
        }
        match rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the directories that are missing.
    pub(super) fn make_directories(&mut self) -> Result<(), Error> {
        for name in std::mem::take(&mut self.missing) {
            match rustix::fs::mkdirat(&self.directory, &name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            self.directory = enter(&self.directory, &name)?;
        }
        Ok(())
    }
}

/// Opens the directory `name` in `directory`, which must not be a link.
pub(super) fn enter(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Error> {
    let flags = HELD | OFlags::NOFOLLOW;
    Ok(rustix::fs::openat(directory, name, flags, Mode::empty())?)
}

/// Returns where an open directory is now.
fn real_path(directory: &OwnedFd) -> Result<PathBuf, Error> {
    // The kernel marks the name of a removed directory, but any directory may have such a name.
    if rustix::fs::fstat(directory)?.st_nlink == 0 {
        return Err(Error::RootGone);
    }
    let link = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let target = rustix::fs::readlink(link, Vec::new())?;
    let real = PathBuf::from(OsString::from_vec(target.into_bytes()));
    match real.is_absolute() {
        true => Ok(real),
        // A directory of another mount namespace.
        false => Err(Error::Outside),
    }
}

/// Says whether `path` can only name a directory, by how it ends.
fn names_directory(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/")
        || bytes.ends_with(b"/.")
        || path.components().next_back() == Some(Component::ParentDir)
}
