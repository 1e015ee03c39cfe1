//! An agent with a store, a session and its clients, for one turn; and what the agent took.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::agent::READY;
use super::client::{Client, Version};
use crate::Result;
use crate::journal::Store;
use crate::process::{Agent, Launch};
use crate::sdks::Sdk;
use crate::slow_reader::{Memory, cpu_seconds};

/// How often the agent's memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A running agent. Each turn has one of its own, so that none begins with the memory of another.
pub(super) struct Stage {
    agent: Agent,
    stdin: ChildStdin,
    // Kept open: the agent may print.
    _stdout: BufReader<ChildStdout>,
    socket: PathBuf,
    // Last, so that the agent is gone before its files are.
    _store: Store,
}

impl Stage {
    pub(super) fn start(limit_s: u64) -> Result<Self> {
        let store = Store::new()?;
        let socket = store.directory().join("agent.sock");
        let launch = Launch::sdk(Sdk::PlyDocumented, Vec::new(), limit_s)?
            .store(store.path())
            .socket(&socket);
        let (agent, stdin, stdout) = launch.spawn()?;
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        if line.trim_end() != READY {
            return Err("the agent did not start".into());
        }
        Ok(Stage {
            agent,
            stdin,
            _stdout: stdout,
            socket,
            _store: store,
        })
    }

    /// Opens the session with one client.
    pub(super) fn open(&self, version: Version) -> Result<Client> {
        Client::open(&self.socket, version)
    }

    /// Adds another client to the session.
    pub(super) fn attach(&self, version: Version, to: &Client) -> Result<Client> {
        Client::attach(&self.socket, version, to)
    }

    /// Returns the processor time of the agent so far.
    pub(super) fn cpu_seconds(&self) -> Result<f64> {
        cpu_seconds(&self.agent)
    }

    /// Does some work and looks at the agent meanwhile.
    pub(super) fn watch<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, Taken)> {
        let start = Memory::of(&self.agent)?.resident;
        let cpu = cpu_seconds(&self.agent)?;
        let is_over = AtomicBool::new(false);
        let looks = Mutex::new(Vec::new());
        let done = std::thread::scope(|scope| {
            scope.spawn(|| {
                let begun = Instant::now();
                while !is_over.load(Ordering::Acquire) {
                    // An agent that is gone is for the work to notice.
                    if let Ok(memory) = Memory::of(&self.agent) {
                        let mut looks = looks.lock().expect("nothing panics holding it");
                        looks.push((begun.elapsed(), memory.resident));
                    }
                    std::thread::sleep(LOOK_EVERY);
                }
            });
            let done = work();
            is_over.store(true, Ordering::Release);
            done
        })?;
        let taken = Taken {
            start,
            end: Memory::of(&self.agent)?.resident,
            looks: looks.into_inner().expect("nothing panics holding it"),
            cpu_s: cpu_seconds(&self.agent)? - cpu,
        };
        Ok((done, taken))
    }

    /// Ends the agent, which has to end well.
    pub(super) fn finish(self) -> Result<()> {
        drop(self.stdin);
        self.agent.finish()
    }
}

/// What the agent took, in bytes and seconds.
pub(super) struct Taken {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) cpu_s: f64,
    /// Resident memory at moments since the start.
    looks: Vec<(Duration, u64)>,
}

impl Taken {
    pub(super) fn peak(&self) -> u64 {
        let looks = self.looks.iter().map(|(_, resident)| *resident);
        looks.max().unwrap_or_default().max(self.end)
    }

    /// Returns how much it grew after a moment.
    pub(super) fn growth_after(&self, moment: Duration) -> u64 {
        let mut later = self.looks.iter().filter(|(at, _)| *at >= moment);
        let Some((_, then)) = later.next() else {
            return 0;
        };
        let most = later.map(|(_, resident)| *resident).max();
        most.unwrap_or_default().saturating_sub(*then)
    }
}
