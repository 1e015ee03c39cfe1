//! The states of a session in version 2.

use serde_json::Value;

use super::finding::quote;
use super::link::Open;
use super::message::{given, is_listed, list, text};
use super::turn::STOP_REASONS;
use super::{CROSSING_S, Passive};
use crate::rule::Side;

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
                let what = "a prompt was refused while work is running";
                self.find_with("V2-PROMPT-14", Side::Agent, open.frame, what);
            }
            return;
        };
        let message = text(result, "/messageId");
        let shown = message.and_then(|message| session.user_messages.get(message).copied());
        if let (Some(message), None) = (message, shown) {
            session.accepted.push((message.to_owned(), frame));
        }
        if open.while_running {
            self.look("V2-PROMPT-14", Side::Agent);
        }
        self.look("V2-PROMPT-05", Side::Agent);
        // Other work may have run and ended while this prompt was held: then its message came later.
        if let (Some(shown), Some(idle)) = (shown, open.idle_at)
            && shown < idle
            && !open.while_running
        {
            let what = "a prompt was answered when its work was over, not when it was inserted";
            self.find_with("V2-PROMPT-05", Side::Agent, open.frame, what);
        }
        self.look("V2-PROMPT-07", Side::Agent);
        if message.is_none() {
            let what = "the answer to a prompt lacks `messageId`";
            self.find_with("V2-PROMPT-07", Side::Agent, open.frame, what);
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
            return self.find("V2-EXT-01", Side::Agent, what);
        }
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
        if had {
            let what = "work in the background was reported before, and is left out here";
            self.keeps("V2-BG-02", Side::Agent, has_list, what);
        }
    }

    fn idle(&mut self, id: &str, update: &Value, is_snapshot: bool) {
        let now = self.t;
        let reason = text(update, "/stopReason");
        if let Some(reason) = reason {
            self.look("V2-STOP-04", Side::Agent);
            if !is_listed(reason, STOP_REASONS, true) && reason != "error" {
                let reason = quote(reason);
                let what =
                    format!("the stop reason {reason} is unknown, and custom ones begin with `_`");
                self.find("V2-STOP-04", Side::Agent, what);
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
        session.is_stop_chosen = false;
        let has_past = session.has_past;
        let Some(since) = was_active else {
            // A snapshot may repeat how the last work ended, and states may be told twice.
            if reason.is_some() && !is_snapshot && !has_past && !had_state {
                let what = "work ended that was never told to run";
                self.find("V2-STATE-01", Side::Agent, what);
            }
            return;
        };
        // The message of a prompt that was accepted in the middle of this work may still come.
        let accepted = std::mem::take(&mut session.accepted).into_iter();
        let (unseen, later): (Vec<_>, Vec<_>) = accepted.partition(|(_, frame)| *frame < since);
        session.accepted = later;
        self.look("V2-STATE-01", Side::Agent);
        self.look("V2-STATE-03", Side::Agent);
        if reason.is_none() {
            let what = "work ended without a `stopReason`";
            self.find_with("V2-STATE-03", Side::Agent, since, what);
        }
        if let Some((frame, _)) = cancel {
            self.cancelled_work_ended(frame, reason);
        }
        for (_, frame) in unseen {
            let what = "the work of a prompt ended, and its message was never shown";
            self.find_with("V2-PROMPT-09", Side::Agent, frame, what);
        }
        if is_cancelled {
            self.calls_cut_off(id, since, update);
        }
    }

    /// Judges the end of work that was cancelled.
    fn cancelled_work_ended(&mut self, cancel: usize, reason: Option<&str>) {
        self.look("V2-CANCEL-07", Side::Agent);
        match reason {
            Some("cancelled") => self.look("V2-CANCEL-06", Side::Agent),
            Some("error") => {
                let what = "cancelled work ended as an error";
                self.find_with("V2-CANCEL-07", Side::Agent, cancel, what);
            }
            Some(_) => {
                let what = "cancelled work ended with another reason";
                self.find_with("V2-CANCEL-06", Side::Agent, cancel, what);
            }
            // That the reason is missing is a fault of its own.
            None => {}
        }
    }

    /// Judges the tool calls of work that was cancelled. What runs in the background goes on.
    fn calls_cut_off(&mut self, id: &str, since: usize, update: &Value) {
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
        if has_calls {
            self.look("V2-TOOL-10", Side::Agent);
        }
        frames.sort_unstable();
        for frame in frames {
            let what = "a tool call was left open by cancelled work";
            self.find_with("V2-TOOL-10", Side::Agent, frame, what);
        }
    }
}
