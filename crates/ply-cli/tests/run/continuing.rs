//! Going on with sessions of agents that keep no list: what was run from here is known.

use std::process::Command;

use serde_json::Value;

use crate::place::{Place, Ran, finish};

const LOADS: &str = r#"{"loadSession":true}"#;
const RESUMES: &str = r#"{"sessionCapabilities":{"resume":{}}}"#;
const BOTH: &str = r#"{"loadSession":true,"sessionCapabilities":{"resume":{}}}"#;

/// Returns `ply run` with an agent that can do this, and keeps no list.
fn listless(place: &Place, caps: &str, arguments: &[&str]) -> Command {
    let mut command = place.hostile("", arguments);
    command.env("CAPS", caps);
    command
}

fn run(place: &Place, caps: &str, arguments: &[&str]) -> Ran {
    finish(listless(place, caps, arguments))
}

/// Runs `ply sessions recent --json` and returns the sessions.
fn recent(place: &Place, arguments: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ply"));
    command
        .args(["sessions", "recent", "--json"])
        .args(arguments)
        .env_clear()
        .env("HOME", place.path("home"))
        .env("PLY_STORE", place.path("sessions.db"))
        .current_dir(place.path("project"));
    let listed = finish(command).ends_with(0).json();
    listed.as_array().unwrap().clone()
}

#[test]
fn a_session_of_an_agent_that_can_load_but_not_list_is_continued() {
    for (caps, method) in [
        (LOADS, "session/load"),
        (RESUMES, "session/resume"),
        (BOTH, "session/resume"),
    ] {
        let place = Place::new();
        run(&place, caps, &["say"]).ends_with(0);
        let ran = run(&place, caps, &["--continue", "--output", "json", "again"]);
        let object = ran.ends_with(0).json();
        assert_eq!(object["sessionId"], "s-1");
        assert_eq!(object["text"], "Heard.");
        let notes = place.notes();
        assert!(notes.contains(method), "{notes}");
        // By the beginning of its id, from elsewhere, it works where it did.
        let from = place.path("tmp").display().to_string();
        let mut command = listless(&place, caps, &["--session", "s-", "--output", "json", "x"]);
        command.current_dir(&from);
        let object = finish(command).ends_with(0).json();
        assert_eq!(object["sessionId"], "s-1");
        assert_eq!(object["cwd"], place.path("project").display().to_string());
    }
}

#[test]
fn a_session_that_cannot_be_resumed_is_loaded() {
    let place = Place::new();
    run(&place, BOTH, &["say"]).ends_with(0);
    let mut command = listless(&place, BOTH, &["--continue", "again"]);
    command.env("FORGETS", "1");
    finish(command).ends_with(0);
    let notes = place.notes();
    let resumed = notes.find("session/resume").unwrap();
    assert!(notes.find("session/load").unwrap() > resumed, "{notes}");
}

#[test]
fn what_was_run_elsewhere_or_with_another_agent_is_not_continued() {
    let place = Place::new();
    run(&place, LOADS, &["say"]).ends_with(0);
    let elsewhere = place.path("tmp").display().to_string();
    run(&place, LOADS, &["-C", &elsewhere, "--continue", "x"]).ends_with(4);
    let mut other = place.hostile("other", &["--continue", "x"]);
    other.env("CAPS", LOADS);
    finish(other).ends_with(4);
    // One that can open no old session is not remembered at all.
    let place = Place::new();
    run(&place, "{}", &["say"]).ends_with(0);
    assert_eq!(recent(&place, &[]), [] as [Value; 0]);
}

#[test]
fn recent_sessions_are_listed_with_agent_title_directory_and_time() {
    let place = Place::new();
    run(&place, LOADS, &["say"]).ends_with(0);
    run(&place, LOADS, &["--continue", "again"]).ends_with(0);
    place.run(&["--model", "offline", "hello"]).ends_with(0);
    let listed = recent(&place, &["--cwd", "."]);
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_eq!(listed[0]["agent"], "ply");
    let hostile = &listed[1];
    assert!(hostile["agent"].as_str().unwrap().starts_with("sh "));
    assert_eq!(
        (&hostile["id"], &hostile["title"]),
        (&"s-1".into(), &"say".into())
    );
    assert_eq!(hostile["cwd"], place.path("project").display().to_string());
    let time = hostile["updatedAt"].as_str().unwrap();
    assert!(time.ends_with('Z') && time.starts_with("20"), "{time}");
    assert_eq!(recent(&place, &["--agent", "ply"]).len(), 1);
    assert_eq!(recent(&place, &["--limit", "1"]).len(), 1);
    assert_eq!(recent(&place, &["--cwd", "/"]).len(), 0);
}

#[test]
fn a_session_that_its_agent_lost_is_forgotten() {
    let place = Place::new();
    run(&place, LOADS, &["say"]).ends_with(0);
    let mut command = listless(&place, LOADS, &["--continue", "x"]);
    command.env("LOSES", "1");
    let ran = finish(command).ends_with(4);
    assert!(ran.stderr.contains("no such session"), "{ran:#?}");
    assert_eq!(recent(&place, &[]).len(), 0);
}

#[test]
fn a_list_that_cannot_be_written_costs_nothing_but_a_word() {
    let place = Place::new();
    std::fs::create_dir(place.path("sessions.recent.json")).unwrap();
    let ran = run(&place, LOADS, &["--output", "final", "say"]).ends_with(0);
    assert_eq!(ran.stdout, "Hello, world.\n");
    assert!(ran.stderr.contains("may not find this session"), "{ran:#?}");
}
