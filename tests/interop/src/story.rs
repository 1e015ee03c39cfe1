//! What a session's updates come to, folded without any code of Ply's.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::record::word;

/// The members of an update that only say what it is about.
const ENVELOPE: [&str; 2] = ["sessionUpdate", "toolCallId"];

/// Folds updates of either version to what a user sees in the end, in order: a message is its kind and text, a tool call
/// an object of its members, a plan the list of its entries. States and other facts about the session are left out.
pub(crate) fn fold(updates: &[&Value]) -> Vec<Value> {
    let mut story = Story::default();
    for update in updates {
        story.apply(update);
    }
    story.entries.iter().map(Entry::show).collect()
}

#[derive(Default)]
struct Story {
    entries: Vec<Entry>,
    calls: BTreeMap<String, usize>,
}

enum Entry {
    Message {
        kind: String,
        id: Option<Value>,
        text: String,
    },
    Call(Map<String, Value>),
    Plan(Value),
}

impl Entry {
    fn show(&self) -> Value {
        match self {
            Self::Message { kind, text, .. } => Value::String(format!("{kind}: {text}")),
            Self::Call(call) => Value::Object(call.clone()),
            Self::Plan(entries) => entries.clone(),
        }
    }
}

impl Story {
    fn apply(&mut self, update: &Value) {
        let kind = word(update, "sessionUpdate");
        match kind {
            "tool_call" | "tool_call_update" => self.call(update),
            "tool_call_content_chunk" => self.add_to_call(update),
            "plan" => self.plan(update.get("entries")),
            "plan_update" => self.plan(update.pointer("/plan/entries")),
            _ => match kind.strip_suffix("_chunk") {
                Some(kind) => self.chunk(kind, update),
                None if update.get("messageId").is_some() => self.message(kind, update),
                None => {}
            },
        }
    }

    /// Appends to the message with that id, or without ids to the last entry.
    fn chunk(&mut self, kind: &str, update: &Value) {
        let new = text(update.get("content"));
        let same = |entry: &&mut Entry, by: Option<&Value>| matches!(entry, Entry::Message { kind: of, id, .. } if of == kind && id.as_ref() == by);
        let id = update.get("messageId");
        let known = match id {
            Some(_) => self.entries.iter_mut().find(|entry| same(entry, id)),
            None => self.entries.last_mut().filter(|entry| same(entry, None)),
        };
        match known {
            Some(Entry::Message { text, .. }) => text.push_str(&new),
            _ => self.entries.push(Entry::Message {
                kind: kind.to_owned(),
                id: id.cloned(),
                text: new,
            }),
        }
    }

    /// Replaces the message with that id, or adds it.
    fn message(&mut self, kind: &str, update: &Value) {
        let by = update.get("messageId");
        let same = |entry: &&mut Entry| matches!(entry, Entry::Message { kind: of, id, .. } if of == kind && id.as_ref() == by);
        let new = text(update.get("content"));
        match self.entries.iter_mut().find(same) {
            Some(Entry::Message { text, .. }) => *text = new,
            _ => self.entries.push(Entry::Message {
                kind: kind.to_owned(),
                id: by.cloned(),
                text: new,
            }),
        }
    }

    /// Writes the members of the update over those of the call.
    fn call(&mut self, update: &Value) {
        let Some(call) = self.entry_of(update) else {
            return;
        };
        for (name, value) in update.as_object().into_iter().flatten() {
            if !ENVELOPE.contains(&name.as_str()) {
                call.insert(name.clone(), value.clone());
            }
        }
    }

    fn add_to_call(&mut self, update: &Value) {
        let Some(call) = self.entry_of(update) else {
            return;
        };
        let content = call
            .entry("content")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let (Some(content), Some(new)) = (content.as_array_mut(), update.get("content")) {
            content.push(new.clone());
        }
    }

    fn entry_of(&mut self, update: &Value) -> Option<&mut Map<String, Value>> {
        let id = word(update, "toolCallId").to_owned();
        let at = *self.calls.entry(id).or_insert_with(|| {
            self.entries.push(Entry::Call(Map::new()));
            self.entries.len() - 1
        });
        match self.entries.get_mut(at) {
            Some(Entry::Call(call)) => Some(call),
            _ => None,
        }
    }

    fn plan(&mut self, entries: Option<&Value>) {
        let entries = entries.cloned().unwrap_or_default();
        let is_plan = |entry: &&mut Entry| matches!(entry, Entry::Plan(_));
        match self.entries.iter_mut().find(is_plan) {
            Some(plan) => *plan = Entry::Plan(entries),
            None => self.entries.push(Entry::Plan(entries)),
        }
    }
}

/// Returns the text of one content block, or of several.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::Array(blocks)) => blocks.iter().map(|block| word(block, "text")).collect(),
        Some(block) => word(block, "text").to_owned(),
        None => String::new(),
    }
}
