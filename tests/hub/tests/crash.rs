//! Everything is killed at random, user after user.

#![allow(
    clippy::print_stderr,
    clippy::panic,
    reason = "tests fail by panicking, and this one says what it did"
)]

use std::path::Path;
use std::time::Duration;

use hub_tests::loops;

const PEER: &str = env!("CARGO_BIN_EXE_hub-peer");
/// Users; `cargo xtask crash hub` plays more of them.
const LOOPS: u64 = 100;
/// No more users are begun after this time.
const TIME_MAX: Duration = Duration::from_secs(60);

#[tokio::test]
async fn nothing_is_lost_or_done_twice_whatever_is_killed() {
    let played = loops::run(Path::new(PEER), 1..1 + LOOPS, Some(TIME_MAX)).await;
    let total = played.unwrap_or_else(|broken| panic!("{broken}"));
    assert!(total.tally.finished > 0, "{total:?}");
    eprintln!("{total:?}");
}
