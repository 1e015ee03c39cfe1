//! One process in the background: a task owns it, others ask about it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ply_rpc::transport::child::{Child, Merged};
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::clean::Cleaner;
use super::kept::Tail;
use super::line::grace;
use super::log::Log;
use super::run::{LAST_WORDS_TIME_MAX, READ_BYTES};
use super::sandbox::Confinement;
use super::{DRAIN_TIME_MAX, Error, Exit, OUTPUT_BYTES_MAX};

/// How long a process may take to read what is written to it.
const WRITE_TIME_MAX: Duration = Duration::from_secs(2);
/// How long output is let gather once some came.
const GATHER_TIME: Duration = Duration::from_millis(50);
/// How many orders to one process may wait.
const ORDERS_MAX: usize = 8;
/// How much of the end of its output is told with the news that a process ended.
const LAST_WORDS_BYTES: usize = 2 * 1024;

/// What the task that owns a process is told.
#[derive(Debug)]
pub(super) enum Order {
    /// Send a signal to the process group.
    Signal(Signal),
    /// End the whole tree.
    Stop,
}

/// What is known of a process.
#[derive(Debug)]
struct State {
    tail: Tail,
    /// The line that has no end yet.
    partial: String,
    /// Grows with every piece of output, so that waiting for more is simple.
    version: u64,
    /// The version and the position that were shown last.
    shown: (u64, u64),
    exit: Option<Exit>,
    /// Whether the model knows that it ended.
    end_told: bool,
}

/// A process in the background.
pub(super) struct Background {
    pub(super) id: String,
    pub(super) command: String,
    /// How it is confined; none without a sandbox.
    pub(super) confinement: Option<Confinement>,
    pub(super) log: Option<PathBuf>,
    input: tokio::sync::Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>,
    orders: mpsc::Sender<Order>,
    state: Arc<Shared>,
    owner: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for Background {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Background")
            .field("id", &self.id)
            .field("exit", &self.exit())
            .finish_non_exhaustive()
    }
}

/// What the owner of a process and those who ask about it share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.send_replace(());
    }
}

/// What a new process is made of.
pub(super) struct Parts {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) confinement: Option<Confinement>,
    pub(super) child: Child,
    pub(super) output: Merged,
    pub(super) input: Box<dyn AsyncWrite + Send + Unpin>,
    pub(super) log: Log,
}

impl Background {
    pub(super) fn new(parts: Parts) -> Self {
        let (orders, received) = mpsc::channel(ORDERS_MAX);
        let state = Arc::new(Shared {
            state: Mutex::new(State {
                tail: Tail::new(OUTPUT_BYTES_MAX),
                partial: String::new(),
                version: 0,
                shown: (0, 0),
                exit: None,
                end_told: false,
            }),
            changed: watch::Sender::new(()),
        });
        let log = parts.log.path().map(PathBuf::from);
        let owner = Owner {
            child: parts.child,
            output: parts.output,
            log: parts.log,
            cleaner: Cleaner::default(),
            state: Arc::clone(&state),
        };
        Self {
            id: parts.id,
            command: parts.command,
            confinement: parts.confinement,
            log,
            input: tokio::sync::Mutex::new(Some(parts.input)),
            orders,
            state,
            owner: Mutex::new(Some(tokio::spawn(owner.own(received)))),
        }
    }

    pub(super) fn exit(&self) -> Option<Exit> {
        self.state.lock().exit
    }

    /// Waits until there is something new, or the process has ended, or the time is over.
    pub(super) async fn wait(&self, at_most: Duration) {
        let mut changed = self.state.changed.subscribe();
        let deadline = Instant::now() + at_most;
        let is_new = || {
            let state = self.state.lock();
            state.exit.is_some() || state.version != state.shown.0
        };
        let some = async { while !is_new() && changed.changed().await.is_ok() {} };
        let late = timeout_at(deadline, some).await.is_err();
        if !late && self.exit().is_none() {
            let ended = self.ended();
            let gathered = sleep_until(deadline.min(Instant::now() + GATHER_TIME));
            tokio::select! { () = ended => {}, () = gathered => {} }
        }
    }

    /// Waits until the process has ended.
    pub(super) async fn ended(&self) {
        let mut changed = self.state.changed.subscribe();
        while self.exit().is_none() && changed.changed().await.is_ok() {}
    }

    /// Returns what was put out since the last time, and how the process is.
    pub(super) fn news(&self) -> String {
        let mut state = self.state.lock();
        let (mut text, gone) = state.tail.since(state.shown.1);
        if gone > 0 {
            text.insert_str(0, &format!("[{gone} bytes left out; the log has them]\n"));
        }
        text.push_str(&state.partial);
        if text.is_empty() {
            text.push_str("(no new output)");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&match state.exit {
            Some(exit) => exit.to_string(),
            None => format!("{} is running", self.id),
        });
        state.shown = (state.version, state.tail.total());
        state.end_told = state.exit.is_some();
        text
    }

    /// Notes that the model knows that it ended.
    pub(super) fn end_told(&self) {
        self.state.lock().end_told = true;
    }

    /// Returns the news that it ended, unless the model knows.
    pub(super) fn end_news(&self) -> Option<String> {
        let state = self.state.lock();
        let exit = state.exit?;
        if state.end_told {
            return None;
        }
        let (text, _) = state.tail.since(0);
        let start = text.ceil_char_boundary(text.len().saturating_sub(LAST_WORDS_BYTES));
        let last = text.get(start..).unwrap_or_default().trim_end();
        let last = match last {
            "" => "It put out nothing.".to_owned(),
            last => format!("The end of its output:\n{last}"),
        };
        let (id, command) = (&self.id, &self.command);
        Some(format!(
            "Background process {id} (`{command}`) has ended: {exit}. {last}"
        ))
    }

    /// Writes to the process, or closes its input.
    pub(super) async fn write(&self, input: Option<&str>) -> Result<(), Error> {
        if let Some(exit) = self.exit() {
            return Err(Error::Ended(exit.to_string()));
        }
        let writing = async {
            let mut place = self.input.lock().await;
            let Some(text) = input else {
                return place.take().map(drop).ok_or(Error::InputClosed);
            };
            let pipe = place.as_mut().ok_or(Error::InputClosed)?;
            let written = pipe.write_all(text.as_bytes()).await;
            written.map_err(Error::Write)
        };
        let written = timeout(WRITE_TIME_MAX, writing).await;
        written.map_err(|_| Error::InputFull)?
    }

    pub(super) async fn signal(&self, signal: Signal) -> Result<(), Error> {
        let sent = self.orders.send(Order::Signal(signal)).await;
        let exit = || self.exit().unwrap_or(Exit::Unknown).to_string();
        sent.map_err(|_| Error::Ended(exit()))
    }

    /// Ends the process and everything it started.
    pub(super) async fn stop(&self) {
        // Without a receiver it has ended.
        drop(self.orders.send(Order::Stop).await);
        self.ended().await;
    }

    /// Kills it, should it still run, and returns what can be waited for, once.
    pub(super) fn kill(&self) -> Option<JoinHandle<()>> {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = owner.take()?;
        owner.abort();
        Some(owner)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.kill());
    }
}

/// The task that owns a process. Dropped, it kills the whole tree.
struct Owner {
    child: Child,
    output: Merged,
    log: Log,
    cleaner: Cleaner,
    state: Arc<Shared>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Nobody may wait for an end that nobody would tell.
        self.state.change(|state| {
            state.exit.get_or_insert(Exit::Unknown);
        });
    }
}

impl Owner {
    async fn own(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut buffer = vec![0; READ_BYTES];
        let drained = sleep(Duration::MAX);
        tokio::pin!(drained);
        let (mut open, mut exited) = (true, false);
        while open || !exited {
            tokio::select! {
                biased;
                () = &mut drained, if exited => break,
                order = orders.recv(), if !exited => match order {
                    Some(Order::Signal(signal)) => self.signal(signal),
                    Some(Order::Stop) | None => break,
                },
                _ = self.child.wait(), if !exited => {
                    exited = true;
                    drained.set(sleep(DRAIN_TIME_MAX));
                }
                read = self.output.read(&mut buffer), if open => {
                    let bytes = read.unwrap_or_default();
                    open = bytes > 0;
                    self.take(buffer.get(..bytes).unwrap_or_default()).await;
                }
            }
        }
        let exit = Exit::new(self.child.end(grace()).await);
        let deadline = Instant::now() + LAST_WORDS_TIME_MAX;
        while open && Instant::now() < deadline {
            let read = timeout_at(deadline, self.output.read(&mut buffer)).await;
            let bytes = read.ok().and_then(Result::ok).unwrap_or_default();
            open = bytes > 0;
            self.take(buffer.get(..bytes).unwrap_or_default()).await;
        }
        let text = self.cleaner.finish();
        self.log.append(&text).await;
        self.state.change(|state| {
            state.tail.push(&text);
            state.partial.clear();
            state.exit = Some(exit);
        });
    }

    async fn take(&mut self, bytes: &[u8]) {
        // The end of the output is not more of it; whoever waits for more waits for the end of the process.
        if bytes.is_empty() {
            return;
        }
        let text = self.cleaner.push(bytes);
        self.log.append(&text).await;
        let partial = self.cleaner.partial();
        self.state.change(|state| {
            state.tail.push(&text);
            state.partial = partial;
            state.version += 1;
        });
    }

    /// Signals the process group, as a terminal would.
    fn signal(&self, signal: Signal) {
        // The child was not waited for yet, so the id is still its own.
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let sent = group.map(|group| rustix::process::kill_process_group(group, signal));
        if let Some(Err(error)) = sent {
            tracing::debug!(%error, "a background process could not be signalled");
        }
    }
}
