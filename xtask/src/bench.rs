//! `cargo xtask bench rpc`: every peer on every work, interleaved, medians, ratios and targets.
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::print_stderr, reason = "progress goes to stderr")]

mod binary;
mod counts;
mod machine;
mod report;
mod sample;
mod table;
mod targets;

use std::path::PathBuf;

use binary::Binary;
use counts::Count;
use machine::Machine;
use sample::Sample;

use crate::Result;

/// The works of `ply-bench`, in the order of the table.
const WORKS: [&str; 5] = ["updates", "roundtrip", "inflight", "large", "slow_reader"];
/// The peers of `ply-bench`, slowest bound first.
const PEERS: [&str; 4] = ["floor", "sdk-documented", "sdk-fastest", "ply"];

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// JSON-RPC over pipes: this project, the official Rust SDK twice, and a hand-written floor.
    ///
    /// A missed target is a result, not a failure; a peer that hangs or breaks is a failure.
    Rpc(Rpc),
}

#[derive(clap::Args)]
pub(crate) struct Rpc {
    /// Only this work; may be given more than once.
    #[arg(long, value_name = "WORK", value_parser = WORKS)]
    only: Vec<String>,
    /// Only this peer; may be given more than once.
    #[arg(long, value_name = "PEER", value_parser = PEERS)]
    peer: Vec<String>,
    /// Writes every number, the machine and the command line to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// How often every peer does every work; the table shows medians.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Also counts instructions and system calls for each message, which takes some minutes.
    #[arg(long)]
    counts: bool,
}

pub(crate) fn run(command: &Command) -> Result<()> {
    let Command::Rpc(rpc) = command;
    let binary = Binary::build()?;
    let machine = Machine::read();
    let works = chosen(&WORKS, &rpc.only);
    let peers = chosen(&PEERS, &rpc.peer);

    let samples = measure(&binary, &works, &peers, rpc.runs)?;
    let counts: Vec<Count> = if rpc.counts {
        counts::measure(&binary, &works, &peers)?
    } else {
        Vec::new()
    };

    let report = report::Report::new(machine, rpc.runs, samples, counts);
    print!("{}", report.text());
    if let Some(path) = &rpc.json {
        std::fs::write(path, report.json()?)?;
    }
    Ok(())
}

/// Runs every peer once before any runs again, so that a change in the machine's mood hits all of them.
fn measure(binary: &Binary, works: &[&str], peers: &[&str], runs: u32) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for run in 1..=runs {
        for work in works {
            for peer in peers {
                progress(&format!("run {run} of {runs}: {work} {peer}"));
                samples.push(Sample::take(binary, run, work, peer)?);
            }
        }
    }
    Ok(samples)
}

fn chosen<'a>(all: &[&'a str], wanted: &[String]) -> Vec<&'a str> {
    let is_wanted = |name: &&&str| wanted.is_empty() || wanted.iter().any(|want| want == **name);
    all.iter().filter(is_wanted).copied().collect()
}

fn progress(step: &str) {
    eprintln!("{step}");
}
