//! How `ply check` ends, and what it refuses.

use std::path::Path;
use std::process::{Command, Output};

use crate::PLY;

/// An agent that greets, and ends when it is asked for more.
const GREETS: &str = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'; read line"#;

fn check(place: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(PLY);
    command.arg("check").args(words);
    command.current_dir(place).env("TMPDIR", place);
    // Whoever runs these tests in the background has them ignore what one of them sends.
    ply_sys::heed_signals(&mut command);
    command.output().unwrap()
}

fn told(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

fn shown(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn a_selection_that_leaves_nothing_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let agent = ["--", "sh", "-c", GREETS];
    for selection in [
        ["--version", "1", "--only", "V2-STATE"].as_slice(),
        &["--only", "RPC", "--skip", "RPC"],
    ] {
        let words = [&["agent"], selection, &agent].concat();
        let ran = check(place.path(), &words);
        assert_eq!(ran.status.code(), Some(2), "{}", shown(&ran));
        assert!(
            told(&ran).contains("leave no rule of version 1"),
            "{}",
            told(&ran)
        );
    }
}

#[test]
fn a_command_that_cannot_be_started_is_refused_whatever_the_version() {
    let place = tempfile::tempdir().unwrap();
    for version in [&[] as &[&str], &["--version", "2"]] {
        let words = [&["agent"], version, &["--", "/nonexistent/agent"]].concat();
        let ran = check(place.path(), &words);
        assert_eq!(ran.status.code(), Some(2), "{}", shown(&ran));
        assert!(told(&ran).contains("cannot be started"), "{}", told(&ran));
    }
}

#[test]
fn an_agent_that_speaks_no_version_gets_a_report() {
    let place = tempfile::tempdir().unwrap();
    let ran = check(place.path(), &["agent", "--only", "V1-LIST", "--", "false"]);
    assert_eq!(ran.status.code(), Some(21), "{}", told(&ran));
    let shown = shown(&ran);
    assert!(shown.contains("exit status: 1"), "{shown}");
    assert!(
        told(&ran).contains("checked in version 1"),
        "{}",
        told(&ran)
    );
}

#[test]
fn a_report_that_cannot_be_written_is_told_before_the_run() {
    let place = tempfile::tempdir().unwrap();
    let agent = "touch ran; cat >/dev/null";
    let words = ["agent", "-o", "no such/report", "--", "sh", "-c", agent];
    let ran = check(place.path(), &words);
    assert_eq!(ran.status.code(), Some(1), "{}", told(&ran));
    assert!(told(&ran).contains("cannot be written"), "{}", told(&ran));
    assert!(!place.path().join("ran").exists());
}

#[test]
fn waiting_for_ages_is_refused() {
    let place = tempfile::tempdir().unwrap();
    for seconds in ["86401", "1e19", "inf", "0", "-1"] {
        let patience = format!("--patience={seconds}");
        let ran = check(place.path(), &["agent", &patience, "--", "true"]);
        assert_eq!(ran.status.code(), Some(2), "{seconds}: {}", told(&ran));
    }
}

#[test]
fn a_signal_ends_the_check_and_leaves_no_directory() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let place = tempfile::tempdir().unwrap();
        let agent = format!("kill -{signal} $PPID; exec sleep 60");
        let ran = check(place.path(), &["agent", "--", "sh", "-c", &agent]);
        assert_eq!(ran.status.code(), Some(code), "{}", told(&ran));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_check_that_a_signal_ends_at_once_has_a_report_of_what_was_not_tried() {
    let place = tempfile::tempdir().unwrap();
    let report = place.path().join("report.txt");
    let file = report.display().to_string();
    let agent = "kill -TERM $PPID; exec sleep 60";
    let ran = check(
        place.path(),
        &["agent", "-o", &file, "--", "sh", "-c", agent],
    );
    assert_eq!(ran.status.code(), Some(143), "{}", told(&ran));
    let report = std::fs::read_to_string(report).unwrap();
    assert!(
        report.contains("the check was ended before this was tried"),
        "{report}"
    );
}

#[test]
fn a_script_beside_the_caller_is_found() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("agent.sh"), GREETS).unwrap();
    let words = ["agent", "--only", "V1-STDIO-03", "--", "sh", "agent.sh"];
    let ran = check(place.path(), &words);
    assert!(
        shown(&ran).contains("sh agent.sh, protocol version 1: 1 kept"),
        "{}",
        shown(&ran)
    );
}

#[test]
fn an_agent_can_be_named_as_in_the_configuration() {
    let place = tempfile::tempdir().unwrap();
    let config = place.path().join("config.toml");
    let script = format!(r#"test "$MINE" = yes || exit 3; {GREETS}"#);
    let entry = serde_json::json!({"command": "sh", "args": ["-c", script]});
    let text = format!(
        "[agents.mine]\ncommand = {}\nargs = {}\nenv = {{ MINE = \"yes\" }}\n",
        entry["command"], entry["args"]
    );
    std::fs::write(&config, text).unwrap();
    let check = |words: &[&str]| {
        let mut command = Command::new(PLY);
        command.arg("check").args(words).env("PLY_CONFIG", &config);
        command
            .current_dir(place.path())
            .env("TMPDIR", place.path())
            .env("HOME", place.path());
        command.output().unwrap()
    };
    let ran = check(&["agent", "--version", "1", "--only", "V1-INIT-07", "mine"]);
    assert_eq!(ran.status.code(), Some(0), "{}{}", shown(&ran), told(&ran));
    assert!(
        shown(&ran).starts_with("mine, protocol version 1"),
        "{}",
        shown(&ran)
    );
    let ran = check(&["agent", "mime"]);
    assert_eq!(ran.status.code(), Some(2), "{}", shown(&ran));
    assert!(told(&ran).contains("mine"), "{}", told(&ran));
    let ran = check(&["agent"]);
    assert_eq!(ran.status.code(), Some(2), "{}", shown(&ran));
}

/// An agent that greets with a version that is a text.
const GREETS_WRONG: &str = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":"yes"}}}'; read line"#;

#[test]
fn a_verdict_names_the_file_and_the_line_of_what_was_recorded() {
    let place = tempfile::tempdir().unwrap();
    let words = |record: &'static str, output: &'static str| {
        let options = [
            "agent",
            "--version",
            "1",
            "--only",
            "V1-INIT-13",
            "--record",
            record,
        ];
        let output = ["--output", output, "--", "sh", "-c", GREETS_WRONG];
        [&options[..], &output[..]].concat()
    };
    let ran = check(place.path(), &words("talks", "json"));
    assert_eq!(ran.status.code(), Some(20), "{}{}", shown(&ran), told(&ran));
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let run = &report["runs"][0];
    let verdict = &run["verdicts"][0];
    let file = verdict["trace"]["file"].as_str().unwrap();
    let line = usize::try_from(verdict["trace"]["line"].as_u64().unwrap()).unwrap();
    assert_eq!(
        run["recordings"][verdict["recording"].as_u64().unwrap() as usize],
        file
    );
    let trace = std::fs::read_to_string(place.path().join(file)).unwrap();
    let lines: Vec<&str> = trace.lines().skip(line - 1).collect();
    assert!(lines[0].contains(r#""method":"initialize""#), "{trace}");
    assert!(lines[1].contains("loadSession"), "{trace}");
    let view = Command::new(PLY)
        .args(["trace", "view", file])
        .current_dir(place.path())
        .output();
    let view = view.unwrap();
    assert!(
        view.status.success() && shown(&view).contains("initialize"),
        "{view:?}"
    );

    let ran = check(place.path(), &words("talks", "text"));
    assert_eq!(ran.status.code(), Some(2), "{}", shown(&ran));
    assert!(
        told(&ran).contains("new or empty directory"),
        "{}",
        told(&ran)
    );
    let ran = check(place.path(), &words("more/talks", "text"));
    assert!(
        shown(&ran).contains("trace     more/talks/v1-"),
        "{}",
        shown(&ran)
    );
    let ran = check(place.path(), &words("third", "sarif"));
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let place_of = &report["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let uri = place_of["artifactLocation"]["uri"].as_str().unwrap();
    assert!(
        uri.starts_with("third/v1-") && place.path().join(uri).is_file(),
        "{uri}"
    );
    assert_eq!(place_of["region"]["startLine"], line);
}

#[test]
fn a_time_that_is_none_is_refused_with_what_is_accepted() {
    let place = tempfile::tempdir().unwrap();
    for (time, why) in [
        ("soon", "`soon` is not a duration in seconds"),
        ("-1", "`-1` is not a duration in seconds"),
        ("nan", "`nan` is not a duration in seconds"),
        ("0", "must be greater than zero"),
        ("1e9", "must be at most 86400"),
    ] {
        let time = format!("--patience={time}");
        let ran = check(place.path(), &["agent", &time, "--", "true"]);
        assert_eq!(ran.status.code(), Some(2), "{}", shown(&ran));
        assert!(told(&ran).contains(why), "{}", told(&ran));
    }
}
