//! A command line, and the process it becomes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ply_rpc::transport::child::{Command, Grace};

use super::sandbox::Sandboxed;
use super::{TERM_TIME, TIME_DEFAULT, environment};

/// A command line to run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Line {
    /// What the shell is given.
    pub command: String,
    /// Where it runs, absolute.
    pub cwd: PathBuf,
    /// The roots of the workspace, below which it may write. In the sandbox all lines of a session have
    /// the same.
    pub roots: Vec<PathBuf>,
    /// How long it may run. In the background it may run as long as its session.
    pub time: Duration,
    /// Whether it runs outside of the sandbox. A person has to allow that.
    pub outside: bool,
    /// Whether it only looks. It may write temporary files then and nothing else, and has no network.
    pub looks: bool,
    /// Whether it may read files of passwords in the workspace, such as `.env`, although nobody looks at
    /// commands. A person has to allow that.
    pub secrets: bool,
}

impl Line {
    /// Returns a command line that may write below its own directory.
    #[must_use]
    pub fn new(command: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self {
            command: command.into(),
            roots: vec![cwd.clone()],
            cwd,
            time: TIME_DEFAULT,
            outside: false,
            looks: false,
            secrets: false,
        }
    }

    /// Returns the process, not started yet; in the sandbox if there is one.
    pub(super) fn command(&self, sandboxed: Option<&Sandboxed>, withheld: &[String]) -> Command {
        let shell = shell();
        let command = match sandboxed {
            Some(sandboxed) => sandboxed.command().arg(shell),
            None => Command::new(shell),
        };
        let command = command.args(["-c", &self.command]).cwd(&self.cwd);
        let command = environment::quiet(command, sandboxed.is_some(), withheld);
        match sandboxed {
            Some(sandboxed) => sandboxed.with_environment(command),
            None => command,
        }
    }
}

/// Models write bash; where there is none, the shell that always is.
pub(crate) fn shell() -> &'static Path {
    let bash = Path::new("/bin/bash");
    if bash.is_file() {
        bash
    } else {
        Path::new("/bin/sh")
    }
}

/// Returns the time that a tree gets to end: none by itself, a little after SIGTERM.
pub(super) fn grace() -> Grace {
    let mut grace = Grace::default();
    grace.after_close = Duration::ZERO;
    grace.after_term = TERM_TIME;
    grace
}
