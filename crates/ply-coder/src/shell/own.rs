//! A command of the user's own: told something, and heard by its exit code and its words.

use std::path::Path;
use std::time::Duration;

use ply_rpc::transport::child::Command;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::clean::Cleaner;
use super::line::grace;
use super::run::READ_BYTES;
use super::{Error, Exit, Processes, environment};

/// What came of a command of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// How it ended; none if its time was up.
    pub(crate) exit: Option<Exit>,
    /// The end of what it wrote to standard error, as text.
    pub(crate) words: String,
}

impl Processes {
    /// Runs a command that the user wrote, with `sh`, and gives it some input. It has the environment of other
    /// commands and no sandbox: the user trusts it. What it started ends with it.
    ///
    /// # Errors
    ///
    /// It could not be started.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it kills the command and everything it started.
    pub(crate) async fn run_own(
        &self,
        command: &str,
        cwd: &Path,
        input: &[u8],
        time: Duration,
    ) -> Result<Ended, Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        let command = Command::new("/bin/sh").args(["-c", command]).cwd(cwd);
        let command = environment::quiet(command, false, &self.withheld);
        let (mut child, mut stdout, mut stdin) = command.spawn().await?;
        let feed = async move {
            if let Err(error) = stdin.write_all(input).await {
                tracing::debug!(%error, "a hook did not read what it was told");
            }
        };
        let drain = async move {
            let mut buffer = vec![0; READ_BYTES];
            while stdout.read(&mut buffer).await.is_ok_and(|bytes| bytes > 0) {}
        };
        // Whoever else holds the pipes is not waited for.
        let streams = async {
            tokio::join!(feed, drain);
            std::future::pending::<()>().await;
        };
        let exited = tokio::select! {
            exited = child.wait() => Some(exited),
            () = streams => None,
            () = tokio::time::sleep(time) => None,
        };
        let ended = child.end(grace()).await;
        let mut cleaner = Cleaner::default();
        let mut words = cleaner.push(&child.stderr_tail());
        words.push_str(&cleaner.finish());
        Ok(Ended {
            exit: exited.map(|_| Exit::new(ended)),
            words,
        })
    }
}
