//! The agent: its connection, what it writes, and what it asked.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Map, Value, json};
use tokio::process::Child;
use tokio::sync::oneshot;

use crate::Switches;
use crate::sessions::Session;

const UNPOISONED: &str = "nothing panics while it holds the lock";

/// What the ids of questions begin with where they are texts.
const TEXT_ID: &str = "question/";

/// An error that a request is answered with.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    code: i64,
    message: &'static str,
    data: Option<Value>,
}

impl Refusal {
    pub(crate) fn new(code: i64, message: &'static str) -> Self {
        Self {
            code,
            message,
            data: None,
        }
    }

    pub(crate) fn params(message: &'static str) -> Self {
        Self::new(-32602, message)
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(-32800, "The request was cancelled")
    }

    pub(crate) fn unknown_session(agent: &Agent, session: &str) -> Self {
        let mut refusal = Self::new(-32002, "There is no such session");
        if !agent.is("not-found-without-id") {
            refusal.data = Some(json!({"sessionId": session}));
        }
        refusal
    }

    pub(crate) fn json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(error), Some(data)) = (error.as_object_mut(), &self.data) {
            error.insert("data".to_owned(), data.clone());
        }
        error
    }
}

/// What a request is answered with.
pub(crate) type Answer = Result<Value, Refusal>;

/// What the connection knows.
#[derive(Default)]
pub(crate) struct State {
    /// The version that is spoken; none before the greeting.
    pub(crate) version: Option<u8>,
    /// Whether anything but a greeting was asked.
    pub(crate) is_used: bool,
    /// The client's capabilities.
    pub(crate) client: Value,
    pub(crate) is_logged_in: bool,
    pub(crate) sessions: BTreeMap<String, Arc<Session>>,
    pub(crate) sessions_made: usize,
    /// MCP servers, which end with the agent.
    pub(crate) servers: Vec<Child>,
    asked: BTreeMap<i64, oneshot::Sender<Value>>,
    questions: i64,
    /// Messages that wait for an answer of the client, which only an agent with a fault has.
    pub(crate) deferred: Vec<Map<String, Value>>,
}

/// The agent.
pub(crate) struct Agent {
    pub(crate) switches: Switches,
    state: Mutex<State>,
}

impl Agent {
    pub(crate) fn new(switches: Switches) -> Self {
        let state = State {
            is_logged_in: !switches.login,
            ..State::default()
        };
        Self {
            switches,
            state: Mutex::new(state),
        }
    }

    /// Returns whether it has this fault.
    pub(crate) fn is(&self, fault: &str) -> bool {
        debug_assert!(check_tests::faults::is_known(fault), "{fault}");
        self.switches.fault.as_deref() == Some(fault)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(UNPOISONED)
    }

    pub(crate) fn is_v2(&self) -> bool {
        self.state().version == Some(2)
    }

    /// Returns whether the client has a capability, by its JSON pointer.
    pub(crate) fn client_has(&self, pointer: &str) -> bool {
        let state = self.state();
        let value = state.client.pointer(pointer);
        // Version 1 has flags and objects, version 2 objects only.
        matches!(value, Some(Value::Object(_) | Value::Bool(true)))
    }

    /// Writes a message.
    pub(crate) fn send(&self, message: &Value) {
        let mut message = message.clone();
        if self.is("odd-meta-everywhere") {
            for part in ["params", "result"] {
                let part = message.get_mut(part).and_then(Value::as_object_mut);
                if let Some(part) = part {
                    part.insert("_meta".to_owned(), json!({"example.org/mood": [1, "fine"]}));
                }
            }
        }
        let mut line = message.to_string();
        if self.is("odd-escapes") {
            line = escaped(&line);
        }
        if self.is("odd-carriage-returns") {
            line.push('\r');
        }
        self.write(&format!("{line}\n"));
    }

    /// Writes text. A client that is gone does not miss it.
    pub(crate) fn write(&self, text: &str) {
        let latin = |letter: char| u8::try_from(letter).unwrap_or(b'?');
        let bytes = match self.is("writes-latin-1") {
            true => text.chars().map(latin).collect(),
            false => text.as_bytes().to_vec(),
        };
        let mut output = std::io::stdout().lock();
        drop(output.write_all(&bytes));
        drop(output.flush());
    }

    /// Answers a request.
    pub(crate) fn answer(&self, id: &Value, answer: Answer) {
        let mut message = Map::new();
        if !self.is("answers-without-jsonrpc") {
            message.insert("jsonrpc".to_owned(), json!("2.0"));
        }
        message.insert("id".to_owned(), self.written_id(id));
        match answer {
            Ok(result) => message.insert("result".to_owned(), result),
            Err(refusal) => {
                let mut error = refusal.json();
                if let Some(error) = error.as_object_mut()
                    && self.is("errors-without-message")
                {
                    error.remove("message");
                }
                if self.is("error-codes-are-text")
                    && let Some(code) = error.get_mut("code")
                {
                    *code = json!(code.to_string());
                }
                if let Some(error) = error.as_object_mut()
                    && self.is("odd-error-data")
                {
                    let data = json!({"why": ["details", 7]});
                    error.entry("data").or_insert(data);
                }
                if self.is("errors-with-result") {
                    message.insert("result".to_owned(), json!({}));
                }
                message.insert("error".to_owned(), error)
            }
        };
        self.send(&Value::Object(message));
    }

    fn written_id(&self, id: &Value) -> Value {
        let number = id.as_str().and_then(|text| text.parse::<i64>().ok());
        match number {
            Some(number) if self.is("text-ids-become-numbers") => json!(number),
            _ => id.clone(),
        }
    }

    /// Tells the client something about a session.
    pub(crate) fn update(&self, session: &str, update: &Value) {
        if self.is("sends-no-updates") {
            return;
        }
        let mut update = update.clone();
        if let Some(members) = update.as_object_mut() {
            let kind = members
                .get("sessionUpdate")
                .and_then(Value::as_str)
                .map(str::to_owned);
            let kind = kind.unwrap_or_default();
            if self.is("updates-without-kind") && kind == "agent_thought_chunk" {
                members.remove("sessionUpdate");
            }
            if self.is("updates-of-its-own") && kind == "agent_thought_chunk" {
                members.insert("sessionUpdate".to_owned(), json!("mood"));
            }
            if self.is("content-is-text") && kind == "agent_message_chunk" {
                members.insert("content".to_owned(), json!("words"));
            }
            if self.is("meta-is-text") && kind == "agent_message_chunk" {
                members.insert("_meta".to_owned(), json!("words"));
            }
        }
        if self.is("odd-custom-updates") && self.is_v2() {
            let custom = json!({"sessionUpdate": "_mutant_mood", "mood": "fine"});
            let params = json!({"sessionId": session, "update": custom});
            self.notify("session/update", &params);
        }
        let params = json!({"sessionId": session, "update": update});
        self.send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }

    /// Tells the client something that is no update.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Asks the client, and returns the id of the request and where the answer comes.
    pub(crate) fn ask(&self, method: &str, params: &Value) -> (i64, oneshot::Receiver<Value>) {
        let (tell, told) = oneshot::channel();
        let id = {
            let mut state = self.state();
            state.questions += 1;
            let id = state.questions;
            state.asked.insert(id, tell);
            id
        };
        let written = match self.is("odd-text-ids") {
            true => json!(format!("{TEXT_ID}{id}")),
            false => json!(id),
        };
        let request = json!({"jsonrpc": "2.0", "id": written, "method": method, "params": params});
        self.send(&request);
        if self.is("request-ids-repeat") && method == "session/request_permission" {
            self.send(&request);
        }
        (id, told)
    }

    /// Takes back a question.
    pub(crate) fn withdraw(&self, id: i64) {
        self.state().asked.remove(&id);
        if self.is("questions-stay-open") {
            return;
        }
        let written = match self.is("odd-text-ids") {
            true => json!(format!("{TEXT_ID}{id}")),
            false => json!(id),
        };
        let params = json!({"requestId": written});
        self.send(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params}));
    }

    /// Takes the client's answer to a question. One that nobody waits for is dropped.
    pub(crate) fn answered(&self, message: Map<String, Value>) {
        let id = message.get("id");
        let text = id.and_then(|id| id.as_str()?.strip_prefix(TEXT_ID)?.parse().ok());
        let id = id.and_then(Value::as_i64).or(text);
        let waiting = id.and_then(|id| self.state().asked.remove(&id));
        if let Some(waiting) = waiting {
            drop(waiting.send(Value::Object(message)));
        }
    }

    /// Returns whether it has asked under an id and waits for the answer.
    pub(crate) fn has_asked(&self, id: Option<&Value>) -> bool {
        let id = id.and_then(Value::as_i64);
        id.is_some_and(|id| self.state().asked.contains_key(&id))
    }

    pub(crate) fn is_asking(&self) -> bool {
        !self.state().asked.is_empty()
    }
}

/// Writes a line of JSON with spaces, and with escapes for everything that is not ASCII.
fn escaped(line: &str) -> String {
    let mut escaped = " ".to_owned();
    for letter in line.chars() {
        if letter.is_ascii() {
            escaped.push(letter);
            continue;
        }
        let mut units = [0; 2];
        for unit in letter.encode_utf16(&mut units) {
            escaped += &format!("\\u{unit:04x}");
        }
    }
    escaped + " "
}
