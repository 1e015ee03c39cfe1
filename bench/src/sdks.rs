//! Whole SDKs on the same work: an agent and a client written with each, as their users would.

mod client;
mod drive;
mod floor;
mod idle;
mod official;
mod ply;
mod slow_reader;
mod start;
mod tally;
mod task;
mod work;

use std::path::PathBuf;

use crate::Result;
use crate::measure::Outcome;
use crate::process::Launch;
pub(crate) use ply::Worker;
pub(crate) use task::{LAST_WORDS, Task};
pub(crate) use work::{Plan, Work};

/// A way to build an agent and a client.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sdk {
    /// A line splitter and the official types, by hand; for the works that it can do.
    Floor,
    /// The official SDK as its documentation shows it.
    #[value(name = "sdk-documented")]
    Documented,
    /// The official SDK on non-blocking pipes, a single thread and one handler for all updates.
    #[value(name = "sdk-fastest")]
    Fastest,
    /// This project as its documentation shows it.
    PlyDocumented,
    /// This project on a single thread.
    Ply,
    /// The same with its sessions on disk; for the benchmark of the journal.
    #[value(name = "ply-disk", hide = true)]
    PlyDisk,
}

impl Sdk {
    /// Starts the agent, does the work as its client and measures.
    pub(crate) fn run(self, plan: &Plan, launch: &Launch) -> Result<Outcome> {
        if plan.work == Work::SlowReader {
            let resumes = matches!(self, Sdk::Ply | Sdk::PlyDocumented);
            return slow_reader::run(plan, launch, resumes);
        }
        if plan.work == Work::Idle {
            return idle::run(plan, launch);
        }
        match self {
            Sdk::Floor => floor::run(plan, launch),
            Sdk::Documented => official::documented(plan, launch),
            Sdk::Fastest => official::fastest(plan, launch),
            Sdk::PlyDocumented => ply::documented(plan, launch),
            Sdk::Ply | Sdk::PlyDisk => ply::fastest(plan, launch),
        }
    }

    /// Serves as the agent on standard input and output until the input closes.
    pub(crate) fn agent(self, store: Option<PathBuf>) -> Result<()> {
        match self {
            Sdk::Floor => floor::agent(),
            Sdk::Documented => official::documented_agent(),
            Sdk::Fastest => official::fastest_agent(),
            Sdk::PlyDocumented => ply::documented_agent(store),
            Sdk::Ply | Sdk::PlyDisk => ply::fastest_agent(store),
        }
    }
}
