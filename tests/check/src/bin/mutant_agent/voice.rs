//! What happened, in the words of a version.
//!
//! A session keeps items that belong to no version, so that what is replayed is what was said:
//! `user` (`id`, `blocks`), `say` and `think` (`id`, `text`), `call` (`is_first`, `fields`), `plan` (`entries`) and `terminal` (`update`).

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::agent::Agent;

/// When something is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// As it happens.
    Live,
    /// When a session comes back.
    Replay,
}

/// Returns the updates that tell an item.
pub(crate) fn render(agent: &Agent, item: &Value, moment: Moment) -> Vec<Value> {
    let get = |key: &str| item.get(key).cloned().unwrap_or_default();
    let is_v2 = agent.is_v2();
    match item.get("kind").and_then(Value::as_str).unwrap_or_default() {
        "user" => user(agent, &get("id"), get("blocks"), moment),
        "say" => vec![chunk(agent, "agent_message_chunk", get("id"), get("text"))],
        "think" => vec![chunk(agent, "agent_thought_chunk", get("id"), get("text"))],
        "call" => vec![call(
            agent,
            &get("fields"),
            item.get("is_first") == Some(&json!(true)),
        )],
        "plan" if is_v2 && agent.is("plans-without-id") => {
            vec![
                json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "entries": get("entries")}}),
            ]
        }
        "plan" if is_v2 => {
            vec![
                json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "main", "entries": get("entries")}}),
            ]
        }
        "plan" if agent.is("plans-of-version-2") => {
            let plan = json!({"type": "items", "planId": "main", "entries": get("entries")});
            vec![json!({"sessionUpdate": "plan_update", "plan": plan})]
        }
        "plan" => vec![json!({"sessionUpdate": "plan", "entries": get("entries")})],
        "notice" if moment == Moment::Replay => {
            vec![
                json!({"sessionUpdate": "notice", "severity": "info", "title": "The weather is fine"}),
            ]
        }
        "terminal" if is_v2 => vec![get("update")],
        _ => Vec::new(),
    }
}

fn user(agent: &Agent, id: &Value, blocks: Value, moment: Moment) -> Vec<Value> {
    if agent.is_v2() {
        return vec![json!({"sessionUpdate": "user_message", "messageId": id, "content": blocks})];
    }
    // A client of version 1 shows its own prompt.
    let blocks = match (blocks, moment) {
        (Value::Array(blocks), Moment::Replay) => blocks,
        _ => Vec::new(),
    };
    let chunks = blocks.into_iter();
    let chunks = chunks.map(
        |block| json!({"sessionUpdate": "user_message_chunk", "messageId": id, "content": block}),
    );
    chunks.collect()
}

fn chunk(agent: &Agent, kind: &str, id: Value, text: Value) -> Value {
    let content = match agent.switches.fault.as_deref() {
        Some("text-blocks-without-text") => json!({"type": "text"}),
        Some("blocks-of-its-own") => json!({"type": "table", "text": text}),
        Some("priorities-beyond-one") => {
            json!({"type": "text", "text": text, "annotations": {"priority": 7}})
        }
        _ => json!({"type": "text", "text": text}),
    };
    let mut chunk = json!({"sessionUpdate": kind, "content": content});
    if let Some(chunk) = chunk.as_object_mut()
        && !agent.is("messages-without-id")
    {
        chunk.insert("messageId".to_owned(), id);
    }
    chunk
}

fn call(agent: &Agent, fields: &Value, is_first: bool) -> Value {
    let is_v2 = agent.is_v2();
    let mut told: Map<String, Value> = fields.as_object().cloned().unwrap_or_default();
    let kind = match is_first && (!is_v2 || agent.is("tool-calls-of-version-1")) {
        true => "tool_call",
        false => "tool_call_update",
    };
    told.insert("sessionUpdate".to_owned(), json!(kind));
    let content = told.get("content").and_then(Value::as_array).cloned();
    if let Some(content) = content {
        let items = content.iter().map(|item| content_item(agent, item));
        told.insert("content".to_owned(), items.collect());
    }
    let status = told.get("status").and_then(Value::as_str);
    match status {
        Some("completed") if agent.is("statuses-of-its-own") => {
            told.insert("status".to_owned(), json!("done"));
        }
        Some("cancelled") if !is_v2 => {
            told.insert("status".to_owned(), json!("failed"));
        }
        _ => {}
    }
    if agent.is("updates-without-call-id") && kind == "tool_call_update" {
        told.remove("toolCallId");
    }
    if agent.is("tool-calls-without-title") {
        told.remove("title");
    }
    if agent.is("kinds-of-its-own") && told.contains_key("kind") {
        told.insert("kind".to_owned(), json!("inspect"));
    }
    if agent.is("tool-ids-repeat") {
        told.insert("toolCallId".to_owned(), json!("call"));
    }
    let locations = told.get_mut("locations").and_then(Value::as_array_mut);
    for location in locations.into_iter().flatten() {
        if agent.is("locations-are-relative") {
            *location = json!({"path": "README.md"});
        }
        if agent.is("lines-count-from-zero")
            && let Some(location) = location.as_object_mut()
        {
            location.insert("line".to_owned(), json!(0));
        }
    }
    Value::Object(told)
}

fn content_item(agent: &Agent, item: &Value) -> Value {
    if let Some(text) = item.get("text") {
        let block = json!({"type": "text", "text": text});
        return match agent.is("bare-blocks-in-tool-calls") {
            true => block,
            false => json!({"type": "content", "content": block}),
        };
    }
    if let Some(terminal) = item.get("terminal") {
        return json!({"type": "terminal", "terminalId": terminal});
    }
    let get = |key: &str| item.get(key).and_then(Value::as_str);
    let whole = get("path").unwrap_or_default();
    let path = match agent.is("diffs-are-relative") {
        true => Path::new(whole)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default(),
        false => whole,
    };
    let new = get("new").unwrap_or_default();
    match (agent.is_v2(), get("old")) {
        (false, None) => json!({"type": "diff", "path": path, "newText": new}),
        (false, Some(old)) => json!({"type": "diff", "path": path, "oldText": old, "newText": new}),
        (true, old) => {
            let operation = match old {
                None => "add",
                Some(_) => "modify",
            };
            let patch = json!({"format": "git_patch", "text": patch(agent, whole, old, new)});
            json!({"type": "diff", "changes": [{"operation": operation, "path": path, "fileType": "text"}], "patch": patch})
        }
    }
}

/// Returns a patch that replaces the whole file. Both texts are of whole lines.
fn patch(agent: &Agent, path: &str, old: Option<&str>, new: &str) -> String {
    let path = match agent.is("patches-of-other-files") {
        true => "/nowhere/else.txt",
        false => path,
    };
    let (mode, before) = match old {
        None => ("new file mode 100644\n", "/dev/null"),
        Some(_) => ("", path),
    };
    let lines = |text: &str, sign: char| -> String {
        text.lines().map(|line| format!("{sign}{line}\n")).collect()
    };
    let count = |text: &str| match text.lines().count() {
        0 => "0,0".to_owned(),
        1 => "1".to_owned(),
        lines => format!("1,{lines}"),
    };
    let text = old.unwrap_or_default();
    let hunk = format!(
        "@@ -{} +{} @@\n{}{}",
        count(text),
        count(new),
        lines(text, '-'),
        lines(new, '+')
    );
    match agent.is("patches-with-prefixes") {
        true => format!("diff --git a{path} b{path}\n{mode}--- {before}\n+++ b{path}\n{hunk}"),
        false => format!("diff --git {path} {path}\n{mode}--- {before}\n+++ {path}\n{hunk}"),
    }
}
