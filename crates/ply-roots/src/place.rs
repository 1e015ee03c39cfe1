use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::fresh::Fresh;
use crate::os::{self, Directory, Stat};

/// What a path means when its last name is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// What the link points to.
    Follow,
    /// The link itself.
    Keep,
}

/// What sort of thing is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a device or a socket.
    Special,
    /// Nothing.
    Missing,
}

/// What new content is put in place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onto {
    /// Nothing; missing directories are created.
    Nothing,
    /// A regular file, whose owner and mode stay.
    File,
}

/// A place beneath the roots: a name in a directory that is open.
///
/// By the time something is done there, the name may have come to mean something else. It is never followed, so that leads
/// to [`Error::Moved`] and not elsewhere.
#[derive(Debug)]
pub struct Place {
    /// The deepest directory on the way that exists.
    directory: Directory,
    /// Directories between it and the name that do not exist.
    missing: Vec<OsString>,
    name: OsString,
    real: Option<PathBuf>,
}

impl Place {
    pub(crate) fn new(
        directory: Directory,
        missing: Vec<OsString>,
        name: OsString,
        real: Option<PathBuf>,
    ) -> Self {
        Self {
            directory,
            missing,
            name,
            real,
        }
    }

    /// Returns where it is, absolute and without links; none if the system cannot tell.
    pub fn real(&self) -> Option<&Path> {
        self.real.as_deref()
    }

    /// Returns what is there.
    ///
    /// # Errors
    ///
    /// The system refuses to tell.
    pub fn kind(&self) -> Result<Kind, Error> {
        if !self.missing.is_empty() {
            return Ok(Kind::Missing);
        }
        let stat = self.directory.look(&self.name)?;
        Ok(stat.map_or(Kind::Missing, |stat| stat.kind()))
    }

    /// Opens the regular file that is there, for reading.
    ///
    /// # Errors
    ///
    /// There is no regular file, or it cannot be opened.
    pub fn open(&self) -> Result<(File, Stat), Error> {
        match self.missing.is_empty() {
            true => self.directory.open_file(&self.name),
            false => Err(Error::NotFound),
        }
    }

    /// Creates the directories above it that are missing.
    ///
    /// # Errors
    ///
    /// One cannot be created, or something else took its name.
    pub fn make_directories(&mut self) -> Result<(), Error> {
        for name in std::mem::take(&mut self.missing) {
            self.directory.make(&name)?;
            self.directory = self.directory.enter(&name)?;
        }
        Ok(())
    }

    /// Writes a file with this content. At every moment, even after a crash, the place holds what it held before or all of
    /// the new content.
    ///
    /// The file is replaced, not written into: its other hard links keep the old content.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] if there is something where nothing should be, [`Error::NotFound`] if there is nothing where a
    /// file should be; the file may not be written to; the disk refuses.
    pub fn write(&mut self, content: &[u8], onto: Onto) -> Result<(), Error> {
        match onto {
            Onto::Nothing => {
                self.make_directories()?;
                let fresh = Fresh::new(&self.directory, 0o666)?;
                fresh.fill(content, None)?;
                fresh.put_where_nothing_is(&self.name)
            }
            Onto::File if !self.missing.is_empty() => Err(Error::NotFound),
            Onto::File => {
                let old = self.directory.writable(&self.name)?;
                // The content of a private file is private while it is written, too.
                let fresh = Fresh::new(&self.directory, 0o600)?;
                fresh.fill(content, Some(&old))?;
                fresh.put(&self.name)
            }
        }
    }

    /// Gives the regular file that is there these rights (`0o755` and the like).
    ///
    /// # Errors
    ///
    /// There is no regular file, or it belongs to somebody else.
    pub fn set_rights(&self, rights: u32) -> Result<(), Error> {
        let (file, _) = self.open()?;
        os::set_rights(&file, rights)
    }

    /// Returns where the symbolic link that is there points to; none if it is something else.
    ///
    /// # Errors
    ///
    /// The system refuses to tell.
    pub fn target(&self) -> Result<Option<OsString>, Error> {
        match self.missing.is_empty() {
            true => self.directory.read_link(&self.name),
            false => Ok(None),
        }
    }

    /// Makes a symbolic link that points to `target`, where nothing may be. Missing directories are created.
    ///
    /// # Errors
    ///
    /// There is something, or the system refuses.
    pub fn write_link(&mut self, target: &OsStr) -> Result<(), Error> {
        self.make_directories()?;
        self.directory.make_link(&self.name, target)
    }

    /// Moves what is there to `target`, where nothing may be. Missing directories are created.
    ///
    /// # Errors
    ///
    /// There is nothing here, or something there; the two are on different file systems; the system refuses.
    pub fn rename(&self, target: &mut Self) -> Result<(), Error> {
        match self.kind()? {
            Kind::Missing => return Err(Error::NotFound),
            Kind::Special => return Err(Error::Special),
            Kind::File | Kind::Directory | Kind::Link => {}
        }
        if target.kind()? != Kind::Missing {
            return Err(Error::Exists);
        }
        target.make_directories()?;
        self.directory
            .rename_to_free(&self.name, &target.directory, &target.name)
    }

    /// Removes what is there, which is of this kind; a directory must be empty.
    ///
    /// # Errors
    ///
    /// It is not there, of another kind, not empty, or may not be removed.
    pub fn remove(&self, kind: Kind) -> Result<(), Error> {
        match self.missing.is_empty() {
            true => self.directory.remove(&self.name, kind),
            false => Err(Error::NotFound),
        }
    }
}
