//! The benchmarks: who takes part, what is measured and what must be reached.

mod clients;
mod coder;
mod hub;
mod journal;
mod rpc;
mod sdk;
mod tui;

pub(super) use clients::CLIENTS;
pub(super) use coder::CODER;
pub(super) use hub::HUB;
pub(super) use journal::JOURNAL;
pub(super) use rpc::RPC;
pub(super) use sdk::{SDK, chosen as chosen_sdk, works as sdk_works};
pub(super) use tui::TUI;

use std::time::Duration;

use super::targets::{Row, Target};

/// How long one measurement may take where it is a matter of seconds; a hung peer ends it then.
const USUAL_LIMIT: Duration = Duration::from_secs(120);

/// A program that measures: its package and its name.
#[derive(Clone, Copy)]
pub(super) struct Program(pub(super) &'static str, pub(super) &'static str);

/// The program of most benchmarks.
const BENCH: Program = Program("ply-bench", "ply-bench");

/// One benchmark.
pub(super) struct Suite {
    pub(super) program: Program,
    /// The command of the program that measures once.
    pub(super) command: &'static str,
    /// How long one measurement may take.
    pub(super) limit: Duration,
    /// The works, in the order of the table.
    pub(super) works: &'static [&'static str],
    /// The works that are measured in the first run only, since one run takes long or says enough.
    pub(super) once: &'static [&'static str],
    /// The peers, in the order of the table.
    pub(super) peers: &'static [&'static str],
    /// The heads of their columns, where these are not their names.
    pub(super) heads: &'static [(&'static str, &'static str)],
    /// Which of them are judged by the targets; the first one stands in the ratios.
    pub(super) ours: &'static [&'static str],
    /// The peers that it is compared with.
    pub(super) against: &'static [&'static str],
    /// The peers that do not do everything, with what they do.
    pub(super) only: &'static [(&'static str, &'static [&'static str])],
    /// The table, top down.
    pub(super) rows: &'static [&'static Row],
    pub(super) targets: &'static [Target],
    /// The works with a meaningful cost for each message.
    pub(super) counted: &'static [&'static str],
}

impl Suite {
    /// Returns what a peer's column is called.
    pub(super) fn head(&self, peer: &'static str) -> &'static str {
        let head = self.heads.iter().find(|(known, _)| *known == peer);
        head.map_or(peer, |(_, head)| *head)
    }

    /// Whether a peer takes part in a work.
    pub(super) fn does(&self, peer: &str, work: &str) -> bool {
        let limited = self.only.iter().find(|(limited, _)| *limited == peer);
        limited.is_none_or(|(_, works)| works.contains(&work))
    }
}
