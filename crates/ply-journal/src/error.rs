//! Why a journal did not do what it was asked.

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
    Io(#[source] std::io::Error),
}
