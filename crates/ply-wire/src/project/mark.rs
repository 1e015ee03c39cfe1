//! The `_meta` keys with which the projector says what v1 has no words for.
//!
//! A plain v1 client ignores them. [`crate::lift`] reads them, so that a v2 session which passes
//! through v1 between two of our own programs keeps its replaced messages and cleared fields.

use serde_json::{Value, json};

use crate::v2;

/// On a message chunk: the id of the message whose content this chunk replaces, as the first of its
/// new content.
pub(crate) const REPLACES: &str = "ply/replaces";
/// On such a chunk: the message was emptied, and the text is only a note that says so.
pub(crate) const WITHDRAWN: &str = "ply/withdrawn";
/// On an update: names of fields that were cleared, which v1 cannot say since null means unchanged
/// there.
pub(crate) const CLEARED: &str = "ply/cleared";
/// On an answer to a prompt: the stop reason that v1 has no name for.
pub(crate) const STOP_REASON: &str = "ply/stopReason";
/// On a permission request: title and description of the prompt.
pub(crate) const PERMISSION: &str = "ply/permission";
/// How the ids of messages and tool calls begin that only stand in for something v1 does not have.
pub(crate) const STAND_IN: &str = "ply/";

/// Returns metadata without the marks of this module, which nobody else may set.
pub(crate) fn without_marks(meta: Option<&v2::Meta>) -> Option<v2::Meta> {
    let mut meta = meta?.clone();
    for key in [REPLACES, WITHDRAWN, CLEARED] {
        meta.remove(key);
    }
    Some(meta)
}

/// Adds the list of cleared fields, if any.
pub(crate) fn with_cleared(meta: Option<v2::Meta>, cleared: &[&str]) -> Option<v2::Meta> {
    if cleared.is_empty() {
        return meta;
    }
    let mut meta = meta.unwrap_or_default();
    meta.insert(CLEARED.to_owned(), json!(cleared));
    Some(meta)
}

/// Returns whether the metadata says that a field was cleared.
pub(crate) fn is_cleared(meta: Option<&v2::Meta>, field: &str) -> bool {
    let list = meta
        .and_then(|meta| meta.get(CLEARED))
        .and_then(Value::as_array);
    list.is_some_and(|list| list.iter().any(|name| name == field))
}
