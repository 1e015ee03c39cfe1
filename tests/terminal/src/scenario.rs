//! One scenario on every kind of screen there is.

use std::io::Write as _;

use crate::{Launch, Screen, Terminal, Tmux};

/// Where this is set to 1, a missing tmux fails the tests that would use it.
const REQUIRE_TMUX: &str = "PLY_REQUIRE_TMUX";

/// Runs a scenario on a terminal, and again inside tmux where that is installed.
///
/// `launch` is called for each, so that each gets directories and sessions of its own. Where tmux is missing the test says so
/// on standard error, and half of it has run; with `PLY_REQUIRE_TMUX=1` it fails instead.
///
/// # Panics
///
/// The program cannot be started, the scenario panics, or tmux is required and missing.
#[track_caller]
pub fn on_every_screen(launch: impl Fn() -> Launch, scenario: impl Fn(&dyn Screen)) {
    scenario(&Terminal::spawn(&launch()).expect("the program starts on a terminal"));
    if !tmux_is_missing() {
        scenario(&Tmux::spawn(&launch()).expect("the program starts inside tmux"));
    }
}

/// Tells whether tmux is missing, and then says on standard error that what needs it did not run.
///
/// # Panics
///
/// It is missing, and `PLY_REQUIRE_TMUX=1` is set.
#[track_caller]
#[must_use]
pub fn tmux_is_missing() -> bool {
    if Tmux::is_installed() {
        return false;
    }
    assert!(
        std::env::var_os(REQUIRE_TMUX).is_none_or(|value| value != "1"),
        "{REQUIRE_TMUX}=1 is set, and tmux is not installed"
    );
    // Written past the test runner, which keeps to itself what a passing test prints.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    writeln!(
        std::io::stderr(),
        "{test}: tmux is not installed, so what this test does inside tmux did not run"
    )
    .expect("standard error takes a line");
    true
}
