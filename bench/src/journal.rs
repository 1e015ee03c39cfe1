//! What keeping sessions on disk costs, and how fast they come back.

mod append;
mod list;
mod replay;
mod store;

pub(crate) use store::Store;

use crate::Result;
use crate::measure::Outcome;
use crate::process::Launch;
use crate::sdks::{self, Sdk};

/// Who is measured.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Peer {
    /// The official SDK as documented: its live rate, for comparison.
    #[value(name = "sdk-documented")]
    Documented,
    /// The official SDK in its fastest arrangement, likewise.
    #[value(name = "sdk-fastest")]
    Fastest,
    /// A commit for each event.
    Each,
    /// The store in memory.
    Memory,
    /// The store on disk.
    Disk,
}

/// A piece of work.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Work {
    /// Events appended to one session, all of them safe in the end.
    Append,
    /// The update stream of the SDK benchmark, with its session in the store.
    Updates,
    /// A stored session of many updates, such as turns leave behind, shown to a new client.
    Replay,
    /// The same of updates of which no two can be joined.
    ReplayWorst,
    /// Opening a store of many sessions and listing the first page.
    List,
}

/// Updates of a session that is replayed.
const REPLAYED: u64 = 100_000;

impl Peer {
    /// Does the work and measures.
    pub(crate) fn run(self, work: Work, count: Option<u64>, limit_s: u64) -> Result<Outcome> {
        match (self, work) {
            (Peer::Each, Work::Append) => append::each(count.unwrap_or(append::EACH)),
            (Peer::Disk, Work::Append) => append::grouped(count.unwrap_or(append::GROUPED)),
            (Peer::Disk, Work::List) => list::run(count.unwrap_or(list::SESSIONS)),
            (Peer::Disk, Work::Replay | Work::ReplayWorst) => {
                let store = Store::new()?;
                let launch = Launch::sdk(Sdk::PlyDisk, Vec::new(), limit_s)?.store(store.path());
                replay::run(&launch, work, count.unwrap_or(REPLAYED))
            }
            (_, Work::Updates | Work::Replay | Work::ReplayWorst) => {
                let sdk = match self {
                    Peer::Documented => Sdk::Documented,
                    Peer::Fastest => Sdk::Fastest,
                    Peer::Memory => Sdk::Ply,
                    Peer::Disk => Sdk::PlyDisk,
                    Peer::Each => return Err("it only appends".into()),
                };
                let store = Store::new()?;
                let mut launch = Launch::sdk(sdk, Vec::new(), limit_s)?;
                if self == Peer::Disk {
                    launch = launch.store(store.path());
                }
                let plan = sdks::Plan::new(sdk, sdks::Work::Updates, count);
                sdk.run(&plan, &launch)
            }
            _ => Err("this peer does not do this work".into()),
        }
    }
}
