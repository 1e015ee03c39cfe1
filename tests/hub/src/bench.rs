//! What the hub costs: the same work with an agent on pipes, with the hub between, and with everything that there is in use.

mod client;
mod works;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde::Serialize;
use tempfile::TempDir;

use self::client::Client;

pub use self::works::WORKS;

/// What goes wrong is told in words.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What is between the client and the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Nothing: the agent is a child of the client.
    Direct,
    /// The hub alone, whose child the agent is.
    Hub,
    /// What `ply attach` starts, the hub and the agent's holder.
    Whole,
}

impl Peer {
    /// Returns the peer with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "direct" => Some(Self::Direct),
            "hub" => Some(Self::Hub),
            "whole" => Some(Self::Whole),
            _ => None,
        }
    }
}

/// What was measured.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    metrics: BTreeMap<String, f64>,
}

impl Outcome {
    fn with(mut self, name: &str, value: f64) -> Self {
        self.metrics.insert(name.to_owned(), value);
        self
    }
}

/// A user with a hub, if there is one.
pub(crate) struct Stage {
    peer: Peer,
    program: String,
    /// The agent, or what `ply attach` starts.
    children: Vec<Child>,
    dir: TempDir,
}

impl Stage {
    /// Prepares for clients; `program` is `hub-peer`.
    fn new(peer: Peer, program: &Path) -> Result<Self> {
        let stage = Self {
            peer,
            program: program.display().to_string(),
            children: Vec::new(),
            // Beside the program: a directory for temporary files may be in memory.
            dir: tempfile::tempdir_in(program.parent().ok_or("the program is nowhere")?)?,
        };
        std::fs::create_dir(stage.dir.path().join("project"))?;
        Ok(stage)
    }

    fn start_hub(&self) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(["launch", &self.path("run"), &self.path("sessions.db")]);
        let status = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()?;
        match status.success() {
            true => Ok(()),
            false => Err("the hub does not start".into()),
        }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// Connects a client, and greets.
    fn connect(&mut self) -> Result<Client> {
        let mut client = match self.peer {
            Peer::Direct => self.spawn(&["agent", "1", "-fast"].map(str::to_owned))?,
            Peer::Whole => {
                let words = self.attach_words();
                self.spawn(&words)?
            }
            Peer::Hub => Client::to_hub(
                &self.dir.path().join("run"),
                &self.path("sessions.db"),
                &self.program,
            )?,
        };
        client.greet()?;
        Ok(client)
    }

    /// Returns the words of what an editor starts.
    fn attach_words(&self) -> Vec<String> {
        let (place, store) = (self.path("run"), self.path("sessions.db"));
        let fixed = ["1", "-fast"].map(str::to_owned);
        let words = ["attach".to_owned(), place, store];
        words.into_iter().chain(fixed).collect()
    }

    fn spawn(&mut self, words: &[String]) -> Result<Client> {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        self.children.push(child);
        match (stdin, stdout) {
            (Some(stdin), Some(stdout)) => Ok(Client::new(stdin, stdout)),
            _ => Err("a process has no pipes".into()),
        }
    }

    fn project(&self) -> String {
        self.path("project")
    }

    fn hub(&self) -> Result<u32> {
        client::hub_process(&self.dir.path().join("run"), &self.path("sessions.db"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.peer != Peer::Direct {
            let place = self.dir.path().join("run");
            // It may never have come up.
            drop(client::stop_hub(&place, &self.path("sessions.db")));
        }
        for child in &mut self.children {
            // Most have ended by themselves.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Does the work and measures.
///
/// # Errors
///
/// Something does not start, or answers with an error.
pub fn run(peer: Peer, work: &str, program: &Path) -> Result<Outcome> {
    let stage = Stage::new(peer, program)?;
    if work == works::STORED_SESSIONS {
        works::fill(Path::new(&stage.path("sessions.db")))?;
    }
    if peer != Peer::Direct {
        stage.start_hub()?;
    }
    works::run(stage, work)
}
