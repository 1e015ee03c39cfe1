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

/// Checks one rule of `ply run`, and returns what is then in the user's home.
fn left_at_home(options: &[&str]) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let [home, work] = ["home", "work"].map(|name| place.path().join(name));
    for made in [&home, &work] {
        std::fs::create_dir(made).unwrap();
    }
    let mut command = Command::new(PLY);
    command
        .args(["check", "client", "--only", "V1-INIT-01"])
        .args(options)
        .args(["--", PLY, "run", "hello", "--", "{agent}"])
        .env("HOME", &home)
        .current_dir(&work);
    for variable in [
        "PLY_STORE",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
    ] {
        command.env_remove(variable);
    }
    let ran = command.output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let left = std::fs::read_dir(&home).unwrap();
    left.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_client_leaves_nothing_in_the_users_home_unless_it_was_given_to_it() {
    assert_eq!(left_at_home(&[]), Vec::<String>::new());
    assert_ne!(left_at_home(&["--keep-home"]), Vec::<String>::new());
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
