//! What comes in: lines, messages, and what is no message.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::agent::{Agent, Refusal};
use crate::{cancel, methods};

/// Takes a line, with its end.
pub(crate) fn take(agent: &Arc<Agent>, line: &[u8]) {
    if agent.is("drops-carriage-returns") && line.ends_with(b"\r\n") {
        return;
    }
    let line = line.trim_ascii();
    if line.is_empty() {
        return;
    }
    match serde_json::from_slice(line) {
        Ok(Value::Object(message)) => take_message(agent, message),
        Ok(Value::Array(entries)) if agent.is("runs-batches") => {
            for entry in entries {
                take(agent, entry.to_string().as_bytes());
            }
        }
        Ok(Value::Array(_)) if answers_arrays(agent) => {
            let error = Refusal::new(-32600, "Arrays are not taken").json();
            let refusal = json!({"jsonrpc": "2.0", "id": null, "error": error});
            agent.send(&Value::Array(vec![refusal]));
        }
        _ if agent.is("odd-silence-about-junk") && !agent.is_v2() => {}
        Ok(_) => refuse(agent, &Value::Null, -32600, "The line is no message"),
        Err(_) if agent.is("silent-about-bad-json") => {}
        Err(_) if agent.is("dies-of-bad-json") => std::process::exit(1),
        Err(_) => refuse(agent, &Value::Null, -32700, "The line is no JSON"),
    }
}

fn answers_arrays(agent: &Agent) -> bool {
    let is_odd = agent.is("odd-answers-arrays") && !agent.is_v2();
    is_odd || agent.is("answers-arrays-with-arrays")
}

fn refuse(agent: &Agent, id: &Value, code: i64, message: &'static str) {
    agent.answer(id, Err(Refusal::new(code, message)));
}

/// Takes a message, and those that were kept waiting for it.
fn take_message(agent: &Arc<Agent>, message: Map<String, Value>) {
    let is_answer = !message.contains_key("method");
    if agent.is("deaf-while-asking") && !is_answer && agent.is_asking() {
        agent.state().deferred.push(message);
        return;
    }
    dispatch(agent, message);
    if !agent.is_asking() {
        let deferred = std::mem::take(&mut agent.state().deferred);
        for message in deferred {
            dispatch(agent, message);
        }
    }
}

fn dispatch(agent: &Arc<Agent>, message: Map<String, Value>) {
    let id = message.get("id").cloned();
    let is_lawful = id.as_ref().is_some_and(|id| is_id(agent, id));
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        let id = id.filter(|_| is_lawful).unwrap_or_default();
        return refuse(agent, &id, -32600, "The message is not JSON-RPC 2.0");
    }
    if agent.is("mixes-up-ids") && agent.has_asked(id.as_ref()) {
        return agent.answered(message);
    }
    let method = match message.get("method") {
        Some(Value::String(method)) => method.clone(),
        Some(_) => return refuse(agent, &Value::Null, -32600, "The method is no text"),
        None if message.contains_key("result") || message.contains_key("error") => {
            return agent.answered(message);
        }
        None => return refuse(agent, &Value::Null, -32600, "The message has no method"),
    };
    let params = message.get("params").cloned().unwrap_or_default();
    match id {
        None => notification(agent, &method, &params),
        Some(Value::Null) if agent.is("null-ids-ignored") => {}
        Some(id) if is_lawful => methods::serve(agent, &id, &method, &params),
        Some(_) => refuse(agent, &Value::Null, -32600, "The id is no text or number"),
    }
}

fn is_id(agent: &Agent, id: &Value) -> bool {
    match id {
        Value::String(_) => true,
        Value::Number(number) => number.is_i64() || number.is_u64() || !agent.is_v2(),
        Value::Null => !agent.is_v2() || agent.is("null-ids-served"),
        _ => false,
    }
}

fn notification(agent: &Arc<Agent>, method: &str, params: &Value) {
    if agent.state().version.is_none() {
        return;
    }
    match method {
        "session/cancel" => cancel::session(agent, params),
        "$/cancel_request" => cancel::request(agent, params),
        _ if agent.is("answers-notifications") => {
            refuse(agent, &Value::Null, -32601, "There is no such notification");
        }
        _ if agent.is("dies-of-new-notifications") => std::process::exit(1),
        _ => {}
    }
}
