//! Where a hub is found: a directory that only its user can enter.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

/// Bits of a mode that let others in.
const OTHERS: u32 = 0o077;

/// The directory of a hub. Whoever can enter it is its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place(PathBuf);

/// Why a directory cannot be a hub's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// It cannot be made or looked at.
    #[error("{}: {error}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is not a directory of this user alone.
    #[error(
        "{} must be a directory that only you can enter; run `chmod 700` on it, or remove it if it is not yours",
        path.display()
    )]
    Open {
        /// The directory.
        path: PathBuf,
    },
}

impl Place {
    /// Makes the directory if there is none, and checks that nobody else can enter it.
    ///
    /// # Errors
    ///
    /// It cannot be made, or belongs to others too.
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, PlaceError> {
        let path = path.into();
        let told = |error| PlaceError::Io {
            path: path.clone(),
            error,
        };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(told)?;
        // A link would be followed to where others may be able to put things.
        let found = std::fs::symlink_metadata(&path).map_err(told)?;
        let is_own = found.is_dir() && found.uid() == geteuid().as_raw();
        if !is_own || found.mode() & OTHERS != 0 {
            return Err(PlaceError::Open { path });
        }
        Ok(Self(path))
    }

    /// Returns the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the socket that clients connect to.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.0.join("acp.sock")
    }

    /// Returns the file that a hub writes to when nobody watches it.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.0.join("hub.log")
    }

    /// Returns the directory of the holders of agents.
    #[must_use]
    pub fn holders(&self) -> PathBuf {
        self.0.join("holders")
    }

    /// Takes the right to be the hub here; none if another process has it. It is given back when the file is dropped, and when
    /// the process ends.
    ///
    /// # Errors
    ///
    /// The file cannot be made or locked.
    pub fn own(&self) -> io::Result<Option<File>> {
        self.lock("hub.lock", FlockOperation::NonBlockingLockExclusive)
    }

    /// Waits for the right to start a hub here, so that clients which find none start one of them.
    ///
    /// # Errors
    ///
    /// The file cannot be made or locked.
    pub fn starting(&self) -> io::Result<File> {
        let lock = self.lock("start.lock", FlockOperation::LockExclusive)?;
        lock.ok_or_else(|| io::Error::other("the lock was not given"))
    }

    /// Returns a number that is higher than any before. For whoever [has the place](Self::own), who is alone.
    ///
    /// # Errors
    ///
    /// The file that has it cannot be read or replaced.
    pub fn next_epoch(&self) -> io::Result<u64> {
        let (file, fresh) = (self.0.join("epoch"), self.0.join("epoch.new"));
        let last = match std::fs::read_to_string(&file) {
            Ok(text) => text.trim().parse().map_err(io::Error::other)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let next: u64 = last + 1;
        std::fs::write(&fresh, next.to_string())?;
        std::fs::rename(&fresh, &file)?;
        Ok(next)
    }

    fn lock(&self, name: &str, how: FlockOperation) -> io::Result<Option<File>> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(self.0.join(name))?;
        match flock(&file, how) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_directory_that_others_can_enter_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let own = temp.path().join("run/ply");
        assert_eq!(Place::at(&own).unwrap().path(), own);
        let mode = std::fs::metadata(&own).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o750)).unwrap();
        let error = Place::at(&own).unwrap_err();
        assert!(error.to_string().contains("chmod 700"), "{error}");
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert!(matches!(Place::at(&link), Err(PlaceError::Open { .. })));
    }

    #[test]
    fn each_hub_has_a_higher_number() {
        let temp = tempfile::tempdir().unwrap();
        let place = Place::at(temp.path().join("ply")).unwrap();
        assert_eq!(place.next_epoch().unwrap(), 1);
        assert_eq!(place.next_epoch().unwrap(), 2);
    }

    #[test]
    fn one_process_is_the_hub() {
        let temp = tempfile::tempdir().unwrap();
        let place = Place::at(temp.path().join("ply")).unwrap();
        let first = place.own().unwrap();
        assert!(first.is_some());
        assert!(place.own().unwrap().is_none());
        drop(first);
        assert!(place.own().unwrap().is_some());
    }
}
