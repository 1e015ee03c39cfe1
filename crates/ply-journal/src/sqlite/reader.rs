//! The reader: a thread with a connection of its own, so that reading never holds up writing.

use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, OptionalExtension as _};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::head::{self, Stored, path_bytes};
use super::records;
use super::run::Key;
use super::schema;
use super::trouble::{Failure, Remedy, Trouble};
use crate::listing::{cursor, place_of};
use crate::{Filter, Head, Page};

/// Jobs that may wait for the reader.
const JOBS_MAX: usize = 32;

type Tell<T> = oneshot::Sender<Result<T, Trouble>>;

/// One thing to read.
#[derive(Debug)]
enum Job {
    List {
        filter: Filter,
        tell: Tell<Page>,
    },
    Find {
        id: String,
        tell: Tell<Option<(Head, Session)>>,
    },
    Read {
        session: Session,
        from: u64,
        bytes_max: usize,
        tell: Tell<Vec<Vec<u8>>>,
    },
    End,
}

/// A session whose records are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Session {
    pub(super) number: i64,
    pub(super) key: Key,
}

/// The way to the reader.
#[derive(Debug)]
pub(super) struct Reader(Sender<Job>);

impl Reader {
    /// Starts the reader of a file, which is opened when there is something to read.
    pub(super) fn start(path: PathBuf) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (ask, asked) = channel(JOBS_MAX);
        let handle = thread::Builder::new()
            .name("ply-journal-read".to_owned())
            .spawn(move || run(&path, asked))?;
        Ok((Self(ask), handle))
    }

    pub(super) async fn list(&self, filter: Filter) -> Result<Page, Trouble> {
        self.ask(|tell| Job::List { filter, tell }).await
    }

    pub(super) async fn find(&self, id: &str) -> Result<Option<(Head, Session)>, Trouble> {
        let id = id.to_owned();
        self.ask(|tell| Job::Find { id, tell }).await
    }

    pub(super) async fn read(
        &self,
        session: Session,
        from: u64,
        bytes_max: usize,
    ) -> Result<Vec<Vec<u8>>, Trouble> {
        let job = |tell| Job::Read {
            session,
            from,
            bytes_max,
            tell,
        };
        self.ask(job).await
    }

    /// Has the reader end after what it has to do.
    pub(super) async fn end(&self) {
        // If it is gone already, so much the better.
        drop(self.0.send(Job::End).await);
    }

    async fn ask<T>(&self, job: impl FnOnce(Tell<T>) -> Job) -> Result<T, Trouble> {
        let (tell, told) = oneshot::channel();
        let sent = self.0.send(job(tell)).await;
        sent.map_err(|_| Trouble::Closed)?;
        told.await.unwrap_or(Err(Trouble::Closed))
    }
}

fn run(path: &Path, mut jobs: Receiver<Job>) {
    let mut connection = None;
    while let Some(job) = jobs.blocking_recv() {
        // Whoever asked may have gone away.
        match job {
            Job::List { filter, tell } => {
                let page = reading(path, &mut connection, |open| list(open, &filter));
                drop(tell.send(page));
            }
            Job::Find { id, tell } => {
                let found = reading(path, &mut connection, |open| find(open, &id));
                drop(tell.send(found));
            }
            Job::Read {
                session,
                from,
                bytes_max,
                tell,
            } => {
                let page = reading(path, &mut connection, |open| {
                    records::read(open, session, from, bytes_max)
                });
                drop(tell.send(page.and_then(|page| page)));
            }
            Job::End => return,
        }
    }
}

/// Reads in one transaction. After an error of the disk the file is opened anew.
pub(super) fn reading<T>(
    path: &Path,
    connection: &mut Option<Connection>,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<T, Trouble> {
    let open = match connection.take() {
        Some(open) => open,
        None => schema::open_to_read(path)?,
    };
    let done = open.unchecked_transaction().and_then(|transaction| {
        let done = work(&transaction);
        transaction.finish()?;
        done
    });
    let done = done.map_err(|error| Failure::sqlite(&error, path));
    if !matches!(&done, Err(failure) if failure.remedy == Remedy::Reopen) {
        *connection = Some(open);
    }
    done.map_err(|failure| failure.trouble)
}

fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<(Head, Session)>> {
    let query = format!("SELECT {} FROM sessions WHERE id = ?", head::COLUMNS);
    let found = connection.query_row(&query, [id], head::read).optional()?;
    Ok(found.map(|Stored { number, head, .. }| {
        let key = Key::new(id, number);
        (head, Session { number, key })
    }))
}

fn list(connection: &Connection, filter: &Filter) -> rusqlite::Result<Page> {
    // The cursor was looked at before.
    let after = filter.cursor.as_deref().and_then(|at| place_of(at).ok());
    let cwd = filter.cwd.as_deref().map(path_bytes);
    let cwd_is = match cwd {
        Some(_) => "cwd = ?1",
        None => "?1 IS NULL",
    };
    let comes_after = match after {
        Some(_) => "updated_ms <= ?2 AND (updated_ms < ?2 OR id > ?3)",
        None => "?2 IS NULL AND ?3 IS NULL",
    };
    // In these words the index of unfinished sessions is used.
    let unfinished_is = match filter.unfinished {
        Some(true) => "unfinished <> 0",
        Some(false) => "unfinished = 0",
        None => "true",
    };
    // As above.
    let archived_is = match filter.archived {
        Some(true) => "archived <> 0",
        Some(false) => "archived = 0",
        None => "true",
    };
    let query = format!(
        "SELECT {} FROM sessions
         WHERE {cwd_is} AND {unfinished_is} AND {archived_is} AND {comes_after}
         ORDER BY updated_ms DESC, id LIMIT ?4",
        head::COLUMNS
    );
    // One more than asked for tells whether there are more.
    let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
    let (time, id) = after.map(|(time, id)| (time.0, id)).unzip();
    let mut query = connection.prepare(&query)?;
    let mut rows = query.query((cwd, time, id, limit.saturating_add(1)))?;
    let mut page = Page::default();
    while let Some(row) = rows.next()? {
        if page.sessions.len() == filter.limit {
            page.next = page.sessions.last().map(cursor);
            break;
        }
        match head::read(row) {
            Ok(stored) => page.sessions.push(stored.head),
            Err(error) if error.sqlite_error().is_some() => return Err(error),
            // The others are worth showing.
            Err(error) => tracing::warn!(%error, "a session of the journal is damaged"),
        }
    }
    Ok(page)
}
