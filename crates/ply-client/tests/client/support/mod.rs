//! A client and a scripted agent at the other end of a memory link, which reads and writes plain JSON lines.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "each test file uses a part, and tests fail by panicking"
)]

use std::panic::Location;
use std::time::Duration;

use ply_client::{
    Agent, Client, Elicitation, Error, Event, Events, Permission, ReportKind, Session, Transport,
    Turn,
};
use ply_rpc::transport::memory;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};

/// The scripted agent.
pub struct Script {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
    asked: u64,
}

/// The id of the session that [`open`] makes.
pub const SESSION: &str = "s-1";

/// How long a test waits for one thing that has to happen.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Waits for something that has to happen; a test whose rule is broken fails here instead of waiting forever.
#[track_caller]
pub fn within<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    let caller = Location::caller();
    async move {
        let done = tokio::time::timeout(WAIT_MAX, work).await;
        done.unwrap_or_else(|_| panic!("at {caller}: nothing happened within {WAIT_MAX:?}"))
    }
}

/// Returns a link for a client, and the script at its other end.
pub fn link() -> (memory::End, Script) {
    let (ours, (from_client, to_client)) = memory::pair(1 << 20);
    let script = Script {
        reader: BufReader::new(from_client),
        writer: Some(to_client),
        asked: 0,
    };
    (ours, script)
}

/// Connects, with a script that answers `initialize` with `answer`.
pub async fn greet(client: Client, answer: Value) -> (Result<Agent, Error>, Script, Value) {
    let ((reader, writer), mut script) = link();
    let greeting = async {
        let request = script.expect("initialize").await;
        script.answer(&request, answer).await;
        request
    };
    let connecting = client.connect(Transport::new(reader, writer));
    let (agent, request) = tokio::join!(within(connecting), greeting);
    (agent, script, request)
}

/// Connects to an agent of version 1 with these `agentCapabilities`.
pub async fn v1_with(client: Client, capabilities: Value) -> (Agent, Script) {
    let answer = json!({ "protocolVersion": 1, "agentCapabilities": capabilities });
    let (agent, script, _) = greet(client, answer).await;
    (agent.unwrap(), script)
}

/// Connects to an agent of version 2 with these `session` capabilities.
pub async fn v2_with(client: Client, session: Value) -> (Agent, Script) {
    let answer = json!({
        "protocolVersion": 2,
        "info": { "name": "script", "version": "0" },
        "capabilities": { "session": session },
    });
    let (agent, script, _) = greet(client, answer).await;
    (agent.unwrap(), script)
}

/// A version 1 session with an agent that can do nothing special.
pub async fn v1_session() -> (Session, Script) {
    v1_session_of(Client::new()).await
}

pub async fn v1_session_of(client: Client) -> (Session, Script) {
    let (agent, mut script) = v1_with(client, json!({})).await;
    let session = open(&agent, &mut script).await;
    (session, script)
}

/// A version 2 session with an agent that can do nothing special.
pub async fn v2_session() -> (Session, Script) {
    v2_session_of(Client::new()).await
}

pub async fn v2_session_of(client: Client) -> (Session, Script) {
    let (agent, mut script) = v2_with(client, json!({})).await;
    let session = open(&agent, &mut script).await;
    (session, script)
}

/// Makes the session [`SESSION`].
pub async fn open(agent: &Agent, script: &mut Script) -> Session {
    let answering = async {
        let request = script.expect("session/new").await;
        script
            .answer(&request, json!({ "sessionId": SESSION }))
            .await;
    };
    let (session, ()) = tokio::join!(within(agent.new_session("/work")), answering);
    session.unwrap()
}

/// Prompts, and returns the turn with the request.
pub async fn prompt(session: &Session, script: &mut Script, text: &str) -> (Turn, Value) {
    let turn = within(session.prompt(text)).await.unwrap();
    let request = script.expect("session/prompt").await;
    (turn, request)
}

/// Reads a turn to its end as words: each event in short, the end last.
#[track_caller]
pub fn told(turn: &mut Turn) -> impl Future<Output = Vec<String>> {
    // The whole turn: an agent that says nothing is an event too, after a while.
    within(async {
        let mut told = Vec::new();
        while let Some(event) = turn.next().await {
            match event {
                Ok(event) => told.extend(short(&event)),
                Err(error) => told.push(format!("error: {error}")),
            }
        }
        if let Some(end) = turn.end() {
            told.push(format!("end: {:?}", end.stop_reason));
        }
        told
    })
}

/// Returns the next question for permission in a turn.
#[track_caller]
pub fn permission(turn: &mut Turn) -> impl Future<Output = Permission> {
    within(async {
        loop {
            if let Event::Permission(ask) = turn.next().await.unwrap().unwrap() {
                return ask;
            }
        }
    })
}

/// Returns the next question for information in a turn.
#[track_caller]
pub fn elicitation(turn: &mut Turn) -> impl Future<Output = Elicitation> {
    within(async {
        loop {
            if let Event::Elicitation(ask) = turn.next().await.unwrap().unwrap() {
                return ask;
            }
        }
    })
}

/// An event in short; states and the user's own words are left out.
pub fn short(event: &Event) -> Option<String> {
    Some(match event {
        Event::Message(text) => format!("says {text}"),
        Event::Thought(text) => format!("thinks {text}"),
        Event::ToolCall(call) => {
            let call = call.snapshot()?;
            format!("call {} {:?}", call.id, call.status)
        }
        Event::Plan(_) => "plan".to_owned(),
        Event::Permission(_) => "asks".to_owned(),
        Event::Quiet { for_s } => format!("quiet {for_s}"),
        Event::Lagged { .. } => "lagged".to_owned(),
        Event::CancelOverdue => "cancel overdue".to_owned(),
        Event::State(_) | Event::UserMessage(_) => return None,
        other => format!("{other:?}"),
    })
}

/// Returns the next event of a stream, without its turn.
#[track_caller]
pub fn heard(events: &mut Events) -> impl Future<Output = Option<Event>> {
    within(async { events.next().await.map(|heard| heard.event) })
}

/// Returns how often the agent broke a rule.
pub fn reported(agent: &Agent, kind: ReportKind) -> u64 {
    let reports = agent.reports().into_iter();
    reports
        .filter(|report| report.kind == kind)
        .map(|report| report.count)
        .sum()
}

impl Script {
    /// Returns the next message of the client.
    #[track_caller]
    pub fn next(&mut self) -> impl Future<Output = Value> {
        within(async {
            let mut line = String::new();
            self.reader.read_line(&mut line).await.unwrap();
            assert!(line.ends_with('\n'), "the client closed; got {line:?}");
            serde_json::from_str(&line).unwrap()
        })
    }

    /// Returns the next message, which must be of this method.
    #[track_caller]
    pub fn expect(&mut self, method: &str) -> impl Future<Output = Value> {
        let (caller, next) = (Location::caller(), self.next());
        async move {
            let message = next.await;
            assert_eq!(message["method"], method, "at {caller}: {message}");
            message
        }
    }

    /// Waits until the client closes its side.
    pub async fn closed(&mut self) {
        let mut rest = String::new();
        within(async { while self.reader.read_line(&mut rest).await.unwrap() > 0 {} }).await;
    }

    pub async fn raw(&mut self, line: &str) {
        let line = format!("{line}\n");
        let writer = self.writer.as_mut().unwrap();
        within(writer.write_all(line.as_bytes())).await.unwrap();
    }

    pub async fn send(&mut self, message: Value) {
        self.raw(&message.to_string()).await;
    }

    pub async fn answer(&mut self, request: &Value, result: Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        self.send(answer).await;
    }

    pub async fn refuse(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({ "code": code, "message": message });
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "error": error });
        self.send(answer).await;
    }

    /// Ends a version 1 turn.
    pub async fn stop(&mut self, request: &Value, reason: &str) {
        self.answer(request, json!({ "stopReason": reason })).await;
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send(message).await;
    }

    /// Sends an update of [`SESSION`].
    pub async fn update(&mut self, update: Value) {
        self.update_of(SESSION, update).await;
    }

    pub async fn update_of(&mut self, session: &str, update: Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.notify("session/update", params).await;
    }

    /// Says something, in version 1.
    pub async fn say(&mut self, text: &str) {
        self.update(words(text)).await;
    }

    /// Reports a state, in version 2.
    pub async fn state(&mut self, state: &str, stop_reason: Option<&str>) {
        let mut update = json!({ "sessionUpdate": "state_update", "state": state });
        if let Some(reason) = stop_reason {
            update["stopReason"] = json!(reason);
        }
        self.update(update).await;
    }

    /// Asks the client, and returns the id of the request.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = json!(format!("a{}", self.asked));
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(message).await;
        id
    }

    /// Asks for permission in version 1 about call `call`, with one option of each kind.
    pub async fn ask_permission(&mut self, call: &str) -> Value {
        let options = options(&["allow_once", "allow_always", "reject_once", "reject_always"]);
        self.ask_permission_with(call, options).await
    }

    pub async fn ask_permission_with(&mut self, call: &str, options: Value) -> Value {
        let params = json!({
            "sessionId": SESSION,
            "toolCall": { "toolCallId": call, "title": "Remove everything" },
            "options": options,
        });
        self.ask("session/request_permission", params).await
    }

    /// Returns the client's answer to a request of ours.
    #[track_caller]
    pub fn answered(&mut self, id: &Value) -> impl Future<Output = Value> {
        let (caller, next) = (Location::caller(), self.next());
        async move {
            let message = next.await;
            assert_eq!(message["id"], *id, "at {caller}: {message}");
            message
        }
    }

    /// Proves that the client has written nothing since the last message that was read.
    #[track_caller]
    pub fn silent(&mut self) -> impl Future<Output = ()> {
        let caller = Location::caller();
        async move {
            let id = self.ask("_probe", json!({})).await;
            let message = self.next().await;
            assert_eq!(message["id"], id, "at {caller}: the client wrote {message}");
        }
    }

    /// Closes what the client reads, as a process that dies does.
    pub fn die(&mut self) {
        self.writer = None;
        let ((reader, _), _) = memory::pair(1);
        self.reader = BufReader::new(reader);
    }
}

/// A version 1 message chunk.
pub fn words(text: &str) -> Value {
    json!({
        "sessionUpdate": "agent_message_chunk",
        "content": { "type": "text", "text": text },
    })
}

/// A version 2 message chunk.
pub fn words_of(message: &str, text: &str) -> Value {
    json!({
        "sessionUpdate": "agent_message_chunk",
        "messageId": message,
        "content": { "type": "text", "text": text },
    })
}

/// A version 2 message of the user.
pub fn user_message(message: &str, text: &str) -> Value {
    json!({
        "sessionUpdate": "user_message",
        "messageId": message,
        "content": [{ "type": "text", "text": text }],
    })
}

/// Permission options of these kinds, each with its kind as id.
pub fn options(kinds: &[&str]) -> Value {
    let option = |kind: &&str| json!({ "optionId": kind, "name": kind, "kind": kind });
    kinds.iter().map(option).collect()
}
