//! The writer: the one thread that changes the file.
//!
//! What waits in the queue becomes one transaction. If that fails, nothing of it was done: those
//! who wait hear why, and records that were accepted already are kept and come first in the next
//! transaction, so that no record is missing before one that is there. Until they are written,
//! nothing more is accepted without an outcome.

mod batch;
mod upkeep;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::checkpoint::Checkpointer;
use super::held::Held;
use super::job::Job;
use super::lease::{BEAT_EVERY_MS, Owner, now_ms};
use super::place::{self, Files, Identity};
use super::queue::{Next, Queue};
use super::schema;
use super::tail::Tail;
use super::trouble::{Remedy, Trouble};

/// How often records that could not be written are tried again, if nobody asks for more.
const RETRY_EVERY: Duration = Duration::from_secs(1);

/// What to do if there is no file yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Make,
    Leave,
}

/// What came of opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ready {
    Yes,
    Missing,
}

/// The writer of one store.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    queue: Arc<Queue>,
    this: Owner,
    /// None when what is on the disk is not known, until the file was opened anew.
    file: Option<OpenFile>,
    /// Which file it was from the beginning.
    identity: Identity,
    /// Why the last transaction failed, if the next may not.
    failing: Option<Trouble>,
    /// Why nothing may be written ever again.
    stopped: Option<Trouble>,
    /// This store's number as an owner, if it holds or held anything.
    owner: Option<i64>,
    beat_ms: i64,
    /// The sessions that are held, by lease.
    held: HashMap<i64, Arc<Held>>,
    /// Where their logs end, by lease.
    ends: HashMap<i64, u64>,
    /// Where they end if the transaction that failed last is there after all, by lease.
    attempted: HashMap<i64, u64>,
    /// Leases whose transaction failed and may be there after all. Nobody has them.
    doubtful: Vec<i64>,
    /// What was accepted and could not be written: appends, and leases given back.
    kept: Vec<Job>,
    has_trash: bool,
    checkpointer: Checkpointer,
    /// Those who wait for records.
    tail: Arc<Tail>,
}

#[derive(Debug)]
struct OpenFile {
    connection: Connection,
    /// To notice that they are gone or others.
    files: Files,
    sync: Sync,
    has_trash: bool,
}

/// When a commit must be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sync {
    Now,
    Later,
}

impl OpenFile {
    fn new(path: &Path) -> Result<Self, Trouble> {
        let connection = schema::open_to_write(path)?;
        // The write-ahead log is made by the first who reads.
        let trash =
            connection.query_row("SELECT count(*) FROM trash", [], |row| row.get::<_, i64>(0));
        let trash = trash.map_err(|error| Trouble::sqlite(&error, path))?;
        Ok(Self {
            connection,
            files: Files::new(path),
            sync: Sync::Later,
            has_trash: trash > 0,
        })
    }
}

/// Ends the queue when the thread ends, even by a panic, so that nobody waits for ever.
struct Ending(Arc<Queue>, Arc<Tail>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
        self.1.end();
    }
}

/// Runs the writer until its queue is closed. `reader` is the thread that reads, which ends first.
pub(super) fn run(
    path: PathBuf,
    queue: Arc<Queue>,
    tail: Arc<Tail>,
    missing: Missing,
    ready: oneshot::Sender<Result<Ready, Trouble>>,
    reader: JoinHandle<()>,
) {
    let _ending = Ending(Arc::clone(&queue), Arc::clone(&tail));
    let opened = open(&path, missing);
    let (answer, file) = match opened {
        Ok(Some(file)) => (Ok(Ready::Yes), Some(file)),
        Ok(None) => (Ok(Ready::Missing), None),
        Err(trouble) => (Err(trouble), None),
    };
    // If nobody waits any more, the store was given up and its queue will close.
    drop(ready.send(answer));
    let Some(file) = file else { return };
    let mut writer = Writer::new(path, queue, tail, file);
    writer.serve();
    writer.finish(reader);
}

fn open(path: &Path, missing: Missing) -> Result<Option<OpenFile>, Trouble> {
    if !place::exists(path)? {
        match missing {
            Missing::Leave => return Ok(None),
            Missing::Make => place::make(path)?,
        }
    }
    place::check_file_system(path)?;
    OpenFile::new(path).map(Some)
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Also by a panic, so that owners hear of it.
        self.end_all(&Trouble::Closed);
    }
}

impl Writer {
    fn new(path: PathBuf, queue: Arc<Queue>, tail: Arc<Tail>, file: OpenFile) -> Self {
        Self {
            checkpointer: Checkpointer::new(path.clone()),
            identity: place::identity(&path),
            path,
            queue,
            tail,
            this: Owner::this(),
            // Some may be left from another time.
            has_trash: file.has_trash,
            file: Some(file),
            failing: None,
            stopped: None,
            owner: None,
            doubtful: Vec::new(),
            beat_ms: now_ms(),
            held: HashMap::new(),
            ends: HashMap::new(),
            attempted: HashMap::new(),
            kept: Vec::new(),
        }
    }

    fn serve(&mut self) {
        loop {
            let idle = match (self.kept.is_empty(), self.has_trash) {
                (false, _) => Some(RETRY_EVERY),
                // Between jobs, so that they do not wait for it.
                (true, true) => Some(Duration::ZERO),
                (true, false) if self.held.is_empty() => None,
                (true, false) => Some(Duration::from_millis(BEAT_EVERY_MS.unsigned_abs())),
            };
            match self.queue.next(idle) {
                Next::Jobs(jobs, bytes) => {
                    self.batch(jobs);
                    self.queue.done(bytes, self.failing.is_some());
                }
                Next::Tick => self.tick(),
                Next::End(jobs) => {
                    self.batch(jobs);
                    return;
                }
            }
            self.note_time();
        }
    }

    fn tick(&mut self) {
        if !self.kept.is_empty() {
            self.batch(Vec::new());
            self.queue.done(0, self.failing.is_some());
        } else if self.has_trash {
            self.empty_trash();
        }
    }

    /// Beats when it is time to, and looks after the files.
    fn note_time(&mut self) {
        if now_ms().abs_diff(self.beat_ms) >= BEAT_EVERY_MS.unsigned_abs() && !self.held.is_empty()
        {
            self.beat();
        }
    }

    /// Stops for good: everything that is held is over.
    fn stop(&mut self, trouble: &Trouble) {
        tracing::error!(error = ?trouble, "the journal is not written any more");
        self.stopped = Some(trouble.clone());
        self.end_all(trouble);
        // SQLite would tidy up by name when it is closed, and the files with these names may be
        // another program's by now.
        std::mem::forget(self.file.take());
    }

    fn end_all(&mut self, trouble: &Trouble) {
        for held in self.held.values() {
            held.end(trouble);
        }
        self.held.clear();
        self.ends.clear();
        self.attempted.clear();
        self.kept.clear();
    }

    /// Returns the open file, opened anew if that is needed.
    fn prepare(&mut self) -> Result<&mut OpenFile, Trouble> {
        if let Some(stopped) = &self.stopped {
            return Err(stopped.clone());
        }
        let in_place = match &self.file {
            Some(file) => file.files.are_in_place(),
            None => place::identity(&self.path) == self.identity,
        };
        if !in_place {
            self.stop(&Trouble::Replaced);
            return Err(Trouble::Replaced);
        }
        if self.file.is_none() {
            self.reopen()?;
        }
        self.file.as_mut().ok_or(Trouble::Closed)
    }

    /// Acts on a failed transaction, other than telling anybody.
    fn note_failure(&mut self, remedy: Remedy, trouble: &Trouble) {
        match remedy {
            Remedy::Retry | Remedy::Isolate => {
                // If it could not even be rolled back, nothing else can begin.
                self.file.take_if(|file| !file.connection.is_autocommit());
            }
            Remedy::Reopen => {
                tracing::error!(error = ?trouble, "the journal cannot be written");
                self.file = None;
            }
            Remedy::Stop => self.stop(trouble),
        }
    }
}
