//! Writing a file so that it is the old one or the new one at every moment.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::super::roots::{Missing, RACES_MAX, Roots};
use super::{Refusal, real_path};

/// Replaces the content of the file at `path`, which is made if it is missing, and tells where it really is.
pub(super) fn replace(
    roots: &Roots,
    path: &Path,
    content: &[u8],
) -> Result<Option<PathBuf>, Refusal> {
    for _ in 0..RACES_MAX {
        let (directory, name) = roots.leaf(path, Missing::Make)?;
        let old = match rustix::fs::statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => match writable(&directory, &name) {
                    Ok(stat) => Some(stat),
                    Err(Errno::LOOP | Errno::NOENT) => continue,
                    Err(error) => return Err(error.into()),
                },
                // It became a link after it was found.
                FileType::Symlink => continue,
                _ => return Err(Refusal::NotAFile),
            },
        };
        let fresh = Fresh::new(&directory, old)?;
        let real = real_path(&directory, &name);
        fresh.fill(content)?;
        fresh.put(&name)?;
        return Ok(real);
    }
    Err(Refusal::Changing)
}

/// Returns what is known of a file that may be written to.
///
/// Renaming over a file asks only its directory, so a file its owner has protected would be replaced.
fn writable(directory: &OwnedFd, name: &OsStr) -> Result<Stat, Errno> {
    let flags =
        OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    rustix::fs::fstat(&file)
}

/// The new content, on its way into `directory`.
///
/// Without a name until it is complete, where the file system can do that, so that nothing is left behind when this process is
/// killed; else under a name of its own from the start.
struct Fresh<'a> {
    directory: &'a OwnedFd,
    file: File,
    /// The name to remove if it is not put in place.
    name: Option<String>,
    old: Option<Stat>,
}

impl<'a> Fresh<'a> {
    fn new(directory: &'a OwnedFd, old: Option<Stat>) -> Result<Self, Refusal> {
        // The content of a private file is private while it is written, too.
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        let (file, name) = match rustix::fs::openat(directory, ".", flags, mode) {
            Ok(file) => (file, None),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => named(|name| {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                rustix::fs::openat(directory, name, flags, mode)
            })
            .map(|(file, name)| (file, Some(name)))?,
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            directory,
            file: File::from(file),
            name,
            old,
        })
    }

    fn fill(&self, content: &[u8]) -> Result<(), Refusal> {
        (&self.file).write_all(content)?;
        if let Some(old) = &self.old {
            let kept = keep_owner(&self.file, old);
            // A mode that lends its owner's rights must not lend those of another owner.
            let mode = old.st_mode & if kept { 0o7777 } else { 0o777 };
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode))?;
        }
        // Or a loss of power could leave the name with nothing behind it.
        self.file.sync_data()?;
        Ok(())
    }

    fn put(mut self, name: &OsStr) -> Result<(), Refusal> {
        let own = match self.name.take() {
            Some(own) => own,
            None => self.give_name()?,
        };
        let own = self.name.insert(own);
        rustix::fs::renameat(self.directory, &*own, self.directory, name)?;
        self.name = None;
        Ok(())
    }

    fn give_name(&self) -> Result<String, Refusal> {
        let unnamed = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let link = |name: &str| {
            let flags = AtFlags::SYMLINK_FOLLOW;
            rustix::fs::linkat(rustix::fs::CWD, &unnamed, self.directory, name, flags)
        };
        named(link).map(|((), name)| name)
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

/// Makes something under a name that nothing has yet.
fn named<T>(make: impl Fn(&str) -> Result<T, Errno>) -> Result<(T, String), Refusal> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    for _ in 0..RACES_MAX {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".ply-{}-{count}.tmp", std::process::id());
        match make(&name) {
            Ok(made) => return Ok((made, name)),
            // Left behind by a process that had our id before us.
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Refusal::Changing)
}

/// Gives `file` the owner and group of `old`, and returns whether it has them.
fn keep_owner(file: &impl AsFd, old: &Stat) -> bool {
    let same = rustix::fs::fstat(file)
        .is_ok_and(|new| (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid));
    let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
    same || rustix::fs::fchown(file, Some(owner), Some(group)).is_ok()
}
