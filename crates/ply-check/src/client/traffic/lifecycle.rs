//! What comes first, and which version is spoken.

use ply_wire::negotiate::Version;
use serde_json::Value;

use super::Watcher;

/// Methods that an agent serves, by version.
const KNOWN_V1: &[&str] = &[
    "initialize",
    "authenticate",
    "logout",
    "session/new",
    "session/load",
    "session/resume",
    "session/list",
    "session/close",
    "session/delete",
    "session/prompt",
    "session/cancel",
    "session/set_mode",
    "session/set_config_option",
];
const KNOWN_V2: &[&str] = &[
    "initialize",
    "auth/login",
    "auth/logout",
    "session/new",
    "session/resume",
    "session/list",
    "session/close",
    "session/delete",
    "session/prompt",
    "session/cancel",
    "session/set_config_option",
    "tool_call/cancel",
    "terminal/cancel",
];
/// Methods of drafts, which a client may try where they are offered.
const DRAFTS: &[&str] = &[
    "session/fork",
    "session/set_model",
    "session/archive",
    "session/unarchive",
    "session/status",
    "session/set_title",
    "auth/status",
    "proxy/initialize",
    "proxy/successor",
    "mcp/message",
];

impl Watcher {
    /// Looks at the place of a message in the life of the connection.
    pub(super) fn lifecycle(&mut self, frame: usize, method: &str, params: &Value) {
        let at = [frame];
        if method == "initialize" {
            self.initialize(frame, params);
            return;
        }
        if method.starts_with("session/") {
            let is_greeted = self.welcome.is_some();
            let saw = format!("`{method}` was sent before `initialize` was answered");
            self.see(&["V1-INIT-01", "V2-INIT-01"], is_greeted, &at, &saw);
        }
        let (known, other) = match self.version {
            Version::V1 => (KNOWN_V1, KNOWN_V2),
            Version::V2 => (KNOWN_V2, KNOWN_V1),
        };
        let is_other = other.contains(&method) && !known.contains(&method);
        let saw = format!("`{method}` belongs to another version");
        self.see(&["V1-INIT-10", "V2-INIT-07"], !is_other, &at, &saw);
        let is_named = known.contains(&method)
            || is_other
            || method.starts_with('_')
            || method.starts_with("$/")
            || DRAFTS.contains(&method)
            || method.starts_with("providers/");
        let saw = format!("`{method}` is no method of the protocol and does not begin with `_`");
        self.see(&["V1-EXT-02", "V2-EXT-01"], is_named, &at, &saw);
        if method == "session/cancel" {
            let is_named = params.get("sessionId").is_some_and(Value::is_string);
            let saw = "`session/cancel` names no session";
            self.see(&["V1-CANCEL-01", "V2-CANCEL-01"], is_named, &at, saw);
        }
        if method == "$/cancel_request" {
            let id = params
                .get("requestId")
                .map(Value::to_string)
                .unwrap_or_default();
            // One that was just answered is fine, so only ids that were never used are wrong; those are not kept.
            let is_own = self.theirs.contains_key(&id) || !self.ours.contains_key(&id);
            let saw = "`$/cancel_request` names a request of the agent";
            self.see(&["V2-CREQ-03"], is_own, &at, saw);
        }
    }

    fn initialize(&mut self, frame: usize, params: &Value) {
        let at = [frame];
        let version = params.get("protocolVersion").and_then(Value::as_u64);
        let is_number = version.is_some_and(|version| version <= u64::from(u16::MAX));
        let saw = "`protocolVersion` is no integer between 0 and 65535";
        self.see(&["V1-INIT-02", "V2-INIT-01"], is_number, &at, saw);
        // A client that also speaks a newer version greets in the words of that one.
        let is_newer = version.is_some_and(|version| version >= 2);
        let (capabilities, info) = match is_newer {
            true => ("capabilities", "info"),
            false => ("clientCapabilities", "clientInfo"),
        };
        let found = params.get(capabilities);
        let is_object = found.is_none_or(|found| found.is_object() || found.is_null());
        let saw = format!("`{capabilities}` is no object");
        self.see(&["V1-INIT-03", "V2-INIT-01"], is_object, &at, &saw);
        let found = params.get(info);
        let has = |key: &str| {
            let member = found.and_then(|found| found.get(key));
            member.is_some_and(Value::is_string)
        };
        let saw = format!("`{info}` with a `name` and a `version` is missing");
        self.see(
            &["V1-INIT-04", "V2-INIT-03"],
            has("name") && has("version"),
            &at,
            &saw,
        );
    }
}
