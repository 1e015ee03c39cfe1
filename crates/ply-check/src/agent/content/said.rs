//! The content of what agents say.

use ply_wire::negotiate::Version;
use serde_json::Value;

use crate::agent::bench::{Agent, Bench};
use crate::agent::turn::{Course, word};

/// Looks at the messages of a turn.
pub(in crate::agent) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    for (frame, update) in course.updates() {
        let kind = word(update, "sessionUpdate").unwrap_or_default();
        let is_chunk = matches!(
            kind.as_str(),
            "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk"
        );
        let is_whole = matches!(
            kind.as_str(),
            "agent_message" | "agent_thought" | "user_message"
        );
        if !is_chunk && !is_whole {
            continue;
        }
        id(bench, agent, frame, update);
        match update.get("content") {
            Some(Value::Array(blocks)) if is_whole => {
                for item in blocks {
                    block(bench, agent, course.version, frame, item);
                }
            }
            // A whole message may leave its content as it is, or clear it.
            None | Some(Value::Null) if is_whole => {}
            content => block(
                bench,
                agent,
                course.version,
                frame,
                content.unwrap_or(&Value::Null),
            ),
        }
    }
}

fn id(bench: &mut Bench, agent: &Agent, frame: usize, update: &Value) {
    let id = update.get("messageId").filter(|id| !id.is_null());
    if let Some(id) = id {
        let saw = "the id of a message is no string";
        bench.judge("V1-MSGID-01", id.is_string(), agent, &[frame], saw);
    }
    let saw = "a message has no `messageId`";
    bench.judge(
        "V2-MSG-01",
        id.is_some_and(Value::is_string),
        agent,
        &[frame],
        saw,
    );
}

fn block(bench: &mut Bench, agent: &Agent, version: Version, frame: usize, block: &Value) {
    let kind = word(block, "type").unwrap_or_default();
    let is_known = matches!(
        kind.as_str(),
        "text" | "image" | "audio" | "resource_link" | "resource"
    );
    let is_custom = kind.starts_with('_');
    let saw = "a block is of no kind that there is";
    bench.judge("V1-CONTENT-01", is_known, agent, &[frame], saw);
    if is_known {
        let saw = "a block lacks a member that its kind needs";
        bench.judge(
            "V1-CONTENT-08",
            is_whole(block, &kind),
            agent,
            &[frame],
            saw,
        );
    }
    let is_kept = is_custom || (is_known && is_whole(block, &kind));
    let saw = "a block is of no kind that there is, or lacks a member";
    bench.judge("V2-CONTENT-01", is_kept, agent, &[frame], saw);
    if version == Version::V2 && is_known {
        let saw = "data is not base64, a priority is out of range, or a URI is empty";
        bench.judge(
            "V2-CONTENT-03",
            is_sound(block, &kind),
            agent,
            &[frame],
            saw,
        );
    }
}

fn is_whole(block: &Value, kind: &str) -> bool {
    let has = |key| block.get(key).is_some_and(Value::is_string);
    match kind {
        "text" => has("text"),
        "image" | "audio" => has("data") && has("mimeType"),
        "resource_link" => has("uri") && has("name"),
        "resource" => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            let has = |key| resource.get(key).is_some_and(Value::is_string);
            has("uri") && (has("text") || has("blob"))
        }
        _ => false,
    }
}

fn is_sound(block: &Value, kind: &str) -> bool {
    let priority = block
        .pointer("/annotations/priority")
        .and_then(Value::as_f64);
    let in_range = priority.is_none_or(|priority| (0.0..=1.0).contains(&priority));
    let text = |key: &str| word(block, key).unwrap_or_default();
    in_range
        && match kind {
            "image" | "audio" => is_base64(&text("data")),
            "resource_link" => !text("uri").is_empty(),
            _ => true,
        }
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
    text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_base64_with_padding() {
        assert!(is_base64(""));
        assert!(is_base64("aGk="));
        assert!(!is_base64("aGk"));
        assert!(!is_base64("a-k="));
        assert!(!is_base64("===="));
    }

    #[test]
    fn blocks_have_what_their_kind_needs() {
        let link = serde_json::json!({"uri": "file:///x", "name": "x"});
        assert!(is_whole(&link, "resource_link"));
        assert!(!is_whole(&link, "text"));
        let empty = serde_json::json!({"resource": {"uri": "file:///x"}});
        assert!(!is_whole(&empty, "resource"));
    }
}
