//! The command that starts an agent, kept so that it can be started again.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_rpc::transport::child;

use crate::Error;

type OnStderr = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// A command that runs an agent. Unlike a child process it can be started many times.
#[derive(Clone)]
#[must_use = "a command does nothing until it is spawned"]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    envs: Vec<(OsString, Option<OsString>)>,
    cwd: Option<PathBuf>,
    on_stderr: Option<OnStderr>,
}

impl Command {
    /// Returns a command that runs `program` without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            envs: Vec::new(),
            cwd: None,
            on_stderr: None,
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        self.args.extend(args);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let value = Some(value.as_ref().to_owned());
        self.envs.push((name.as_ref().to_owned(), value));
        self
    }

    /// Removes an inherited environment variable.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.envs.push((name.as_ref().to_owned(), None));
        self
    }

    /// Sets the working directory of the process. The directory of a session is its own matter.
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        self.cwd = Some(cwd.as_ref().to_owned());
        self
    }

    /// Hands every piece of standard error to `sink` as it comes; the end of it is kept in any case.
    pub fn on_stderr(mut self, sink: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        self.on_stderr = Some(Arc::new(sink));
        self
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Returns the program and its arguments.
    pub fn words(&self) -> impl Iterator<Item = &OsStr> {
        let args = self.args.iter().map(OsString::as_os_str);
        std::iter::once(self.program.as_os_str()).chain(args)
    }

    /// Returns the environment variables that it sets, or removes where they have no value.
    pub fn envs(&self) -> impl Iterator<Item = (&OsStr, Option<&OsStr>)> {
        let envs = self.envs.iter();
        envs.map(|(name, value)| (name.as_os_str(), value.as_deref()))
    }

    pub(crate) fn to_child(&self) -> child::Command {
        let mut command = child::Command::new(&self.program).args(&self.args);
        for (name, value) in &self.envs {
            command = match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(cwd) = &self.cwd {
            command = command.cwd(cwd);
        }
        if let Some(sink) = self.on_stderr.clone() {
            command = command.on_stderr(move |bytes| sink(bytes));
        }
        command
    }
}

impl Command {
    /// Starts it with the streams of this program, so that a person can use it. It is killed when the child is dropped.
    pub(crate) fn start_in_terminal(&self) -> Result<tokio::process::Child, Error> {
        let mut command = tokio::process::Command::new(&self.program);
        command.args(&self.args).kill_on_drop(true);
        for (name, value) in &self.envs {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command.spawn().map_err(Error::login_lost)
    }
}

/// The first word is the program, the others are its arguments.
impl<S: AsRef<OsStr>> FromIterator<S> for Command {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let mut words = words.into_iter();
        let program = words.next().map(|word| word.as_ref().to_owned());
        Self::new(program.unwrap_or_default()).args(words)
    }
}

impl<S: AsRef<OsStr>, const WORDS: usize> From<[S; WORDS]> for Command {
    fn from(words: [S; WORDS]) -> Self {
        words.into_iter().collect()
    }
}

impl<S: AsRef<OsStr>> From<Vec<S>> for Command {
    fn from(words: Vec<S>) -> Self {
        words.into_iter().collect()
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of environment variables may be secrets.
        let names: Vec<_> = self.envs.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("envs", &names)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
