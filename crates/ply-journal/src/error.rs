//! Why a journal did not do what it was asked.

use std::io;

/// Why a journal did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is a session with this id already.
    #[error("a session with this id exists already")]
    Exists,
    /// Somebody else writes the session.
    #[error("the session is in use by {0}; close it there first")]
    InUse(String),
    /// The session is gone.
    #[error("the session was deleted")]
    Deleted,
    /// Somebody else took the session over, since its owner seemed to be dead.
    #[error("the session was taken over by {0}; open it again to go on")]
    Lost(String),
    /// Records cannot be read any more.
    #[error("the records {from} to {} are damaged; those from {next} on may be whole", .next.saturating_sub(1))]
    Damaged {
        /// The first of them, which is the one that was asked for.
        from: u64,
        /// Where to go on reading. Always after `from`.
        next: u64,
    },
    /// The cursor is not one that this journal gave out.
    #[error("the cursor is not one of this listing; start again without one")]
    BadCursor,
    /// The disk is full.
    #[error("the disk of the journal is full; free some space and try again")]
    Full,
    /// A newer program wrote the journal.
    #[error(
        "the journal has version {found} and this program knows versions up to {known}; \
         use a newer program"
    )]
    Newer {
        /// The version of the journal.
        found: u32,
        /// The latest version that this program knows.
        known: u32,
    },
    /// The file is not a journal, or so damaged that nothing can be read.
    #[error(
        "the file of the journal cannot be read: {0}; it was left as it is, \
         move it away to begin a new one"
    )]
    Unreadable(String),
    /// The file is on a file system where several machines write, and none can lock safely.
    #[error(
        "the journal is on a network file system ({0}), where it could be destroyed; \
         choose a local directory"
    )]
    Network(String),
    /// The file was deleted or replaced while it was open.
    #[error(
        "the file of the journal was deleted or replaced while it was in use; \
         nothing more is written, start the program again"
    )]
    Replaced,
    /// The journal was closed.
    #[error("the journal is closed")]
    Closed,
    /// Reading or writing failed.
    #[error("the journal cannot be read or written: {0}")]
    Io(#[source] io::Error),
}

/// What a caller can do about an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The trouble will pass, such as a busy file: the same call may succeed later.
    TryAgain,
    /// Another owner has the session.
    Taken,
    /// There is no space left, or a quota is used up.
    Full,
    /// What was stored cannot be read back.
    Damaged,
    /// The session does not exist any more.
    Gone,
    /// The caller made a mistake: the same call will always fail.
    Invalid,
    /// The store does not work.
    Broken,
}

impl Error {
    /// Returns what kind of error this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Exists | Self::BadCursor => ErrorKind::Invalid,
            Self::InUse(_) | Self::Lost(_) => ErrorKind::Taken,
            Self::Deleted => ErrorKind::Gone,
            Self::Damaged { .. } | Self::Unreadable(_) => ErrorKind::Damaged,
            Self::Full => ErrorKind::Full,
            Self::Newer { .. } | Self::Network(_) | Self::Replaced | Self::Closed => {
                ErrorKind::Broken
            }
            Self::Io(error) => kind_of(error.kind()),
        }
    }
}

fn kind_of(kind: io::ErrorKind) -> ErrorKind {
    match kind {
        io::ErrorKind::Interrupted
        | io::ErrorKind::WouldBlock
        | io::ErrorKind::TimedOut
        | io::ErrorKind::ResourceBusy
        | io::ErrorKind::OutOfMemory => ErrorKind::TryAgain,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::Full,
        io::ErrorKind::InvalidInput => ErrorKind::Invalid,
        _ => ErrorKind::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: Error, expected: ErrorKind) {
        assert_eq!(error.kind(), expected, "{error}");
    }

    #[test]
    fn every_error_says_what_can_be_done_about_it() {
        check(Error::Exists, ErrorKind::Invalid);
        check(Error::BadCursor, ErrorKind::Invalid);
        check(Error::InUse("ply".to_owned()), ErrorKind::Taken);
        check(Error::Lost("ply".to_owned()), ErrorKind::Taken);
        check(Error::Deleted, ErrorKind::Gone);
        check(Error::Damaged { from: 1, next: 2 }, ErrorKind::Damaged);
        check(Error::Unreadable(String::new()), ErrorKind::Damaged);
        check(Error::Full, ErrorKind::Full);
        check(Error::Newer { found: 9, known: 1 }, ErrorKind::Broken);
        check(Error::Network("NFS".to_owned()), ErrorKind::Broken);
        check(Error::Replaced, ErrorKind::Broken);
        check(Error::Closed, ErrorKind::Broken);
    }

    #[test]
    fn errors_of_the_system_are_told_apart_by_their_cause() {
        let check = |cause: io::ErrorKind, expected| check(Error::Io(cause.into()), expected);
        check(io::ErrorKind::Interrupted, ErrorKind::TryAgain);
        check(io::ErrorKind::WouldBlock, ErrorKind::TryAgain);
        check(io::ErrorKind::TimedOut, ErrorKind::TryAgain);
        check(io::ErrorKind::StorageFull, ErrorKind::Full);
        check(io::ErrorKind::QuotaExceeded, ErrorKind::Full);
        check(io::ErrorKind::InvalidInput, ErrorKind::Invalid);
        check(io::ErrorKind::PermissionDenied, ErrorKind::Broken);
        check(io::ErrorKind::Other, ErrorKind::Broken);
    }
}
