//! The protocol by hand, where the very lines matter.

use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::place::soon;

/// An agent and both ends of its pipes.
pub(crate) struct Raw {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    asked: u64,
    /// The updates so far.
    pub(crate) updates: Vec<Value>,
    /// What permission was asked for.
    pub(crate) permissions: Vec<Value>,
}

impl Raw {
    pub(crate) fn start(mut command: Command) -> Self {
        // Whoever runs these tests in the background has them ignore what some of them send.
        ply_sys::heed_signals(command.as_std_mut());
        Self::start_as_it_is(command, Stdio::null())
    }

    /// Starts it with all that it inherits, and with a standard error that somebody may read.
    pub(crate) fn start_as_it_is(mut command: Command, stderr: Stdio) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
            asked: 0,
            updates: Vec::new(),
            permissions: Vec::new(),
        }
    }

    /// Sends a signal to the agent and to nobody else.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Closes the agent's input.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Waits for the agent's end, and returns it with how long it took.
    pub(crate) async fn ended(&mut self) -> (ExitStatus, std::time::Duration) {
        let begun = tokio::time::Instant::now();
        let status = soon(self.child.wait()).await.unwrap();
        (status, begun.elapsed())
    }

    /// Greets in version 1 and returns the answer.
    pub(crate) async fn hello_v1(&mut self) -> Value {
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        self.call("initialize", hello).await.unwrap()
    }

    /// Greets in version 2 and returns the answer.
    pub(crate) async fn hello_v2(&mut self) -> Value {
        let info = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": 2, "info": info, "capabilities": {} });
        self.call("initialize", hello).await.unwrap()
    }

    /// Opens a session and returns its id.
    pub(crate) async fn session(&mut self, cwd: &std::path::Path) -> String {
        let opened = json!({ "cwd": cwd, "mcpServers": [] });
        let opened = self.call("session/new", opened).await.unwrap();
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    /// Asks something and returns the answer or the error. Permission is given on the way.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params).await;
        loop {
            let mut message = self.message().await;
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    /// Runs a turn in version 1.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> Result<Value, Value> {
        self.call("session/prompt", prompt(session, text)).await
    }

    /// Asks something and does not wait for the answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let id = self.asked;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    /// Reads the next line, keeps updates and gives permission.
    async fn message(&mut self) -> Value {
        let line = soon(self.output.next_line()).await.unwrap();
        let message = parse(&line.expect("the agent is gone"));
        match message["method"].as_str() {
            Some("session/update") => self.updates.push(message["params"]["update"].clone()),
            Some("session/request_permission") => {
                self.permissions.push(message["params"].clone());
                let options = message["params"]["options"].as_array().unwrap();
                let once = options.iter().find(|option| option["kind"] == "allow_once");
                let option = &once.unwrap()["optionId"];
                let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
                self.send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": outcome }))
                    .await;
            }
            _ => {}
        }
        message
    }

    /// Reads what is left until the output ends.
    pub(crate) async fn rest(&mut self) {
        while let Some(line) = soon(self.output.next_line()).await.unwrap() {
            parse(&line);
        }
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        let input = self.input.as_mut().unwrap();
        soon(input.write_all(line.as_bytes())).await.unwrap();
    }

    /// Returns the updates of a kind.
    pub(crate) fn of_kind(&self, kind: &str) -> Vec<&Value> {
        let updates = self.updates.iter();
        updates.filter(|it| it["sessionUpdate"] == kind).collect()
    }

    /// Returns the text of the agent's messages, or of another kind of chunk.
    pub(crate) fn text(&self, kind: &str) -> String {
        let chunks = self.of_kind(kind);
        chunks
            .iter()
            .filter_map(|it| it["content"]["text"].as_str())
            .collect()
    }
}

/// Returns the parameters of a prompt.
pub(crate) fn prompt(session: &str, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}

/// Reads a line, which must be a message and nothing else.
#[track_caller]
fn parse(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| {
        panic!("standard output has a line that is no JSON ({error}): {line}")
    });
    assert_eq!(message["jsonrpc"], "2.0", "no JSON-RPC: {line}");
    message
}
