//! Runs worlds: `ply-sim FROM COUNT` many of them on all cores, `ply-sim SEED` one with its trace, both behind `hub` with a program
//! that outlives the session's owner, and `ply-sim explore DEPTH` all that a small world can come to.
#![expect(clippy::print_stdout, reason = "the result of a run is printed")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use ply_sim::Kind;

/// Failures after which a run stops looking for more.
const FAILURES_MAX: u64 = 10;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "explore").is_some() {
        let depth = arguments.next().and_then(|depth| depth.parse().ok());
        return explore(depth.unwrap_or(8));
    }
    let kind = match arguments.next_if(|first| first == "hub") {
        Some(_) => Kind::Hub,
        None => Kind::Agent,
    };
    let numbers: Option<Vec<u64>> = arguments.map(|argument| argument.parse().ok()).collect();
    let failures = match numbers.as_deref() {
        Some([seed]) => show(kind, *seed),
        Some([from, count]) => many(kind, *from, *count),
        _ => {
            println!(
                "usage: ply-sim [hub] SEED | ply-sim [hub] FROM COUNT | ply-sim explore DEPTH"
            );
            1
        }
    };
    match failures {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Explores the small world and prints how far that went.
fn explore(depth: usize) -> ExitCode {
    match ply_sim::explore(depth) {
        Ok(explored) => {
            let (states, paths) = (explored.states, explored.paths);
            println!("depth {depth}: {states} states, {paths} paths, none broken");
            ExitCode::SUCCESS
        }
        Err(broken) => {
            println!("broken: {broken}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one world, prints what happened and returns how many promises it broke.
fn show(kind: Kind, seed: u64) -> u64 {
    let (trace, broken) = match ply_sim::replay(kind, seed) {
        Ok(trace) => (trace, None),
        Err(failure) => (failure.trace, Some(failure.broken)),
    };
    for line in &trace.lines {
        println!("{line}");
    }
    println!("trace hash {:016x}", trace.hash);
    match broken {
        None => 0,
        Some(broken) => {
            println!("broken: {broken}");
            1
        }
    }
}

/// Runs many worlds, prints the broken ones and returns how many there are.
fn many(kind: Kind, from: u64, count: u64) -> u64 {
    let (next, failures) = (AtomicU64::new(from), AtomicU64::new(0));
    let sums: [AtomicU64; 7] = Default::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while failures.load(Ordering::Relaxed) < FAILURES_MAX {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from.saturating_add(count) {
                        break;
                    }
                    match ply_sim::run(kind, seed) {
                        Ok(trace) => {
                            let counts = [
                                trace.steps,
                                trace.turns,
                                trace.crashes,
                                trace.closes,
                                trace.failures,
                                trace.reads,
                                trace.adoptions,
                            ];
                            for (sum, count) in sums.iter().zip(counts) {
                                sum.fetch_add(count, Ordering::Relaxed);
                            }
                        }
                        Err(failure) => {
                            failures.fetch_add(1, Ordering::Relaxed);
                            println!("seed {seed}: {failure}");
                        }
                    }
                }
            });
        }
    });
    let ran = next.into_inner().min(from.saturating_add(count)) - from;
    let [steps, turns, crashes, closes, failed, reads, adoptions] = sums.map(AtomicU64::into_inner);
    println!(
        "{ran} seeds, {steps} steps, {turns} turns, {crashes} crashes, {adoptions} adoptions, {closes} closes, \
         {failed} failures of the journal, {reads} reads behind the window, {} broken",
        failures.load(Ordering::Relaxed)
    );
    failures.into_inner()
}
