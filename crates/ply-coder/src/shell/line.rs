//! A command line, and the process it becomes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ply_rpc::transport::child::{Command, Grace};

use super::sandbox::{Confinement, Sandbox, Writable};
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
        }
    }

    /// Returns the process, not started yet; in the sandbox if there is one.
    pub(super) fn command(&self, sandboxed: Option<&Sandboxed>, withheld: &[String]) -> Command {
        let shell = shell();
        let command = match sandboxed {
            Some(sandboxed) => Command::new(&sandboxed.helper)
                .args(&sandboxed.arguments)
                .arg(shell),
            None => Command::new(shell),
        };
        let command = command.args(["-c", &self.command]).cwd(&self.cwd);
        let command = environment::quiet(command, sandboxed.is_some(), withheld);
        match sandboxed {
            Some(sandboxed) => sandboxed.with_cache(command),
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

/// How a command is confined.
#[derive(Debug)]
pub(super) struct Sandboxed {
    helper: PathBuf,
    arguments: Vec<std::ffi::OsString>,
    writable: Vec<PathBuf>,
    cache: Option<PathBuf>,
    network: bool,
}

impl Sandboxed {
    pub(super) fn new(
        sandbox: &Sandbox,
        confinement: Confinement,
        writable: &Writable,
    ) -> Option<Self> {
        let cache = writable.cache(confinement).map(Path::to_path_buf);
        let writable = writable.of(confinement);
        Some(Self {
            helper: sandbox.helper.clone()?,
            arguments: sandbox.helper_arguments(writable),
            writable: writable.to_vec(),
            cache,
            network: sandbox.network,
        })
    }

    fn with_cache(&self, command: Command) -> Command {
        match &self.cache {
            Some(cache) => environment::point_to_cache(command, cache, self.network),
            None => command,
        }
    }

    /// Returns what to tell the model about a command that failed, if the sandbox may be the reason.
    pub(super) fn hint(&self, text: &str) -> Option<String> {
        /// What programs say when the kernel denies them something.
        const DENIALS: [&str; 4] = [
            "permission denied",
            "read-only file system",
            "operation not permitted",
            "no new privileges",
        ];
        let text = text.to_lowercase();
        if !DENIALS.iter().any(|denial| text.contains(denial)) {
            return None;
        }
        let writable = self.writable.iter().map(|path| path.display().to_string());
        let writable = writable.collect::<Vec<_>>().join(", ");
        let network = if self.network {
            ""
        } else {
            "; there is no network"
        };
        Some(format!(
            "[the sandbox may have denied this: only these are writable: {writable}{network}; \
             the user can add directories with `writable` in the section `[sandbox]` of Ply's \
             configuration]"
        ))
    }
}

/// Returns the time that a tree gets to end: none by itself, a little after SIGTERM.
pub(super) fn grace() -> Grace {
    let mut grace = Grace::default();
    grace.after_close = Duration::ZERO;
    grace.after_term = TERM_TIME;
    grace
}
