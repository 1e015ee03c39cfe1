//! Starting a child from a thread that lasts, and saying well why it did not start.

use std::ffi::{OsStr, OsString};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, TrySendError};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Children waiting to be started.
const SPAWN_QUEUE_MAX: usize = 64;

/// A child could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start `{}`{}: {source}; {}", program.to_string_lossy(), self.place(), self.hint())]
#[non_exhaustive]
pub struct SpawnError {
    /// The program.
    pub program: OsString,
    /// The directory it was to run in.
    pub cwd: Option<PathBuf>,
    /// What the system said.
    pub source: io::Error,
}

impl SpawnError {
    /// Returns the error for a program that did not start.
    #[must_use]
    pub fn new(program: &OsStr, cwd: Option<&Path>, source: io::Error) -> Self {
        Self {
            program: program.to_owned(),
            cwd: cwd.map(Path::to_owned),
            source,
        }
    }

    fn place(&self) -> String {
        self.cwd
            .as_deref()
            .map(|cwd| format!(" in {}", cwd.display()))
            .unwrap_or_default()
    }

    /// Says what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        // The system reports a missing directory and a missing program alike.
        if self.cwd.as_deref().is_some_and(|cwd| !cwd.is_dir()) {
            return "the directory does not exist or is none; choose another one";
        }
        let has_path = self.program.as_encoded_bytes().contains(&b'/');
        match self
            .source
            .raw_os_error()
            .map(rustix::io::Errno::from_raw_os_error)
        {
            Some(rustix::io::Errno::NOENT) if has_path => {
                "check the path, and the first line if it is a script"
            }
            Some(rustix::io::Errno::NOENT) => "install it, or check that its directory is in PATH",
            Some(rustix::io::Errno::ACCESS) => {
                "check that it is a file that may be executed and the directory may be entered"
            }
            Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE) => {
                "too many files are open; close sessions or raise the limit (`ulimit -n`)"
            }
            Some(rustix::io::Errno::AGAIN | rustix::io::Errno::NOMEM) => {
                "the machine has no room for another process; end some first"
            }
            Some(rustix::io::Errno::TOOBIG) => "its arguments and environment are too long",
            _ => "run the command by hand to see more",
        }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// Spawns on a thread that lives as long as the program.
///
/// The signal a child gets when its parent dies is tied to the thread that started it; on a runtime's worker thread it would
/// come when the runtime ends.
pub(super) async fn on_lasting_thread(
    command: std::process::Command,
) -> io::Result<tokio::process::Child> {
    let runtime = Handle::current();
    let (started, result) = oneshot::channel();
    let job: Job = Box::new(move || {
        let _guard = runtime.enter();
        let mut command = tokio::process::Command::from(command);
        // Until someone holds the child there is nobody else to end it.
        let child = command.kill_on_drop(true).spawn();
        drop(started.send(child));
    });
    spawner()?.try_send(job).map_err(|refused| match refused {
        TrySendError::Full(_) => io::Error::other("too many children are being started at once"),
        TrySendError::Disconnected(_) => {
            io::Error::other("the thread that starts children is gone")
        }
    })?;
    let unsaid = |_| io::Error::other("starting the child panicked");
    result.await.map_err(unsaid)?
}

fn spawner() -> io::Result<&'static SyncSender<Job>> {
    static SPAWNER: OnceLock<SyncSender<Job>> = OnceLock::new();
    if let Some(spawner) = SPAWNER.get() {
        return Ok(spawner);
    }
    let (jobs, queue) = std::sync::mpsc::sync_channel::<Job>(SPAWN_QUEUE_MAX);
    let run = move || {
        for job in queue {
            // With this thread would end every child it ever started.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("starting a child panicked");
            }
        }
    };
    std::thread::Builder::new()
        .name("ply-spawn".to_owned())
        .spawn(run)?;
    // A second thread, made in the same moment, ends when its queue is dropped here.
    Ok(SPAWNER.get_or_init(|| jobs))
}
