//! Waiting for records that are not there yet.
//!
//! A thread looks for them while somebody waits: when this store has written something, and every
//! now and then for what other processes write. It has a connection of its own, since the reader
//! may be busy with something large.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};
use tokio::sync::oneshot;

use super::job::Tell;
use super::queue::Told;
use super::reader::reading;
use super::trouble::Trouble;

/// How often to look for what other processes wrote.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Those who wait for records of a store's sessions.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    state: Mutex<State>,
    /// Wakes the thread.
    work: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// One for each answer that somebody waits for.
    waiting: Vec<Waiting>,
    /// This store has written something, or somebody began to wait.
    is_stirred: bool,
    /// The thread, started when it is first needed.
    thread: Option<JoinHandle<()>>,
    is_ended: bool,
}

#[derive(Debug)]
struct Waiting {
    session: i64,
    from: u64,
    tell: Tell<()>,
}

/// Why the thread looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Stirred,
    Time,
}

impl Tail {
    pub(super) fn new(path: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            path,
            state: Mutex::default(),
            work: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has it told when record `from` of a session is there.
    pub(super) fn wait(self: &Arc<Self>, session: i64, from: u64) -> Told<()> {
        let (tell, told) = oneshot::channel();
        let mut state = self.lock();
        if state.is_ended {
            // Nobody tells, which says that the store is closed.
            return told;
        }
        if state.thread.is_none() {
            let tail = Arc::clone(self);
            let thread = thread::Builder::new()
                .name("ply-journal-tail".to_owned())
                .spawn(move || tail.run());
            match thread {
                Ok(thread) => state.thread = Some(thread),
                Err(error) => {
                    let words = format!("a thread cannot be started: {error}");
                    // Whoever would hear it holds the other end.
                    drop(tell.send(Err(Trouble::io(error.kind(), words))));
                    return told;
                }
            }
        }
        state.waiting.push(Waiting {
            session,
            from,
            tell,
        });
        state.is_stirred = true;
        self.work.notify_one();
        told
    }

    /// Has the thread look, since this store has written something.
    pub(super) fn stir(&self) {
        let mut state = self.lock();
        if !state.waiting.is_empty() {
            state.is_stirred = true;
            self.work.notify_one();
        }
    }

    /// Ends all waiting, and waits for the thread to end.
    pub(super) fn end(&self) {
        let (waiting, thread) = {
            let mut state = self.lock();
            state.is_ended = true;
            self.work.notify_one();
            (std::mem::take(&mut state.waiting), state.thread.take())
        };
        drop(waiting);
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that waits for the journal's records broke off");
        }
    }

    fn run(&self) {
        let mut watch = Watch::default();
        while let Some((waiting, why)) = self.next() {
            let waiting = match why == Why::Stirred || watch.has_changed(self) {
                true => watch.look(self, waiting),
                false => waiting,
            };
            let mut state = self.lock();
            if !state.is_ended {
                // Those that came meanwhile are there, and have it stirred.
                state.waiting.extend(waiting);
            }
        }
    }

    /// Waits until it is time to look, and returns for whom; none at the end.
    fn next(&self) -> Option<(Vec<Waiting>, Why)> {
        let mut state = self.lock();
        let why = loop {
            state.waiting.retain(|waiting| !waiting.tell.is_closed());
            if state.is_ended {
                return None;
            }
            if state.waiting.is_empty() {
                state.is_stirred = false;
                let woken = self.work.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
            } else if std::mem::take(&mut state.is_stirred) {
                break Why::Stirred;
            } else {
                let woken = self.work.wait_timeout(state, LOOK_EVERY);
                let (woken, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if timeout.timed_out() {
                    break Why::Time;
                }
            }
        };
        Some((std::mem::take(&mut state.waiting), why))
    }
}

/// What the thread sees of the file.
#[derive(Debug, Default)]
struct Watch {
    connection: Option<Connection>,
    /// Changes whenever anybody else writes.
    version: Option<i64>,
}

impl Watch {
    /// Returns whether anything may have been written since it last looked.
    fn has_changed(&mut self, tail: &Tail) -> bool {
        let version = reading(&tail.path, &mut self.connection, |open| {
            open.query_row("PRAGMA data_version", [], |row| row.get(0))
        });
        let version = version.ok();
        // If this cannot be read, looking tells why.
        let has_changed = version.is_none() || version != self.version;
        self.version = version;
        has_changed
    }

    /// Tells those for whom there is something; returns the others.
    fn look(&mut self, tail: &Tail, waiting: Vec<Waiting>) -> Vec<Waiting> {
        let mut others = Vec::new();
        for waiting in waiting {
            let records = reading(&tail.path, &mut self.connection, |open| {
                let next = "SELECT next FROM sessions WHERE number = ?";
                open.query_row(next, [waiting.session], |row| row.get::<_, i64>(0))
                    .optional()
            });
            let told = match records {
                Ok(Some(next)) if next.unsigned_abs() > waiting.from => Ok(()),
                Ok(None) => Err(Trouble::Deleted),
                // The file is busy, or there is nothing new.
                Ok(Some(_)) | Err(Trouble::Io(std::io::ErrorKind::TimedOut, _)) => {
                    others.push(waiting);
                    continue;
                }
                Err(trouble) => Err(trouble),
            };
            // Whoever waited may have gone away.
            drop(waiting.tell.send(told));
        }
        others
    }
}
