//! Agents as real processes on real pipes.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long an agent may take for anything.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long an agent may take to end once its input has ended.
const EXIT_TIME_MAX: Duration = Duration::from_secs(5);
/// Lines that wait to be looked at.
const LINES_MAX: usize = 64 * 1024;

/// An example of this package, which cargo builds beside its tests.
fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples");
    path.push(name);
    assert!(
        path.exists(),
        "build it first: cargo build -p ply-agent --example {name}"
    );
    path
}

/// A running agent.
struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    next_id: i64,
}

fn spawn(name: &str, cwd: &Path) -> Agent {
    let mut command = Command::new(example(name));
    command
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (to_lines, lines) = sync_channel(LINES_MAX);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        let mut line = Vec::new();
        while stdout.read_until(b'\n', &mut line).unwrap() > 0 {
            if to_lines.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    let (to_stderr, stderr) = sync_channel(1);
    let mut source = child.stderr.take().unwrap();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        source.read_to_end(&mut all).unwrap();
        // Nobody may want it.
        drop(to_stderr.send(all));
    });
    let stdin = child.stdin.take();
    Agent {
        child,
        stdin,
        lines,
        stderr,
        next_id: 0,
    }
}

impl Agent {
    fn write(&mut self, text: &str) {
        self.stdin
            .as_mut()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&format!("{request}\n"));
        id
    }

    /// Reads one message. Whatever is no message of the protocol is a failure.
    fn next(&mut self) -> Value {
        message(
            &self
                .lines
                .recv_timeout(PATIENCE)
                .expect("the agent went silent or left"),
        )
    }

    fn answered(&mut self, id: i64) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            seen.push(self.next());
            let last = seen.last().unwrap();
            if last["id"] == id && last.get("method").is_none() {
                return seen;
            }
        }
    }

    fn ok(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answered(id).pop().unwrap();
        assert!(answer.get("result").is_some(), "{method} failed: {answer}");
        answer["result"].clone()
    }

    fn session(&mut self, cwd: &Path) -> String {
        self.ok("initialize", &json!({"protocolVersion": 1}));
        let made = self.ok("session/new", &json!({"cwd": cwd, "mcpServers": []}));
        made["sessionId"].as_str().unwrap().to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) -> i64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.ask(
            "session/prompt",
            &json!({"sessionId": session, "prompt": prompt}),
        )
    }

    fn hear(&mut self, session: &str, text: &str) -> String {
        let id = self.prompt(session, text);
        said(&self.answered(id))
    }

    /// Closes the agent's input; returns what it still wrote and its exit code. All of it must come
    /// in time.
    fn leave(mut self) -> (Vec<Value>, i32, String) {
        self.stdin = None;
        // In a thread of its own, so that one wait covers all lines to the end of its output.
        let (to_end, end) = sync_channel(1);
        let lines = self.lines;
        std::thread::spawn(move || {
            // Nobody may want it any more.
            drop(to_end.send(lines.iter().collect::<Vec<_>>()));
        });
        let Ok(last) = end.recv_timeout(EXIT_TIME_MAX) else {
            self.child.kill().unwrap();
            panic!("the agent does not end");
        };
        let last = last.iter().map(|line| message(line)).collect();
        let stderr = self.stderr.recv_timeout(PATIENCE).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        (last, code, String::from_utf8(stderr).unwrap())
    }
}

fn message(line: &[u8]) -> Value {
    let text = std::str::from_utf8(line).unwrap();
    assert!(text.ends_with('\n'), "a torn line: {text}");
    let message: Value =
        serde_json::from_str(text).unwrap_or_else(|_| panic!("no message: {text}"));
    assert_eq!(message["jsonrpc"], "2.0", "no message: {text}");
    message
}

fn said(messages: &[Value]) -> String {
    let chunks = messages.iter().map(|message| &message["params"]["update"]);
    let chunks = chunks.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    chunks
        .filter_map(|chunk| chunk["content"]["text"].as_str())
        .collect()
}

/// How often a race is tried; `PLY_LOOPS` raises it.
fn loops() -> usize {
    let asked = std::env::var("PLY_LOOPS")
        .ok()
        .and_then(|loops| loops.parse().ok());
    asked.unwrap_or(20)
}

// Also: V1-STDIO-01, V1-STDIO-06, V1-STDIO-07.
#[test]
fn c13_requests_piped_in_at_once_are_all_answered_and_the_agent_leaves_in_peace() {
    for version in [1, 2] {
        for _ in 0..loops() {
            let mut agent = spawn("stdio_echo", Path::new("/"));
            let initialize = json!({"protocolVersion": version, "info": {"name": "t", "version": "1"},
                "capabilities": {}});
            let lines = [
                ("initialize", initialize),
                ("session/new", json!({"cwd": "/", "mcpServers": []})),
                ("session/list", json!({})),
            ];
            let lines: String = (1..)
                .zip(lines)
                .map(|(id, (method, params))| {
                    let line =
                        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
                    format!("{line}\n")
                })
                .collect();
            agent.write(&lines);
            let (last, code, stderr) = agent.leave();
            for id in 1..=3 {
                let answers: Vec<_> = last.iter().filter(|message| message["id"] == id).collect();
                assert_eq!(
                    answers.len(),
                    1,
                    "version {version}, request {id}: {last:#?}"
                );
                assert!(answers[0].get("result").is_some(), "{last:#?}");
            }
            assert_eq!((code, stderr.as_str()), (0, ""));
        }
    }
}

// Also: V1-STDIO-07.
#[test]
fn c13_a_prompt_in_flight_is_answered_before_the_agent_leaves() {
    for _ in 0..loops() {
        let mut agent = spawn("stdio_echo", Path::new("/"));
        let session = agent.session(Path::new("/"));
        let prompt = agent.prompt(&session, "last words");
        let (last, code, _) = agent.leave();
        assert_eq!(said(&last), "last words");
        let answer = last.iter().find(|message| message["id"] == prompt).unwrap();
        assert_eq!(answer["result"]["stopReason"], "end_turn");
        assert_eq!(code, 0);
    }
}

// Also: C13.
#[test]
fn v1_stdio_07_a_turn_that_would_go_on_for_ever_is_answered_cancelled_and_the_agent_leaves() {
    let mut agent = spawn("noisy", Path::new("/"));
    let session = agent.session(Path::new("/"));
    let prompt = agent.prompt(&session, "wait");
    let (last, code, _) = agent.leave();
    let answers: Vec<_> = last.iter().filter(|line| line["id"] == prompt).collect();
    assert_eq!(answers.len(), 1, "{last:#?}");
    assert_eq!(answers[0]["result"]["stopReason"], "cancelled");
    assert_eq!(code, 0);
}

// Also: V1-RPC-02.
#[test]
fn v1_stdio_02_newlines_in_text_are_no_newlines_on_the_wire() {
    let mut agent = spawn("stdio_echo", Path::new("/"));
    let session = agent.session(Path::new("/"));
    // Each line read is one whole message, or `next` fails.
    let text = "one\ntwo\r\n\u{2028}three \u{1F600} e\u{301}";
    assert_eq!(agent.hear(&session, text), text);
    let (last, code, _) = agent.leave();
    assert!(last.is_empty());
    assert_eq!(code, 0);
}

// Also: V1-STDIO-03, C10.
#[test]
fn a3_stray_output_of_the_agent_and_its_children_does_not_reach_the_client() {
    let mut agent = spawn("noisy", Path::new("/"));
    let session = agent.session(Path::new("/"));
    assert_eq!(agent.hear(&session, "hello"), "hello");
    // A child that shares the streams neither writes to the client nor eats what it sends.
    assert_eq!(agent.hear(&session, "shout"), "true");
    let panics = agent.prompt(&session, "panic");
    let answer = agent.answered(panics).pop().unwrap();
    assert!(answer.get("error").is_some(), "{answer}");
    assert_eq!(agent.hear(&session, "still here"), "still here");
    let (last, code, stderr) = agent.leave();
    assert!(last.is_empty(), "{last:#?}");
    assert_eq!(code, 0);
    assert!(stderr.contains("a stray line"), "it went nowhere: {stderr}");
    assert!(stderr.contains("shouted"), "it went nowhere: {stderr}");
}

#[test]
fn v1_stdio_05_a_flood_on_standard_error_does_not_stall_the_turn() {
    let mut agent = spawn("noisy", Path::new("/"));
    let session = agent.session(Path::new("/"));
    assert_eq!(agent.hear(&session, "flood"), "flooded");
    let (_, code, stderr) = agent.leave();
    assert_eq!(code, 0);
    assert!(stderr.len() >= 10 * 1024 * 1024);
}

// Also: V2-SESS-08, V1-SESS-04.
#[test]
fn v1_sess_03_a_session_works_in_its_directory_wherever_the_agent_was_started() {
    let cwd = std::env::current_exe().unwrap();
    let cwd = cwd.parent().unwrap().canonicalize().unwrap();
    let mut agent = spawn("noisy", Path::new("/"));
    let session = agent.session(&cwd);
    assert_eq!(agent.hear(&session, "pwd"), cwd.display().to_string());
    agent.leave();
}

#[test]
fn v1_stdio_03_input_that_is_no_protocol_is_answered_in_protocol_or_not_at_all() {
    let mut agent = spawn("stdio_echo", Path::new("/"));
    agent.write("hello?\n\n   \n\u{feff}{\"jsonrpc\":\"2.0\"\n[1,2]\n");
    let session = agent.session(Path::new("/"));
    assert_eq!(agent.hear(&session, "fine"), "fine");
    // Torn by the end of the input.
    agent.write("{\"jsonrpc\":\"2.0\",\"id\":99,\"meth");
    let (_, code, _) = agent.leave();
    assert_eq!(code, 0);
}
