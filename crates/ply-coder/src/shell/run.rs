//! A command in the foreground: from its start to the end of everything it started.

use std::time::Duration;

use ply_rpc::transport::child::{Child, Merged};
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, sleep, timeout_at};

use super::denial::{self, Denial};
use super::line::grace;
use super::live::Live;
use super::output::Output;
use super::{DRAIN_TIME_MAX, Error, Exit, Line, Processes, TIME_MAX};
use crate::BoxFuture;
use crate::tool::Surface;

/// How much is read at once.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// How long a pipe is read when nobody should hold it any more.
pub(super) const LAST_WORDS_TIME_MAX: Duration = Duration::from_millis(100);

/// Why a command is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It ended.
    Itself,
    /// Its time was up.
    Time,
    /// The user cancelled the turn.
    Cancelled,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ran {
    /// What it put out, as far as the model sees it.
    pub output: String,
    /// How it ended.
    pub exit: Exit,
    /// Why it is over.
    pub cause: Cause,
    /// What the sandbox denied it.
    pub denial: Option<Denial>,
    /// What the model should know besides: about time, cancelling or the sandbox.
    pub notes: Vec<String>,
}

impl Ran {
    /// Returns all of it as the model is told.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.output.clone();
        if text.is_empty() {
            text.push_str("(no output)");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&self.exit.to_string());
        for note in &self.notes {
            text.push('\n');
            text.push_str(note);
        }
        text
    }
}

impl Processes {
    /// Runs a command and shows it, until it and everything it started have ended.
    ///
    /// It is over when the shell has exited and its output was closed, or [`DRAIN_TIME_MAX`] later.
    /// When its time is up or the turn is cancelled it is ended, and what it put out so far returned.
    ///
    /// # Errors
    ///
    /// It could not be started.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it kills the command and everything it started.
    pub async fn run(&self, line: &Line, surface: &dyn Surface) -> Result<Ran, Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        let confinement = self.confinement_of(line).await;
        let sandboxed = self.sandboxed(line, confinement).await?;
        let command = line.command(sandboxed.as_ref(), &self.withheld);
        let (child, pipe) = command.spawn_merged().await?;
        let live = Live::default();
        let time = line.time.min(TIME_MAX);
        let running = async {
            let mut running = Running {
                child,
                pipe,
                open: true,
                buffer: vec![0; READ_BYTES],
                output: Output::new(&self.logs, &self.cut),
                live: &live,
            };
            let cause = running.until_over(time, surface.cancelled()).await;
            let exit = running.end().await;
            live.end(exit);
            (running.output.finish().await, exit, cause)
        };
        let showing = live.show(surface, &line.command, &line.cwd);
        let ((output, exit, cause), ()) = tokio::join!(running, showing);
        let sandboxed = sandboxed.as_ref();
        let denial = sandboxed.and_then(|sandboxed| denial::find(&output, exit, sandboxed));
        let mut notes = notes(cause, time, denial.as_ref());
        if sandboxed.is_some() {
            notes.extend(self.disarm_repositories(confinement).await);
        }
        Ok(Ran {
            output,
            exit,
            cause,
            denial,
            notes,
        })
    }
}

fn notes(cause: Cause, time: Duration, denial: Option<&Denial>) -> Vec<String> {
    let over = match cause {
        Cause::Itself => None,
        Cause::Time => Some(format!(
            "[it was ended because its time of {} ms was up; give it more with timeout_ms, or run it \
             in the background]",
            time.as_millis()
        )),
        Cause::Cancelled => Some("[it was ended because the user cancelled the turn]".to_owned()),
    };
    over.into_iter().chain(denial.map(Denial::note)).collect()
}

/// A command that runs.
struct Running<'r> {
    child: Child,
    pipe: Merged,
    /// Whether more may come out of the pipe.
    open: bool,
    buffer: Vec<u8>,
    output: Output<'r>,
    live: &'r Live,
}

impl Running<'_> {
    /// Reads until there is a reason to stop; then little or nothing is left to read.
    async fn until_over(&mut self, time: Duration, mut cancelled: BoxFuture<'_, ()>) -> Cause {
        let deadline = sleep(time);
        tokio::pin!(deadline);
        let mut exited = false;
        let drained = sleep(Duration::MAX);
        tokio::pin!(drained);
        while self.open || !exited {
            tokio::select! {
                biased;
                () = &mut cancelled => return Cause::Cancelled,
                () = &mut deadline, if !exited => return Cause::Time,
                () = &mut drained, if exited => return Cause::Itself,
                _ = self.child.wait(), if !exited => {
                    exited = true;
                    // Whoever else holds the pipe open is not waited for much longer.
                    drained.set(sleep(DRAIN_TIME_MAX));
                }
                read = self.pipe.read(&mut self.buffer), if self.open => {
                    let bytes = read.unwrap_or_default();
                    self.take(bytes).await;
                }
            }
        }
        Cause::Itself
    }

    /// Ends whatever is left of the tree, and reads its last words.
    async fn end(&mut self) -> Exit {
        let mut last = Vec::new();
        let status = {
            let ending = self.child.end(grace());
            tokio::pin!(ending);
            loop {
                tokio::select! {
                    biased;
                    status = &mut ending => break status,
                    read = self.pipe.read(&mut self.buffer), if self.open => {
                        let bytes = read.unwrap_or_default();
                        self.open = bytes > 0;
                        last.extend_from_slice(self.buffer.get(..bytes).unwrap_or_default());
                        // A tree that floods its last words loses most of them.
                        last.truncate(READ_BYTES);
                    }
                }
            }
        };
        self.output.push(&last).await;
        self.live.push(&last);
        // Everybody who wrote is gone, so what is in the pipe is there already and then it ends.
        let deadline = Instant::now() + LAST_WORDS_TIME_MAX;
        while self.open && Instant::now() < deadline {
            let read = timeout_at(deadline, self.pipe.read(&mut self.buffer)).await;
            let bytes = read.ok().and_then(Result::ok).unwrap_or_default();
            self.take(bytes).await;
        }
        Exit::new(status)
    }

    async fn take(&mut self, bytes: usize) {
        self.open = bytes > 0;
        let bytes = self.buffer.get(..bytes).unwrap_or_default();
        self.output.push(bytes).await;
        self.live.push(bytes);
    }
}
