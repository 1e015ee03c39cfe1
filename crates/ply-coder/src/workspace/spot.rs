//! What a path that a model gave means.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ply_roots::{Kind, Leaf, Roots};

use super::{Error, PATH_BYTES_MAX};

#[cfg(test)]
mod tests;

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

impl Spot {
    /// Finds out what `path`, as a model gave it, means.
    pub(super) fn find(roots: &Roots, path: &str, leaf: Leaf) -> Result<Self, Error> {
        let path = absolute(roots, Path::new(path))?;
        match roots.place(&path, leaf) {
            Ok(place) => {
                let real = place.real().ok_or(Error::RootGone)?.to_owned();
                Ok(Self::at(roots, real, place.kind()?))
            }
            // By how it is written, or by a link to a root.
            Err(ply_roots::Error::IsADirectory) => {
                let real = roots.real_path(&roots.directory(&path)?)?;
                Ok(Self::at(roots, real, Kind::Directory))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the spot of a real path.
    pub(super) fn at(roots: &Roots, real: PathBuf, kind: Kind) -> Self {
        let shown = roots.as_given(&real);
        Self { real, shown, kind }
    }
}

fn absolute(roots: &Roots, path: &Path) -> Result<PathBuf, Error> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    if bytes.len() > PATH_BYTES_MAX {
        return Err(Error::TooLong);
    }
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    let cwd = roots.reals().next().ok_or(Error::RootGone)?;
    Ok(cwd.join(path))
}
