//! The life of tool calls.

use serde_json::Value;

use super::Passive;
use super::finding::quote;
use super::message::{given, is_listed, list, text};
use super::session::{Call, THINGS_MAX};
use crate::rule::{Side, id};

const KINDS: &[&str] = &[
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];
const STATUSES_V1: &[&str] = &["pending", "in_progress", "completed", "failed"];
const STATUSES_V2: &[&str] = &[
    "pending",
    "in_progress",
    "completed",
    "failed",
    "cancelled",
    "paused",
];

impl Passive {
    pub(super) fn tool_call(&mut self, session: &str, kind: &str, update: &Value) {
        self.values(update);
        self.call_content(update);
        let id = text(update, "/toolCallId");
        if kind == "tool_call" {
            let is_whole = id.is_some() && text(update, "/title").is_some();
            let what = "a tool call lacks `toolCallId` or `title`";
            self.keeps(id::V1_TOOL_03, Side::Agent, is_whole, what);
        }
        if kind == "tool_call_update" {
            self.keeps(
                id::V1_TOOL_06,
                Side::Agent,
                id.is_some(),
                "an update has no `toolCallId`",
            );
        }
        if let Some(id) = id {
            self.life(session, id, kind, update);
        }
    }

    /// Judges a part of a call's content, in version 2.
    pub(super) fn chunk_of_call(&mut self, update: &Value) {
        if let Some(item) = given(update, "/content") {
            self.item_of_call(item);
        }
    }

    fn values(&mut self, update: &Value) {
        if let Some(kind) = text(update, "/kind") {
            self.look(id::V1_TOOL_04, Side::Agent);
            if !is_listed(kind, KINDS, false) {
                let what = format!("the kind {} is unknown", quote(kind));
                self.find(id::V1_TOOL_04, Side::Agent, what);
            }
        }
        if let Some(name) = given(update, "/name") {
            let what = "the name of a tool is not a string";
            self.keeps(id::V1_TOOL_19, Side::Agent, name.is_string(), what);
        }
        if let Some(status) = text(update, "/status") {
            let (rule, is_known) = match self.link.is_v2() {
                true => (id::V2_TOOL_06, is_listed(status, STATUSES_V2, true)),
                false => (id::V1_TOOL_05, is_listed(status, STATUSES_V1, false)),
            };
            self.look(rule, Side::Agent);
            if !is_known {
                let what = format!("the status {} is unknown", quote(status));
                self.find(rule, Side::Agent, what);
            }
        }
    }

    fn call_content(&mut self, update: &Value) {
        let is_v2 = self.link.is_v2();
        for item in list(update, "/content") {
            self.item_of_call(item);
        }
        let (path, line) = match is_v2 {
            true => (id::V2_RPC_01, id::V2_TOOL_12),
            false => (id::V1_TOOL_14, id::V1_TOOL_14),
        };
        for location in list(update, "/locations") {
            self.absolute(location, "/path", path, Side::Agent);
            if let Some(number) = location.get("line").and_then(Value::as_u64) {
                self.keeps(line, Side::Agent, number > 0, "a line has the number 0");
            }
        }
    }

    fn item_of_call(&mut self, item: &Value) {
        let kind = text(item, "/type");
        if self.link.is_v2() {
            if kind == Some("diff") {
                self.diff(item);
            }
            return;
        }
        let is_whole = match kind {
            Some("content") => text(item, "/content/type").is_some(),
            Some("terminal") => text(item, "/terminalId").is_some(),
            kind => kind == Some("diff"),
        };
        let what = "content of a call is neither a wrapped block, a diff nor a terminal";
        self.keeps(id::V1_TOOL_12, Side::Agent, is_whole, what);
        if kind == Some("diff") {
            self.absolute(item, "/path", id::V1_TOOL_13, Side::Agent);
            let is_old = given(item, "/oldText").is_none_or(Value::is_string);
            let is_kept = text(item, "/newText").is_some() && is_old;
            let what = "a diff has no `newText`, or its `oldText` is not a string";
            self.keeps(id::V1_TOOL_13, Side::Agent, is_kept, what);
        }
    }

    fn life(&mut self, session: &str, id: &str, kind: &str, update: &Value) {
        let (frame, t) = (self.frame, self.t);
        let Some(session) = self.sessions.get_mut(session) else {
            return;
        };
        if session.calls.len() >= THINGS_MAX {
            session.calls.retain(|_, call| !call.is_over());
            session.has_past = true;
        }
        let has_past = session.has_past;
        let is_replay = session.loading > 0;
        let call = session.calls.entry(id.to_owned()).or_insert_with(|| Call {
            frame,
            ..Call::default()
        });
        let first = call.frame;
        let was_announced = std::mem::replace(&mut call.is_announced, true);
        let is_mentioned = call.is_mentioned;
        let was_over = call.is_over();
        let before = call.status.clone();
        if let Some(status) = text(update, "/status") {
            call.status = status.to_owned();
        }
        call.was_running |= call.status == "in_progress";
        let was_running = call.was_running;
        let is_completed = !was_over && call.status == "completed" && !is_replay;
        let is_changed = was_over && call.status != before && kind == "tool_call_update";
        let after = call.status.clone();
        if let Some(capabilities) = update.get("capabilities") {
            let can = given(capabilities, "/cancel").is_some_and(Value::is_object);
            if std::mem::replace(&mut call.can_be_cancelled, can) && !can {
                call.withdrawn = Some(t);
            }
        }
        let runs = ["in_progress", "completed"].contains(&call.status.as_str());
        let was_rejected = call.rejected.is_some() && (runs || call.is_over());
        let rejected = call.rejected.take_if(|_| runs);
        if kind == "tool_call" {
            self.look(id::V1_TOOL_02, Side::Agent);
            // Announced again while it is open it may be the same call, told once more.
            if was_announced && was_over {
                let what = format!("the tool call {} had already ended", quote(id));
                self.find_with(id::V1_TOOL_02, Side::Agent, first, what);
            }
        }
        if kind == "tool_call_update" {
            self.look(id::V1_TOOL_01, Side::Agent);
            if !was_announced && !is_mentioned && !has_past {
                let what = format!("the tool call {} was never announced", quote(id));
                self.find(id::V1_TOOL_01, Side::Agent, what);
            }
        }
        if !was_announced && !is_mentioned && !has_past {
            let has_title = text(update, "/title").is_some();
            let what = "the first report of a call has no title";
            self.keeps(id::V2_TOOL_03, Side::Agent, has_title, what);
        }
        if is_completed {
            let what = "a call was completed without being in progress";
            self.keeps(id::V1_TOOL_09, Side::Agent, was_running, what);
            self.keeps(id::V2_TOOL_09, Side::Agent, was_running, what);
        }
        if was_over {
            self.look(id::V2_TOOL_09, Side::Agent);
        }
        if is_changed {
            let (before, after) = (quote(&before), quote(&after));
            let what = format!("a call that was {before} became {after}");
            let rule = match self.link.is_v2() {
                true => id::V2_TOOL_09,
                false => id::V1_TOOL_11,
            };
            self.find_with(rule, Side::Agent, first, what);
        }
        if was_rejected {
            self.look(id::V1_PERM_12, Side::Agent);
        }
        if let Some(rejected) = rejected {
            let what = "a rejected tool call continues";
            self.find_with(id::V1_PERM_12, Side::Agent, rejected, what);
        }
    }
}
