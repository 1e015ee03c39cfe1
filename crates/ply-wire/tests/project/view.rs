//! Events of a v2 session and what a v1 client is sent for them, both as JSON.

use ply_wire::{
    project::{Down, Projector, Shows},
    v2,
};
use serde_json::{Value, json};

pub fn event(json: Value) -> v2::SessionUpdate {
    serde_json::from_value(json).unwrap()
}

pub fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub fn item(words: &str) -> Value {
    json!({"type": "content", "content": text(words)})
}

pub fn chunk(who: &str, id: &str, words: &str) -> Value {
    json!({"sessionUpdate": format!("{who}_chunk"), "messageId": id, "content": text(words)})
}

pub fn message(who: &str, id: &str, words: &[&str]) -> Value {
    let content: Vec<_> = words.iter().map(|words| text(words)).collect();
    json!({"sessionUpdate": who, "messageId": id, "content": content})
}

pub fn call(id: &str, fields: Value) -> Value {
    with("tool_call_update", "toolCallId", id, fields)
}

pub fn with(kind: &str, key: &str, id: &str, mut fields: Value) -> Value {
    fields["sessionUpdate"] = json!(kind);
    fields[key] = json!(id);
    fields
}

pub fn state(state: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": state})
}

pub fn idle(reason: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": reason})
}

/// A projector with what it has sent, as JSON; answers are `{"settled": ticket, "ok" or "error":
/// …}`.
pub struct View {
    pub projector: Projector,
    pub out: Vec<Down>,
}

impl View {
    pub fn new(shows: Shows) -> Self {
        Self {
            projector: Projector::new(shows, "v/"),
            out: Vec::new(),
        }
    }

    pub fn apply(&mut self, events: impl IntoIterator<Item = Value>) -> &mut Self {
        for json in events {
            self.projector.apply(&event(json), &mut self.out);
        }
        self
    }

    pub fn sent(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.out)
            .into_iter()
            .map(shown)
            .collect()
    }
}

fn shown(down: Down) -> Value {
    match down {
        Down::Update(update) => serde_json::to_value(update).unwrap(),
        Down::Settle {
            prompt,
            outcome: Ok(response),
        } => json!({"settled": prompt.0, "ok": response}),
        Down::Settle {
            prompt,
            outcome: Err(error),
        } => json!({"settled": prompt.0, "error": error}),
        other => panic!("{other:?}"),
    }
}
