//! The members of a message.

use serde_json::Value;

/// A JSON-RPC message.
#[derive(Debug)]
pub(super) enum Message<'a> {
    Request {
        id: &'a Value,
        method: &'a str,
        params: &'a Value,
    },
    Notification {
        method: &'a str,
        params: &'a Value,
    },
    Answer {
        id: Option<&'a Value>,
        result: Option<&'a Value>,
        error: Option<&'a Value>,
    },
}

/// Returns the string at a place, such as `/update/sessionUpdate`.
pub(super) fn text<'a>(value: &'a Value, at: &str) -> Option<&'a str> {
    value.pointer(at).and_then(Value::as_str)
}

/// Returns the list at a place; none if there is something else.
pub(super) fn list<'a>(value: &'a Value, at: &str) -> &'a [Value] {
    let list = value.pointer(at).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// Returns the value at a place, if there is one and it is not null.
pub(super) fn given<'a>(value: &'a Value, at: &str) -> Option<&'a Value> {
    value.pointer(at).filter(|value| !value.is_null())
}

/// Returns whether a path is absolute on any system.
pub(super) fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes();
    let has_drive =
        matches!(drive, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    path.starts_with('/') || path.starts_with("\\\\") || has_drive
}

/// Returns whether a value is one of a list, or a custom one.
pub(super) fn is_listed(value: &str, listed: &[&str], custom: bool) -> bool {
    listed.contains(&value) || (custom && value.starts_with('_'))
}
