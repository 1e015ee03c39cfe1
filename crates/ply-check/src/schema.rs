//! The official JSON schema, and whether a message fits it.
//!
//! `v1.json` and `v2.json` are what the schema crate says of each method, without descriptions. A test of `check-tests` makes them from
//! the crate and compares. The validator knows the keywords that are in them and no others, which costs less than a general one.

mod validate;

use std::collections::BTreeSet;
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

/// Stands for an entry of a listing where a method is wanted.
pub(crate) const LISTED: &str = "session/list#sessions";
/// Members of drafts that the schema does not have any more, or not yet, and that peers in use still send.
const DRAFTS: &[&str] = &["models", "archived", "systemPrompt", "usage"];

/// Returns a member of a part of a message that the protocol does not know and that is not in a `_meta`.
pub(crate) fn strange_member(
    version: Version,
    part: Part,
    method: &str,
    value: &Value,
) -> Option<String> {
    let schema = match version {
        Version::V1 => &*V1,
        Version::V2 => &*V2,
    };
    let defs = schema.get("$defs")?;
    let wanted = match (part, method) {
        (_, LISTED) => defs.get("SessionInfo"),
        (Part::Params, _) => schema.get("params")?.get(method),
        (Part::Result, _) => schema.get("results")?.get(method),
    };
    let known = Defs::new(defs).names(wanted?, value)?;
    let mut names = value.as_object()?.keys();
    let is_strange =
        |name: &&String| !known.contains(name.as_str()) && !DRAFTS.contains(&name.as_str());
    names.find(is_strange).cloned()
}

/// The members of the protocol as they would be in snake_case, for those that are not the same in camelCase.
static MISSPELLED: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let mut names = BTreeSet::new();
    for schema in [&*V1, &*V2] {
        let defs = schema.get("$defs").and_then(Value::as_object);
        for def in defs.into_iter().flat_map(|defs| defs.values()) {
            let properties = def.get("properties").and_then(Value::as_object);
            let properties = properties.into_iter().flat_map(|them| them.keys());
            names.extend(properties.filter_map(|name| snake(name)));
        }
    }
    names
});

/// Returns a name in snake_case, if it has capitals.
fn snake(name: &str) -> Option<String> {
    if !name.contains(char::is_uppercase) {
        return None;
    }
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    Some(snake)
}

/// Returns the first member that has a name of the protocol in snake_case. What users, tools and extensions own is left alone.
pub(crate) fn misspelled(value: &Value) -> Option<&'static str> {
    const FREE: &[&str] = &["env", "data", "rawInput", "rawOutput", "requestedSchema"];
    match value {
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            if name.starts_with('_') || FREE.contains(&name.as_str()) {
                return None;
            }
            let found = MISSPELLED.get(name).map(String::as_str);
            found.or_else(|| misspelled(member))
        }),
        Value::Array(items) => items.iter().find_map(misspelled),
        _ => None,
    }
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

    #[test]
    fn a_member_of_ones_own_is_strange_outside_of_meta_alone() {
        let strange = |value| strange_member(Version::V1, Part::Params, "session/new", &value);
        let own = json!({"cwd": "/", "mcpServers": [], "_meta": {"x": 1}, "x": 1});
        assert_eq!(strange(own).as_deref(), Some("x"));
        assert_eq!(strange(json!({"cwd": "/", "_meta": {}})), None);
        let entry = json!({"sessionId": "s", "cwd": "/", "x": 1});
        let strange = strange_member(Version::V1, Part::Result, LISTED, &entry);
        assert_eq!(strange.as_deref(), Some("x"));
    }

    #[test]
    fn a_name_in_snake_case_is_misspelled_unless_it_is_somebody_elses() {
        assert_eq!(misspelled(&json!([{"session_id": 1}])), Some("session_id"));
        let free =
            json!({"_meta": {"session_id": 1}, "rawInput": {"session_id": 1}, "type": "end_turn"});
        assert_eq!(misspelled(&free), None);
    }
}
