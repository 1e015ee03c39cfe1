//! Reading and changing files on disk, through directories that are held.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use super::roots::{Kind, Place, Roots};
use super::{Error, READ_BYTES_MAX};

/// Tries for a name that nothing has yet.
const NAMES_MAX: usize = 64;

/// Opens a regular file for reading.
///
/// The name is looked up in one directory only and not followed, so there is nothing on the way that
/// could lead out. It may be a pipe by the time it is opened; that must not block.
pub(super) fn open(directory: &OwnedFd, name: &OsStr) -> Result<(File, Stat), Error> {
    // Looked at first, because opening a device can set it going.
    regular(&rustix::fs::statat(
        directory,
        name,
        AtFlags::SYMLINK_NOFOLLOW,
    )?)?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    regular(&stat)?;
    Ok((File::from(file), stat))
}

fn regular(stat: &Stat) -> Result<(), Error> {
    match Kind::of(stat) {
        Kind::File => Ok(()),
        Kind::Directory => Err(Error::IsADirectory),
        Kind::Link => Err(Error::Moved),
        Kind::Special | Kind::Missing => Err(Error::Special),
    }
}

/// Reads the whole file at a real path; none if there is none.
pub(super) fn read(roots: &Roots, real: &Path) -> Result<Option<Vec<u8>>, Error> {
    let place = roots.find(real)?;
    if !place.missing.is_empty() {
        return Ok(None);
    }
    let (file, stat) = match open(&place.directory, &place.name) {
        Err(Error::NotFound) => return Ok(None),
        opened => opened?,
    };
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if size > READ_BYTES_MAX {
        return Err(Error::TooLarge { bytes: size });
    }
    // It may grow while it is read.
    let mut bytes = Vec::new();
    file.take(READ_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    match size > READ_BYTES_MAX {
        true => Err(Error::TooLarge { bytes: size }),
        false => Ok(Some(bytes)),
    }
}

/// Replaces the file at a real path, which must still hold `old`, or makes it if `old` is none.
///
/// It is the old one or the new one at every moment, with the old one's rights.
pub(super) fn replace(
    roots: &Roots,
    real: &Path,
    old: Option<&[u8]>,
    new: &[u8],
) -> Result<(), Error> {
    if read(roots, real)?.as_deref() != old {
        return Err(Error::Stale);
    }
    let mut place = roots.find(real)?;
    place.make_directories()?;
    match old {
        None => {
            let fresh = Fresh::new(&place.directory, Mode::from_raw_mode(0o666))?;
            fresh.fill(new)?;
            match fresh.put_where_nothing_is(&place.name) {
                // Someone was faster.
                Err(Error::Exists) => Err(Error::Stale),
                put => put,
            }
        }
        Some(_) => {
            let stat = writable(&place)?;
            // The content of a private file is private while it is written, too.
            let fresh = Fresh::new(&place.directory, Mode::from_raw_mode(0o600))?;
            fresh.fill(new)?;
            fresh.resemble(&stat)?;
            fresh.put(&place.name)
        }
    }
}

/// Makes the directories above a real path.
pub(super) fn make_directories(roots: &Roots, real: &Path) -> Result<(), Error> {
    roots.find(real)?.make_directories()
}

/// Moves what is at one real path to another, where nothing may be.
pub(super) fn rename(roots: &Roots, from: &Path, to: &Path) -> Result<(), Error> {
    let source = roots.find(from)?;
    let mut target = roots.find(to)?;
    match source.kind()? {
        Kind::Missing => return Err(Error::NotFound),
        Kind::Special => return Err(Error::Special),
        Kind::File | Kind::Directory | Kind::Link => {}
    }
    if target.kind()? != Kind::Missing {
        return Err(Error::Exists);
    }
    target.make_directories()?;
    let moved = rename_to_free(
        &source.directory,
        &source.name,
        &target.directory,
        &target.name,
    );
    match moved {
        Err(Errno::XDEV) => Err(Error::OtherDevice),
        moved => Ok(moved?),
    }
}

fn rename_to_free(
    from: &OwnedFd,
    name: &OsStr,
    to: &OwnedFd,
    new_name: &OsStr,
) -> Result<(), Errno> {
    match rustix::fs::renameat_with(from, name, to, new_name, RenameFlags::NOREPLACE) {
        // Not every file system knows how; a second link fails as well where something is.
        Err(Errno::INVAL | Errno::NOSYS) => {
            rustix::fs::linkat(from, name, to, new_name, AtFlags::empty())?;
            rustix::fs::unlinkat(from, name, AtFlags::empty())
        }
        renamed => renamed,
    }
}

/// Returns what is known of a file that may be written to.
///
/// Renaming over a file asks only its directory, so one that its owner has protected would be replaced.
fn writable(place: &Place) -> Result<Stat, Error> {
    let flags =
        OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&place.directory, &place.name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    regular(&stat)?;
    Ok(stat)
}

/// New content under a name of its own, removed again if it is not put in place.
struct Fresh<'d> {
    directory: &'d OwnedFd,
    file: File,
    name: Option<String>,
}

impl<'d> Fresh<'d> {
    fn new(directory: &'d OwnedFd, mode: Mode) -> Result<Self, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..NAMES_MAX {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".ply-{}-{count}.tmp", std::process::id());
            match rustix::fs::openat(directory, name.as_str(), flags, mode) {
                Ok(file) => {
                    return Ok(Self {
                        directory,
                        file: File::from(file),
                        name: Some(name),
                    });
                }
                // Left behind by a process that had our id before us.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Exists)
    }

    fn fill(&self, content: &[u8]) -> Result<(), Error> {
        Ok((&self.file).write_all(content)?)
    }

    fn resemble(&self, old: &Stat) -> Result<(), Error> {
        let kept = keep_owner(&self.file, old);
        // A mode that lends its owner's rights must not lend those of another owner.
        let mode = old.st_mode & if kept { 0o7777 } else { 0o777 };
        Ok(rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode))?)
    }

    fn put(mut self, name: &OsStr) -> Result<(), Error> {
        if let Some(own) = &self.name {
            rustix::fs::renameat(self.directory, own, self.directory, name)?;
        }
        self.name = None;
        Ok(())
    }

    fn put_where_nothing_is(mut self, name: &OsStr) -> Result<(), Error> {
        if let Some(own) = &self.name {
            rename_to_free(self.directory, OsStr::new(own), self.directory, name)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        let Some(name) = &self.name else {
            return;
        };
        if let Err(error) = rustix::fs::unlinkat(self.directory, name, AtFlags::empty()) {
            tracing::warn!(%error, "a file that was not finished could not be removed");
        }
    }
}

/// Gives `file` the owner and group of `old`, and says whether it has them.
fn keep_owner(file: &impl AsFd, old: &Stat) -> bool {
    let same = rustix::fs::fstat(file)
        .is_ok_and(|new| (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid));
    let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
    same || rustix::fs::fchown(file, Some(owner), Some(group)).is_ok()
}
