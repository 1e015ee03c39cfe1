//! A peer in a child process, with the whole process tree behind it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::tail::Tail;
use super::tree::{self, MARK, Mark, Member, Tree};

pub use self::merged::Merged;
pub use self::spawn::SpawnError;
pub use super::tree::leftovers::end_leftovers;

mod merged;
mod spawn;

/// How much of the child's standard error is kept.
pub const STDERR_BYTES_KEPT: usize = 64 * 1024;

/// The environment variable by which the processes of a child are found, so that they can be ended with it. A process that is to
/// outlive whoever started it is started without the variable.
pub const TREE_VARIABLE: &str = tree::MARK;
/// What we ask for as the size of the child's standard input: the most that Linux gives to everyone. More room means fewer
/// switches between the two processes, and room that is not used costs nothing.
const STDIN_PIPE_BYTES: usize = 1024 * 1024;
/// The same for its standard output. A child that streams fills it, and an answer waits behind what is in it: this much is read
/// in a millisecond or two.
const STDOUT_PIPE_BYTES: usize = 128 * 1024;
/// Rounds of looking for members that were started while others were being ended.
const KILL_ROUNDS_MAX: usize = 8;
/// How long the rest of standard error is waited for once the tree has ended.
const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(1);

/// Time for a child to end by itself, at each step of [`Child::end`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Grace {
    /// After its input was closed.
    pub after_close: Duration,
    /// After SIGTERM; SIGKILL follows.
    pub after_term: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self {
            after_close: Duration::from_secs(2),
            after_term: Duration::from_secs(3),
        }
    }
}

type OnStderr = Box<dyn FnMut(&[u8]) + Send>;

/// A command to start as the other side of a link.
#[must_use = "a command does nothing until it is spawned"]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    envs: Vec<(OsString, Option<OsString>)>,
    clears_env: bool,
    cwd: Option<PathBuf>,
    on_stderr: Option<OnStderr>,
    stdin_pipe_bytes: usize,
    stdout_pipe_bytes: usize,
}

impl Command {
    /// Returns a command that runs `program` without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            envs: Vec::new(),
            clears_env: false,
            cwd: None,
            on_stderr: None,
            stdin_pipe_bytes: STDIN_PIPE_BYTES,
            stdout_pipe_bytes: STDOUT_PIPE_BYTES,
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.envs
            .push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes an inherited environment variable.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.envs.push((name.as_ref().to_owned(), None));
        self
    }

    /// Inherits no environment variables.
    pub fn env_clear(mut self) -> Self {
        self.clears_env = true;
        self
    }

    /// Sets the working directory.
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        self.cwd = Some(cwd.as_ref().to_owned());
        self
    }

    /// Hands every piece of standard error to `sink` as it comes, besides keeping its tail.
    pub fn on_stderr(mut self, sink: impl FnMut(&[u8]) + Send + 'static) -> Self {
        self.on_stderr = Some(Box::new(sink));
        self
    }

    /// Sets the wished size of the pipes, which the system may round or refuse.
    pub fn pipe_bytes(mut self, bytes: usize) -> Self {
        self.stdin_pipe_bytes = bytes;
        self.stdout_pipe_bytes = bytes;
        self
    }

    /// Starts the command and returns it with what it writes and what it reads.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] names the command, the directory and what to do next.
    ///
    /// # Cancel safety
    ///
    /// A child that was started all the same is ended at once.
    pub async fn spawn(self) -> Result<(Child, ChildStdout, ChildStdin), SpawnError> {
        let mark = Mark::fresh();
        let mut command = self.prepared(&mark);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let failed = |source| SpawnError::new(&self.program, self.cwd.as_deref(), source);
        let mut child = spawn::on_lasting_thread(command).await.map_err(failed)?;
        let streams = (
            child.stdin.take(),
            child.stdout.take(),
            child.stderr.take(),
            child.id(),
        );
        let (Some(stdin), Some(stdout), Some(stderr), Some(id)) = streams else {
            return Err(failed(io::Error::other("the child came without pipes")));
        };
        for result in [
            set_pipe_bytes(&stdin, self.stdin_pipe_bytes),
            set_pipe_bytes(&stdout, self.stdout_pipe_bytes),
        ] {
            if let Err(error) = result {
                tracing::debug!(%error, "the pipes keep their default size");
            }
        }
        let leader = leader(id).map_err(failed)?;
        let tail = Arc::new(Mutex::new(Tail::new(STDERR_BYTES_KEPT)));
        let draining = tokio::spawn(drain(stderr, Arc::clone(&tail), self.on_stderr));
        let child = Child {
            process: child,
            tree: Tree::new(leader, mark),
            tail,
            draining: Some(draining),
            ended: false,
        };
        Ok((child, stdout, stdin))
    }

    /// Returns the command with everything but its streams.
    fn prepared(&self, mark: &Mark) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        if self.clears_env {
            command.env_clear();
        }
        for (name, value) in &self.envs {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env(MARK, mark.value());
        ply_sys::isolate(&mut command);
        command
    }
}

fn leader(id: u32) -> io::Result<Pid> {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::Error::other("the child has no process id"))
}

fn set_pipe_bytes(pipe: &impl std::os::fd::AsFd, bytes: usize) -> io::Result<()> {
    rustix::pipe::fcntl_setpipe_size(pipe, bytes)?;
    Ok(())
}

async fn drain(mut stderr: ChildStderr, tail: Arc<Mutex<Tail>>, mut sink: Option<OnStderr>) {
    let mut buf = vec![0; 16 * 1024];
    loop {
        match stderr.read(&mut buf).await {
            Ok(0) => return,
            Ok(bytes) => {
                let fresh = buf.get(..bytes).unwrap_or_default();
                tail.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(fresh);
                let handed = sink.as_mut().map(|sink| {
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sink(fresh)))
                });
                if handed.is_some_and(|handed| handed.is_err()) {
                    // Draining must go on, or the child would block on a full pipe.
                    tracing::error!(
                        "the receiver of standard error panicked and is not called again"
                    );
                    sink = None;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                return tracing::debug!(%error, "standard error of the child cannot be read");
            }
        }
    }
}

/// A child process that is the other side of a link, and everything it started.
///
/// Dropped without [`Child::end`], the whole tree is killed.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    tree: Tree,
    tail: Arc<Mutex<Tail>>,
    draining: Option<JoinHandle<()>>,
    ended: bool,
}

impl Child {
    /// Returns the child's process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.tree.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits for the child itself to exit; what it started may live on until [`Child::end`].
    ///
    /// # Errors
    ///
    /// The system cannot tell, which does not happen to a child that is ours.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.process.wait().await;
        self.tree.leader_is_gone();
        status
    }

    /// Returns the end of what the child wrote to standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> Vec<u8> {
        self.tail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .bytes()
    }

    /// Returns how much the child wrote to standard error in all.
    #[must_use]
    pub fn stderr_bytes(&self) -> u64 {
        self.tail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .total()
    }

    /// Ends the child and everything it started: waits, asks with SIGTERM, then kills.
    ///
    /// Close the link first (or drop the child's input), so that a well-behaved child ends by itself.
    ///
    /// # Errors
    ///
    /// The exit status cannot be read, or the child is stuck where not even SIGKILL reaches it.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way it can be called again, and dropping the child kills what is left.
    pub async fn end(&mut self, grace: Grace) -> io::Result<ExitStatus> {
        let own_end = tokio::time::timeout(grace.after_close, self.wait()).await;
        if own_end.is_err() {
            tracing::debug!(
                pid = self.id(),
                "the child goes on after its input was closed"
            );
        }
        let members = self.members().await;
        if !members.is_empty() || own_end.is_err() {
            self.signal(&members, Signal::TERM);
            Self::wait_for(members, grace.after_term).await;
        }
        for _ in 0..KILL_ROUNDS_MAX {
            let members = self.members().await;
            if members.is_empty() {
                break;
            }
            self.signal(&members, Signal::KILL);
            Self::wait_for(members, grace.after_term).await;
        }
        self.signal(&[], Signal::KILL);
        let gone = tokio::time::timeout(grace.after_term, self.wait()).await;
        let status = gone.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        self.ended = true;
        if let Some(draining) = self.draining.take() {
            let drained = tokio::time::timeout(LAST_WORDS_TIME_MAX, draining).await;
            if drained.is_err() {
                tracing::debug!("somebody else holds the child's standard error open");
            }
        }
        Ok(status)
    }

    async fn members(&self) -> Vec<Member> {
        let tree = self.tree.clone();
        // Reading the process table takes long on a busy machine.
        let found = tokio::task::spawn_blocking(move || tree.members()).await;
        found.unwrap_or_default()
    }

    fn signal(&self, members: &[Member], signal: Signal) {
        // Once the child was waited for, its id may belong to somebody else's group.
        if self.process.id().is_some() {
            self.tree.signal_group(signal);
        }
        for member in members {
            member.signal(signal);
        }
    }

    async fn wait_for(members: Vec<Member>, at_most: Duration) {
        let deadline = Instant::now() + at_most;
        for member in members {
            tokio::select! {
                result = ply_sys::exited(member.handle) => if let Err(error) = result {
                    tracing::debug!(%error, "cannot wait for a child process");
                },
                () = tokio::time::sleep_until(deadline) => return,
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        self.signal(&[], Signal::KILL);
        for _ in 0..KILL_ROUNDS_MAX {
            let members = self.tree.members();
            if members.is_empty() {
                break;
            }
            self.signal(&members, Signal::KILL);
            // A killed process may take a moment to go; giving up the processor is all that can be done without waiting.
            std::thread::yield_now();
        }
    }
}
