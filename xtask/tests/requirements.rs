//! The table of requirements is up to date, and every seed rule has a test or is known to lack one.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;
use std::process::{Command, Output};

fn requirements(argument: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["requirements", argument])
        .output()
        .unwrap()
}

/// Returns the `open` list of the file of rules.
fn open() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/requirements.toml");
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .skip_while(|line| *line != "open = [")
        .skip(1)
        .take_while(|line| *line != "]")
        .map(|line| line.trim().trim_matches(['"', ',']).to_owned())
        .collect()
}

#[test]
fn the_table_is_up_to_date() {
    let checked = requirements("--check");
    assert!(
        checked.status.success(),
        "run cargo xtask requirements, and put right what it says:\n{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}

#[test]
fn every_seed_rule_that_applies_is_covered_or_listed_as_open() {
    let listed = requirements("--list-open");
    assert!(listed.status.success());
    let uncovered: Vec<_> = std::str::from_utf8(&listed.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    let open = open();
    let lost: Vec<_> = uncovered.iter().filter(|id| !open.contains(id)).collect();
    assert!(
        lost.is_empty(),
        "no test names these rules any more, and the open list may only get shorter: {lost:?}"
    );
    let done: Vec<_> = open.iter().filter(|id| !uncovered.contains(id)).collect();
    assert!(
        done.is_empty(),
        "run cargo xtask requirements: these rules are listed as open and have a test: {done:?}"
    );
}
