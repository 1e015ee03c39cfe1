//! Everything that depends on the operating system: one open directory, and what may be done to the names in it.
//!
//! No function here takes more than one name except [`Directory::open`], for roots, and [`Directory::beneath`], which the
//! kernel guards.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, RenameFlags, ResolveFlags, Uid};
use rustix::io::Errno;

use crate::{Error, Kind, RACES_MAX};

/// How a directory is opened: to look up names in it, not to list it.
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// How a file is opened, besides reading or writing: the name may have become a link, a pipe or a terminal meanwhile.
const FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// An open directory.
#[derive(Debug)]
pub struct Directory(OwnedFd);

/// Which directory it is, for as long as it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

/// What the system knows of a file or directory.
#[derive(Debug, Clone)]
pub struct Stat(rustix::fs::Stat);

impl Stat {
    /// Returns what sort of thing it is, never [`Kind::Missing`].
    pub fn kind(&self) -> Kind {
        match FileType::from_raw_mode(self.0.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        }
    }

    /// Returns its size in bytes.
    pub fn size(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or(0)
    }

    /// Returns when it was modified: seconds since 1970, and nanoseconds.
    pub fn modified(&self) -> (i64, u64) {
        (self.0.st_mtime, self.0.st_mtime_nsec)
    }

    fn regular(self) -> Result<Self, Error> {
        match self.kind() {
            Kind::File => Ok(self),
            Kind::Directory => Err(Error::IsADirectory),
            Kind::Link => Err(Error::Moved),
            Kind::Special | Kind::Missing => Err(Error::Special),
        }
    }
}

/// What became of a path that the kernel was asked to keep beneath a directory.
pub(crate) enum Beneath {
    Found(Directory),
    /// A link leads out of the directory, perhaps into another root or, being absolute, back into this one; or this kernel
    /// cannot tell.
    Unknown,
}

impl Directory {
    /// Opens the directory at `path`, wherever it is.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self(rustix::fs::open(path, DIRECTORY, Mode::empty())?))
    }

    /// Opens the directory at `path`, which must not lead out of this one.
    pub(crate) fn beneath(&self, path: &Path) -> Result<Beneath, Error> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..RACES_MAX {
            match rustix::fs::openat2(&self.0, path, DIRECTORY, Mode::empty(), resolve) {
                Ok(directory) => return Ok(Beneath::Found(Self(directory))),
                // Something was renamed while `..` was resolved.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::XDEV | Errno::NOSYS | Errno::PERM) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Beneath::Unknown)
    }

    /// Opens the directory `name`, which must not be a link.
    ///
    /// # Errors
    ///
    /// There is no directory of this name, or it cannot be opened.
    pub fn enter(&self, name: &OsStr) -> Result<Self, Error> {
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        Ok(Self(rustix::fs::openat(
            &self.0,
            name,
            flags,
            Mode::empty(),
        )?))
    }

    /// Enters the directory `name`, or returns where it points to if it is a link.
    pub(crate) fn step(&self, name: &OsStr) -> Result<Step, Error> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        match Stat(rustix::fs::fstat(&found)?).kind() {
            Kind::Directory => Ok(Step::Entered(Self(found))),
            // Read through the descriptor: this is the link's own target, whatever has the name by now.
            Kind::Link => {
                let target = rustix::fs::readlinkat(&found, "", Vec::new())?;
                Ok(Step::Link(OsString::from_vec(target.into_bytes())))
            }
            _ => Err(Error::NotADirectory),
        }
    }

    /// Returns what is known of `name`, without following it; none if nothing has this name.
    ///
    /// # Errors
    ///
    /// The system refuses to tell.
    pub fn look(&self, name: &OsStr) -> Result<Option<Stat>, Error> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Stat(stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns where the link `name` points to; none if it is no link.
    pub(crate) fn read_link(&self, name: &OsStr) -> Result<Option<OsString>, Error> {
        match rustix::fs::readlinkat(&self.0, name, Vec::new()) {
            Ok(target) => Ok(Some(OsString::from_vec(target.into_bytes()))),
            // The kernel's word for a name that is no link.
            Err(Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the names in it, at most `limit` and in no order, and whether these are all.
    ///
    /// # Errors
    ///
    /// The directory cannot be listed.
    pub fn names(&self, limit: usize) -> Result<(Vec<OsString>, bool), Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = rustix::fs::openat(&self.0, ".", flags, Mode::empty())?;
        let mut names = Vec::new();
        for entry in Dir::new(listed)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if names.len() == limit {
                return Ok((names, false));
            }
            names.push(OsStr::from_bytes(name).to_owned());
        }
        Ok((names, true))
    }

    /// Opens the regular file `name` for reading, without following it.
    ///
    /// # Errors
    ///
    /// There is no regular file of this name ([`Error::Moved`] if it is a link), or it cannot be opened.
    pub fn open_file(&self, name: &OsStr) -> Result<(File, Stat), Error> {
        // Looked at first, because opening a device can set it going.
        self.look(name)?.ok_or(Error::NotFound)?.regular()?;
        self.open_regular(name, OFlags::RDONLY)
    }

    /// Returns what is known of the regular file `name`, which this process must be allowed to write to.
    ///
    /// Renaming over a file asks only its directory, so one that its owner has protected would be replaced.
    pub(crate) fn writable(&self, name: &OsStr) -> Result<Stat, Error> {
        self.look(name)?.ok_or(Error::NotFound)?.regular()?;
        Ok(self.open_regular(name, OFlags::WRONLY)?.1)
    }

    fn open_regular(&self, name: &OsStr, how: OFlags) -> Result<(File, Stat), Error> {
        let file = match rustix::fs::openat(&self.0, name, FILE | how, Mode::empty()) {
            // It became a link after it was looked at.
            Err(Errno::LOOP) => return Err(Error::Moved),
            opened => opened?,
        };
        let stat = Stat(rustix::fs::fstat(&file)?).regular()?;
        Ok((File::from(file), stat))
    }

    /// Makes the directory `name` unless something has this name.
    pub(crate) fn make(&self, name: &OsStr) -> Result<(), Error> {
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the symbolic link `name`, where nothing may be.
    pub(crate) fn make_link(&self, name: &OsStr, target: &OsStr) -> Result<(), Error> {
        Ok(rustix::fs::symlinkat(target, &self.0, name)?)
    }

    /// Removes `name`, which is of this kind; a directory must be empty.
    ///
    /// # Errors
    ///
    /// It is not there, of another kind, not empty, or may not be removed.
    pub fn remove(&self, name: &OsStr, kind: Kind) -> Result<(), Error> {
        let flags = match kind {
            Kind::Directory => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        Ok(rustix::fs::unlinkat(&self.0, name, flags)?)
    }

    /// Creates a file that has no name yet; none where the file system cannot do that.
    pub(crate) fn unnamed(&self, rights: u32) -> Result<Option<File>, Error> {
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, ".", flags, Mode::from_raw_mode(rights)) {
            Ok(file) => Ok(Some(File::from(file))),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates the file `name`, where nothing may be.
    pub(crate) fn create(&self, name: &OsStr, rights: u32) -> Result<File, Error> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(rights);
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, mode)?))
    }

    /// Gives a file without a name the name `name`, which nothing may have.
    pub(crate) fn link(&self, unnamed: &File, name: &OsStr) -> Result<(), Error> {
        let path = descriptor_path(unnamed.as_fd());
        let flags = AtFlags::SYMLINK_FOLLOW;
        Ok(rustix::fs::linkat(
            rustix::fs::CWD,
            &path,
            &self.0,
            name,
            flags,
        )?)
    }

    /// Renames `name` in this directory to `new`, replacing what has that name.
    pub(crate) fn rename(&self, name: &OsStr, new: &OsStr) -> Result<(), Error> {
        Ok(rustix::fs::renameat(&self.0, name, &self.0, new)?)
    }

    /// Moves `name` to `new` in another directory, where nothing may be.
    pub(crate) fn rename_to_free(&self, name: &OsStr, to: &Self, new: &OsStr) -> Result<(), Error> {
        let moved =
            match rustix::fs::renameat_with(&self.0, name, &to.0, new, RenameFlags::NOREPLACE) {
                // Not every file system knows how; a second link fails as well where something is.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    rustix::fs::linkat(&self.0, name, &to.0, new, AtFlags::empty())
                        .and_then(|()| rustix::fs::unlinkat(&self.0, name, AtFlags::empty()))
                }
                moved => moved,
            };
        match moved {
            Err(Errno::XDEV) => Err(Error::OtherDevice),
            moved => Ok(moved?),
        }
    }

    /// Returns where it is now; none if the system cannot tell.
    pub(crate) fn real_path(&self) -> Result<Option<PathBuf>, Error> {
        // The kernel marks the name of a removed directory, but any directory may have such a name.
        if rustix::fs::fstat(&self.0)?.st_nlink == 0 {
            return Err(Error::Moved);
        }
        let target = match rustix::fs::readlink(descriptor_path(self.0.as_fd()), Vec::new()) {
            Ok(target) => target,
            // No /proc here.
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let real = PathBuf::from(OsString::from_vec(target.into_bytes()));
        match real.is_absolute() {
            true => Ok(Some(real)),
            // A directory of another mount namespace.
            false => Err(Error::Outside),
        }
    }

    pub(crate) fn identity(&self) -> Result<Identity, Error> {
        let stat = rustix::fs::fstat(&self.0)?;
        Ok(Identity {
            device: stat.st_dev,
            inode: stat.st_ino,
        })
    }
}

/// A name that was looked up by hand.
pub(crate) enum Step {
    Entered(Directory),
    Link(OsString),
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<Directory> for OwnedFd {
    fn from(directory: Directory) -> Self {
        directory.0
    }
}

/// Gives `file` the owner and the mode of `old`.
pub(crate) fn resemble(file: &File, old: &Stat) -> Result<(), Error> {
    let Stat(old) = old;
    let same = rustix::fs::fstat(file)
        .is_ok_and(|new| (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid));
    let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
    let kept = same || rustix::fs::fchown(file, Some(owner), Some(group)).is_ok();
    // A mode that lends its owner's rights must not lend those of another owner.
    let mode = old.st_mode & if kept { 0o7777 } else { 0o777 };
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
}

/// Gives `file` these rights.
pub(crate) fn set_rights(file: &File, rights: u32) -> Result<(), Error> {
    Ok(rustix::fs::fchmod(
        file,
        Mode::from_raw_mode(rights & 0o7777),
    )?)
}

fn descriptor_path(descriptor: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}
