//! The library `ply` stays light: few crates, and none of those that only the program needs.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::process::Command;

/// What nobody gets who did not ask for it: databases, HTTP, models, screens, argument parsers.
const HEAVY: &[&str] = &[
    "clap", "genai", "hyper", "ratatui", "reqwest", "rmcp", "rusqlite", "rustls", "syntect", "toml",
];

/// Returns the crates that are built for `ply` with these features, itself included.
fn crates(features: &str) -> BTreeSet<String> {
    let tree = Command::new(std::env::var_os("CARGO").unwrap())
        .args(["tree", "--locked", "--edges", "normal", "--prefix", "none"])
        .args(["--package", "ply", "--no-default-features"])
        .args(["--features", features])
        .output()
        .unwrap();
    let trouble = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{trouble}");
    let found = String::from_utf8(tree.stdout).unwrap();
    // Behind name and version are a path and marks, which differ between mentions of one crate.
    let name = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    found.lines().map(name).collect()
}

#[track_caller]
fn check(features: &str, fewer_than: usize) {
    let crates = crates(features);
    assert!(
        crates.len() < fewer_than,
        "{features}: {} crates\n{crates:#?}",
        crates.len()
    );
    let is_heavy = |found: &&String| {
        HEAVY
            .iter()
            .any(|heavy| found.starts_with(&format!("{heavy} ")))
    };
    let heavy: Vec<_> = crates.iter().filter(is_heavy).collect();
    assert!(heavy.is_empty(), "{features} brings {heavy:?}");
}

#[test]
fn a_client_alone_builds_fewer_than_70_crates() {
    check("client", 70);
}

#[test]
fn an_agent_alone_builds_fewer_than_70_crates() {
    check("agent", 70);
}

#[test]
fn the_default_features_build_fewer_than_75_crates() {
    check("default", 75);
}

#[test]
fn the_documents_say_what_each_feature_costs() {
    let page = include_str!("../../docs/SDK.md");
    for features in ["client", "agent", "agent,client", "agent,sqlite"] {
        let row = format!("| `{}` | ", features.replace(',', "`, `"));
        let rest = page
            .split_once(&row)
            .unwrap_or_else(|| panic!("no row {row}"))
            .1;
        let told: usize = rest.split(' ').next().unwrap().parse().unwrap();
        let built = crates(features).len();
        assert!(
            told.abs_diff(built) <= 2,
            "{features}: {built} crates, not {told}"
        );
    }
}
