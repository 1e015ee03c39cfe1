//! Where sessions live: one narrow trait of plain data, and the store in memory.
//!
//! A [`Journal`] holds sessions; a [`Log`] is the right to write one of them, held by one owner at
//! a time. Records are opaque bytes: what they mean is for the engine above.

mod memory;

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

pub use memory::Memory;

/// What a journal's methods return, so that a journal can be chosen at run time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A store of sessions.
pub trait Journal: fmt::Debug + Send + Sync + 'static {
    /// Makes a new session and returns the right to write it. It is safe when this returns.
    fn create(&self, head: Head) -> Answer<'_, Box<dyn Log>>;

    /// Opens a session to write it, with what is known of it; none if there is no such session.
    fn open<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Log>)>>;

    /// Returns the sessions that match, the latest first, a page at a time.
    fn list(&self, filter: Filter) -> Answer<'_, Page>;

    /// Forgets a session; returns whether there was one.
    fn delete<'a>(&'a self, id: &'a str) -> Answer<'a, bool>;
}

/// The right to write one session; dropped, another owner may take it.
pub trait Log: fmt::Debug + Send + 'static {
    /// Writes records after those that are there. Nothing of it counts unless it returns.
    fn append(&mut self, records: Vec<Vec<u8>>, durability: Durability) -> Answer<'_, ()>;

    /// Returns the records from number `from`, the first being 0, up to about `bytes_max`; at least
    /// one if there is one.
    fn read(&mut self, from: u64, bytes_max: usize) -> Answer<'_, Vec<Vec<u8>>>;

    /// Changes what listings say of the session.
    fn describe(&mut self, change: Description) -> Answer<'_, ()>;
}

/// When written records must be safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before the call returns: whatever happens to the process or the machine, they are there.
    Now,
    /// Soon, together with others.
    Soon,
}

/// What is known of a session without reading its records.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// Its id.
    pub id: String,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its title.
    pub title: Option<String>,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When something last happened in it, in milliseconds since 1970.
    pub updated_ms: i64,
}

impl Head {
    /// Returns the head of a session that begins now.
    #[must_use]
    pub fn new(id: impl Into<String>, cwd: impl Into<PathBuf>, now_ms: i64) -> Self {
        Self {
            id: id.into(),
            cwd: cwd.into(),
            title: None,
            created_ms: now_ms,
            updated_ms: now_ms,
        }
    }
}

/// A change of what is known of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Description {
    /// A new title; some none takes it away.
    pub title: Option<Option<String>>,
    /// When something last happened.
    pub updated_ms: Option<i64>,
}

impl Description {
    /// Returns the change that only notes when something last happened.
    #[must_use]
    pub fn updated(now_ms: i64) -> Self {
        Self {
            title: None,
            updated_ms: Some(now_ms),
        }
    }

    /// Also changes the title.
    #[must_use]
    pub fn title(mut self, title: Option<String>) -> Self {
        self.title = Some(title);
        self
    }
}

/// Which sessions a listing is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only those with exactly this working directory.
    pub cwd: Option<PathBuf>,
    /// Where the page before this one ended.
    pub cursor: Option<String>,
    /// How many at most.
    pub limit: usize,
}

impl Filter {
    /// Returns the filter for the first page of everything.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            cwd: None,
            cursor: None,
            limit,
        }
    }
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Page {
    /// The sessions.
    pub sessions: Vec<Head>,
    /// Where the next page begins, if there is more.
    pub next: Option<String>,
}

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
    /// The cursor is not one that this journal gave out.
    #[error("the cursor is not one of this listing; start again without one")]
    BadCursor,
    /// Reading or writing failed.
    #[error("the journal cannot be read or written: {0}")]
    Io(#[source] std::io::Error),
}
