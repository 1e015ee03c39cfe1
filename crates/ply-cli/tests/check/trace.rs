//! What `ply check trace` makes of recordings.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::PLY;

const GOOD: &str = r#"{"ply":"trace","version":1,"started":"2026-07-14T10:00:00.000Z","command":["my agent","--acp"],"redacted":true}
{"t":0.1,"dir":"to_agent","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"c","version":"1"}}}}
{"t":0.2,"dir":"to_client","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"a","version":"1"}}}}
"#;
/// The agent writes what is no message, and the client asks for a relative directory.
const BAD: &str = r#"{"t":0.3,"dir":"to_client","text":"Loading..."}
{"t":0.4,"dir":"to_agent","frame":{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"w","mcpServers":[]}}}
"#;

fn check(directory: &Path, trace: &str, options: &[&str]) -> (String, String, Option<i32>) {
    let file = directory.join("talk");
    std::fs::write(&file, trace).unwrap();
    let mut command = Command::new(PLY);
    command.args(["check", "trace", "talk"]).args(options);
    let ran = command.current_dir(directory).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(ran.stdout), text(ran.stderr), ran.status.code())
}

fn ids(report: &str, outcome: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(report).unwrap();
    let runs = report["runs"].as_array().unwrap().iter();
    let of_run = |run: &Value| {
        let side = run["side"].as_str().unwrap().to_owned();
        let verdicts = run["verdicts"].as_array().unwrap().clone().into_iter();
        let wanted = verdicts.filter(|verdict| verdict["outcome"] == outcome);
        let named = wanted.map(|verdict| format!("{side} {}", verdict["id"].as_str().unwrap()));
        named.collect::<Vec<_>>()
    };
    runs.flat_map(of_run).collect()
}

#[test]
fn a_good_recording_breaks_nothing_and_only_what_it_shows_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let (report, _, code) = check(place.path(), GOOD, &["--output", "json"]);
    assert_eq!(code, Some(0));
    assert!(ids(&report, "fail").is_empty());
    let kept = ids(&report, "pass");
    let has = |id: &str| kept.iter().any(|kept| kept == id);
    assert!(has("agent V1-INIT-05") && has("client V1-INIT-02"));
    assert!(!has("agent V1-STOP-01") && !has("client V1-PROMPT-01"));
}

#[test]
fn both_sides_are_judged_unless_one_is_named() {
    let place = tempfile::tempdir().unwrap();
    let bad = [GOOD, BAD].concat();
    let sides = [
        (None, vec!["agent V1-STDIO-03", "client V1-SESS-02"]),
        (Some("agent"), vec!["agent V1-STDIO-03"]),
        (Some("client"), vec!["client V1-SESS-02"]),
    ];
    for (side, expected) in sides {
        let mut options = vec!["--output", "json"];
        options.extend(side.iter().flat_map(|side| ["--side", side]));
        let (report, _, code) = check(place.path(), &bad, &options);
        assert_eq!(
            (ids(&report, "fail"), code),
            (expected.iter().map(ToString::to_string).collect(), Some(20))
        );
    }
}

#[test]
fn a_broken_rule_is_shown_with_its_frame_and_how_to_look_again() {
    let place = tempfile::tempdir().unwrap();
    let (report, _, code) = check(place.path(), &[GOOD, BAD].concat(), &[]);
    assert_eq!(code, Some(20));
    for words in [
        "'my agent' --acp, agent, protocol version 1",
        "Loading...",
        "ply check trace --side agent --only V1-STDIO-03 talk",
        "ply check trace --side client --only V1-SESS-02 talk",
        "2 rules are broken",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
}

#[test]
fn what_a_baseline_has_does_not_count() {
    let place = tempfile::tempdir().unwrap();
    let bad = [GOOD, BAD].concat();
    let options = ["--output", "json", "-o", "known"];
    assert_eq!(check(place.path(), &bad, &options).2, Some(20));
    let (report, _, code) = check(place.path(), &bad, &["--baseline", "known"]);
    assert_eq!(code, Some(0), "{report}");
}

#[test]
fn what_is_no_recording_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let (_, told, code) = check(place.path(), "hello\n", &[]);
    assert!(told.contains("is no recording of `ply trace`"), "{told}");
    assert_eq!(code, Some(2));
}

#[test]
fn a_recording_that_shows_nothing_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let header = GOOD.lines().next().unwrap();
    let (_, told, code) = check(place.path(), &format!("{header}\nnoise\n{{\"t\":"), &[]);
    assert_eq!(code, Some(2), "{told}");
    for words in ["has no messages", "1 line is no entry", "cut off"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let later = GOOD.replacen("\"version\":1", "\"version\":99", 1);
    let (_, told, code) = check(place.path(), &later, &[]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("version 99 of the format"), "{told}");
    let (_, told, code) = check(place.path(), GOOD, &["--only", "V2-STATE"]);
    assert_eq!(code, Some(2), "{told}");
}

#[test]
fn what_a_recording_lacks_is_told() {
    let place = tempfile::tempdir().unwrap();
    let lost = r#"{"t":0.5,"lost":{"entries":7,"bytes":9,"why":"full"}}"#;
    let (_, told, code) = check(place.path(), &format!("{GOOD}{lost}\nnoise\n"), &[]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("7 entries were lost"), "{told}");
}
