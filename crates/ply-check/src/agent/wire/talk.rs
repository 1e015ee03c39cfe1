//! Updates, and ids of requests, in what agents have written.

use std::collections::BTreeSet;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::Value;

use super::super::bench::Bench;
use super::super::shape;
use super::{PROBE, Seen, are_absolute, are_counted};
use crate::findings::Found;
use crate::passive::is_of_v2;
use crate::recording::Frame;
use crate::verdict::Evidence;

/// Judges an update, and the commands that an answer tells.
pub(super) fn update(seen: &mut Seen<'_>) {
    let answer = seen
        .frame
        .json
        .as_ref()
        .and_then(|json| json.pointer("/result/availableCommands"));
    if let Some(commands) = answer.and_then(Value::as_array).cloned() {
        judge_commands(seen, &commands);
    }
    let Some(update) = seen.frame.update().cloned() else {
        return;
    };
    let kind = seen.frame.update_kind().unwrap_or_default().to_owned();
    if seen.version() == Version::V2 {
        let is_kept = is_of_v2(&kind);
        let saw = "a kind of update is neither known nor begins with an underscore";
        seen.judge(&["V2-EXT-01"], is_kept, saw);
    }
    let saw = "a path in an update is not absolute";
    seen.judge(&["V1-RPC-13", "V2-RPC-01"], are_absolute(&update), saw);
    if let Some(is_kept) = are_counted(&update) {
        let saw = "a location has the line 0, though lines are counted from 1";
        seen.judge(&["V1-RPC-14", "V2-RPC-01"], is_kept, saw);
    }
    match kind.as_str() {
        "available_commands_update" => {
            let commands = update.get("availableCommands").and_then(Value::as_array);
            let saw = "an update of commands has no array `availableCommands`";
            seen.judge(
                &["V1-CMD-01", "V1-CMD-03", "V2-CMD-01"],
                commands.is_some(),
                saw,
            );
            judge_commands(seen, commands.map_or(&[], Vec::as_slice));
        }
        "session_info_update" => {
            let mut foreign = ["sessionId", "cwd", "additionalDirectories"].into_iter();
            let is_kept = !foreign.any(|key| update.get(key).is_some());
            let saw = "an update about a session names its id, directory or roots";
            seen.judge(&["V1-INFO-03"], is_kept, saw);
        }
        "current_mode_update" => {
            let is_kept = update.get("currentModeId").is_some_and(Value::is_string);
            let saw = "a change of the mode was told without `currentModeId`";
            seen.judge(&["V1-MODE-04"], is_kept, saw);
        }
        _ => {}
    }
}

fn judge_commands(seen: &mut Seen<'_>, commands: &[Value]) {
    let version = seen.version();
    for command in commands {
        let fault = shape::command_fault(version, command);
        seen.judge(
            &["V1-CMD-03", "V2-CMD-01"],
            fault.is_none(),
            fault.unwrap_or_default(),
        );
        let fault = shape::input_fault(version, command);
        seen.judge(
            &["V1-CMD-03", "V2-CMD-02"],
            fault.is_none(),
            fault.unwrap_or_default(),
        );
    }
    let saw = "two commands have the same name";
    seen.judge(&["V2-CMD-01"], !shape::has_twins(commands), saw);
}

/// Judges that no id is used again while its request is open.
pub(super) fn reused(bench: &mut Bench, place: usize, frames: &[Frame]) {
    let mut open = BTreeSet::new();
    for frame in frames {
        let Some(id) = frame.id().map(Value::to_string) else {
            continue;
        };
        let is_theirs = frame.direction == Direction::ToClient;
        if is_theirs && frame.is_request() {
            let found = match open.insert(id) {
                true => Found::Kept,
                false => Found::Broken,
            };
            let evidence = Evidence {
                recording: place,
                frames: vec![frame.number],
            };
            let saw = "an id was used again while its request was open";
            let findings = &mut bench.findings;
            findings.add("V2-RPC-03", found, saw, evidence, Some(PROBE));
        } else if !is_theirs && frame.is_answer() {
            open.remove(&id);
        }
    }
}
