//! A home and a project of a test's own, and the program run there.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::time::Instant;

/// How long anything may take before it counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The agent that breaks the rules.
const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/hostile.sh");

/// A home and a project.
pub(crate) struct Place {
    directory: TempDir,
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Checks the exit code, and shows everything if it is another one.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Returns the object on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Returns the objects on standard output, one for each line.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        for name in ["home/.config/ply", "project", "tmp"] {
            std::fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        Self { directory }
    }

    /// Returns a path in it.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    /// Writes a file in it.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Returns what the agent that breaks the rules was sent, and its process id.
    pub(crate) fn notes(&self) -> String {
        std::fs::read_to_string(self.path("notes")).unwrap_or_default()
    }

    /// Waits until the agent that breaks the rules has begun.
    #[track_caller]
    pub(crate) fn wait_for_agent(&self) {
        let until = Instant::now() + PATIENCE;
        while !self.notes().ends_with('\n') {
            assert!(Instant::now() < until, "the agent never started");
            std::thread::yield_now();
        }
    }

    /// Waits until the agent that breaks the rules is gone: killed, it may take a moment.
    #[track_caller]
    pub(crate) fn agent_ends(&self) {
        let until = Instant::now() + PATIENCE;
        while self.agent_is_alive() {
            assert!(Instant::now() < until, "the agent lives on");
            std::thread::yield_now();
        }
    }

    fn agent_is_alive(&self) -> bool {
        let notes = self.notes();
        let pid = notes.lines().find_map(|line| line.strip_prefix("pid "));
        let pid = pid.expect("the agent never started");
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
    }

    /// Returns `ply run` with arguments, in the project, with nothing in its environment but this place.
    pub(crate) fn ply<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ply"));
        command
            .arg("run")
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("PLY_STORE", self.path("sessions.db"))
            .env("NOTES", self.path("notes"))
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
        // Whoever runs these tests in the background has them ignore what some of them send.
        ply_sys::heed_signals(&mut command);
        command
    }

    /// Returns `ply run` with arguments, with the agent that breaks the rules as its first word says.
    pub(crate) fn hostile(&self, start: &str, arguments: &[&str]) -> Command {
        let agent = ["--", "sh", HOSTILE, start];
        self.ply(arguments.iter().chain(&agent))
    }

    /// Runs `ply run` with the built-in agent, and nothing on standard input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        finish(self.ply(arguments))
    }

    /// Runs `ply run` with the agent that breaks the rules.
    pub(crate) fn run_hostile(&self, start: &str, arguments: &[&str]) -> Ran {
        finish(self.hostile(start, arguments))
    }
}

/// Runs a command to its end, with nothing on standard input.
pub(crate) fn finish(mut command: Command) -> Ran {
    command.stdin(Stdio::null());
    Running::start(command).end()
}

/// A command that runs, its output read as it comes.
pub(crate) struct Running {
    child: Child,
    stdout: Reading,
    stderr: Reading,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            stdout: Reading::start(child.stdout.take().unwrap()),
            stderr: Reading::start(child.stderr.take().unwrap()),
            child,
        }
    }

    /// Waits until standard output has these words.
    pub(crate) fn wait_for(&mut self, words: &str) {
        self.stdout.wait_for(words);
    }

    /// Waits until standard error has these words.
    pub(crate) fn wait_for_error(&mut self, words: &str) {
        self.stderr.wait_for(words);
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ran {
        self.stdout.read_all();
        self.stderr.read_all();
        let status: ExitStatus = self.child.wait().unwrap();
        Ran {
            code: status.code(),
            stdout: String::from_utf8_lossy(&self.stdout.bytes).into_owned(),
            stderr: String::from_utf8_lossy(&self.stderr.bytes).into_owned(),
        }
    }
}

/// Pieces of output that wait to be looked at.
const PIECES_MAX: usize = 1024;

/// Output that is read by a thread, so that a wait for it can end.
pub(crate) struct Reading {
    pub(crate) bytes: Vec<u8>,
    pieces: Receiver<Vec<u8>>,
}

impl Reading {
    pub(crate) fn start(mut from: impl Read + Send + 'static) -> Self {
        let (sender, pieces) = sync_channel(PIECES_MAX);
        std::thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            while let Ok(length @ 1..) = from.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            bytes: Vec::new(),
            pieces,
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Waits for words that come after what was waited for before.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, words: &str) {
        while !self.text().contains(words) {
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => self.bytes.extend(piece),
                Err(_) => panic!("no {words:?} in {:?}", self.text()),
            }
        }
    }

    #[track_caller]
    pub(crate) fn read_all(&mut self) {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        loop {
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => self.bytes.extend(piece),
                Err(Disconnected) => return,
                Err(Timeout) => panic!("this hangs after {:?}", self.text()),
            }
        }
    }
}
