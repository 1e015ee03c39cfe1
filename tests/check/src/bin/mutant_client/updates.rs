//! Updates of sessions.

use serde_json::Value;

use super::{Client, Next};

const KNOWN: &[&str] = &[
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message",
    "agent_message",
    "agent_thought",
    "tool_call",
    "tool_call_update",
    "tool_call_content_chunk",
    "plan",
    "plan_update",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
    "compaction_update",
    "compaction_summary_chunk",
    "terminal_update",
    "terminal_output_chunk",
    "state_update",
];

impl Client {
    pub(super) fn on_update(&mut self, params: &Value) -> Next {
        let Some(update) = params.get("update").and_then(Value::as_object) else {
            return Next::Go;
        };
        let text = |key: &str| update.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = text("sessionUpdate");
        if self.is_fatal(params, kind, update) {
            return Next::End(1);
        }
        let call = text("toolCallId");
        if !call.is_empty() {
            let is_new = self.calls.insert(call.to_owned());
            if is_new && self.has("cancels-any-call") {
                let params = serde_json::json!({"sessionId": self.session, "toolCallId": call});
                self.ask("tool_call/cancel", params);
            }
        }
        // The user's own message shows that the prompt's work has begun.
        if kind == "user_message" && self.is_prompted {
            self.is_working = true;
        }
        match (kind, text("state")) {
            ("state_update", "running" | "requires_action") => {
                self.is_working = self.is_prompted;
                Next::Go
            }
            ("state_update", "idle") if self.is_prompted => {
                match self.is_working || self.has("stale-idle-is-end") {
                    true => Next::End(0),
                    false => Next::Go,
                }
            }
            ("state_update", state)
                if state.starts_with('_') && self.has("unknown-state-is-end") =>
            {
                Next::End(0)
            }
            _ => Next::Go,
        }
    }

    /// Returns whether the client cannot bear an update.
    fn is_fatal(
        &self,
        params: &Value,
        kind: &str,
        update: &serde_json::Map<String, Value>,
    ) -> bool {
        let session = params
            .get("sessionId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let call = update.get("toolCallId").and_then(Value::as_str);
        let contents = || {
            update
                .get("content")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        let is_odd = |kind: Option<&Value>| {
            kind.and_then(Value::as_str)
                .is_some_and(|kind| kind.starts_with('_'))
        };
        match self.fault.as_str() {
            "dies-on-early-update" => session != self.session && self.session.is_empty(),
            "dies-on-idle-update" => call.is_some_and(|call| call.starts_with("background")),
            "dies-on-null" => update.values().any(Value::is_null),
            "dies-on-unknown-call" => {
                kind == "tool_call_update"
                    && update.len() <= 3
                    && !update.contains_key("title")
                    && call.is_some_and(|call| !self.calls.contains(call))
            }
            "dies-on-odd-content" => contents().any(|item| is_odd(item.get("type"))),
            "dies-on-odd-kind" => update.get("kind").is_some_and(Value::is_number),
            "dies-on-image" => {
                kind == "agent_message_chunk"
                    && update
                        .get("content")
                        .and_then(|content| content.get("data"))
                        .is_some()
            }
            "dies-on-unknown-update" => !KNOWN.contains(&kind),
            "dies-on-future-members" => update.contains_key("futureField"),
            _ => false,
        }
    }
}
