//! The official JSON schema, and whether a message fits it.
//!
//! `v1.json` and `v2.json` are what the schema crate says of each method, without descriptions. A test of `check-tests` makes them from
//! the crate and compares. The validator knows the keywords that are in them and no others, which costs less than a general one.

mod validate;

use std::sync::LazyLock;

use ply_wire::negotiate::Version;
use serde_json::Value;

use self::validate::Defs;

/// A part of a message that has a shape of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// What is asked or told.
    Params,
    /// What is answered.
    Result,
}

static V1: LazyLock<Value> = LazyLock::new(|| read(include_str!("schema/v1.json")));
static V2: LazyLock<Value> = LazyLock::new(|| read(include_str!("schema/v2.json")));

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("a test reads the schema")
}

/// Says why a part of a message does not fit the schema of a version; none if it does, or if the schema does not know the method.
pub(crate) fn fault(version: Version, part: Part, method: &str, value: &Value) -> Option<String> {
    let (schema, name) = match version {
        Version::V1 => (&*V1, "v1"),
        Version::V2 => (&*V2, "v2"),
    };
    debug_assert!(schema.is_object(), "{name} is a schema");
    let (parts, what) = match part {
        Part::Params => (schema.get("params"), "parameters"),
        Part::Result => (schema.get("results"), "result"),
    };
    let wanted = parts?.get(method)?;
    let defs = Defs::new(schema.get("$defs")?);
    let fault = defs.fault(wanted, value)?;
    let place = match fault.place().as_str() {
        "" => format!("the {what} of `{method}`"),
        place => format!("`{place}` in the {what} of `{method}`"),
    };
    Some(format!("{place} {}", fault.what))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn update(update: Value) -> Option<String> {
        let params = json!({"sessionId": "s", "update": update});
        fault(Version::V1, Part::Params, "session/update", &params)
    }

    #[test]
    fn a_message_that_fits_has_no_fault() {
        let text = json!({"type": "text", "text": "hi"});
        assert_eq!(
            update(json!({"sessionUpdate": "agent_message_chunk", "content": text})),
            None
        );
        let plan = json!([{"content": "a", "priority": "low", "status": "pending"}]);
        assert_eq!(
            update(json!({"sessionUpdate": "plan", "entries": plan})),
            None
        );
    }

    #[test]
    fn a_fault_names_its_place() {
        for (told, expected) in [
            (
                json!({"content": "hi"}),
                "`update` in the parameters of `session/update` lacks `sessionUpdate`",
            ),
            (
                json!({"sessionUpdate": "agent_message_chunk", "content": "hi"}),
                "`update.content` in the parameters of `session/update` is a string, not an object",
            ),
            (
                json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": 7}),
                "`update.title` in the parameters of `session/update` is a number, not a string",
            ),
        ] {
            assert_eq!(update(told).as_deref(), Some(expected));
        }
    }

    #[test]
    fn kinds_and_members_of_drafts_are_tolerated() {
        assert_eq!(update(json!({"sessionUpdate": "of_a_draft", "x": 1})), None);
        let text = json!({"type": "text", "text": "hi", "new": [1]});
        assert_eq!(
            update(json!({"sessionUpdate": "agent_message_chunk", "content": text})),
            None
        );
        assert_eq!(
            fault(Version::V1, Part::Params, "session/of_a_draft", &json!(7)),
            None
        );
    }
}
