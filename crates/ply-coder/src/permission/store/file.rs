//! The rules file on disk: read whole, replaced whole, one writer at a time.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{RULES_FILE_BYTES_MAX, StoreError};

/// How long a lock is waited for. Each writer before us takes as long as the disk needs for two files.
const LOCK_TIME_MAX: Duration = Duration::from_secs(5);

/// What tells one state of the file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(facts: &Metadata) -> Self {
        Self {
            device: facts.dev(),
            inode: facts.ino(),
            length: facts.len(),
            modified: (facts.mtime(), facts.mtime_nsec()),
            changed: (facts.ctime(), facts.ctime_nsec()),
        }
    }
}

/// Returns the state of the file, or none if it is not there.
pub(super) fn stamp(path: &Path) -> Result<Option<Stamp>, StoreError> {
    match fs::metadata(path) {
        Ok(facts) => Ok(Some(Stamp::of(&facts))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::Read(error)),
    }
}

/// Reads the file; one that is not there is empty.
pub(super) fn read(path: &Path) -> Result<(String, Option<Stamp>), StoreError> {
    // Without waiting: a pipe in its place would never open.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((String::new(), None)),
        Err(error) => return Err(StoreError::Read(error)),
    };
    let facts = file.metadata().map_err(StoreError::Read)?;
    if !facts.is_file() {
        return Err(StoreError::Read(ErrorKind::InvalidInput.into()));
    }
    let user = rustix::process::geteuid().as_raw();
    if facts.mode() & 0o022 != 0 || (facts.uid() != user && facts.uid() != 0) {
        return Err(StoreError::Exposed);
    }
    let mut text = String::new();
    let length = file
        .take(RULES_FILE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| match error.kind() {
            ErrorKind::InvalidData => StoreError::Format,
            _ => StoreError::Read(error),
        })?;
    if u64::try_from(length).is_ok_and(|length| length > RULES_FILE_BYTES_MAX) {
        return Err(StoreError::TooLong);
    }
    Ok((text, Some(Stamp::of(&facts))))
}

/// The right to replace the file. It is given back when this is dropped, or when the process dies.
pub(super) struct Locked {
    /// The file itself, behind links that lead to it.
    path: PathBuf,
    _lock: File,
}

impl Locked {
    pub(super) fn take(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(folder).map_err(StoreError::Write)?;
        }
        let path = match fs::canonicalize(path) {
            Ok(path) => path,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(StoreError::Write(error)),
        };
        // A file of its own, as the rules file is another one after each change.
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(beside(&path, ".lock"))
            .map_err(StoreError::Write)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                let lock = wait_for(lock)?;
                Ok(Self { path, _lock: lock })
            }
            Err(error) => Err(StoreError::Write(error.into())),
        }
    }

    /// Puts a new text in place of the file, whole or not at all.
    pub(super) fn replace(&self, text: &str) -> Result<Option<Stamp>, StoreError> {
        if u64::try_from(text.len()).is_ok_and(|length| length > RULES_FILE_BYTES_MAX) {
            return Err(StoreError::Full);
        }
        self.write(text).map_err(StoreError::Write)
    }

    fn write(&self, text: &str) -> Result<Option<Stamp>, std::io::Error> {
        let new = beside(&self.path, ".new");
        // Left by a process that died; the lock says that nobody is writing it.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(Some(Stamp::of(&file.metadata()?)))
    }
}

/// Waits in the kernel's queue for a lock that others have. Trying again from time to time found it taken each
/// time while others wrote without a pause.
fn wait_for(lock: File) -> Result<File, StoreError> {
    let (tell, told) = mpsc::sync_channel(1);
    let wait = move || {
        let taken = loop {
            match flock(&lock, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                taken => break taken,
            }
        };
        // Nobody may wait any more; then the file closes, and the lock is given back.
        tell.send(taken.map(|()| lock)).ok();
    };
    let waiting = thread::Builder::new().name("rules lock".to_owned());
    waiting.spawn(wait).map_err(StoreError::Write)?;
    match told.recv_timeout(LOCK_TIME_MAX) {
        Ok(taken) => taken.map_err(|error| StoreError::Write(error.into())),
        Err(_) => Err(StoreError::Locked),
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
