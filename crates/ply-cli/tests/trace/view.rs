//! What `ply trace view` shows.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::PLY;

const TALK: &str = r#"{"ply":"trace","version":1,"started":"2026-07-14T10:00:00.000Z","command":["agent"],"redacted":true}
{"t":0.1,"dir":"to_agent","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"c","version":"1"}}}}
{"t":0.2,"dir":"to_client","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"a","version":"1"}}}}
{"t":0.3,"dir":"to_agent","frame":{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"t":0.4,"dir":"to_client","frame":{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}}
{"t":0.5,"dir":"to_agent","frame":{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi\u001b[31m"}]}}}
{"t":0.6,"dir":"to_client","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hel"}}}}}
{"t":0.7,"dir":"to_client","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"lo"}}}}}
not a line of ours
{"t":0.8,"err":"a warning"}
{"t":0.9,"dir":"to_client","text":"Loading..."}
{"t":1.0,"dir":"to_client","frame":{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"it broke"}}}
{"t":1.1,"dir":"to_agent","frame":{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}}
{"t":1.2,"exit":{"code":0}}
{"t":1.3,"dir":"to_cl"#;

fn view(options: &[&str], input: &str) -> (String, Option<i32>) {
    let mut child = Command::new(PLY)
        .args(["trace", "view", "-"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let ran = child.wait_with_output().unwrap();
    (String::from_utf8(ran.stdout).unwrap(), ran.status.code())
}

#[test]
fn a_talk_is_readable_from_its_beginning_to_its_faults() {
    let (shown, code) = view(&[], TALK);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(shown);
}

#[test]
fn lines_are_chosen_and_numbers_are_of_everything() {
    let (shown, _) = view(&["--method", "session/prompt", "--from", "0.55"], TALK);
    insta::assert_snapshot!(shown);
}

#[test]
fn programs_get_json() {
    let (shown, _) = view(&["--json", "--full"], TALK);
    let lines: Vec<serde_json::Value> = shown
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 13);
    assert_eq!(lines[0]["frame"]["method"], "initialize");
    assert_eq!(
        lines[1]["took"].as_f64().map(|took| (took * 10.0).round()),
        Some(1.0)
    );
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["kind"], &last["errorCount"]),
        (&"summary".into(), &1.into())
    );
    assert_eq!(last["violations"][0]["rule"], "V1-STDIO-03");
    assert!(!shown.contains('\x1b'));
}

#[test]
fn a_name_that_is_given_for_both_versions_is_shown_once() {
    let both = r#""clientInfo":{"name":"c","version":"1"},"info":{"name":"c","version":"1"}"#;
    let talk = TALK.replace(r#""clientInfo":{"name":"c","version":"1"}"#, both);
    let (shown, _) = view(&[], &talk);
    assert!(shown.contains("version 1 c\n"), "{shown}");
}

#[test]
fn a_directory_is_no_recording_and_that_is_said() {
    let ran = Command::new(PLY).args(["trace", "view", "."]).output();
    let ran = ran.unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(told.starts_with("error: . cannot be read: "), "{told}");
}

#[test]
fn something_else_is_refused() {
    let (shown, code) = view(&[], "hello\n");
    assert_eq!((shown.as_str(), code), ("", Some(1)));
}
