//! Simulated worlds, a fixed number for every change; `cargo xtask sim` runs more.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use ply_sim::Kind;
use proptest::prelude::*;

/// Worlds per test, of which there are two so that both cores have work.
const SEEDS: u64 = 1_000;

#[track_caller]
fn run(kind: Kind, seeds: std::ops::Range<u64>) -> u64 {
    let (mut turns, mut crashes, mut adoptions) = (0, 0, 0);
    for seed in seeds {
        match ply_sim::run(kind, seed) {
            Ok(trace) => {
                turns += trace.turns;
                crashes += trace.crashes;
                adoptions += trace.adoptions;
            }
            Err(failure) => panic!("{failure}"),
        }
    }
    // A world in which nothing happens would keep every promise.
    assert!(turns > SEEDS && crashes > SEEDS / 10, "{turns} {crashes}");
    adoptions
}

#[test]
fn the_first_worlds_keep_every_promise() {
    run(Kind::Agent, 0..SEEDS);
}

#[test]
fn the_next_worlds_keep_every_promise() {
    run(Kind::Agent, SEEDS..2 * SEEDS);
}

#[test]
fn worlds_with_a_program_that_outlives_the_hub_keep_every_promise() {
    let adoptions = run(Kind::Hub, 0..SEEDS);
    assert!(adoptions > SEEDS / 10, "{adoptions}");
}

/// Seeds whose worlds were once broken: ids of an earlier life, repeats without an answer, asides out of their place, a
/// journal that fails twice, and three times, a cursor of a session that was not written, marks of lines that the conversation
/// did not count, an edited prompt whose sender came back before it was shown, an update that was cut off between two messages,
/// a client that was shown everything anew after the journal turned out to have more than was known, an option whose change failed
/// and was in the journal after all.
const ONCE_BROKEN: [u64; 32] = [
    3226, 4540, 5187, 8095, 17559, 25020, 39475, 52805, 72436, 76253, 85213, 97794, 142_529,
    143_626, 145_237, 155_919, 162_174, 168_137, 191_718, 24444, 1_019_404, 20082, 1071, 5615,
    6589, 1_001_707, 1_012_489, 1_016_991, 1_118_887, 3_033_040, 3_047_468, 3_052_537,
];

#[test]
fn worlds_that_were_once_broken_keep_every_promise() {
    for seed in ONCE_BROKEN {
        if let Err(failure) = ply_sim::run(Kind::Agent, seed) {
            panic!("{failure}");
        }
    }
}

/// The same with a program that outlives the hub: a prompt that another one was sent after the power was lost, an option whose
/// change failed and was in the journal after all.
const ONCE_BROKEN_HUBS: [u64; 2] = [347, 9484];

#[test]
fn worlds_with_a_hub_that_were_once_broken_keep_every_promise() {
    for seed in ONCE_BROKEN_HUBS {
        if let Err(failure) = ply_sim::run(Kind::Hub, seed) {
            panic!("{failure}");
        }
    }
}

/// How far every order of events is tried for every change; `cargo xtask sim --explore` goes further.
const DEPTH: usize = 7;

#[test]
fn every_order_of_events_in_a_small_world_keeps_every_promise() {
    let explored = ply_sim::explore(DEPTH).unwrap();
    assert!(explored.states > 1_000, "{explored:?}");
}

#[test]
fn a_seed_gives_the_same_world_twice_and_another_seed_another() {
    let hash = |seed| ply_sim::run(Kind::Agent, seed).unwrap().hash;
    assert_eq!(hash(12), hash(12));
    assert_ne!(hash(12), hash(13));
}

#[test]
fn a_replay_shows_what_happened_line_by_line() {
    let trace = ply_sim::replay(Kind::Agent, 12).unwrap();
    assert_eq!(trace.hash, ply_sim::run(Kind::Agent, 12).unwrap().hash);
    assert!(trace.lines.len() as u64 > trace.steps);
}

proptest! {
    /// Bytes instead of a seed, so that a broken world shrinks to a small one.
    #[test]
    fn worlds_from_any_bytes_keep_every_promise(
        bytes in proptest::collection::vec(any::<u8>(), 0..600)
    ) {
        for kind in [Kind::Agent, Kind::Hub] {
            if let Err(failure) = ply_sim::run_bytes(kind, &bytes) {
                let lines = failure.trace.lines.join("\n");
                return Err(TestCaseError::fail(format!("{lines}\n{failure}")));
            }
        }
    }
}
