//! The coding agent as editors start it: how soon it answers, and what it occupies.
//!
//! The client is the same for every peer and does as little as possible: lines on blocking pipes.

mod commands;
mod editor;

use std::time::{Duration, Instant};

use editor::Editor;

use crate::Result;
use crate::journal::Store;
use crate::measure::{Outcome, median_ms, to_f64};
use crate::process::Launch;
use crate::sdks::Sdk;

/// How often an agent is started, the first time aside.
const TRIES: u64 = 40;

/// Who is started.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Peer {
    /// A program that does nothing: what starting and ending a process costs.
    Floor,
    /// An agent of the official SDK as its documentation shows it. It has no model, no tools and no store.
    #[value(name = "sdk-documented")]
    Documented,
    /// `ply agent`, with its sessions on disk.
    #[value(name = "ply-agent")]
    Ply,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Work {
    /// From before the process to the answer to `initialize`, and on to that to `session/new`.
    Start,
    /// A turn that runs `true`, with the sandbox and without.
    Command,
    /// A turn that runs a command with 2 GB of output, and the same output through `cat`.
    Output,
}

/// What came of one start.
#[derive(Clone, Copy, Default)]
struct Start {
    greeted: Duration,
    opened: Duration,
    memory: Memory,
}

/// MiB of a process.
#[derive(Clone, Copy, Default)]
struct Memory {
    /// All pages that are in memory.
    resident: f64,
    /// The same with each shared page divided among those who share it.
    proportional: f64,
    /// The pages that belong to nobody else and come from no file.
    own: f64,
}

impl Peer {
    /// Starts it again and again and measures.
    pub(crate) fn run(self, work: Work, count: Option<u64>, limit_s: u64) -> Result<Outcome> {
        match (work, self) {
            (Work::Start, _) => {}
            (Work::Command, Peer::Ply) => return commands::start(count),
            (Work::Output, Peer::Ply) => return commands::output(count),
            _ => return Err("only `ply-agent` runs commands".into()),
        }
        let count = count.unwrap_or(TRIES);
        let store = Store::new()?;
        let launch = match self {
            Peer::Floor => Launch::program(vec!["/bin/true".to_owned()], Vec::new()),
            Peer::Documented => Launch::sdk(Sdk::Documented, Vec::new(), limit_s)?,
            Peer::Ply => ply(&store, &[])?,
        };
        let start = || match self {
            Peer::Floor => nothing(&launch),
            Peer::Documented | Peer::Ply => Editor::start(&launch, store.directory()),
        };
        // The first one reads the program from disk, and makes the store.
        start()?;
        let starts: Vec<Start> = (0..count).map(|_| start()).collect::<Result<_>>()?;
        Ok(self.outcome(&starts))
    }

    fn outcome(self, starts: &[Start]) -> Outcome {
        let outcome = Outcome::default().with("tries", to_f64(starts.len() as u64));
        let mut greeted: Vec<_> = starts.iter().map(|start| start.greeted).collect();
        let outcome = outcome
            .with("greeted_p50_ms", median_ms(&mut greeted))
            .with("greeted_p95_ms", p95_ms(&greeted));
        if self == Peer::Floor {
            return outcome.noted("starts and ends /bin/true");
        }
        let mut opened: Vec<_> = starts.iter().map(|start| start.opened).collect();
        let median = |of: fn(&Memory) -> f64| {
            let mut values: Vec<_> = starts.iter().map(|start| of(&start.memory)).collect();
            values.sort_unstable_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or_default()
        };
        outcome
            .with("opened_p50_ms", median_ms(&mut opened))
            .with("opened_p95_ms", p95_ms(&opened))
            .with("resident_mib", median(|memory| memory.resident))
            .with("proportional_mib", median(|memory| memory.proportional))
            .with("own_mib", median(|memory| memory.own))
    }
}

/// The program, beside this one, with nothing in its environment but a home.
fn ply(store: &Store, arguments: &[&str]) -> Result<Launch> {
    let this = std::env::current_exe()?;
    let program = this.with_file_name("ply");
    if !program.is_file() {
        return Err("build `ply` first: cargo build --release --package ply-cli".into());
    }
    let text = |path: &std::path::Path| -> Result<String> {
        let text = path
            .to_str()
            .ok_or("the benchmark's own path is not UTF-8")?;
        Ok(text.to_owned())
    };
    let variables = vec![
        ("HOME".to_owned(), text(store.directory())?),
        ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
        ("PLY_STORE".to_owned(), text(store.path())?),
    ];
    let mut words = vec![text(&program)?, "agent".to_owned()];
    words.extend(arguments.iter().map(|word| (*word).to_owned()));
    Ok(Launch::program(words, variables))
}

fn nothing(launch: &Launch) -> Result<Start> {
    let begun = Instant::now();
    let (process, stdin, stdout) = launch.spawn()?;
    drop(stdin);
    // It ends when its output does; looking at the process now and then would round the time up.
    std::io::read_to_string(stdout)?;
    let greeted = begun.elapsed();
    process.finish()?;
    Ok(Start {
        greeted,
        ..Start::default()
    })
}

/// The 95th percentile of waits that are sorted.
fn p95_ms(sorted: &[Duration]) -> f64 {
    let at = (sorted.len() * 95 / 100).min(sorted.len().saturating_sub(1));
    let wait = sorted.get(at).copied().unwrap_or_default();
    wait.as_secs_f64() * 1e3
}
