//! What single frames are a sign of.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::agent::bench::Agent;
use crate::recording::Frame;

/// Returns a member that is a string.
pub(in crate::agent) fn word(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_str()?.to_owned())
}

/// Returns the state that a `state_update` tells.
pub(in crate::agent) fn state(frame: &Frame) -> Option<&str> {
    match frame.update_kind()? {
        "state_update" => frame.update()?.get("state")?.as_str(),
        _ => None,
    }
}

/// Returns whether it reports the message of a user, under this id if one is given.
pub(in crate::agent) fn is_user_message(frame: &Frame, id: Option<&str>) -> bool {
    let Some("user_message" | "user_message_chunk") = frame.update_kind() else {
        return false;
    };
    let found = frame.update().and_then(|update| update.get("messageId"));
    id.is_none() || found.and_then(Value::as_str) == id
}

/// Returns the report of a user message after a frame that belongs to no earlier prompt: one that was accepted may be reported late.
pub(in crate::agent) fn new_user_message(agent: &Agent, since: usize) -> Option<Frame> {
    let id = |frame: &Frame| word(frame.update()?, "messageId");
    let known: BTreeSet<String> = agent.recording().with_frames(|frames| {
        let accepted = frames.iter().filter_map(|frame| {
            let answer = frame.json.as_ref().filter(|_| frame.is_answer())?;
            word(answer.get("result")?, "messageId")
        });
        let earlier = frames.iter().take(since).filter_map(id);
        accepted.chain(earlier).collect()
    });
    agent.seen_since(since, |frame| {
        let is_known = id(frame).is_some_and(|id| known.contains(&id));
        is_user_message(frame, None) && !is_known
    })
}

/// Returns whether it reports something that belongs to a turn: words, calls of tools, a question for permission.
pub(in crate::agent) fn is_of_turn(frame: &Frame) -> bool {
    let words = matches!(
        frame.update_kind(),
        Some(
            "agent_message_chunk"
                | "agent_thought_chunk"
                | "agent_message"
                | "agent_thought"
                | "tool_call"
                | "tool_call_update"
                | "tool_call_content_chunk"
        )
    );
    words || frame.method() == Some("session/request_permission")
}
