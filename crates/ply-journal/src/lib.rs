//! Where sessions live: one narrow trait of plain data, the store in memory and the store in SQLite.
//!
//! A [`Journal`] holds sessions; a [`Log`] is the right to write one of them, held by one owner at
//! a time. [`Records`] can be read by anybody. What they are, opaque bytes, is for the engine above.

mod about;
mod error;
mod into;
mod listing;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use bytes::Bytes;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

pub use about::{Description, Filter, Head, Page};
pub use error::{Error, ErrorKind};
pub use into::IntoJournal;
pub use memory::Memory;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;

/// What a journal's methods return, so that a journal can be chosen at run time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Completes with the reason why an owner has lost its session.
pub type Loss = Pin<Box<dyn Future<Output = Error> + Send + 'static>>;

/// A store of sessions.
///
/// # Errors
///
/// Each answer is an [`Error`] if the store cannot do what was asked. [`Error::kind`] says what to
/// do about it.
///
/// # Cancel safety
///
/// An answer that is dropped may have had its effect or not: a session may have been created or
/// deleted, records may have been written, all of a call or none. A session whose opening was given
/// up is not held.
pub trait Journal: fmt::Debug + Send + Sync + 'static {
    /// Creates a session and returns the right to write it. The session is durable when this
    /// returns.
    ///
    /// `key` names this creation. Creating a session again with the same id and the same key opens
    /// the session that exists, so a creation whose outcome is unknown can be tried again. The same
    /// id with another key is [`Error::Exists`].
    fn create<'a>(&'a self, head: Head, key: &'a str) -> Answer<'a, Opened>;

    /// Opens a session to write it; none if there is no such session.
    fn open<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Opened>>;

    /// Opens a session to read it, whoever writes it; none if there is no such session.
    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Records>)>>;

    /// Returns the sessions that match, the latest first, a page at a time.
    fn list(&self, filter: Filter) -> Answer<'_, Page>;

    /// Deletes a session; returns whether there was one.
    fn delete<'a>(&'a self, id: &'a str) -> Answer<'a, bool>;

    /// Ends the use of the journal: all that was accepted is durable when this returns, and logs
    /// that are still held have lost their sessions.
    fn close(&self) -> Answer<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A session that its caller may write now.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// What is known of the session.
    pub head: Head,
    /// Grows with each owner, so it tells this owner from all others that the session had or will
    /// have. A new session has 1; a session that an older version of Ply created, and that was not
    /// opened since, has 1 when it is first opened.
    pub epoch: u64,
    /// How many records there are; the next one has this number.
    pub records: u64,
    /// The right to write the session.
    pub log: Box<dyn Log>,
}

impl Opened {
    /// Returns an open session, for those who implement a [`Journal`].
    #[must_use]
    pub fn new(head: Head, epoch: u64, records: u64, log: Box<dyn Log>) -> Self {
        Self {
            head,
            epoch,
            records,
            log,
        }
    }
}

/// The records of one session. They are numbered from 0 on.
pub trait Records: fmt::Debug + Send + Sync + 'static {
    /// Reads from record number `from` on, up to about `bytes_max` bytes; at least one record if
    /// there is one. The batch is empty if there is none.
    ///
    /// A batch ends before a record that is damaged. One that begins there is
    /// [`Error::Damaged`], which says where to go on.
    fn read(&self, from: u64, bytes_max: usize) -> Answer<'static, Batch>;

    /// Waits until record number `from` exists, whoever writes it.
    ///
    /// It fails with [`Error::Deleted`] when the session is deleted and with [`Error::Closed`] when
    /// the journal is closed.
    fn wait(&self, from: u64) -> Answer<'static, ()>;
}

/// Records in a row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    /// The number of the first.
    pub from: u64,
    /// The records.
    pub records: Vec<Vec<u8>>,
    /// The number after the last: where the next read begins.
    pub next: u64,
}

impl Batch {
    /// Returns records that are numbered from `from` on.
    #[must_use]
    pub fn new(from: u64, records: Vec<Vec<u8>>) -> Self {
        let next = from.saturating_add(records.len() as u64);
        Self {
            from,
            records,
            next,
        }
    }

    /// Returns whether there is no record in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

/// The right to write one session; some time after it is dropped, another owner may take it.
pub trait Log: Records {
    /// Appends records to those that are there, and changes what is known of the session: all of
    /// it or nothing. A store may let the description follow later.
    ///
    /// The append is queued when this is called, not when its answer is first polled: appends take
    /// effect in the order of the calls. It completes when the records have reached `durability`, and
    /// says what they have reached, which may be more.
    /// If one fails, so do those that were called before its failure was known.
    ///
    /// After an error the records may be there all the same; reading tells. Dropping the answer
    /// does not take the append back. Await each answer before the next call: that is what limits
    /// how much can wait in memory.
    fn append_shared(
        &self,
        records: Vec<Bytes>,
        durability: Durability,
        description: Option<Description>,
    ) -> Answer<'static, Durability>;

    /// Does the same with records that nobody else has.
    fn append(
        &self,
        records: Vec<Vec<u8>>,
        durability: Durability,
        description: Option<Description>,
    ) -> Answer<'static, Durability> {
        let records = records.into_iter().map(Bytes::from).collect();
        self.append_shared(records, durability, description)
    }

    /// Completes when this owner has lost the session, with the reason: another owner took it over,
    /// it was deleted, or the journal was closed. A store that shares its sessions with other
    /// processes may notice some seconds later.
    ///
    /// It is [`Error::Closed`] after this log was closed or dropped.
    fn lost(&self) -> Loss;

    /// Gives the session back: all that was accepted is durable when this returns, and any other
    /// owner may take it.
    fn close(self: Box<Self>) -> Answer<'static, ()>;
}

/// What written records must survive before an append completes. Each level includes those before
/// it, and what was appended earlier is never missing where something later survived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Nothing yet: the store has them in memory, in order, and writes them soon.
    Accepted,
    /// The death of this process. The store writes them at once.
    Written,
    /// Loss of power.
    Durable,
}
