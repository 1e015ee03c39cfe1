//! Where sessions live: one narrow trait of plain data, the store in memory and the store in SQLite.
//!
//! A [`Journal`] holds sessions; a [`Log`] is the right to write one of them, held by one owner at
//! a time. [`Records`] can be read by anybody. What they are, opaque bytes, is for the engine above.

mod error;
mod into;
mod listing;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

pub use error::{Error, ErrorKind};
pub use into::IntoJournal;
pub use memory::Memory;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;

/// What a journal's methods return, so that a journal can be chosen at run time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A store of sessions.
///
/// # Errors
///
/// Each answer is an [`Error`] if the store cannot do what was asked; it says what to do about it.
///
/// # Cancel safety
///
/// An answer that is dropped may have had its effect or not: a session may have been made or
/// deleted, records may have been written, all of a call or none. A session whose opening was given
/// up is not held.
pub trait Journal: fmt::Debug + Send + Sync + 'static {
    /// Makes a new session and returns the right to write it. It is safe when this returns.
    fn create(&self, head: Head) -> Answer<'_, Box<dyn Log>>;

    /// Opens a session to write it, with what is known of it; none if there is no such session.
    fn open<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Log>)>>;

    /// Opens a session to read it, whoever writes it; none if there is no such session.
    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Records>)>>;

    /// Returns the sessions that match, the latest first, a page at a time.
    fn list(&self, filter: Filter) -> Answer<'_, Page>;

    /// Forgets a session; returns whether there was one.
    fn delete<'a>(&'a self, id: &'a str) -> Answer<'a, bool>;

    /// Ends the use of the journal: all that was accepted is safe when this returns, and logs that
    /// are still held are of no use any more.
    fn close(&self) -> Answer<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// The records of one session.
pub trait Records: fmt::Debug + Send + 'static {
    /// Returns the records from number `from`, the first being 0, up to about `bytes_max`; at least
    /// one if there is one.
    ///
    /// A page ends before a record that is damaged. One that begins there is
    /// [`Error::Damaged`], which says where to go on.
    fn read(&mut self, from: u64, bytes_max: usize) -> Answer<'_, Vec<Vec<u8>>>;
}

/// The right to write one session; some time after it is dropped, another owner may take it.
pub trait Log: Records {
    /// Writes records after those that are there: all of them, or none.
    ///
    /// Nothing of it counts unless it returns. After an error or a dropped future the records may
    /// be there all the same; reading tells.
    fn append(&mut self, records: Vec<Vec<u8>>, durability: Durability) -> Answer<'_, ()>;

    /// Changes what listings say of the session.
    fn describe(&mut self, change: Description) -> Answer<'_, ()>;

    /// Gives the session back: all that was accepted is safe when this returns, and any other owner may take it.
    fn close(self: Box<Self>) -> Answer<'static, ()>;
}

/// When written records must be safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before the call returns: whatever happens to the process or the machine, they are there.
    Now,
    /// Soon, together with others: what was written before is never missing where this is there.
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
