//! The life of tool calls.

use serde_json::Value;

use super::Passive;
use super::finding::quote;
use super::message::{given, is_listed, list, text};
use super::session::{Call, THINGS_MAX};
use crate::rule::Side;

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
            self.keeps("V1-TOOL-03", Side::Agent, is_whole, what);
        }
        if let Some(id) = id {
            self.life(session, id, kind, update);
        }
    }

    fn values(&mut self, update: &Value) {
        if let Some(kind) = text(update, "/kind") {
            self.look("V1-TOOL-04", Side::Agent);
            if !is_listed(kind, KINDS, false) {
                let what = format!("the kind {} is unknown", quote(kind));
                self.find("V1-TOOL-04", Side::Agent, what);
            }
        }
        if let Some(status) = text(update, "/status") {
            let (rule, is_known) = match self.link.is_v2() {
                true => ("V2-TOOL-06", is_listed(status, STATUSES_V2, true)),
                false => ("V1-TOOL-05", is_listed(status, STATUSES_V1, false)),
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
            match text(item, "/type") {
                Some("diff") if is_v2 => {
                    for change in list(item, "/changes") {
                        self.absolute(change, "/path", "V2-DIFF-01", Side::Agent);
                        self.absolute(change, "/oldPath", "V2-DIFF-01", Side::Agent);
                    }
                }
                Some("diff") => {
                    self.absolute(item, "/path", "V1-TOOL-13", Side::Agent);
                    let is_kept = text(item, "/newText").is_some();
                    self.keeps(
                        "V1-TOOL-13",
                        Side::Agent,
                        is_kept,
                        "a diff has no `newText`",
                    );
                    self.look("V1-TOOL-12", Side::Agent);
                }
                Some("content" | "terminal") => self.look("V1-TOOL-12", Side::Agent),
                kind => {
                    let kind = quote(kind.unwrap_or("none"));
                    let what = format!("content of the type {kind}");
                    self.find("V1-TOOL-12", Side::Agent, what);
                }
            }
        }
        let (path, line) = match is_v2 {
            true => ("V2-RPC-01", "V2-TOOL-12"),
            false => ("V1-TOOL-14", "V1-TOOL-14"),
        };
        for location in list(update, "/locations") {
            self.absolute(location, "/path", path, Side::Agent);
            if let Some(number) = location.get("line").and_then(Value::as_u64) {
                self.keeps(line, Side::Agent, number > 0, "a line has the number 0");
            }
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
            self.look("V1-TOOL-02", Side::Agent);
            // Announced again while it is open it may be the same call, told once more.
            if was_announced && was_over {
                let what = format!("the tool call {} was over before", quote(id));
                self.find_with("V1-TOOL-02", Side::Agent, first, what);
            }
        }
        if kind == "tool_call_update" {
            self.look("V1-TOOL-01", Side::Agent);
            if !was_announced && !is_mentioned && !has_past {
                let what = format!("the tool call {} was never announced", quote(id));
                self.find("V1-TOOL-01", Side::Agent, what);
            }
        }
        if was_over {
            self.look("V2-TOOL-09", Side::Agent);
        }
        if is_changed {
            let (before, after) = (quote(&before), quote(&after));
            let what = format!("a call that was {before} became {after}");
            let rule = match self.link.is_v2() {
                true => "V2-TOOL-09",
                false => "V1-TOOL-11",
            };
            self.find_with(rule, Side::Agent, first, what);
        }
        if was_rejected {
            self.look("V1-PERM-12", Side::Agent);
        }
        if let Some(rejected) = rejected {
            let what = "a rejected tool call goes on";
            self.find_with("V1-PERM-12", Side::Agent, rejected, what);
        }
    }
}
