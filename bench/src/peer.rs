//! The peers under test, one module each.

pub(crate) mod floor;
mod ply;
pub(crate) mod sdk;
mod sdk_documented;
pub(crate) mod sdk_fastest;

use crate::Result;
use crate::measure::{Outcome, Plan};
use crate::process::Launch;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Peer {
    /// Blocking reads, a line splitter and the official types, nothing else.
    Floor,
    /// The official SDK as its documentation shows it.
    SdkDocumented,
    /// The official SDK on non-blocking pipes and a single thread.
    SdkFastest,
    /// This project.
    Ply,
}

/// The pipe types that `sdk-fastest` gives to the SDK's byte-stream adapter.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PipeIo {
    Tokio,
    AsyncIo,
}

impl Peer {
    pub(crate) fn is_sdk(self) -> bool {
        matches!(self, Peer::SdkDocumented | Peer::SdkFastest)
    }

    /// Starts the agent, does the work as its client and measures.
    pub(crate) fn run(self, plan: &Plan, launch: &Launch) -> Result<Outcome> {
        match self {
            Peer::Floor => floor::run(plan, launch),
            Peer::SdkDocumented => sdk_documented::run(plan, launch),
            Peer::SdkFastest => sdk_fastest::run(plan, launch),
            Peer::Ply => ply::run(plan, launch),
        }
    }

    /// Serves as the agent on standard input and output until the input closes.
    pub(crate) fn agent(self, io: PipeIo) -> Result<()> {
        match self {
            Peer::Floor => floor::agent(),
            Peer::SdkDocumented => sdk_documented::agent(),
            Peer::SdkFastest => sdk_fastest::agent(io),
            Peer::Ply => ply::agent(),
        }
    }
}
