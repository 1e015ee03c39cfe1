//! Lines of JSON-RPC, taken apart and put together again without reading what they carry.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ply_rpc::envelope::Outcome;
use serde::Serialize;
use serde_json::value::RawValue;

/// The name under which the hub says how far a client is.
pub(super) const CURSOR: &str = "acp/cursor";
/// How the hub ends the params of an update, up to the cursor.
const CURSOR_HEAD: &str = ",\"_meta\":{\"acp/cursor\":\"";

/// An object whose members are left as they are.
#[derive(Debug, Clone, Default)]
pub(super) struct Object(BTreeMap<String, Box<RawValue>>);

impl Object {
    /// Reads an object; none if it is not one.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// Returns a request's id as it is written.
    pub(super) fn id(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|id| id.get().to_owned())
    }

    /// Returns a member that is an object; an empty one if it is not there or something else.
    pub(super) fn object(&self, name: &str) -> Self {
        let member = self.0.get(name);
        member
            .and_then(|member| Self::read(member.get()))
            .unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn set(&mut self, name: &str, value: &impl Serialize) {
        if let Ok(value) = serde_json::value::to_raw_value(value) {
            self.0.insert(name.to_owned(), value);
        }
    }

    pub(super) fn set_object(&mut self, name: &str, object: &Self) {
        self.set(name, &object.0);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Adds to the metadata.
    pub(super) fn set_meta(&mut self, name: &str, value: &impl Serialize) {
        let mut meta = self.object("_meta");
        meta.set(name, value);
        self.set_object("_meta", &meta);
    }

    /// Takes texts out of the metadata, which goes with the last of them.
    pub(super) fn take_meta<const N: usize>(&mut self, names: [&str; N]) -> [Option<String>; N] {
        let mut meta = self.object("_meta");
        let taken = names.map(|name| {
            let text = meta.text(name);
            meta.remove(name);
            text
        });
        match meta.0.is_empty() {
            true => self.remove("_meta"),
            false => self.set_object("_meta", &meta),
        }
        taken
    }

    pub(super) fn write(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

/// Takes the cursor out of the params of an update; none if there is none.
pub(super) fn split_cursor(params: &str) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    if let Some((head, tail)) = params.rsplit_once(CURSOR_HEAD)
        && let Some(cursor) = tail.strip_suffix("\"}}")
        && !cursor.contains(['"', '\\'])
    {
        return Some((Cow::Owned(format!("{head}}}")), Cow::Borrowed(cursor)));
    }
    // Another hub may write it otherwise.
    if !params.contains(CURSOR) {
        return None;
    }
    let mut object = Object::read(params)?;
    let [cursor] = object.take_meta([CURSOR]);
    Some((Cow::Owned(object.write()), Cow::Owned(cursor?)))
}

/// Returns the session that params are about.
pub(super) fn session_of(params: &str) -> Option<Cow<'_, str>> {
    // So the hub begins all its updates.
    if let Some(rest) = params.strip_prefix("{\"sessionId\":\"")
        && let Some((session, _)) = rest.split_once('"')
        && !session.contains('\\')
    {
        return Some(Cow::Borrowed(session));
    }
    Object::read(params)?.text("sessionId").map(Cow::Owned)
}

pub(super) fn request(id: &str, method: &str, params: Option<&str>) -> Vec<u8> {
    let method = serde_json::to_string(method).unwrap_or_default();
    let mut line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method}");
    end_with(&mut line, params)
}

pub(super) fn notification(method: &str, params: &str) -> Vec<u8> {
    let method = serde_json::to_string(method).unwrap_or_default();
    let mut line = format!("{{\"jsonrpc\":\"2.0\",\"method\":{method}");
    end_with(&mut line, Some(params))
}

/// Says that no answer to a request is wanted any more.
pub(super) fn cancel_request(id: &str) -> Vec<u8> {
    notification("$/cancel_request", &format!("{{\"requestId\":{id}}}"))
}

fn end_with(line: &mut String, params: Option<&str>) -> Vec<u8> {
    if let Some(params) = params {
        line.push_str(",\"params\":");
        line.push_str(params);
    }
    line.push('}');
    std::mem::take(line).into_bytes()
}

/// Returns the member of a response that says what came of the request.
pub(super) fn outcome(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Result(result) => format!("\"result\":{}", result.get()),
        Outcome::Error(error) => format!("\"error\":{}", error.get()),
        Outcome::Neither => error(-32603, "The answer cannot be read."),
    }
}

pub(super) fn error(code: i64, message: &str) -> String {
    let message = serde_json::to_string(message).unwrap_or_default();
    format!("\"error\":{{\"code\":{code},\"message\":{message}}}")
}

pub(super) fn response(id: &str, outcome: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{outcome}}}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_taken_out_wherever_the_metadata_is() {
        for (params, rest) in [
            (
                r#"{"sessionId":"s","update":{"a":1},"_meta":{"acp/cursor":"1-x"}}"#,
                r#"{"sessionId":"s","update":{"a":1}}"#,
            ),
            (
                r#"{"_meta":{"acp/cursor":"1-x"},"sessionId":"s"}"#,
                r#"{"sessionId":"s"}"#,
            ),
            (
                r#"{"sessionId":"s","_meta":{"acp/cursor":"1-x","b":2}}"#,
                r#"{"_meta":{"b":2},"sessionId":"s"}"#,
            ),
        ] {
            let (without, cursor) = split_cursor(params).expect("a cursor");
            assert_eq!((&*without, &*cursor), (rest, "1-x"));
            assert_eq!(session_of(params).as_deref(), Some("s"));
        }
    }

    #[test]
    fn what_an_agent_says_of_cursors_is_left_alone() {
        for params in [
            r#"{"sessionId":"s","update":{"text":"1"}}"#,
            r#"{"sessionId":"s","update":{"_meta":{"acp/cursor":"theirs"}}}"#,
            r#"{"sessionId":"s","update":{"text":",\"_meta\":{\"acp/cursor\":\"x\"}}"}}"#,
        ] {
            assert!(split_cursor(params).is_none(), "{params}");
        }
    }
}
