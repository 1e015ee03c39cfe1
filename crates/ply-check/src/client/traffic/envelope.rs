//! Lines and JSON-RPC.

use serde_json::{Map, Value};

use super::{Watcher, key};
use crate::recording::Frame;

/// Rules that a line breaks which is no message at all.
const WHOLE: &[&str] = &["V1-STDIO-04", "V2-RPC-01"];
/// Members that are spelled wrong by clients whose language prefers underscores.
const MISSPELLED: &[&str] = &[
    "session_id",
    "protocol_version",
    "client_capabilities",
    "client_info",
    "mcp_servers",
    "option_id",
    "additional_directories",
    "method_id",
    "mode_id",
    "config_id",
    "mime_type",
    "terminal_id",
    "exit_status",
    "exit_code",
    "request_id",
    "tool_call_id",
    "read_text_file",
    "write_text_file",
    "next_cursor",
];

impl Watcher {
    /// Looks at a line as such; returns whether it is a message that says more.
    pub(super) fn envelope(&mut self, frame: &Frame) -> bool {
        // Of what came late and was long there is only the beginning.
        if frame.is_cut {
            return false;
        }
        let at = [frame.number];
        let is_text = std::str::from_utf8(&frame.bytes).is_ok();
        self.see(
            &["V1-RPC-02", "V2-RPC-01"],
            is_text,
            &at,
            "a line is not UTF-8",
        );
        let Some(json) = &frame.json else {
            let is_piece = frame.bytes.starts_with(b"{") || frame.bytes.ends_with(b"}");
            self.see(WHOLE, false, &at, "a line is not JSON");
            if is_piece {
                self.see(
                    &["V1-STDIO-02"],
                    false,
                    &at,
                    "a message does not stand on one line",
                );
            }
            return false;
        };
        self.see(WHOLE, true, &at, "");
        self.see(&["V1-STDIO-02"], true, &at, "");
        let is_array = json.is_array();
        let saw = "the client sent an array";
        self.see(&["V1-RPC-18", "V2-BATCH-02"], !is_array, &at, saw);
        let Some(message) = json.as_object() else {
            self.see(
                &["V1-RPC-01", "V2-RPC-01"],
                false,
                &at,
                "a message is not an object",
            );
            return false;
        };
        self.kind(frame, message);
        let misspelled = misspelled(json, 0);
        let saw = format!("a member is called `{}`", misspelled.unwrap_or_default());
        self.see(&["V1-RPC-12", "V2-RPC-01"], misspelled.is_none(), &at, &saw);
        true
    }

    /// A message is a request, a notification or an answer, and only one of them.
    fn kind(&mut self, frame: &Frame, message: &Map<String, Value>) {
        let at = [frame.number];
        let rules = &["V1-RPC-01", "V2-RPC-01"];
        let is_versioned = message.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
        self.see(
            rules,
            is_versioned,
            &at,
            "a message lacks `jsonrpc: \"2.0\"`",
        );
        let has = |key| message.contains_key(key);
        let is_call = has("method");
        let is_answer = has("result") || has("error");
        let saw = match is_call {
            true => "a message has a method and a result or an error",
            false => "a message has neither a method nor a result nor an error",
        };
        self.see(rules, is_call != is_answer, &at, saw);
        match (is_call, has("id")) {
            (true, true) => self.request_id(frame),
            (true, false) => {}
            (false, _) => self.answer(frame, message),
        }
    }

    fn request_id(&mut self, frame: &Frame) {
        let at = [frame.number];
        let id = frame.id();
        let is_good = id.is_some_and(|id| id.is_string() || id.is_i64() || id.is_u64());
        let saw = "the id of a request is neither a text nor an integer";
        self.see(&["V1-RPC-06", "V2-RPC-02"], is_good, &at, saw);
        let pending = self.theirs.get(&key(frame)).map(|waiting| waiting.frame);
        let frames: Vec<_> = pending.into_iter().chain(at).collect();
        let saw = "an id was used again while its request was not answered";
        self.see(&["V2-RPC-03"], pending.is_none(), &frames, saw);
    }

    fn answer(&mut self, frame: &Frame, message: &Map<String, Value>) {
        let (result, error) = (message.get("result"), message.get("error"));
        let at = [frame.number];
        let is_whole = match (result, error) {
            (Some(_), None) => true,
            (None, Some(error)) => {
                let code = error.get("code");
                code.is_some_and(|code| code.is_i64() || code.is_u64())
                    && error.get("message").is_some_and(Value::is_string)
            }
            _ => false,
        };
        let saw =
            "an answer has not exactly one of a result and an error with a code and a message";
        self.see(&["V1-RPC-03", "V2-RPC-01"], is_whole, &at, saw);
        let id = frame.id();
        let is_known = match (id, result) {
            (None, _) | (Some(Value::Null), Some(_)) => false,
            (Some(_), _) => true,
        };
        let saw = "an answer has no id, or a result has a null one";
        self.see(&["V2-RPC-04"], is_known, &at, saw);
        // Errors about what could not be read have no id to repeat.
        if id.is_none_or(Value::is_null) && error.is_some() {
            return;
        }
        let key = key(frame);
        let saw = match self.answered.contains(&key) {
            true => "a request was answered twice",
            false => {
                "an answer repeats the id of no request, so a notification was answered or an id was changed"
            }
        };
        let asked = self.ours.remove(&key);
        self.see(
            &["V1-RPC-04", "V1-RPC-05", "V2-RPC-01"],
            asked.is_some(),
            &at,
            saw,
        );
        if let Some(asked) = asked {
            self.answered.insert(key);
            let frames = [asked.frame, frame.number];
            self.permission_answer(&asked, result, &frames);
            let is_there = result.is_none_or(|result| !result.is_null());
            let saw = format!("`{}` was answered with null", asked.method);
            self.see(&["V2-RPC-05"], is_there, &frames, &saw);
        }
    }

    /// An answer to a permission request chooses what was offered.
    fn permission_answer(
        &mut self,
        asked: &super::Waiting,
        result: Option<&Value>,
        frames: &[usize],
    ) {
        let Some(result) = result.filter(|_| asked.method == "session/request_permission") else {
            return;
        };
        let outcome = result.pointer("/outcome/outcome").and_then(Value::as_str);
        let chosen = result.pointer("/outcome/optionId").and_then(Value::as_str);
        let is_shaped = match outcome {
            Some("cancelled") => true,
            Some("selected") => chosen.is_some(),
            // Version 2 leaves room for outcomes of one's own.
            Some(other) => {
                other.starts_with('_') && self.version == ply_wire::negotiate::Version::V2
            }
            None => false,
        };
        let saw = "the outcome is neither `selected` with an `optionId` nor `cancelled`";
        self.see(&["V1-PERM-05", "V2-PERM-12"], is_shaped, frames, saw);
        let Some(chosen) = chosen.filter(|_| outcome == Some("selected")) else {
            return;
        };
        let options = asked.params.get("options").and_then(Value::as_array);
        let is_offered = options.is_some_and(|options| {
            let id =
                |option: &Value| option.get("optionId").and_then(Value::as_str) == Some(chosen);
            options.iter().any(id)
        });
        let saw = format!("the option `{chosen}` was chosen, which was not offered");
        self.see(&["V1-PERM-06", "V2-PERM-12"], is_offered, frames, &saw);
    }
}

/// Returns the first member that is spelled with underscores where the protocol has none. What users and extensions own is left
/// alone.
fn misspelled(json: &Value, depth: usize) -> Option<&'static str> {
    if depth > 6 {
        return None;
    }
    match json {
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            let is_foreign = matches!(name.as_str(), "_meta" | "env" | "data" | "content" | "text");
            let found = MISSPELLED.iter().find(|wrong| *wrong == name).copied();
            found.or_else(|| match is_foreign {
                true => None,
                false => misspelled(value, depth + 1),
            })
        }),
        Value::Array(values) => values.iter().find_map(|value| misspelled(value, depth + 1)),
        _ => None,
    }
}
