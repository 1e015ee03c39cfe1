//! `cargo xtask bench`: every peer on every work, interleaved, medians, ratios and targets.
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::print_stderr, reason = "progress goes to stderr")]

mod binary;
mod counts;
mod gate;
mod machine;
mod report;
mod sample;
mod suite;
mod table;
mod targets;

use std::path::PathBuf;

use crate::build::{Profile, build};
use binary::Binary;
use counts::Count;
use machine::Machine;
use sample::Sample;
use suite::Suite;

use crate::Result;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// JSON-RPC over pipes: this project, the official Rust SDK twice, and a hand-written floor.
    ///
    /// A missed target is a result, not a failure; a peer that hangs or breaks is a failure.
    Rpc(Rpc),
    /// Agents and clients: this project's SDKs and the official Rust SDK, each twice, and a hand-written floor.
    ///
    /// A missed target is a result, not a failure; a peer that hangs or breaks is a failure.
    Sdk(Sdk),
    /// Sessions on disk: what keeping them costs, and how fast they come back.
    ///
    /// A missed target is a result, not a failure; a store that hangs or breaks is a failure.
    Journal(Journal),
    /// `ply agent` as editors start it: how soon it answers, and what it occupies.
    ///
    /// A missed target is a result, not a failure; a peer that hangs or breaks is a failure.
    Agent(Agent),
    /// `ply chat` on a terminal: a long session opens, keys are typed while an agent talks.
    ///
    /// A missed target is a result, not a failure; a client that hangs or breaks is a failure.
    Tui(Tui),
    /// Several clients of one session: a slow one beside a fast one, and 64 at a time.
    ///
    /// A missed target is a result, not a failure; a client that ends with another transcript is a failure.
    Clients(Clients),
    /// The hub: what it adds to requests and updates, what it keeps in memory, and how soon a client sees a long session.
    ///
    /// A missed target is a result, not a failure; a process that hangs or breaks is a failure.
    Hub(Hub),
    /// Instructions for each message, compared with `bench/instructions.json`; more than 5 % above it fails.
    ///
    /// Counted by callgrind, so other work on the machine changes nothing.
    Gate(gate::Gate),
}

#[derive(clap::Args)]
pub(crate) struct Clients {
    /// Only this work; may be given more than once.
    #[arg(long, value_name = "WORK", value_parser = clap::builder::PossibleValuesParser::new(suite::CLIENTS.works))]
    only: Vec<String>,
    /// Only this version and stream; may be given more than once.
    #[arg(long, value_name = "PEER", value_parser = clap::builder::PossibleValuesParser::new(suite::CLIENTS.peers))]
    peer: Vec<String>,
    /// How often everything is measured. One run alternates between one client and two by itself, and takes about 20 minutes.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    shared: Shared,
}

#[derive(clap::Args)]
pub(crate) struct Tui {
    /// Only this work; may be given more than once.
    #[arg(long, value_name = "WORK", value_parser = clap::builder::PossibleValuesParser::new(suite::TUI.works))]
    only: Vec<String>,
    /// How often everything is measured; the table shows medians.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    shared: Shared,
}

#[derive(clap::Args)]
pub(crate) struct Agent {
    /// Only this peer; may be given more than once.
    #[arg(long, value_name = "PEER", value_parser = clap::builder::PossibleValuesParser::new(suite::CODER.peers))]
    peer: Vec<String>,
    /// How often every peer is measured; the table shows medians.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    shared: Shared,
}

#[derive(clap::Args)]
pub(crate) struct Hub {
    /// Only this work; may be given more than once.
    #[arg(long, value_name = "WORK", value_parser = clap::builder::PossibleValuesParser::new(suite::HUB.works))]
    only: Vec<String>,
    /// Only with this between client and agent; may be given more than once.
    #[arg(long, value_name = "PEER", value_parser = clap::builder::PossibleValuesParser::new(suite::HUB.peers))]
    peer: Vec<String>,
    /// How often everything is measured; the table shows medians.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    shared: Shared,
}

#[derive(clap::Args)]
pub(crate) struct Journal {
    /// Only this work; may be given more than once.
    #[arg(long, value_name = "WORK", value_parser = clap::builder::PossibleValuesParser::new(suite::JOURNAL.works))]
    only: Vec<String>,
    /// How often everything is measured; the table shows medians.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    shared: Shared,
}

#[derive(clap::Args)]
pub(crate) struct Rpc {
    /// Only this work; may be given more than once.
    #[arg(long, value_name = "WORK", value_parser = clap::builder::PossibleValuesParser::new(suite::RPC.works))]
    only: Vec<String>,
    /// Only this peer; may be given more than once.
    #[arg(long, value_name = "PEER", value_parser = clap::builder::PossibleValuesParser::new(suite::RPC.peers))]
    peer: Vec<String>,
    /// How often every peer does every work; the table shows medians.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    shared: Shared,
}

#[derive(clap::Args)]
pub(crate) struct Sdk {
    /// Only these works, by letter, such as `a,c`: (a) updates, (b) requests, (c) permissions, (d) many sessions, (e) start,
    /// (f) large messages, (g) slow reader, (h) requests and cancel in a busy turn; or by name, as `set_mode64`.
    #[arg(
        long,
        value_name = "WORKS",
        value_delimiter = ',',
        value_parser = clap::builder::PossibleValuesParser::new(suite::sdk_works())
    )]
    only: Vec<String>,
    /// Only this peer; may be given more than once.
    #[arg(long, value_name = "PEER", value_parser = clap::builder::PossibleValuesParser::new(suite::SDK.peers))]
    peer: Vec<String>,
    /// How often every peer does every work; the table shows medians.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    shared: Shared,
}

/// How the programs are built that are measured.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Build {
    Release,
    /// As programs are installed and handed out, with link-time optimisation; takes some minutes more.
    Dist,
}

#[derive(clap::Args)]
struct Shared {
    /// How the programs are built that are measured.
    #[arg(long, value_enum, default_value = "dist")]
    profile: Build,
    /// Writes every number, the machine and the command line to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also counts instructions and system calls for each message, which can take as long again.
    #[arg(long)]
    counts: bool,
}

/// What is to be measured.
struct Choice<'a> {
    suite: &'static Suite,
    works: Vec<&'static str>,
    peers: Vec<&'static str>,
    runs: u32,
    shared: &'a Shared,
}

pub(crate) fn run(command: &Command) -> Result<()> {
    let choice = match command {
        Command::Gate(gate) => return gate::run(gate),
        Command::Agent(agent) => Choice {
            suite: &suite::CODER,
            works: suite::CODER.works.to_vec(),
            peers: chosen(suite::CODER.peers, &agent.peer),
            runs: agent.runs,
            shared: &agent.shared,
        },
        Command::Clients(clients) => Choice {
            suite: &suite::CLIENTS,
            works: chosen(suite::CLIENTS.works, &clients.only),
            peers: chosen(suite::CLIENTS.peers, &clients.peer),
            runs: clients.runs,
            shared: &clients.shared,
        },
        Command::Hub(hub) => Choice {
            suite: &suite::HUB,
            works: chosen(suite::HUB.works, &hub.only),
            peers: chosen(suite::HUB.peers, &hub.peer),
            runs: hub.runs,
            shared: &hub.shared,
        },
        Command::Journal(journal) => Choice {
            suite: &suite::JOURNAL,
            works: chosen(suite::JOURNAL.works, &journal.only),
            peers: suite::JOURNAL.peers.to_vec(),
            runs: journal.runs,
            shared: &journal.shared,
        },
        Command::Rpc(rpc) => Choice {
            suite: &suite::RPC,
            works: chosen(suite::RPC.works, &rpc.only),
            peers: chosen(suite::RPC.peers, &rpc.peer),
            runs: rpc.runs,
            shared: &rpc.shared,
        },
        Command::Sdk(sdk) => {
            let works = sdk.only.iter().flat_map(|chosen| suite::chosen_sdk(chosen));
            let works: Vec<String> = works.map(str::to_owned).collect();
            Choice {
                suite: &suite::SDK,
                works: chosen(suite::SDK.works, &works),
                peers: chosen(suite::SDK.peers, &sdk.peer),
                runs: sdk.runs,
                shared: &sdk.shared,
            }
        }
        Command::Tui(tui) => Choice {
            suite: &suite::TUI,
            works: chosen(suite::TUI.works, &tui.only),
            peers: suite::TUI.peers.to_vec(),
            runs: tui.runs,
            shared: &tui.shared,
        },
    };
    let profile = match choice.shared.profile {
        Build::Release => Profile::Release,
        Build::Dist => Profile::Dist,
    };
    if matches!(command, Command::Agent(_) | Command::Tui(_)) {
        // By itself: built along with others it would have their features too.
        build("ply-cli", "ply", profile)?;
    }
    let binary = Binary::build(choice.suite.program, profile)?;
    let machine = Machine::read();
    let (samples, failures) = measure(&binary, &choice);
    let counts: Vec<Count> = if choice.shared.counts {
        counts::measure(&binary, choice.suite, &choice.works, &choice.peers)?
    } else {
        Vec::new()
    };

    let report = report::Report::new(choice.suite, machine, choice.runs, samples, counts);
    print!("{}", report.text());
    if let Some(path) = &choice.shared.json {
        std::fs::write(path, report.json()?)?;
    }
    match failures.len() {
        0 => Ok(()),
        count => Err(format!("{count} measurements failed:\n{}", failures.join("\n")).into()),
    }
}

/// Runs every peer once before any runs again, so that a change in the machine's mood hits all of them. A peer that fails
/// costs its own number only.
fn measure(binary: &Binary, choice: &Choice<'_>) -> (Vec<Sample>, Vec<String>) {
    let (suite, runs) = (choice.suite, choice.runs);
    let (mut samples, mut failures) = (Vec::new(), Vec::new());
    for run in 1..=runs {
        let works = choice.works.iter();
        for work in works.filter(|work| run == 1 || !suite.once.contains(work)) {
            for peer in choice.peers.iter().filter(|peer| suite.does(peer, work)) {
                progress(&format!("run {run} of {runs}: {work} {peer}"));
                match Sample::take(binary, suite, run, work, peer) {
                    Ok(sample) => samples.push(sample),
                    Err(error) => failures.push(error.to_string()),
                }
            }
        }
    }
    (samples, failures)
}

fn chosen(all: &[&'static str], wanted: &[String]) -> Vec<&'static str> {
    let is_wanted = |name: &&&str| wanted.is_empty() || wanted.iter().any(|want| want == **name);
    all.iter().filter(is_wanted).copied().collect()
}

fn progress(step: &str) {
    eprintln!("{step}");
}
