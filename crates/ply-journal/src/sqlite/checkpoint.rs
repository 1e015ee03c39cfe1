//! Checkpoints: what was committed to the write-ahead log is moved into the file itself.
//!
//! That waits for the disk, so a thread of its own does it while the writer goes on.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use super::schema::{self, PAGE_BYTES};
use super::trouble::{Failure, Remedy};

/// Bytes committed after which a checkpoint is made.
const CHECKPOINT_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes of the log after which the writer waits for a checkpoint, so that the log begins anew.
const LOG_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of the log at which somebody should be told.
pub(super) const LOG_ALARM_BYTES: u64 = 256 * 1024 * 1024;

/// What the writer is to do about the log.
#[derive(Debug)]
pub(super) enum Report {
    Quiet,
    /// The log is long, and most of it is in the file.
    Long,
    Failed(Failure),
}

/// The thread that makes checkpoints, started when it is first needed.
#[derive(Debug)]
pub(super) struct Checkpointer {
    path: PathBuf,
    /// Bytes that were written since the last checkpoint began.
    bytes: u64,
    thread: Option<Thread>,
    is_busy: bool,
}

#[derive(Debug)]
struct Thread {
    ask: SyncSender<()>,
    /// How many pages of the log there are, or what failed.
    told: Receiver<Result<u64, Failure>>,
    handle: JoinHandle<()>,
}

impl Checkpointer {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            bytes: 0,
            thread: None,
            is_busy: false,
        }
    }

    /// Notes bytes that were written, has a checkpoint made if it is time, and says how the last
    /// one went.
    pub(super) fn written(&mut self, bytes: u64) -> Report {
        self.bytes += bytes;
        if self.bytes < CHECKPOINT_BYTES && !self.is_busy {
            return Report::Quiet;
        }
        let told = match &self.thread {
            Some(thread) if self.is_busy => thread.told.try_recv(),
            _ => Err(TryRecvError::Empty),
        };
        let report = match told {
            Ok(Ok(pages)) => {
                self.is_busy = false;
                match pages * u64::from(PAGE_BYTES) >= LOG_BYTES_MAX {
                    true => Report::Long,
                    false => Report::Quiet,
                }
            }
            Ok(Err(failure)) => {
                self.is_busy = false;
                Report::Failed(failure)
            }
            Err(TryRecvError::Empty) => Report::Quiet,
            Err(TryRecvError::Disconnected) => {
                self.is_busy = false;
                self.thread = None;
                Report::Quiet
            }
        };
        if !self.is_busy && self.bytes >= CHECKPOINT_BYTES {
            self.begin();
        }
        report
    }

    fn begin(&mut self) {
        if self.thread.is_none() {
            self.thread = start(self.path.clone());
        }
        if let Some(thread) = &self.thread
            && thread.ask.try_send(()).is_ok()
        {
            self.is_busy = true;
            self.bytes = 0;
        }
    }

    /// Waits for the checkpoint that is being made, and ends the thread.
    pub(super) fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            drop(thread.ask);
            if thread.handle.join().is_err() {
                tracing::error!("a checkpoint of the journal broke off");
            }
        }
    }
}

fn start(path: PathBuf) -> Option<Thread> {
    let (ask, asked) = sync_channel::<()>(1);
    let (tell, told) = sync_channel(1);
    let work = move || {
        let mut connection = None;
        for () in asked {
            if tell.send(pages(&mut connection, &path)).is_err() {
                return;
            }
        }
    };
    let handle = thread::Builder::new()
        .name("ply-journal-checkpoint".to_owned())
        .spawn(work);
    match handle {
        Ok(handle) => Some(Thread { ask, told, handle }),
        Err(error) => {
            // The log grows until there is a thread for it.
            tracing::warn!(%error, "no thread for checkpoints of the journal");
            None
        }
    }
}

fn pages(connection: &mut Option<Connection>, path: &std::path::Path) -> Result<u64, Failure> {
    let open = match connection.take() {
        Some(open) => open,
        None => schema::open_to_checkpoint(path).map_err(|trouble| Failure {
            trouble,
            remedy: Remedy::Retry,
        })?,
    };
    let made = make(&open, "PASSIVE");
    if made.is_ok() {
        *connection = Some(open);
    }
    made.map(|made| made.pages)
        .map_err(|error| Failure::sqlite(&error, path))
}

/// How a checkpoint went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    /// Pages of the log.
    pub(super) pages: u64,
    /// Whether all of them are in the file itself, and synced there.
    pub(super) is_whole: bool,
}

/// Makes a checkpoint.
pub(super) fn make(connection: &Connection, mode: &str) -> rusqlite::Result<Made> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        let (busy, pages, moved): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Made {
            // -1 where there is no log.
            pages: u64::try_from(pages).unwrap_or(0),
            is_whole: busy == 0 || pages == moved,
        })
    })
}
