//! Ply, the official Rust SDK and a hand-written floor on the same work, over real pipes between real processes.
//!
//! `ply-bench run PEER WORK` measures one JSON-RPC peer once and prints one line of JSON, `ply-bench sdk SDK WORK` does it
//! with one SDK, `ply-bench journal PEER WORK` with one store, `ply-bench coder PEER WORK` with the coding agent,
//! `ply-bench tui PEER WORK` with the terminal client, `ply-bench clients PEER WORK` with several clients of one session;
//! `cargo xtask bench rpc`, `sdk`, `journal`, `agent`, `tui` and `clients` run them for every peer and work and make the table.
//! The measuring process is the client. It starts this same binary again for the other end of the pipes.
#![expect(clippy::print_stdout, reason = "the benchmark's result goes to stdout")]
#![expect(clippy::print_stderr, reason = "its complaints go to stderr")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod allocations;
mod clients;
mod coder;
mod drive;
mod journal;
mod measure;
mod payload;
mod peer;
mod process;
mod sdks;
mod slow_reader;
mod tui;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use journal::Store;
use measure::{Outcome, Plan, Work};
use peer::{Peer, PipeIo};
use sdks::Sdk;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(about = "Measures one JSON-RPC peer or one SDK on one piece of work")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures once and prints one line of JSON.
    Run {
        peer: Peer,
        work: Work,
        /// How many messages, instead of the work's own number.
        #[arg(long)]
        count: Option<u64>,
        /// One word of a command to put before the agent's own command line; give it once per word.
        #[arg(long, allow_hyphen_values = true)]
        wrap: Vec<String>,
        #[command(flatten)]
        shared: Shared,
    },
    /// Measures whole SDKs in the same way.
    Sdk {
        sdk: Sdk,
        work: sdks::Work,
        /// How many messages, instead of the work's own number.
        #[arg(long)]
        count: Option<u64>,
        /// One word of a command to put before the agent's own command line; give it once per word.
        #[arg(long, allow_hyphen_values = true)]
        wrap: Vec<String>,
        #[command(flatten)]
        bound: Bound,
    },
    /// Measures what keeping sessions costs.
    Journal {
        peer: journal::Peer,
        work: journal::Work,
        /// How many events or sessions, instead of the work's own number.
        #[arg(long)]
        count: Option<u64>,
        #[command(flatten)]
        bound: Bound,
    },
    /// Measures the coding agent as editors start it.
    Coder {
        peer: coder::Peer,
        work: coder::Work,
        /// How often it is started, instead of the usual number.
        #[arg(long)]
        count: Option<u64>,
        #[command(flatten)]
        bound: Bound,
    },
    /// Measures the terminal client.
    Tui {
        peer: tui::Peer,
        work: tui::Work,
        /// How many updates or keys, instead of the work's own number.
        #[arg(long)]
        count: Option<u64>,
        #[command(flatten)]
        bound: Bound,
    },
    /// Measures several clients of one session.
    Clients {
        peer: clients::Peer,
        work: clients::Work,
        /// How many updates, instead of the work's own number.
        #[arg(long)]
        count: Option<u64>,
        #[command(flatten)]
        bound: Bound,
    },
    /// The agent for `tui`.
    #[command(hide = true)]
    TuiAgent {
        /// What a session that is loaded has, as it is to be sent.
        history: std::path::PathBuf,
        #[command(flatten)]
        bound: Bound,
    },
    /// The other end of the pipes for `sdk` and `journal`, and of the sockets for `clients`.
    #[command(hide = true)]
    SdkAgent {
        sdk: Sdk,
        /// Where to keep sessions, if not in memory.
        #[arg(long)]
        store: Option<std::path::PathBuf>,
        /// Where to serve several clients, with their sessions in the store.
        #[arg(long, requires = "store")]
        socket: Option<std::path::PathBuf>,
        /// Counts what is allocated, and notes it in this file.
        #[arg(long)]
        allocations: Option<std::path::PathBuf>,
        #[command(flatten)]
        bound: Bound,
    },
    /// The other end of the pipes.
    #[command(hide = true)]
    Agent {
        peer: Peer,
        #[command(flatten)]
        shared: Shared,
    },
}

#[derive(clap::Args)]
struct Bound {
    /// Gives up after this many seconds.
    #[arg(long, default_value_t = 120)]
    limit_s: u64,
}

#[derive(clap::Args)]
struct Shared {
    #[command(flatten)]
    bound: Bound,
    /// The pipe types under `sdk-fastest`.
    #[arg(long, default_value = "tokio")]
    io: PipeIo,
}

fn main() -> ExitCode {
    match dispatch(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> Result<()> {
    match command {
        Command::Run {
            peer,
            work,
            count,
            wrap,
            shared,
        } => {
            process::bound_lifetime(Duration::from_secs(shared.bound.limit_s))?;
            let plan = Plan::new(peer, work, count);
            if plan.pinned() {
                process::pin_to_one_core()?;
            }
            let launch = process::Launch::new(peer, wrap, shared.bound.limit_s, shared.io)?;
            let outcome = measure_once(peer, &plan, &launch)?;
            println!("{}", serde_json::to_string(&outcome)?);
            Ok(())
        }
        Command::Sdk {
            sdk,
            work,
            count,
            wrap,
            bound,
        } => {
            process::bound_lifetime(Duration::from_secs(bound.limit_s))?;
            let plan = sdks::Plan::new(sdk, work, count);
            if plan.pinned() {
                process::pin_to_one_core()?;
            }
            let mut launch = process::Launch::sdk(sdk, wrap, bound.limit_s)?;
            let mut notes = None;
            if plan.work == sdks::Work::Allocated {
                let file = notes.insert(Store::new()?).directory().join("allocations");
                launch = launch.allocations(&file);
                allocations::start(file)?;
            }
            println!("{}", serde_json::to_string(&sdk.run(&plan, &launch)?)?);
            drop(notes);
            Ok(())
        }
        Command::Journal {
            peer,
            work,
            count,
            bound,
        } => {
            process::bound_lifetime(Duration::from_secs(bound.limit_s))?;
            let outcome = peer.run(work, count, bound.limit_s)?;
            println!("{}", serde_json::to_string(&outcome)?);
            Ok(())
        }
        Command::Coder {
            peer,
            work,
            count,
            bound,
        } => {
            process::bound_lifetime(Duration::from_secs(bound.limit_s))?;
            let outcome = peer.run(work, count, bound.limit_s)?;
            println!("{}", serde_json::to_string(&outcome)?);
            Ok(())
        }
        Command::Tui {
            peer,
            work,
            count,
            bound,
        } => {
            process::bound_lifetime(Duration::from_secs(bound.limit_s))?;
            let outcome = peer.run(work, count, bound.limit_s)?;
            println!("{}", serde_json::to_string(&outcome)?);
            Ok(())
        }
        Command::Clients {
            peer,
            work,
            count,
            bound,
        } => {
            process::bound_lifetime(Duration::from_secs(bound.limit_s))?;
            let outcome = peer.run(work, count, bound.limit_s)?;
            println!("{}", serde_json::to_string(&outcome)?);
            Ok(())
        }
        Command::TuiAgent { history, bound } => {
            process::bound_lifetime(Duration::from_secs(bound.limit_s))?;
            tui::serve(&history)
        }
        Command::SdkAgent {
            sdk,
            store,
            socket,
            allocations,
            bound,
        } => {
            process::bound_lifetime(Duration::from_secs(bound.limit_s))?;
            if let Some(notes) = allocations {
                allocations::start(notes)?;
            }
            match (store, socket) {
                (Some(store), Some(socket)) => clients::serve(store, &socket),
                (store, _) => sdk.agent(store),
            }
        }
        Command::Agent { peer, shared } => {
            process::bound_lifetime(Duration::from_secs(shared.bound.limit_s))?;
            peer.agent(shared.io)
        }
    }
}

fn measure_once(peer: Peer, plan: &Plan, launch: &process::Launch) -> Result<Outcome> {
    // The slow reader is the same for every peer: only the agent is under test, its client is a pipe nobody reads.
    if plan.work == Work::SlowReader {
        return slow_reader::run(plan, launch);
    }
    peer.run(plan, launch)
}
