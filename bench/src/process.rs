//! The agent's process and the bounds on both: a limit on lifetime, a parent to die with, one core to share.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::Result;
use crate::peer::{Peer, PipeIo};
use crate::sdks::Sdk;

/// How long an agent may take to leave after its input closed; a tool wrapped around it writes its report then.
const EXIT_WAIT: Duration = Duration::from_secs(10);

/// Ends this process when its parent ends, and after `limit` in any case: no hung peer outlives the benchmark.
pub(crate) fn bound_lifetime(limit: Duration) -> Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    std::thread::Builder::new()
        .name("watchdog".to_owned())
        .spawn(move || {
            std::thread::sleep(limit);
            eprintln!("error: not finished after {} s, giving up", limit.as_secs());
            std::process::exit(1);
        })?;
    Ok(())
}

/// Puts this process, and every thread and child it starts from now on, on the last core it may use.
pub(crate) fn pin_to_one_core() -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    // The last one: the first core serves most interrupts.
    let core = (0..CpuSet::MAX_CPU)
        .rev()
        .find(|&core| allowed.is_set(core))
        .ok_or("this process may run on no core")?;
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only)?;
    Ok(())
}

/// The command line that starts the agent.
#[derive(Clone)]
pub(crate) struct Launch {
    words: Vec<String>,
    /// All of the agent's environment, if it is not this process's.
    variables: Option<Vec<(String, String)>>,
    pub(crate) io: PipeIo,
}

impl Launch {
    /// The other end of the pipes for `ply-bench run`.
    pub(crate) fn new(peer: Peer, wrap: Vec<String>, limit_s: u64, io: PipeIo) -> Result<Self> {
        let mut launch = Launch::of("agent", peer, wrap, limit_s, io)?;
        launch.words.push(format!("--io={}", name(io)));
        Ok(launch)
    }

    /// Any program, with nothing in its environment but these variables.
    pub(crate) fn program(words: Vec<String>, variables: Vec<(String, String)>) -> Self {
        Launch {
            words,
            variables: Some(variables),
            io: PipeIo::Tokio,
        }
    }

    /// The other end of the pipes for `ply-bench sdk`.
    pub(crate) fn sdk(sdk: Sdk, wrap: Vec<String>, limit_s: u64) -> Result<Self> {
        Launch::of("sdk-agent", sdk, wrap, limit_s, PipeIo::Tokio)
    }

    fn of(
        command: &str,
        which: impl ValueEnum,
        wrap: Vec<String>,
        limit_s: u64,
        io: PipeIo,
    ) -> Result<Self> {
        let this: PathBuf = std::env::current_exe()?;
        let this = this
            .into_os_string()
            .into_string()
            .map_err(|_| "the benchmark's own path is not UTF-8")?;
        let mut words = wrap;
        words.extend([
            this,
            command.to_owned(),
            name(which),
            format!("--limit-s={limit_s}"),
        ]);
        Ok(Launch {
            words,
            variables: None,
            io,
        })
    }

    /// Has the agent keep its sessions in this file.
    pub(crate) fn store(mut self, path: &Path) -> Self {
        self.words.push(format!("--store={}", path.display()));
        self
    }

    /// Has the agent serve several clients on this socket instead of one on its pipes.
    pub(crate) fn socket(mut self, path: &Path) -> Self {
        self.words.push(format!("--socket={}", path.display()));
        self
    }

    /// Has the agent count what it allocates, and note it in this file.
    pub(crate) fn allocations(mut self, notes: &Path) -> Self {
        self.words
            .push(format!("--allocations={}", notes.display()));
        self
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Starts the agent on a pair of pipes.
    pub(crate) fn spawn(&self) -> Result<(Agent, ChildStdin, ChildStdout)> {
        let (program, arguments) = self.words.split_first().ok_or("no command")?;
        let mut command = Command::new(program);
        if let Some(variables) = &self.variables {
            command.env_clear().envs(variables.iter().cloned());
        }
        let mut child = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().ok_or("the agent has no stdin")?;
        let stdout = child.stdout.take().ok_or("the agent has no stdout")?;
        Ok((Agent { child }, stdin, stdout))
    }
}

/// A value as the command line has it.
fn name(value: impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// A running agent; dropping it kills the process.
pub(crate) struct Agent {
    child: Child,
}

impl Agent {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Waits for the agent to leave by itself, which it does when its input is closed.
    pub(crate) fn finish(mut self) -> Result<()> {
        let start = Instant::now();
        while self.is_running()? {
            if start.elapsed() > EXIT_WAIT {
                return Err("the agent did not exit after its input closed".into());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        match self.child.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("the agent failed: {status}").into()),
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Both fail only for a process that is gone already, which is what they are for.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// This process's own standard input and output as plain files, without the buffers of `std::io`.
pub(crate) fn agent_pipes() -> Result<(File, File)> {
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    Ok((File::from(input), File::from(output)))
}
