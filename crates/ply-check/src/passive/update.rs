//! `session/update`: for whom, of which kind, and when.

use serde_json::Value;

use super::finding::quote;
use super::message::{given, list, text};
use super::session::THINGS_MAX;
use super::{AFTERMATH_S, Passive};
use crate::rule::{Side, id};

const BOTH: &[&str] = &[
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call_update",
    "plan_update",
    "plan_removed",
    "available_commands_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
    "compaction_update",
    "compaction_summary_chunk",
    // Drafts.
    "subagent_update",
    "session_message",
    "session_message_chunk",
];
const ONLY_V1: &[&str] = &["tool_call", "plan", "current_mode_update"];
const ONLY_V2: &[&str] = &[
    "user_message",
    "agent_message",
    "agent_thought",
    "state_update",
    "tool_call_content_chunk",
    "terminal_update",
    "terminal_output_chunk",
];

/// What belongs to a turn of version 1 and to nothing else.
const OF_A_TURN: &[&str] = &[
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
];
/// What is history when a session is opened again.
const HISTORY: &[&str] = &[
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "user_message",
    "agent_message",
    "agent_thought",
];

impl Passive {
    pub(super) fn update(&mut self, params: &Value) {
        let null = Value::Null;
        let update = params.get("update").unwrap_or(&null);
        let kind = text(update, "/sessionUpdate").unwrap_or_default();
        self.kind(kind);
        self.gates(kind);
        let Some(id) = text(params, "/sessionId") else {
            return;
        };
        if !self.sessions.is_known(id) {
            if OF_A_TURN.contains(&kind) {
                self.sessions.note_stranger(id, self.frame);
            }
            return self.sessions.note_early(id, self.frame);
        }
        self.look(id::V1_SESS_11, Side::Agent);
        self.when(id, kind);
        self.cross_talk(id, kind);
        self.at_work(id, kind);
        match self.link.is_v2() {
            true => self.members_v2(id, kind, update),
            false => self.members_v1(id, kind, update),
        }
        match kind {
            "tool_call" | "tool_call_update" => self.tool_call(id, kind, update),
            "available_commands_update" => self.commands(list(update, "/availableCommands")),
            "tool_call_content_chunk" => self.chunk_of_call(update),
            "config_option_update" => {
                if let Some(session) = self.sessions.get_mut(id) {
                    session.has_options = true;
                }
                self.options(list(update, "/configOptions"));
            }
            "state_update" => self.state(id, update),
            _ => {}
        }
    }

    fn kind(&mut self, kind: &str) {
        if self.link.version.is_none() || kind.is_empty() {
            return;
        }
        let is_v2 = self.link.is_v2();
        let (here, there) = match is_v2 {
            true => (ONLY_V2, ONLY_V1),
            false => (ONLY_V1, ONLY_V2),
        };
        self.look(id::V1_INIT_10, Side::Agent);
        self.look(id::V2_EXT_01, Side::Agent);
        if kind.starts_with("tool_call") {
            self.look(id::V2_TOOL_01, Side::Agent);
        }
        let is_custom = is_v2 && kind.starts_with('_');
        if BOTH.contains(&kind) || here.contains(&kind) || is_custom {
            return;
        }
        let rule = match there.contains(&kind) {
            true if is_v2 && kind == "tool_call" => id::V2_TOOL_01,
            true => id::V1_INIT_10,
            // Version 1 does not forbid updates that nobody knows.
            false => id::V2_EXT_01,
        };
        let what = format!("the update {} does not exist in this version", quote(kind));
        self.find(rule, Side::Agent, what);
    }

    /// Judges updates that a client of version 1 has to ask for.
    fn gates(&mut self, kind: &str) {
        let (rule, gate) = match kind {
            "notice" => (id::V1_NOTICE_01, "clientCapabilities.session.notices"),
            "compaction_update" | "compaction_summary_chunk" => {
                (id::V1_COMPACT_01, "clientCapabilities.session.compaction")
            }
            "plan_update" | "plan_removed" => (id::V1_PLAN_07, "clientCapabilities.plan"),
            _ => return,
        };
        if !self.link.is_v1() {
            return;
        }
        self.look(rule, Side::Agent);
        if !self.is_advertised(Side::Client, gate) {
            let kind = quote(kind);
            let what = format!("the update {kind} for a client that does not support it");
            self.find(rule, Side::Agent, what);
        }
    }

    /// Judges an update by what the session is doing.
    fn when(&mut self, id: &str, kind: &str) {
        let (now, is_v1) = (self.t, self.link.is_v1());
        let quiet_resume = self.quiet_resume(id);
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let is_soon = |t: Option<f64>| t.is_some_and(|t| now - t < AFTERMATH_S);
        let closed = session.closed;
        let is_replay = session.loading > 0;
        let is_busy = session.running > 0 || session.active.is_some();
        let is_late = is_soon(session.ended) && !is_busy && !is_replay && closed.is_none();
        let is_after_load = is_soon(session.loaded) && !is_busy;
        if let Some(closed) = closed {
            let kind = quote(kind);
            let what = format!("the update {kind} came after the session was closed");
            return self.find_with(id::V2_CLOSE_04, Side::Agent, closed, what);
        }
        if let (Some(asked), true) = (quiet_resume, HISTORY.contains(&kind) && !is_busy) {
            let what = "history was replayed without a request";
            return self.find_with(id::V1_RESUME_03, Side::Agent, asked, what);
        }
        if is_after_load && kind == "user_message_chunk" {
            let what = "history was replayed after the `session/load` response";
            self.find(id::V1_LOAD_05, Side::Agent, what);
        } else if is_v1 && is_late && OF_A_TURN.contains(&kind) {
            let what = format!("the update {} came after the end of its turn", quote(kind));
            self.find(id::V1_PROMPT_10, Side::Agent, what);
        }
    }

    /// Returns the frame of a request to resume a session at rest, without its history.
    fn quiet_resume(&mut self, id: &str) -> Option<usize> {
        let mut waiting = self.link.waiting_mut(Side::Client);
        let resume = waiting.find(|open| {
            let is_resume = open.method == "session/resume" && open.session.as_deref() == Some(id);
            is_resume && !open.replays && !open.while_running
        });
        resume.map(|open| open.frame)
    }

    fn members_v1(&mut self, id: &str, kind: &str, update: &Value) {
        match kind {
            "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => {
                let null = Value::Null;
                self.block(update.get("content").unwrap_or(&null), Side::Agent);
                if let Some(message) = given(update, "/messageId") {
                    let what = "the id of a message is not a string";
                    self.keeps(id::V1_MSGID_01, Side::Agent, message.is_string(), what);
                }
            }
            "plan" => self.plan(id, update),
            "notice" => self.notice(update),
            "compaction_update" | "compaction_summary_chunk" => self.compaction(id, kind, update),
            "current_mode_update" => {
                let is_kept = text(update, "/currentModeId").is_some();
                let what = "a mode change lacks `currentModeId`";
                self.keeps(id::V1_MODE_04, Side::Agent, is_kept, what);
                self.known_mode(id, text(update, "/currentModeId"));
            }
            "usage_update" => self.usage(update),
            "session_info_update" => self.session_info(update),
            _ => {}
        }
    }

    /// Judges that a mode which is told is one of those that the session has.
    fn known_mode(&mut self, id: &str, mode: Option<&str>) {
        let modes = self
            .sessions
            .get_mut(id)
            .and_then(|session| session.modes.clone());
        if let (Some(modes), Some(mode)) = (modes, mode)
            && !modes.iter().any(|known| known == mode)
        {
            let what = format!("the mode {} is not available", quote(mode));
            self.find(id::V1_MODE_04, Side::Agent, what);
        }
    }

    /// Judges that what belongs to a turn is not told of a session without one while another session has one.
    fn cross_talk(&mut self, id: &str, kind: &str) {
        if !self.link.is_v1() || !OF_A_TURN.contains(&kind) {
            return;
        }
        let is_quiet = self.sessions.get_mut(id).is_some_and(|session| {
            let is_used = session.was_prompted || session.has_past || session.loading > 0;
            session.is_made && !is_used
        });
        self.look(id::V1_SESS_09, Side::Agent);
        if is_quiet && self.sessions.has_running() {
            let what = format!(
                "the update {} is about a session without a prompt, while another one had one",
                quote(kind)
            );
            self.find(id::V1_SESS_09, Side::Agent, what);
        }
    }

    fn members_v2(&mut self, id: &str, kind: &str, update: &Value) {
        match kind {
            "user_message_chunk"
            | "agent_message_chunk"
            | "agent_thought_chunk"
            | "user_message"
            | "agent_message"
            | "agent_thought" => {
                self.look(id::V2_MSG_01, Side::Agent);
                let Some(message) = text(update, "/messageId") else {
                    let what = format!("{} lacks `messageId`", quote(kind));
                    return self.find(id::V2_MSG_01, Side::Agent, what);
                };
                if kind.starts_with("user") {
                    self.user_message(id, message);
                }
                match given(update, "/content") {
                    Some(Value::Array(blocks)) => {
                        for block in blocks {
                            self.block(block, Side::Agent);
                        }
                    }
                    Some(block) => self.block(block, Side::Agent),
                    None => {}
                }
            }
            "plan_update" => {
                let null = Value::Null;
                self.plan_update(id, update.get("plan").unwrap_or(&null));
            }
            "plan" => {
                let what = "`plan` was sent, which does not exist in version 2";
                self.find(id::V2_PLAN_01, Side::Agent, what);
            }
            "terminal_update" => self.own_terminal(id, update),
            _ => {}
        }
    }

    fn user_message(&mut self, id: &str, message: &str) {
        let frame = self.frame;
        self.look(id::V2_PROMPT_09, Side::Agent);
        if let Some(session) = self.sessions.get_mut(id) {
            session.accepted.retain(|(accepted, _)| accepted != message);
            if session.user_messages.len() < THINGS_MAX {
                let first = session.user_messages.entry(message.to_owned());
                first.or_insert(frame);
            }
        }
    }
}
