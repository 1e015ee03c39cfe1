//! The processes of a session: what runs in the background, and what all commands share.

mod confined;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::OnceCell;

use super::background::{Background, Parts};
use super::log::Logs;
use super::sandbox::{Confinement, Gate, Sandbox, Support, Writable};
use super::{BACKGROUND_MAX, END_TIME_MAX, Error, Exit, FINISHED_MAX, Line, TERM_TIME};

/// The signals that can be sent to a process in the background.
pub(crate) const SIGNALS: [(&str, Signal); 9] = [
    ("INT", Signal::INT),
    ("TERM", Signal::TERM),
    ("HUP", Signal::HUP),
    ("QUIT", Signal::QUIT),
    ("KILL", Signal::KILL),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
    ("STOP", Signal::STOP),
    ("CONT", Signal::CONT),
];

/// The processes of a session.
///
/// Dropped, it kills those that run and removes their logs.
#[derive(Debug)]
pub struct Processes {
    sandbox: Sandbox,
    /// What the sandbox can do here, once that is known.
    support: OnceCell<Support>,
    /// Where commands may write, from the first one on.
    writable: OnceCell<(Vec<PathBuf>, Writable)>,
    /// The way to the hosts that are allowed, from the first command on that needs it.
    gate: OnceCell<Arc<Gate>>,
    confinement: Mutex<Confinement>,
    /// Variables that commands do not get.
    pub(super) withheld: Vec<String>,
    pub(super) logs: Logs,
    /// Counts outputs that did not fit.
    pub(super) cut: Counter,
    started: Counter,
    background: Mutex<Table>,
}

/// The processes in the background, the oldest first.
#[derive(Debug, Default)]
struct Table {
    entries: Vec<Arc<Background>>,
    /// How many are being started.
    starting: usize,
    closed: bool,
}

/// A process in the background, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its command line.
    pub command: String,
    /// How it ended; none while it runs.
    pub exit: Option<Exit>,
    /// The file with all of its output.
    pub log: Option<PathBuf>,
    /// Whether it may do more than a command could that was started now.
    pub beyond: bool,
}

/// Counts ids.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU32);

impl Counter {
    pub(super) fn next(&self, prefix: &str) -> String {
        let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{prefix}{count}")
    }
}

impl Default for Processes {
    /// Returns processes without a sandbox and without logs.
    fn default() -> Self {
        let sandbox = Sandbox {
            enabled: false,
            ..Sandbox::default()
        };
        Self::new(sandbox, PathBuf::new())
    }
}

impl Processes {
    /// Returns the processes of a session that has none yet. Logs go to files in the directory `logs`,
    /// which is made when it is needed.
    #[must_use]
    pub fn new(sandbox: Sandbox, logs: PathBuf) -> Self {
        Self {
            sandbox,
            support: OnceCell::new(),
            writable: OnceCell::new(),
            gate: OnceCell::new(),
            confinement: Mutex::default(),
            withheld: Vec::new(),
            logs: Logs::new(logs),
            cut: Counter::default(),
            started: Counter::default(),
            background: Mutex::default(),
        }
    }

    /// Says which variables of the program's environment commands do not get, besides those that are
    /// called like secrets.
    #[must_use]
    pub fn withholding(mut self, variables: Vec<String>) -> Self {
        self.withheld = variables;
        self
    }

    /// Starts a command in the background and returns its id.
    ///
    /// Its input is a pipe. It and everything it started end with the shell that runs the line.
    ///
    /// # Errors
    ///
    /// It could not be started, or too many run already.
    ///
    /// # Cancel safety
    ///
    /// Dropped, nothing is left running.
    pub async fn start(&self, line: &Line) -> Result<String, Error> {
        let _place = self.reserve()?;
        let confinement = self.confinement_of(line).await;
        let sandboxed = self.sandboxed(line, confinement).await?;
        let command = line.command(sandboxed.as_ref(), &self.withheld);
        let (child, output, input) = command.spawn_merged_with_input().await?;
        let id = self.started.next("p");
        let log = self.logs.create(&id).await;
        let mut table = self.table();
        if table.closed {
            return Err(Error::Closed);
        }
        table.entries.push(Arc::new(Background::new(Parts {
            id: id.clone(),
            command: line.command.clone(),
            confinement: sandboxed.is_some().then_some(confinement),
            child,
            output,
            input: Box::new(input),
            log,
        })));
        Ok(id)
    }

    /// Lists the processes in the background, also those that have ended.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        let now = self.enforced();
        let listed = |entry: &Arc<Background>| Listed {
            id: entry.id.clone(),
            command: entry.command.clone(),
            exit: entry.exit(),
            log: entry.log.clone(),
            beyond: entry.confinement < now,
        };
        self.table().entries.iter().map(listed).collect()
    }

    /// Returns what a process put out since this was last called, and how it is. Waits for something new.
    ///
    /// # Errors
    ///
    /// There is no such process.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn output(&self, id: &str, wait: Duration) -> Result<String, Error> {
        let process = self.find(id)?;
        process.wait(wait).await;
        Ok(process.news())
    }

    /// Writes to the input of a process; without a text, closes it.
    ///
    /// # Errors
    ///
    /// There is no such process, it does not read, or only reading is allowed now.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped, part of the text may have been written.
    pub async fn write(&self, id: &str, input: Option<&str>) -> Result<(), Error> {
        let process = self.find(id)?;
        let read_only = self.confinement() == Confinement::ReadOnly;
        if read_only && process.confinement != Some(Confinement::ReadOnly) {
            return Err(Error::ReadOnlyWrite);
        }
        process.write(input).await
    }

    /// Sends a signal to a process and those of its group; `INT`, `TERM` and the like.
    ///
    /// # Errors
    ///
    /// There is no such process or signal, or the process has ended.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped, the signal may have been sent.
    pub async fn signal(&self, id: &str, name: &str) -> Result<(), Error> {
        let process = self.find(id)?;
        let name = name.strip_prefix("SIG").unwrap_or(name);
        let known = SIGNALS.iter().find(|(known, _)| *known == name);
        let (_, signal) = known.ok_or(Error::UnknownSignal)?;
        process.signal(*signal).await
    }

    /// Ends a process and everything it started, and returns the rest of its output.
    ///
    /// # Errors
    ///
    /// There is no such process.
    ///
    /// # Cancel safety
    ///
    /// The process ends also when this is dropped after it was polled.
    pub async fn stop(&self, id: &str) -> Result<String, Error> {
        let process = self.find(id)?;
        process.stop().await;
        Ok(process.news())
    }

    /// Returns lines of a log, the first counted as 1.
    ///
    /// # Errors
    ///
    /// There is no such log, or it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn log(&self, id: &str, first: usize, count: Option<usize>) -> Result<String, Error> {
        self.logs.read(id, first, count).await
    }

    /// Returns news for the model of processes that have ended, by their ids, until [`Self::told`] says
    /// that it has heard of them.
    #[must_use]
    pub fn finished(&self) -> Vec<(String, String)> {
        let entries = self.table().entries.clone();
        let news = entries.iter();
        news.filter_map(|entry| Some((entry.id.clone(), entry.end_news()?)))
            .collect()
    }

    /// Notes that the model knows of the end of a process.
    pub fn told(&self, id: &str) {
        if let Ok(process) = self.find(id) {
            process.end_told();
        }
    }

    /// Ends all processes but some, within [`END_TIME_MAX`].
    ///
    /// # Cancel safety
    ///
    /// Those that were told to end do so also when this is dropped.
    pub async fn stop_others(&self, kept: &[String]) {
        let mut entries = self.table().entries.clone();
        entries.retain(|entry| entry.exit().is_none() && !kept.contains(&entry.id));
        let ending = futures::future::join_all(entries.iter().map(|entry| entry.stop()));
        if tokio::time::timeout(END_TIME_MAX, ending).await.is_err() {
            tracing::warn!("some background processes did not end in time");
        }
    }

    /// Ends everything within [`END_TIME_MAX`]; nothing can be started afterwards.
    ///
    /// # Cancel safety
    ///
    /// Called again it goes on, and dropping the processes kills what is left.
    pub async fn end_all(&self) {
        let entries = {
            let mut table = self.table();
            table.closed = true;
            table.entries.clone()
        };
        let ending = futures::future::join_all(entries.iter().map(|entry| entry.stop()));
        if tokio::time::timeout(END_TIME_MAX, ending).await.is_err() {
            tracing::warn!("some background processes did not end in time and are killed");
        }
        let killed = entries.iter().filter_map(|entry| entry.kill());
        let gone = futures::future::join_all(killed);
        if tokio::time::timeout(TERM_TIME, gone).await.is_err() {
            tracing::warn!("some background processes are stuck");
        }
        self.logs.clear();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.table().closed
    }

    fn find(&self, id: &str) -> Result<Arc<Background>, Error> {
        let table = self.table();
        let found = table.entries.iter().find(|entry| entry.id == id);
        found.cloned().ok_or(Error::UnknownId)
    }

    /// Keeps a place for a process that is being started, and forgets the oldest that have ended.
    fn reserve(&self) -> Result<Place<'_>, Error> {
        let mut table = self.table();
        if table.closed {
            return Err(Error::Closed);
        }
        let running = table.entries.iter().filter(|entry| entry.exit().is_none());
        if running.count() + table.starting >= BACKGROUND_MAX {
            return Err(Error::TooMany);
        }
        let ended = table.entries.iter().filter(|entry| entry.exit().is_some());
        let mut forget = ended.count().saturating_sub(FINISHED_MAX - 1);
        table.entries.retain(|entry| {
            let forgotten = forget > 0 && entry.exit().is_some();
            forget -= usize::from(forgotten);
            !forgotten
        });
        table.starting += 1;
        Ok(Place(self))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.background
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place for a process that is being started.
struct Place<'p>(&'p Processes);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.table().starting -= 1;
    }
}
