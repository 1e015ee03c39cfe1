//! Agents that are killed at any moment, and disks that fail.
//!
//! Few of each here; `cargo xtask crash` does many.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crash_tests::fault::{Call, Effect, Fault};
use crash_tests::points::{self, Length, Point};
use crash_tests::tally::Tally;
use crash_tests::{Version, effects, loops};

/// Agents killed at random.
const LOOPS: u64 = 25;
/// Points of each kind.
const POINTS: u64 = 10;
/// Agents that run at a time, for each of the tests that do.
const WORKERS: usize = 2;

#[track_caller]
fn assert_whole(tally: &Tally) {
    let failures = tally.failures.iter();
    let failures: Vec<String> = failures
        .map(|(failure, again)| format!("{failure}\n    {again}"))
        .collect();
    assert!(failures.is_empty(), "{}\n{tally}", failures.join("\n"));
}

/// Plays effects on some calls of a kind, one half for each version, and checks after each.
#[track_caller]
fn play(call: Call, effects: &[Effect]) -> Tally {
    let counts = points::count(Version::V1, Length::Short).unwrap();
    let (_, count) = counts.iter().find(|(counted, _)| *counted == call).unwrap();
    let versions = [Version::V1, Version::V2].into_iter().cycle();
    let numbers = points::spread(*count, POINTS).into_iter().zip(versions);
    let numbers: Vec<_> = numbers.collect();
    let points = effects.iter().flat_map(|effect| {
        numbers.iter().map(|(number, version)| Point {
            version: *version,
            length: Length::Short,
            fault: Fault {
                call,
                number: *number,
                effect: *effect,
            },
        })
    });
    let points: Vec<Point> = points.collect();
    let count = points.len() as u64;
    let tally = points::run(points, WORKERS, |_| {});
    assert_whole(&tally);
    // The last ones may not be reached, since what comes at the same time is written together.
    assert!(tally.unplayed * 3 <= count, "{tally}");
    tally
}

// Also: E10.
#[test]
fn f1_agents_that_are_killed_at_any_instant_lose_nothing_that_they_told() {
    let options = loops::Options {
        loops: LOOPS,
        seed: 1,
        workers: WORKERS,
    };
    let tally = loops::run(options, |_| {});
    assert_whole(&tally);
    assert!(tally.acknowledged.prompts > LOOPS, "{tally}");
}

// Also: E10.
#[test]
fn f2_agents_that_are_killed_at_a_write_lose_nothing_that_they_told() {
    play(
        Call::Write,
        &[Effect::KillBefore, Effect::KillTorn, Effect::KillAfter],
    );
}

// Also: E10.
#[test]
fn f2_agents_that_are_killed_at_a_sync_lose_nothing_that_they_told() {
    play(Call::Sync, &[Effect::KillBefore, Effect::KillAfter]);
}

#[test]
fn f5_a_full_disk_is_told_and_costs_nothing_and_the_session_goes_on_when_there_is_space() {
    let tally = play(Call::Write, &[Effect::Full, Effect::FullOn]);
    assert!(tally.errors > 0, "{tally}");
}

#[test]
fn f6_a_write_that_fails_is_told_and_costs_nothing_and_the_session_goes_on_when_it_works_again() {
    let tally = play(Call::Write, &[Effect::Broken, Effect::BrokenOn]);
    assert!(tally.errors > 0, "{tally}");
}

#[test]
fn f6_a_sync_that_fails_is_told_and_costs_nothing_and_the_session_goes_on_when_it_works_again() {
    let tally = play(Call::Sync, &[Effect::Broken, Effect::BrokenOn]);
    assert!(tally.errors > 0, "{tally}");
}

#[test]
fn d22_what_a_tool_did_before_the_agent_was_killed_is_known_to_its_session() {
    let tally = effects::run(POINTS);
    assert_whole(&tally);
    assert_eq!(tally.unknown, [], "{tally}");
}
