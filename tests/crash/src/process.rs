//! The agent's process, seen from the other end of its pipes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::fault::{Board, Fault};
use crate::scratch::Scratch;
use crate::tools::Tools;

/// How long an agent may say nothing while something is to come, or take to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// Lines that wait to be read here; further ones wait in the pipe.
const LINES_MAX: usize = 1024;
/// How long to wait between two looks at a process that is ending.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// One process of the agent.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    pub(crate) board: Board,
    /// Both directions, for whoever looks into a failure.
    talk: File,
}

/// What came out of a process.
#[derive(Debug)]
pub(crate) enum Next {
    Line(String),
    /// Nothing, for as long as was asked for.
    Nothing,
    /// Its pipe is closed, and everything that was in it has been read.
    End,
}

impl Process {
    /// Starts an agent on a store, with the fault that it is to meet.
    pub(crate) fn start(tools: &Tools, scratch: &Scratch, fault: Option<Fault>) -> Result<Self> {
        let board = Board::new(&scratch.board())?;
        let append = |path| File::options().create(true).append(true).open(path);
        let (log, mut talk) = (append(scratch.log())?, append(scratch.talk())?);
        writeln!(talk, "-- {fault:?}")?;
        let mut command = Command::new(&tools.agent);
        command
            .args([scratch.file(), scratch.effects()])
            .env("LD_PRELOAD", &tools.shim)
            .env("CRASH_STORE", scratch.store())
            .env("CRASH_BOARD", scratch.board())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        match fault {
            Some(fault) => command.env("CRASH_FAULT", fault.to_string()),
            None => command.env_remove("CRASH_FAULT"),
        };
        let mut child = command.spawn()?;
        let stdin = child.stdin.take();
        let missing = || Failure::other("the agent has no pipe");
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let (give, lines) = sync_channel(LINES_MAX);
        thread::Builder::new().spawn(move || read(stdout, &give))?;
        Ok(Self {
            child,
            stdin,
            lines,
            board,
            talk,
        })
    }

    /// Writes a line, unless the agent is dead: then nobody hears it, as in a pipe.
    pub(crate) fn write(&mut self, line: &str) {
        self.note('>', line);
        if let Some(stdin) = &mut self.stdin
            && stdin.write_all(format!("{line}\n").as_bytes()).is_err()
        {
            self.stdin = None;
        }
    }

    /// Returns the next line, if it comes within the time.
    pub(crate) fn next_within(&mut self, time: Duration) -> Next {
        match self.lines.recv_timeout(time) {
            Ok(line) => {
                self.note('<', &line);
                Next::Line(line)
            }
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }

    /// Returns the next line, none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<String>> {
        match self.next_within(PATIENCE) {
            Next::Line(line) => Ok(Some(line)),
            Next::End => Ok(None),
            Next::Nothing => {
                let words = format!("the agent went silent, its threads: {}", self.threads());
                Err(Failure::other(words))
            }
        }
    }

    /// Returns what its threads wait for, as the system tells it.
    fn threads(&self) -> String {
        let tasks = format!("/proc/{}/task", self.child.id());
        let tasks = std::fs::read_dir(tasks).into_iter().flatten().flatten();
        let about = |task: std::fs::DirEntry| {
            // Its name, the call it is in with its arguments, and the place in the system that it waits at.
            let files = ["comm", "syscall", "wchan"].map(|name| task.path().join(name));
            let words = files.map(|file| std::fs::read_to_string(file).unwrap_or_default());
            words.map(|words| words.trim().to_owned()).join(" ")
        };
        tasks.map(about).collect::<Vec<_>>().join("; ")
    }

    fn note(&mut self, way: char, line: &str) {
        // If it cannot be written there is less to look at.
        drop(writeln!(self.talk, "{way} {}", line.trim_end()));
    }

    /// Kills it. What it wrote before is still there to be read.
    pub(crate) fn kill(&mut self) -> Result<()> {
        Ok(self.child.kill()?)
    }

    /// Tells it that nothing more will come, so that it ends by itself.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Waits until it is gone.
    pub(crate) fn ended(&mut self) -> Result<ExitStatus> {
        for _ in 0..PATIENCE.as_millis() {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::park_timeout(LOOK_EVERY);
        }
        Err(Failure::other("the agent closed its pipe and does not end"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already, unless something failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads lines to the end. The last may have been cut off by a kill; it was told as far as it goes.
fn read(stdout: ChildStdout, give: &SyncSender<String>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match stdout.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        if give.send(line).is_err() {
            // Nobody listens any more. The rest is read all the same, so that the agent can end.
            drop(stdout.read_to_end(&mut Vec::new()));
            return;
        }
    }
}
