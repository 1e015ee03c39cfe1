//! The rig as a program: `cargo xtask crash` runs it.

use std::process::ExitCode;

use clap::Parser;
use crash_tests::fault::{Call, Effect, Fault};
use crash_tests::points::{self, Length, Point};
use crash_tests::tally::Tally;
use crash_tests::{Failure, Version, loops};

/// Agents that run at a time. Each waits for its disk most of the time.
const WORKERS: usize = 2;
/// Points of each kind in the life that is too long to play all.
const LONG_POINTS: u64 = 25;
/// How often progress is told, in loops or points.
const PROGRESS_EVERY: u64 = 100;

#[derive(Parser)]
struct Arguments {
    /// How many agents are killed at random
    #[arg(long, default_value_t = 25)]
    loops: u64,
    /// The seed of the first store
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also plays faults at every call of a fixed life
    #[arg(long)]
    every: bool,
    /// Also plays faults at so many calls of each kind
    #[arg(long, conflicts_with = "every")]
    points: Option<u64>,
    /// Plays one fault alone, such as v1:write:17:kill-torn
    #[arg(long)]
    point: Option<Point>,
    /// How many agents run at a time
    #[arg(long, default_value_t = WORKERS)]
    workers: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            say(&format!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "a program tells what it found")]
fn say(words: &str) {
    println!("{words}");
}

fn run(arguments: &Arguments) -> Result<bool, Failure> {
    if let Some(point) = arguments.point {
        return Ok(report("1 point", &points::run(vec![point], 1, |_| {})));
    }
    let mut is_well = true;
    if arguments.loops > 0 {
        let options = loops::Options {
            loops: arguments.loops,
            seed: arguments.seed,
            workers: arguments.workers,
        };
        let progress = |done: u64| {
            if done.is_multiple_of(PROGRESS_EVERY) {
                say(&format!("{done} of {} loops", options.loops));
            }
        };
        let tally = timed(|| loops::run(options, progress));
        is_well &= report(
            &format!("{} loops from seed {}", options.loops, options.seed),
            &tally,
        );
    }
    let wanted = match arguments.every {
        true => Some(u64::MAX),
        false => arguments.points,
    };
    if let Some(wanted) = wanted {
        let mut points = all_points(Length::Short, wanted)?;
        points.extend(all_points(Length::Long, wanted.min(LONG_POINTS))?);
        let count = points.len();
        let progress = |done: usize| {
            if (done as u64).is_multiple_of(PROGRESS_EVERY) {
                say(&format!("{done} of {count} points"));
            }
        };
        let tally = timed(|| points::run(points, arguments.workers, progress));
        is_well &= report(&format!("{count} points"), &tally);
    }
    Ok(is_well)
}

/// Returns the points of both versions, of each kind at most about so many.
fn all_points(length: Length, wanted: u64) -> Result<Vec<Point>, Failure> {
    let mut all = Vec::new();
    for version in [Version::V1, Version::V2] {
        let counts = points::count(version, length)?;
        say(&format!("{version:?}, {length:?}: {counts:?}"));
        for (call, count) in counts {
            for effect in effects(call) {
                let numbers = points::spread(count, wanted).into_iter();
                all.extend(numbers.map(|number| Point {
                    version,
                    length,
                    fault: Fault {
                        call,
                        number,
                        effect: *effect,
                    },
                }));
            }
        }
    }
    Ok(all)
}

/// Returns what can become of a call.
fn effects(call: Call) -> &'static [Effect] {
    use Effect::{Broken, BrokenOn, Full, FullOn, KillAfter, KillBefore, KillTorn};
    match call {
        Call::Write => &[
            KillBefore, KillTorn, KillAfter, Full, FullOn, Broken, BrokenOn,
        ],
        Call::Sync => &[KillBefore, KillAfter, Broken, BrokenOn],
        Call::Truncate | Call::Open => &[KillBefore, KillAfter, Full, FullOn, Broken, BrokenOn],
        Call::Unlink => &[KillBefore, KillAfter, Broken, BrokenOn],
        // A kill at a read is one after the call before it.
        Call::Read => &[Broken, BrokenOn],
    }
}

fn timed(work: impl FnOnce() -> Tally) -> Tally {
    #[expect(clippy::disallowed_methods, reason = "the time is only told")]
    let begin = std::time::Instant::now();
    let tally = work();
    say(&format!("took {:.1} s", begin.elapsed().as_secs_f64()));
    tally
}

/// Tells what was found, and returns whether all is well.
fn report(what: &str, tally: &Tally) -> bool {
    say(&format!("{what}\n{tally}"));
    for (failure, again) in &tally.failures {
        say(&format!("{failure}\n    {again}"));
    }
    if let Some((effect, again)) = tally.unknown.first() {
        say(&format!(
            "effect: the tool call {effect} was carried out, and its session does not know of it\n    {again}"
        ));
    }
    tally.is_well()
}
