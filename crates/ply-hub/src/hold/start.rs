//! A hub's side: how holders are started and found.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::connect::connect;
use super::files::{About, Directory};
use super::message::Outcome;
use super::order::Order;

/// The word that makes a program a holder.
pub const WORD: &str = "hold";

/// How long a holder may take to start its agent.
const START_TIME_MAX: Duration = Duration::from_secs(20);
/// How long the end of all agents is waited for; it goes on by itself.
const BURY_TIME_MAX: Duration = Duration::from_secs(6);
/// Longest answer of a holder that is read.
const OUTCOME_BYTES_MAX: u64 = 64 * 1024;

/// A holder cannot be started, found or spoken to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Its directory cannot be used.
    #[error("the directory of the agents' holders cannot be used: {0}")]
    Directory(#[source] io::Error),
    /// The program does not start or does not behave as a holder.
    #[error("cannot start a holder with `{program} {WORD}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// What happened.
        source: io::Error,
    },
    /// The agent does not start; the text says why and what to do.
    #[error("{0}")]
    Agent(String),
    /// The holder cannot be reached, or said something else than it should.
    #[error("the agent's holder cannot be reached: {0}; it has probably ended")]
    Lost(#[source] io::Error),
    /// Another hub has taken over.
    #[error("hub {epoch} has taken over this agent; this one is out of date")]
    Fenced {
        /// The epoch of that hub.
        epoch: u64,
    },
}

/// Starts a holder with its agent, and returns the agent's process id. [`connect`](super::connect) is next.
///
/// `program` is the one that runs [`run`](super::run) when its argument is [`WORD`]: Ply itself. The holder does not become a
/// child of this process, inherits nothing from its environment and outlives it.
///
/// # Errors
///
/// The holder or the agent does not start.
///
/// # Cancel safety
///
/// A holder that was started all the same notices and ends, or is [found](find) later.
pub async fn start(program: &Path, directory: &Path, mut order: Order) -> Result<u32, Error> {
    directory.as_os_str().clone_into(&mut order.directory);
    let failed = |source| Error::Start {
        program: program.display().to_string(),
        source,
    };
    let told = tokio::time::timeout(START_TIME_MAX, speak(program, &order)).await;
    let told = told.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let text = told.map_err(failed)?;
    match serde_json::from_slice(&text) {
        Ok(Outcome::Started { pid }) => Ok(pid),
        Ok(Outcome::Failed(problem)) => Err(Error::Agent(problem)),
        Err(_) => Err(failed(io::Error::other("it ended without a word"))),
    }
}

/// Starts the program, gives it the order and returns what it says.
async fn speak(program: &Path, order: &Order) -> io::Result<Vec<u8>> {
    // A mark of a tree in its environment would have it ended with that tree.
    let mut child = Command::new(program)
        .arg(WORD)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the holder came without pipes"));
    };
    let given = input.write_all(&serde_json::to_vec(order)?).await;
    // A program that does not read its order is no holder, which its silence says better.
    given.or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    })?;
    drop(input);
    let mut text = Vec::new();
    output
        .take(OUTCOME_BYTES_MAX)
        .read_to_end(&mut text)
        .await?;
    // The holder itself is a copy that this process need not wait for.
    child.wait().await?;
    Ok(text)
}

/// Ends all agents that hubs of a store started here, and their holders, but does not wait for long.
///
/// # Cancel safety
///
/// Dropped before it is done, some are not told.
pub(crate) async fn bury_all(directory: &Path, store: &Path, epoch: u64) {
    bury(directory, of_store(directory, store), epoch).await;
}

/// Returns the holders that hubs of a store started here.
pub(crate) fn of_store(directory: &Path, store: &Path) -> Vec<About> {
    let found = find(directory).unwrap_or_else(|error| {
        tracing::warn!(%error, "nobody knows which agents run");
        Vec::new()
    });
    let own = |about: &About| Path::new(&about.store) == store;
    found.into_iter().filter(own).collect()
}

/// Ends these agents and their holders, but does not wait for long. One that a later hub has taken over is left alone.
///
/// # Cancel safety
///
/// Dropped before it is done, some are not told.
pub(crate) async fn bury(directory: &Path, holders: Vec<About>, epoch: u64) {
    let burials = holders.into_iter().map(|about| async move {
        // One that cannot be reached ends by itself.
        let Ok(mut connected) = connect(directory, &about.id, epoch).await else {
            return;
        };
        connected.control.bury().await;
        while connected.pipe.from.recv().await.is_some() {}
    });
    let all = futures::future::join_all(burials);
    if tokio::time::timeout(BURY_TIME_MAX, all).await.is_err() {
        tracing::warn!("not every agent has ended yet");
    }
}

/// Returns the holders that run, and removes the files of those that do not. It reads a few small files, and waits for nothing.
///
/// # Errors
///
/// The directory cannot be used; others can look into it, for example.
pub fn find(directory: &Path) -> Result<Vec<About>, Error> {
    let directory = Directory::open(directory).map_err(Error::Directory)?;
    directory.list().map_err(Error::Directory)
}
