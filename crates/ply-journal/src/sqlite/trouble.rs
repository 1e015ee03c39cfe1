//! Errors that many can be told, and what SQLite's errors mean.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_CORRUPTFS, SQLITE_READONLY_DBMOVED};

use crate::Error;

/// Free space below which a failed write is taken for a full disk.
const FREE_BYTES_MIN: u64 = 64 * 1024;

/// An [`Error`] that can be given to everybody whose work was in one transaction.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    Exists,
    InUse(String),
    Deleted,
    Lost(String),
    Damaged { from: u64, next: u64 },
    Full,
    Newer { found: u32, known: u32 },
    Unreadable(String),
    Network(String),
    Replaced,
    Closed,
    Io(io::ErrorKind, String),
}

/// What a failed transaction asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Nothing was written; the same may work later.
    Retry,
    /// What is on the disk is unknown: the file has to be opened anew before anything else.
    Reopen,
    /// One part of the file is broken; work that does not touch it goes on.
    Isolate,
    /// Nothing may be written any more.
    Stop,
}

impl Trouble {
    pub(super) fn io(kind: io::ErrorKind, words: impl Into<String>) -> Self {
        Self::Io(kind, words.into())
    }

    /// Says what was being done when an operation of the system failed.
    pub(super) fn system(doing: &str, path: &Path, error: &io::Error) -> Self {
        if is_want_of_space(error) {
            return Self::Full;
        }
        Self::io(
            error.kind(),
            format!("{doing} {} failed: {error}", path.display()),
        )
    }

    /// Says what an error of SQLite's means for the journal in the file `path`.
    pub(super) fn sqlite(error: &rusqlite::Error, path: &Path) -> Self {
        let io = |kind, words: String| Self::Io(kind, words);
        let Some(sqlite) = error.sqlite_error() else {
            // A value of the wrong type, or text that is none: the row is damaged.
            return Self::Unreadable(error.to_string());
        };
        match sqlite.code {
            ErrorCode::DiskFull => Self::Full,
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::ConstraintViolation
            | ErrorCode::SchemaChanged
            | ErrorCode::Unknown => Self::Unreadable(error.to_string()),
            ErrorCode::SystemIoFailure if sqlite.extended_code == SQLITE_IOERR_CORRUPTFS => {
                Self::Unreadable(error.to_string())
            }
            ErrorCode::SystemIoFailure if is_full(path) => Self::Full,
            ErrorCode::SystemIoFailure => io(
                io::ErrorKind::Other,
                format!(
                    "the disk failed ({error}, code {}); what was not answered may be lost, \
                     check the disk",
                    sqlite.extended_code
                ),
            ),
            ErrorCode::ReadOnly if sqlite.extended_code == SQLITE_READONLY_DBMOVED => {
                Self::Replaced
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => io(
                io::ErrorKind::PermissionDenied,
                format!("{} may not be written", path.display()),
            ),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => io(
                io::ErrorKind::TimedOut,
                "another process keeps it locked; try again, or end that process".to_owned(),
            ),
            ErrorCode::OutOfMemory => io(io::ErrorKind::OutOfMemory, error.to_string()),
            _ => io(io::ErrorKind::Other, error.to_string()),
        }
    }
}

/// A transaction that failed.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) trouble: Trouble,
    pub(super) remedy: Remedy,
}

impl Failure {
    pub(super) fn sqlite(error: &rusqlite::Error, path: &Path) -> Self {
        let trouble = Trouble::sqlite(error, path);
        let remedy = match (&trouble, error.sqlite_error_code()) {
            (Trouble::Replaced, _) => Remedy::Stop,
            // Also when the disk is full: a sync may have failed, and no later one tells.
            (_, Some(ErrorCode::SystemIoFailure)) => Remedy::Reopen,
            (Trouble::Full | Trouble::Io(io::ErrorKind::TimedOut, _), _) => Remedy::Retry,
            (Trouble::Unreadable(_), _) => Remedy::Isolate,
            _ => Remedy::Reopen,
        };
        Self { trouble, remedy }
    }
}

/// Returns whether nothing can be written for want of space. Some writes of SQLite's fail with an
/// I/O error then, such as those to the shared memory.
fn is_full(path: &Path) -> bool {
    let directory = path.parent().unwrap_or(path);
    rustix::fs::statvfs(directory)
        .is_ok_and(|stats| stats.f_bavail.saturating_mul(stats.f_frsize) < FREE_BYTES_MIN)
        || is_want_of_space_in(directory)
}

/// Returns whether an error of the system says that there is no space, or that a quota is used up.
fn is_want_of_space(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// Returns whether a file in `directory` cannot grow. SQLite reports a quota that is used up as an
/// I/O error without its cause, and the free space does not show it; so this tries, with a file
/// that has no name and leaves nothing behind.
#[cfg(target_os = "linux")]
fn is_want_of_space_in(directory: &Path) -> bool {
    use std::io::Write as _;

    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let tried = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR);
    let tried = tried.map_err(io::Error::from).and_then(|file| {
        let mut file = std::fs::File::from(file);
        let zeros = vec![0; usize::try_from(FREE_BYTES_MIN).unwrap_or(0)];
        file.write_all(&zeros)?;
        file.sync_all()
    });
    tried.is_err_and(|error| is_want_of_space(&error))
}

#[cfg(not(target_os = "linux"))]
fn is_want_of_space_in(_: &Path) -> bool {
    false
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Exists => Self::Exists,
            Trouble::InUse(owner) => Self::InUse(owner),
            Trouble::Deleted => Self::Deleted,
            Trouble::Lost(owner) => Self::Lost(owner),
            Trouble::Damaged { from, next } => Self::Damaged { from, next },
            Trouble::Full => Self::Full,
            Trouble::Newer { found, known } => Self::Newer { found, known },
            Trouble::Unreadable(words) => Self::Unreadable(words),
            Trouble::Network(kind) => Self::Network(kind),
            Trouble::Replaced => Self::Replaced,
            Trouble::Closed => Self::Closed,
            Trouble::Io(kind, words) => Self::Io(io::Error::new(kind, words)),
        }
    }
}
