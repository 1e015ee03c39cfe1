//! Runs worlds: `ply-sim FROM COUNT` many of them on all cores, `ply-sim SEED` one with its trace.
#![expect(clippy::print_stdout, reason = "the result of a run is printed")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

/// Failures after which a run stops looking for more.
const FAILURES_MAX: u64 = 10;

fn main() -> ExitCode {
    let numbers: Option<Vec<u64>> = std::env::args()
        .skip(1)
        .map(|argument| argument.parse().ok())
        .collect();
    let failures = match numbers.as_deref() {
        Some([seed]) => show(*seed),
        Some([from, count]) => many(*from, *count),
        _ => {
            println!("usage: ply-sim SEED | ply-sim FROM COUNT");
            1
        }
    };
    match failures {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Runs one world, prints what happened and returns how many promises it broke.
fn show(seed: u64) -> u64 {
    let (trace, broken) = match ply_sim::replay(seed) {
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
fn many(from: u64, count: u64) -> u64 {
    let (next, failures) = (AtomicU64::new(from), AtomicU64::new(0));
    let (steps, turns, crashes) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while failures.load(Ordering::Relaxed) < FAILURES_MAX {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from.saturating_add(count) {
                        break;
                    }
                    match ply_sim::run(seed) {
                        Ok(trace) => {
                            steps.fetch_add(trace.steps, Ordering::Relaxed);
                            turns.fetch_add(trace.turns, Ordering::Relaxed);
                            crashes.fetch_add(trace.crashes, Ordering::Relaxed);
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
    println!(
        "{ran} seeds, {} steps, {} turns, {} crashes, {} broken",
        steps.into_inner(),
        turns.into_inner(),
        crashes.into_inner(),
        failures.load(Ordering::Relaxed)
    );
    failures.into_inner()
}
