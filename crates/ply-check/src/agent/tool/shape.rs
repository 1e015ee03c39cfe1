//! The shapes of what is reported about tool calls.

use ply_wire::negotiate::Version;
use serde_json::Value;

use crate::agent::bench::{Agent, Bench};
use crate::agent::turn::{Course, word};

const KINDS: [&str; 10] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];
const STATUSES_V1: [&str; 4] = ["pending", "in_progress", "completed", "failed"];
const STATUSES_V2: [&str; 6] = [
    "pending",
    "in_progress",
    "completed",
    "failed",
    "cancelled",
    "paused",
];

/// Judges the shape of every report of a turn.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    for (frame, update) in course.updates() {
        match update.get("sessionUpdate").and_then(Value::as_str) {
            Some("tool_call") => announcement(bench, agent, frame, update),
            Some("tool_call_update") => {
                let has_id = update.get("toolCallId").is_some_and(Value::is_string);
                let saw = "an update names no call";
                bench.judge("V1-TOOL-06", has_id, agent, &[frame], saw);
                bench.judge("V2-TOOL-01", true, agent, &[frame], "");
            }
            _ => continue,
        }
        members(bench, agent, course.version, frame, update);
    }
}

fn announcement(bench: &mut Bench, agent: &Agent, frame: usize, update: &Value) {
    let has = |key| update.get(key).is_some_and(Value::is_string);
    let is_kept = has("toolCallId") && has("title");
    let saw = "`tool_call` has no string for `toolCallId` or `title`";
    bench.judge("V1-TOOL-03", is_kept, agent, &[frame], saw);
    let saw = "`tool_call` was sent, which version 2 does not have";
    bench.judge("V2-TOOL-01", false, agent, &[frame], saw);
}

/// Judges the members that announcements and updates share.
fn members(bench: &mut Bench, agent: &Agent, version: Version, frame: usize, update: &Value) {
    if let Some(kind) = given(update, "kind") {
        let is_known = kind.as_str().is_some_and(|kind| KINDS.contains(&kind));
        bench.judge(
            "V1-TOOL-04",
            is_known,
            agent,
            &[frame],
            "the kind of a call is none that there is",
        );
    }
    if let Some(status) = given(update, "status") {
        let word = status.as_str().unwrap_or_default();
        let saw = "the status of a call is none that there is";
        let is_known = STATUSES_V1.contains(&word);
        bench.judge("V1-TOOL-05", is_known, agent, &[frame], saw);
        let is_known = STATUSES_V2.contains(&word) || word.starts_with('_');
        bench.judge("V2-TOOL-06", is_known, agent, &[frame], saw);
    }
    if let Some(name) = given(update, "name") {
        bench.judge(
            "V1-TOOL-19",
            name.is_string(),
            agent,
            &[frame],
            "the name of a tool is no string",
        );
    }
    for location in items(update, "locations") {
        let line = given(location, "line");
        let line_fits = line.is_none_or(|line| line.as_u64().is_some_and(|line| line >= 1));
        let path = word(location, "path").unwrap_or_default();
        let saw = match line_fits {
            true => "a location has no absolute path",
            false => "the line of a location is not a number from 1",
        };
        bench.judge(
            "V1-TOOL-14",
            line_fits && is_absolute(&path),
            agent,
            &[frame],
            saw,
        );
        bench.judge("V2-TOOL-12", line_fits, agent, &[frame], saw);
    }
    if version == Version::V1 {
        for item in items(update, "content") {
            content(bench, agent, frame, item);
        }
    }
}

fn content(bench: &mut Bench, agent: &Agent, frame: usize, item: &Value) {
    let kind = item.get("type").and_then(Value::as_str);
    let is_whole = match kind {
        Some("content") => item.pointer("/content/type").is_some_and(Value::is_string),
        Some("terminal") => item.get("terminalId").is_some_and(Value::is_string),
        Some("diff") => true,
        _ => false,
    };
    let saw = "content of a call is neither a wrapped block, a diff nor a terminal";
    bench.judge("V1-TOOL-12", is_whole, agent, &[frame], saw);
    if kind != Some("diff") {
        return;
    }
    let path = word(item, "path").unwrap_or_default();
    let new = item.get("newText").is_some_and(Value::is_string);
    let old = given(item, "oldText").is_none_or(Value::is_string);
    let saw = match is_absolute(&path) {
        true => "a diff has no `newText`, or an `oldText` that is no text",
        false => "a diff has no absolute path",
    };
    let is_kept = is_absolute(&path) && new && old;
    bench.judge("V1-TOOL-13", is_kept, agent, &[frame], saw);
}

/// Returns a member that is there and not null.
fn given<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|value| !value.is_null())
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let items = value.get(key).and_then(Value::as_array);
    items.map_or(&[], Vec::as_slice)
}

/// Returns whether a path is absolute on any system that an agent may run on.
pub(in crate::agent) fn is_absolute(path: &str) -> bool {
    let mut chars = path.chars();
    let is_drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('/' | '\\'));
    path.starts_with('/') || path.starts_with("\\\\") || is_drive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_on_every_system() {
        for path in ["/a", "C:\\a", "c:/a", "\\\\host\\share"] {
            assert!(is_absolute(path), "{path}");
        }
        for path in ["", "a", "./a", "C:a", "~/a", "file:///a"] {
            assert!(!is_absolute(path), "{path}");
        }
    }
}
