//! Updates of a v2 session and what a v1 client is sent for them, both as JSON.

use ply_wire::{
    project::{Down, Projector, Shows},
    v1, v2,
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

/// A projector with what it has sent.
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
            let update = event(json);
            let mut downs = Vec::new();
            self.projector.apply(&update, &mut downs);
            let updates = downs.into_iter().map(|down| expanded(down, &update));
            self.out.extend(updates.map(Down::Update));
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

/// Returns what a v1 client reads. Where it is sent the v2 JSON, that is what it reads.
pub fn expanded(down: Down, of: &v2::SessionUpdate) -> v1::SessionUpdate {
    if down == Down::Same {
        let read = serde_json::from_value(json!(of)).unwrap();
        assert_eq!(down.into_update(of).as_ref(), Some(&read));
        return read;
    }
    down.into_update(of).unwrap()
}

fn shown(down: Down) -> Value {
    match down {
        Down::Update(update) => json!(update),
        other => panic!("{other:?}"),
    }
}
