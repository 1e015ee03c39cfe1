//! `ply check client` of a real client: the headless one.

use std::process::Command;

use serde_json::Value;

use crate::PLY;

/// Checks `ply run` and returns how many rules it keeps.
fn kept(version: &str) -> usize {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(PLY);
    command
        .args(["check", "client", "--version", version, "--output", "json"])
        .args(["--", PLY, "run", "--output", "json", "--permit", "all"])
        .args(["hello", "--", "{agent}"])
        .env("HOME", place.path())
        .current_dir(place.path());
    let ran = command.output().unwrap();
    let complaints = String::from_utf8_lossy(&ran.stderr);
    let report: Value = serde_json::from_slice(&ran.stdout).expect(&complaints);
    let verdicts = report["runs"][0]["verdicts"].as_array().unwrap();
    let of = |outcome: &str| {
        let wanted = verdicts
            .iter()
            .filter(|verdict| verdict["outcome"] == outcome);
        wanted
            .map(|verdict| format!("{}: {}", verdict["id"], verdict["saw"]))
            .collect::<Vec<_>>()
    };
    for wrong in ["fail", "warn", "inconclusive"] {
        assert_eq!(of(wrong), Vec::<String>::new(), "{wrong}");
    }
    assert_eq!(ran.status.code(), Some(0), "{complaints}");
    of("pass").len()
}

#[test]
fn ply_run_keeps_every_rule_of_version_1_that_it_meets() {
    let kept = kept("1");
    assert!(kept > 60, "{kept} rules were tried");
}

#[test]
fn ply_run_keeps_every_rule_of_version_2_that_it_meets() {
    let kept = kept("2");
    assert!(kept > 40, "{kept} rules were tried");
}
