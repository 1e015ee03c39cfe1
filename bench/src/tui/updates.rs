//! A session as agents tell it: turns of a prompt, a thought, tool calls, and an answer in pieces.

use ply_client::v2;
use serde_json::{Value, json};

use crate::Result;

/// The id of the session.
pub(super) const SESSION: &str = "bench-1";
/// Updates of a turn.
const TURN: u64 = 50;
/// Updates of a turn before its answer: the prompt, a thought, and three for each of four tool calls.
const BEFORE_ANSWER: u64 = 14;

/// Returns the number of the last turn of a session of so many updates.
pub(super) fn last_turn(count: u64) -> u64 {
    count.saturating_sub(1) / TURN
}

/// Returns the updates of a session, as version 2 has them.
pub(super) fn all(count: u64) -> Result<Vec<v2::SessionUpdate>> {
    (0..count)
        .map(|place| Ok(serde_json::from_value(lifted(place, count))?))
        .collect()
}

/// Returns an update by its place, as version 1 has it.
pub(super) fn update(place: u64, count: u64) -> Value {
    let (turn, step) = (place / TURN, place % TURN);
    let text = |kind: &str, text: String| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    let call = step.saturating_sub(2) / 3;
    let id = format!("call-{turn}-{call}");
    match step {
        _ if place + 1 == count => text(
            "agent_message_chunk",
            format!("\n\nthe end of answer {turn}"),
        ),
        0 => text(
            "user_message_chunk",
            format!("Question {turn}: what does `part_{turn}` do?"),
        ),
        1 => text(
            "agent_thought_chunk",
            "I should look at the code first.".to_owned(),
        ),
        2..BEFORE_ANSWER => match (step - 2) % 3 {
            0 => {
                json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": format!("Read src/part_{turn}.rs"),
                "kind": "read", "status": "pending"})
            }
            1 => {
                json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"})
            }
            _ => {
                json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
                "content": [{"type": "content", "content": {"type": "text", "text": "fn part() {\n    // …\n}\n".repeat(5)}}]})
            }
        },
        BEFORE_ANSWER => text(
            "agent_message_chunk",
            "It is a **part** of the whole:\n\n```rust\nfn part() {}\n```\n\n".to_owned(),
        ),
        _ => text(
            "agent_message_chunk",
            format!("piece {step} of the answer, "),
        ),
    }
}

/// The same as version 2 has it, where the names are others and messages have ids.
fn lifted(place: u64, count: u64) -> Value {
    let mut update = update(place, count);
    let turn = place / TURN;
    let Some(fields) = update.as_object_mut() else {
        return update;
    };
    let kind = fields.get("sessionUpdate").and_then(Value::as_str);
    match kind.unwrap_or_default() {
        "tool_call" => {
            fields.insert("sessionUpdate".to_owned(), json!("tool_call_update"));
        }
        "user_message_chunk" => {
            fields.insert("messageId".to_owned(), json!(format!("user-{turn}")));
        }
        "agent_thought_chunk" => {
            fields.insert("messageId".to_owned(), json!(format!("thought-{turn}")));
        }
        "agent_message_chunk" => {
            fields.insert("messageId".to_owned(), json!(format!("answer-{turn}")));
        }
        _ => {}
    }
    update
}
