//! Where tmux is not installed, a test says what it left out, or fails if it may leave nothing out.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::process::{Command, Output};

use terminal_tests::{Ended, Launch, on_every_screen};

/// Runs the one test below again, where no program can be found.
fn again(required: bool) -> Output {
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(own);
    command.args(["--exact", "a_scenario_runs_on_every_screen_there_is"]);
    command.env("PATH", "").env_remove("PLY_REQUIRE_TMUX");
    if required {
        command.env("PLY_REQUIRE_TMUX", "1");
    }
    command.output().unwrap()
}

#[test]
fn a_scenario_runs_on_every_screen_there_is() {
    on_every_screen(
        || Launch::new("/bin/sh").args(["-c", "exit 3"]),
        |screen| assert_eq!(screen.ended(), Ended::Code(3)),
    );
}

#[test]
fn what_did_not_run_is_told_also_when_the_test_passes() {
    let output = again(false);
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        told,
        "a_scenario_runs_on_every_screen_there_is: tmux is not installed, so what this test does inside tmux did not run\n"
    );
}

#[test]
fn where_tmux_is_required_its_absence_fails_the_test() {
    let output = again(true);
    assert!(!output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("PLY_REQUIRE_TMUX=1 is set, and tmux is not installed"),
        "{told}"
    );
}
