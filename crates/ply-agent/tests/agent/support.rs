//! A client that writes and reads lines by hand, so that the wire itself is checked.

use std::time::Duration;

use ply_agent::{Agent, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

/// Longer than anything takes, under paused time too.
const PATIENCE: Duration = Duration::from_secs(60);
const PIPE_BYTES: usize = 1024 * 1024;

pub(crate) struct Client {
    lines: Lines<BufReader<DuplexStream>>,
    writer: Option<DuplexStream>,
    served: JoinHandle<()>,
    next_id: i64,
    /// Everything the agent wrote so far.
    pub(crate) log: Vec<Value>,
}

/// Connects a client of the server, before its `initialize`.
pub(crate) fn connect(server: &Server) -> Client {
    connect_over(server, PIPE_BYTES)
}

/// The same with pipes that hold this many bytes.
pub(crate) fn connect_over(server: &Server, pipe_bytes: usize) -> Client {
    let (agent_reads, writer) = tokio::io::duplex(pipe_bytes);
    let (reader, agent_writes) = tokio::io::duplex(pipe_bytes);
    let server = server.clone();
    let served = tokio::spawn(async move { server.over(agent_reads, agent_writes).await });
    Client {
        lines: BufReader::new(reader).lines(),
        writer: Some(writer),
        served,
        next_id: 0,
        log: Vec::new(),
    }
}

/// Connects and initializes a client of version 1 with these capabilities.
pub(crate) async fn v1_with(server: &Server, capabilities: Value) -> Client {
    let mut client = connect(server);
    let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    client.ok("initialize", params).await;
    client
}

/// Connects and initializes a client of version 2 with these capabilities.
pub(crate) async fn v2_with(server: &Server, capabilities: Value) -> Client {
    let mut client = connect(server);
    let info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": 2, "info": info, "capabilities": capabilities});
    client.ok("initialize", params).await;
    client
}

pub(crate) async fn v1(agent: impl Agent) -> Client {
    v1_with(&ply_agent::serve(agent), json!({})).await
}

pub(crate) async fn v2(agent: impl Agent) -> Client {
    v2_with(&ply_agent::serve(agent), json!({})).await
}

impl Client {
    /// Writes one line as it is.
    pub(crate) async fn write(&mut self, line: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(line.as_bytes()).await.unwrap();
        writer.write_all(b"\n").await.unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&request.to_string()).await;
        id
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let note = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.write(&note.to_string()).await;
    }

    /// Answers a request of the agent's.
    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        self.write(&answer.to_string()).await;
    }

    pub(crate) async fn answer_error(&mut self, request: &Value, code: i64) {
        let error = json!({"code": code, "message": "no"});
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
        self.write(&answer.to_string()).await;
    }

    /// Reads the next message; none if the agent closed its side.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line());
        let line = line.await.expect("the agent went silent").unwrap()?;
        let message: Value = serde_json::from_str(&line).expect("a line of JSON");
        self.log.push(message.clone());
        Some(message)
    }

    /// Reads up to and including the message that `is` looks for; the last one is it.
    pub(crate) async fn until(&mut self, is: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let message = self.next().await;
            seen.push(message.unwrap_or_else(|| panic!("the agent left after {seen:#?}")));
            if seen.last().is_some_and(&is) {
                return seen;
            }
        }
    }

    /// Reads up to and including the answer to a request of ours.
    pub(crate) async fn answered(&mut self, id: i64) -> Vec<Value> {
        self.until(|message| message["id"] == id && message.get("method").is_none())
            .await
    }

    /// Reads up to and including a message of the agent's with this method.
    pub(crate) async fn method(&mut self, method: &str) -> Value {
        let seen = self.until(|message| message["method"] == method).await;
        seen.into_iter().next_back().unwrap()
    }

    /// Asks, and returns the result; what comes before it is dropped.
    pub(crate) async fn ok(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let answer = self.answered(id).await.pop().unwrap();
        assert!(answer.get("result").is_some(), "{method} failed: {answer}");
        answer["result"].clone()
    }

    /// Asks, and returns the error's code.
    pub(crate) async fn fails(&mut self, method: &str, params: Value) -> i64 {
        let id = self.ask(method, params).await;
        let answer = self.answered(id).await.pop().unwrap();
        assert!(answer.get("error").is_some(), "{method} worked: {answer}");
        answer["error"]["code"].as_i64().unwrap()
    }

    /// Makes a session and returns its id.
    pub(crate) async fn session(&mut self) -> String {
        let params = json!({"cwd": "/work", "mcpServers": []});
        let made = self.ok("session/new", params).await;
        made["sessionId"].as_str().unwrap().to_owned()
    }

    /// Sends a prompt of one text and returns its id.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> i64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.ask(
            "session/prompt",
            json!({"sessionId": session, "prompt": prompt}),
        )
        .await
    }

    pub(crate) async fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({"sessionId": session}))
            .await;
    }

    /// Reads to the idle that ends the work, on version 2.
    pub(crate) async fn idle(&mut self) -> Vec<Value> {
        // One without a reason only says again that nothing runs.
        self.until(|message| update(message)["stopReason"].is_string())
            .await
    }

    /// Has the server give up on us in the middle: drops the future that serves us.
    pub(crate) fn give_up(&self) {
        self.served.abort();
    }

    /// Goes away without a word, as a client does that is killed.
    pub(crate) async fn vanish(self) -> Vec<Value> {
        let Self {
            lines,
            writer,
            served,
            log,
            ..
        } = self;
        drop((lines, writer));
        tokio::time::timeout(PATIENCE, served)
            .await
            .unwrap()
            .unwrap();
        log
    }

    /// Closes our side and waits until the agent is done with us; returns what it still wrote.
    pub(crate) async fn leave(mut self) -> Vec<Value> {
        self.writer = None;
        let mut last = Vec::new();
        while let Some(message) = self.next().await {
            last.push(message);
        }
        tokio::time::timeout(PATIENCE, self.served)
            .await
            .unwrap()
            .unwrap();
        last
    }
}

/// Returns the update in a `session/update`, or null.
pub(crate) fn update(message: &Value) -> &Value {
    match message["method"] == "session/update" {
        true => &message["params"]["update"],
        false => &Value::Null,
    }
}

/// Returns the updates among the messages.
pub(crate) fn updates(messages: &[Value]) -> Vec<&Value> {
    let updates = messages.iter().map(update);
    updates.filter(|update| !update.is_null()).collect()
}

/// Returns the kinds of the updates among the messages.
pub(crate) fn kinds(messages: &[Value]) -> Vec<&str> {
    let updates = updates(messages).into_iter();
    updates
        .filter_map(|update| update["sessionUpdate"].as_str())
        .collect()
}

/// Returns what the agent says in these messages.
pub(crate) fn said(messages: &[Value]) -> String {
    let chunks = updates(messages).into_iter();
    let chunks = chunks.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    chunks
        .filter_map(|chunk| chunk["content"]["text"].as_str())
        .collect()
}
