//! The few messages of the protocol that a witness sends, in either version.

use serde_json::{Value, json};

use crate::Version;
use crate::script::Choice;

/// The working directory of all sessions.
pub(crate) const CWD: &str = "/work";

pub(crate) fn request(id: i64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(crate) fn notification(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// The answer to a permission request.
pub(crate) fn permission(request: &Value, choice: Choice) -> String {
    let result = json!({"outcome": {"outcome": "selected", "optionId": option(choice)}});
    json!({"jsonrpc": "2.0", "id": request, "result": result}).to_string()
}

/// The option that is chosen.
pub(crate) fn option(choice: Choice) -> &'static str {
    match choice {
        Choice::Allow => "allow_once",
        Choice::Reject => "reject_once",
    }
}

pub(crate) fn initialize(version: Version) -> Value {
    match version {
        Version::V1 => json!({"protocolVersion": 1, "clientCapabilities": {}}),
        Version::V2 => {
            let info = json!({"name": "witness", "version": "1"});
            json!({"protocolVersion": 2, "info": info, "capabilities": {}})
        }
    }
}

pub(crate) fn new_session() -> Value {
    json!({"cwd": CWD, "mcpServers": []})
}

/// The method and its parameters that open a session and show all of it.
pub(crate) fn load(version: Version, session: &str) -> (&'static str, Value) {
    let mut params = json!({"sessionId": session, "cwd": CWD, "mcpServers": []});
    match version {
        Version::V1 => ("session/load", params),
        Version::V2 => {
            let from = json!({"type": "start"});
            params
                .as_object_mut()
                .map(|params| params.insert("replayFrom".to_owned(), from));
            ("session/resume", params)
        }
    }
}

pub(crate) fn of_session(session: &str) -> Value {
    json!({"sessionId": session})
}

pub(crate) fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

/// Why a turn stopped, as an update of version 2 says it; none if it is another update.
pub(crate) fn idle(message: &Value) -> Option<Stop> {
    let update = message.pointer("/params/update")?;
    if update.get("state")? != "idle" {
        return None;
    }
    let reason = text(update, "/stopReason");
    Some(match reason.as_str() {
        "error" => Stop::Failed(update.get("error").unwrap_or(&Value::Null).to_string()),
        _ => Stop::Done(reason),
    })
}

/// Why a turn stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// For this reason.
    Done(String),
    /// With this error.
    Failed(String),
}

/// Returns a text in a message; an empty one if there is none.
pub(crate) fn text(message: &Value, pointer: &str) -> String {
    let text = message.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}
