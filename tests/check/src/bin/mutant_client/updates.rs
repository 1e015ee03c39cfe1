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
        let message = text("messageId");
        if !message.is_empty() {
            self.messages.insert(message.to_owned());
            message.clone_into(&mut self.last_message);
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
                let is_again = std::mem::replace(&mut self.is_running, true);
                match is_again && self.has("repeated-state-is-end") {
                    true => Next::End(0),
                    false => Next::Go,
                }
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
        let is_null = |key: &str| update.get(key).is_some_and(Value::is_null);
        let is_empty = |key: &str| {
            let list = update.get(key).and_then(Value::as_array);
            list.is_some_and(Vec::is_empty)
        };
        let message = update.get("messageId").and_then(Value::as_str);
        let is_known = message.is_some_and(|message| self.messages.contains(message));
        let plan = update.get("plan");
        let mut entries = plan
            .and_then(|plan| plan.get("entries")?.as_array())
            .into_iter()
            .flatten();
        match self.fault.as_str() {
            "dies-on-replays" => session == "old session",
            "dies-on-odd-meta" => update
                .get("_meta")
                .is_some_and(|meta| meta.get("example.org/thing").is_some()),
            "dies-on-odd-background" => {
                let work = update.get("background");
                work.is_some_and(|work| !work.is_null())
            }
            "dies-on-content-chunks" => kind == "tool_call_content_chunk",
            "dies-on-bare-diff" => {
                contents().any(|item| item.get("changes").is_some() && item.get("patch").is_none())
            }
            "dies-on-odd-call-capabilities" => {
                update.get("capabilities").is_some_and(Value::is_number)
            }
            "dies-on-terminal-output" => kind == "terminal_output_chunk",
            "dies-on-empty-exit" => {
                let exit = update.get("exitStatus").and_then(Value::as_object);
                exit.is_some_and(serde_json::Map::is_empty)
            }
            "dies-on-null-message-id" => is_null("messageId"),
            "dies-on-whole-messages" => kind == "agent_message",
            "dies-on-mixed-messages" => {
                kind == "agent_message_chunk" && is_known && message != Some(&*self.last_message)
            }
            "dies-on-shared-ids" => kind == "user_message" && is_known,
            "dies-on-no-commands" => is_empty("availableCommands"),
            "dies-on-new-commands" => kind == "available_commands_update" && self.is_prompted,
            "dies-on-cleared-title" => is_null("title") && kind == "session_info_update",
            "dies-on-empty-plan" => kind == "plan" && is_empty("entries"),
            "dies-on-cancelled-entries" => entries
                .any(|entry| entry.get("status").and_then(Value::as_str) == Some("cancelled")),
            "dies-on-odd-plan" => is_odd(plan.and_then(|plan| plan.get("type"))),
            "dies-on-null-cost" => is_null("cost"),
            "dies-on-compaction" => kind == "compaction_update",
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
