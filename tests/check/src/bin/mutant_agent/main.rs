//! An agent in raw JSON that is right, or wrong in one way: `mutant_agent [--fault NAME] [--store DIR] [--login]`.
//!
//! It speaks versions 1 and 2 on standard input and output. What a prompt makes it do is in `script`, the faults are those of
//! `check_tests::faults`. It shares no code with the agents of Ply, so that a mistake of theirs is not repeated here.

mod agent;
mod cancel;
mod hello;
mod history;
mod lines;
mod methods;
mod options;
mod script;
mod sessions;
mod setup;
mod store;
mod tools;
mod turn;
mod voice;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use check_tests::faults;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use self::agent::Agent;

/// How long an agent that is slow to start takes.
const SLOW_START: Duration = Duration::from_millis(500);

/// How the agent was started.
#[derive(Debug, Default)]
struct Switches {
    fault: Option<String>,
    /// A directory in which sessions outlive the process.
    store: Option<PathBuf>,
    /// Whether sessions need a login.
    login: bool,
}

impl Switches {
    fn read(mut words: impl Iterator<Item = String>) -> io::Result<Self> {
        let mut switches = Self::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--fault" => switches.fault = words.next().filter(|name| faults::is_known(name)),
                "--store" => switches.store = words.next().map(PathBuf::from),
                "--login" => switches.login = true,
                _ => return Err(io::Error::other("say --fault NAME, --store DIR or --login")),
            }
            if word == "--fault" && switches.fault.is_none() {
                return Err(io::Error::other("there is no fault of that name"));
            }
        }
        Ok(switches)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let switches = Switches::read(std::env::args().skip(1))?;
    let agent = Arc::new(Agent::new(switches));
    if agent.is("odd-slow-start") {
        tokio::time::sleep(SLOW_START).await;
    }
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        lines::take(&agent, &line);
        line.clear();
    }
    if agent.is("outlives-its-input") {
        std::future::pending::<()>().await;
    }
    Ok(())
}
