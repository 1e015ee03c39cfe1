//! The states of a session in version 2.

use std::collections::BTreeSet;

use serde_json::Value;

use super::finding::quote;
use super::link::Open;
use super::message::{given, is_listed, list, text};
use super::turn::STOP_REASONS;
use super::{CROSSING_S, Passive};
use crate::rule::{Side, id};

/// The last one is a draft's.
const STATES: &[&str] = &["running", "idle", "requires_action", "unknown"];

impl Passive {
    pub(super) fn prompt_accepted(
        &mut self,
        open: &Open,
        result: Option<&Value>,
        error: Option<&Value>,
    ) {
        let frame = self.frame;
        let session = self.session_of(open);
        let Some(session) = session else {
            return;
        };
        let Some(result) = result else {
            let code = error.and_then(|error| error.get("code"));
            let is_refusal = code.and_then(Value::as_i64) == Some(-32600);
            // What is being stopped may refuse for that reason.
            if open.while_running && is_refusal && !session.is_stop_chosen {
                let what = "a prompt was refused while work was running";
                self.find_with(id::V2_PROMPT_14, Side::Agent, open.frame, what);
            }
            return;
        };
        let message = text(result, "/messageId");
        let shown = message.and_then(|message| session.user_messages.get(message).copied());
        if let (Some(message), None) = (message, shown) {
            session.accepted.push((message.to_owned(), frame));
        }
        if open.while_running {
            self.look(id::V2_PROMPT_14, Side::Agent);
        }
        self.look(id::V2_PROMPT_05, Side::Agent);
        // Other work may have run and ended while this prompt was held: then its message came later.
        if let (Some(shown), Some(idle)) = (shown, open.idle_at)
            && shown < idle
            && !open.while_running
        {
            let what =
                "the prompt response came when the work was done, not when the prompt was inserted";
            self.find_with(id::V2_PROMPT_05, Side::Agent, open.frame, what);
        }
        self.look(id::V2_PROMPT_07, Side::Agent);
        if message.is_none() {
            let what = "the prompt response lacks `messageId`";
            self.find_with(id::V2_PROMPT_07, Side::Agent, open.frame, what);
        }
    }

    pub(super) fn state(&mut self, id: &str, update: &Value) {
        let (frame, Some(state)) = (self.frame, text(update, "/state")) else {
            return;
        };
        if !is_listed(state, STATES, true) {
            let what = format!(
                "the state {} is unknown, and custom ones begin with `_`",
                quote(state)
            );
            return self.find(id::V2_STATE_11, Side::Agent, what);
        }
        self.look(id::V2_STATE_11, Side::Agent);
        let mut is_snapshot = false;
        for open in self.link.waiting_mut(Side::Client) {
            if open.session.as_deref() != Some(id) {
                continue;
            }
            match open.method.as_str() {
                "session/resume" => {
                    open.saw_state = true;
                    is_snapshot = true;
                }
                "session/prompt" if state == "idle" && open.saw_running => {
                    open.idle_at.get_or_insert(frame);
                }
                "session/prompt" if state == "idle" => {}
                "session/prompt" => open.saw_running = true,
                _ => {}
            }
        }
        self.background(id, update);
        self.waits(id, state);
        match state {
            "idle" => self.idle(id, update, is_snapshot),
            "running" | "requires_action" => self.busy(id),
            _ => {}
        }
    }

    fn busy(&mut self, id: &str) {
        let frame = self.frame;
        if let Some(session) = self.sessions.get_mut(id) {
            session.has_state = true;
            if session.active.is_none() {
                session.active = Some(frame);
                session.awaits_work = None;
                session.was_answered = false;
                // Prompts that wait may have been cancelled before they began.
                if session.running == 0 {
                    session.cancel = None;
                    session.is_stop_chosen = false;
                }
            }
        }
    }

    fn background(&mut self, id: &str, update: &Value) {
        let has_list = given(update, "/background").is_some();
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let had = session.has_background;
        session.has_background |= has_list;
        let listed = list(update, "/background").iter();
        let names: Vec<(bool, &str)> = listed
            .flat_map(|item| {
                let call = text(item, "/toolCallId").map(|id| (true, id));
                let terminal = text(item, "/terminalId").map(|id| (false, id));
                call.into_iter().chain(terminal)
            })
            .collect();
        let is_known = session.has_past
            || names.iter().all(|(is_call, id)| match is_call {
                true => session.calls.contains_key(*id),
                false => session.own_terminals.contains_key(*id),
            });
        let distinct: BTreeSet<_> = names.iter().collect();
        let is_once = distinct.len() == names.len();
        if had {
            let what = "background work that was reported before is missing here";
            self.keeps(id::V2_BG_02, Side::Agent, has_list, what);
        }
        if has_list {
            let what = "work was listed before it was announced";
            self.keeps(id::V2_BG_03, Side::Agent, is_known, what);
            self.keeps(id::V2_BG_04, Side::Agent, is_once, "work was listed twice");
        }
    }

    fn idle(&mut self, id: &str, update: &Value, is_snapshot: bool) {
        let now = self.t;
        let reason = text(update, "/stopReason");
        if let Some(reason) = reason {
            let is_known = is_listed(reason, STOP_REASONS, true) || reason == "error";
            let what = "a stop reason is unknown, and custom ones begin with `_`";
            self.keeps(id::V2_STOP_01, Side::Agent, is_known, what);
            self.keeps(id::V2_STOP_04, Side::Agent, is_known, what);
            if reason == "error" {
                let is_told = text(update, "/error/message").is_some();
                let what = "the stop reason `error` came without an error";
                self.keeps(id::V2_STOP_02, Side::Agent, is_told, what);
            }
        }
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let was_active = session.active.take();
        let had_state = std::mem::replace(&mut session.has_state, true);
        let is_cancelled = reason == Some("cancelled");
        let cancel = session.cancel.take();
        let cancel = cancel.filter(|(_, t)| is_cancelled || now - t >= CROSSING_S);
        let is_stop_chosen = std::mem::take(&mut session.is_stop_chosen) || session.was_answered;
        let has_past = session.has_past;
        session.awaits_work = None;
        let Some(since) = was_active else {
            // A snapshot may repeat how the last work ended, and states may be told twice.
            if reason.is_some() && !is_snapshot && !has_past && !had_state {
                let what = "work ended that was never reported as running";
                self.find(id::V2_STATE_01, Side::Agent, what);
            }
            return;
        };
        // The message of a prompt that was accepted in the middle of this work may still come.
        let accepted = std::mem::take(&mut session.accepted).into_iter();
        let (unseen, later): (Vec<_>, Vec<_>) = accepted.partition(|(_, frame)| *frame < since);
        session.accepted = later;
        for rule in [id::V2_STATE_01, id::V2_STATE_02, id::V2_STATE_03] {
            self.look(rule, Side::Agent);
        }
        let what = "work that was not cancelled ended with `cancelled`";
        let is_kept = !is_cancelled || is_stop_chosen || has_past;
        self.keeps(id::V2_STOP_03, Side::Agent, is_kept, what);
        if reason.is_none() {
            let what = "work ended without a `stopReason`";
            self.find_with(id::V2_STATE_03, Side::Agent, since, what);
        }
        if let Some((frame, _)) = cancel {
            self.cancelled_work_ended(frame, reason);
        }
        for (_, frame) in unseen {
            let what = "the work of a prompt ended without its message";
            self.find_with(id::V2_PROMPT_09, Side::Agent, frame, what);
        }
        if reason.is_some() {
            self.calls_left_open(id, since, update, is_cancelled);
        }
    }

    /// Judges the end of work that was cancelled.
    fn cancelled_work_ended(&mut self, cancel: usize, reason: Option<&str>) {
        self.look(id::V2_CANCEL_07, Side::Agent);
        match reason {
            Some("cancelled") => self.look(id::V2_CANCEL_06, Side::Agent),
            Some("error") => {
                let what = "cancelled work ended as an error";
                self.find_with(id::V2_CANCEL_07, Side::Agent, cancel, what);
            }
            Some(_) => {
                let what = "cancelled work ended with another reason";
                self.find_with(id::V2_CANCEL_06, Side::Agent, cancel, what);
            }
            // That the reason is missing is a fault of its own.
            None => {}
        }
    }

    /// Judges the tool calls of work that is over. What runs in the background goes on.
    fn calls_left_open(&mut self, id: &str, since: usize, update: &Value, is_cancelled: bool) {
        let background = list(update, "/background").iter();
        let listed: Vec<&str> = background
            .filter_map(|item| text(item, "/toolCallId"))
            .collect();
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let of_work = session
            .calls
            .iter_mut()
            .filter(|(_, call)| call.frame > since);
        let mut has_calls = false;
        let mut frames = Vec::new();
        for (id, call) in of_work {
            has_calls = true;
            let goes_on = call.status == "paused" || listed.contains(&id.as_str());
            if !call.is_over() && !call.is_told && !goes_on {
                call.is_told = true;
                frames.push(call.frame);
            }
        }
        let (rule, what) = match is_cancelled {
            true => (
                id::V2_TOOL_10,
                "a tool call was left open by cancelled work",
            ),
            false => (id::V2_TOOL_09, "the work ended with a tool call still open"),
        };
        if has_calls {
            self.look(rule, Side::Agent);
        }
        frames.sort_unstable();
        for frame in frames {
            self.find_with(rule, Side::Agent, frame, what);
        }
    }

    /// Judges that work which goes on once the user has answered is told to run.
    fn waits(&mut self, id: &str, state: &str) {
        let frame = self.frame;
        if let Some(session) = self.sessions.get_mut(id) {
            let waits = session.waits.take();
            match state {
                "requires_action" => session.waits = Some(frame),
                _ if waits.is_some() => self.look(id::V2_STATE_05, Side::Agent),
                _ => {}
            }
        }
    }

    /// Judges a part of some work by the state that was told before it.
    pub(super) fn at_work(&mut self, id: &str, kind: &str) {
        let is_said = kind.starts_with("agent_message") || kind.starts_with("agent_thought");
        let is_work = is_said || kind.starts_with("tool_call");
        let is_asked = self.link.has_question(id);
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        if !is_work || session.loading > 0 || session.has_past {
            return;
        }
        if let Some(prompt) = session.awaits_work.take() {
            let what = "work was reported before `running` or `requires_action`";
            return self.find_with(id::V2_STATE_01, Side::Agent, prompt, what);
        }
        // Some tell the end of the call that was asked about before they go on; what comes of a cancel is no work that goes on.
        let is_over = is_asked || session.cancel.is_some() || !is_said;
        if let Some(waits) = session.waits.filter(|_| !is_over) {
            let what = "the agent continued after a response without `running`";
            self.find_with(id::V2_STATE_05, Side::Agent, waits, what);
        }
    }
}
