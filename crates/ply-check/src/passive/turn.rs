//! Prompts and cancels; the turns of version 1.

use serde_json::Value;

use super::finding::quote;
use super::link::Open;
use super::message::{is_listed, text};
use super::{CROSSING_S, Passive};
use crate::rule::{Side, id};

/// Why a turn may end.
pub(super) const STOP_REASONS: &[&str] = &[
    "end_turn",
    "max_tokens",
    "max_turn_requests",
    "refusal",
    "cancelled",
];

impl Passive {
    pub(super) fn prompt(&mut self, params: &Value, open: &mut Open) {
        self.prompt_content(params);
        let Some(id) = text(params, "/sessionId") else {
            return;
        };
        self.look(id::V1_PROMPT_01, Side::Client);
        self.look(id::V2_SESS_10, Side::Client);
        self.goes_without();
        if !self.sessions.is_known(id) {
            open.is_for_unknown = true;
            let what = format!("a prompt for session {}, which is not open", quote(id));
            self.find(id::V2_SESS_10, Side::Client, what.as_str());
            return self.find(id::V1_PROMPT_01, Side::Client, what);
        }
        let (frame, is_v2) = (self.frame, self.link.is_v2());
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        open.while_running = session.active.is_some();
        if is_v2 && session.active.is_none() {
            session.awaits_work.get_or_insert(frame);
        }
        session.loaded = None;
        // What was cancelled was sent before; of what comes now nobody can tell any more which is which.
        session.cancel = None;
        if session.running == 0 && session.active.is_none() {
            session.is_stop_chosen = false;
        }
        session.running += 1;
        session.was_prompted = true;
    }

    pub(super) fn cancel(&mut self, params: &Value) {
        let is_named = text(params, "/sessionId").is_some();
        let what = "`session/cancel` names no session";
        self.keeps(id::V1_CANCEL_01, Side::Client, is_named, what);
        let (frame, t) = (self.frame, self.t);
        let session = text(params, "/sessionId").and_then(|id| self.sessions.get_mut(id));
        let Some(session) = session else {
            return;
        };
        session.is_stop_chosen = true;
        if session.running > 0 || session.active.is_some() {
            session.cancel.get_or_insert((frame, t));
        }
    }

    pub(super) fn prompt_answered(
        &mut self,
        open: &Open,
        result: Option<&Value>,
        error: Option<&Value>,
    ) {
        if open.is_for_unknown {
            self.served_unknown(open, result);
        }
        match self.link.is_v2() {
            true => self.prompt_accepted(open, result, error),
            false => self.turn_ended(open, result),
        }
        let now = self.t;
        let session = self.session_of(open);
        if let Some(session) = session {
            session.running = session.running.saturating_sub(1);
            session.ended = Some(now);
        }
    }

    fn turn_ended(&mut self, open: &Open, result: Option<&Value>) {
        self.look(id::V1_PROMPT_07, Side::Agent);
        self.look(id::V1_PROMPT_10, Side::Agent);
        let reason = result.map(|result| text(result, "/stopReason").unwrap_or_default());
        if let Some(reason) = reason {
            self.look(id::V1_PROMPT_06, Side::Agent);
            if reason.is_empty() {
                let what = "the prompt response has no stop reason";
                return self.find_with(id::V1_PROMPT_06, Side::Agent, open.frame, what);
            }
            self.look(id::V1_STOP_01, Side::Agent);
            if !is_listed(reason, STOP_REASONS, false) {
                let what = format!("the stop reason {} is not one of version 1", quote(reason));
                self.find_with(id::V1_STOP_01, Side::Agent, open.frame, what);
            }
        }
        let now = self.t;
        let session = self.session_of(open);
        // With several prompts at once nothing tells which of them a cancel or a tool call belongs to.
        let Some(session) = session.filter(|session| session.running == 1) else {
            return;
        };
        let is_cancelled = reason == Some("cancelled");
        let cancel = session.cancel;
        let cancel = cancel.filter(|(_, t)| is_cancelled || now - t >= CROSSING_S);
        let of_turn = |frame: usize| frame > open.frame;
        let has_calls = session.calls.values().any(|call| of_turn(call.frame));
        let still_open = session.calls.values_mut();
        let still_open = still_open.filter(|call| {
            // No text says what becomes of a call that the user refused.
            let is_refused = call.rejected.is_some();
            let is_open = call.is_announced && !call.is_over() && !is_refused;
            is_open && of_turn(call.frame) && !call.is_told
        });
        let mut calls: Vec<usize> = still_open
            .map(|call| {
                call.is_told = true;
                call.frame
            })
            .collect();
        calls.sort_unstable();
        // A prompt that was also taken back may lawfully end with an error.
        if let Some((frame, _)) = cancel.filter(|_| open.taken_back.is_none()) {
            self.cancelled_turn_ended(frame, reason);
        }
        let (rule, what) = match reason {
            Some("cancelled") => (
                id::V1_TOOL_17,
                "a tool call was left open by a cancelled turn",
            ),
            Some("end_turn") => (id::V1_TOOL_11, "the turn ended with a tool call still open"),
            _ => return,
        };
        if has_calls {
            self.look(rule, Side::Agent);
        }
        for frame in calls {
            self.find_with(rule, Side::Agent, frame, what);
        }
    }

    /// Judges the end of a turn that was cancelled.
    fn cancelled_turn_ended(&mut self, cancel: usize, reason: Option<&str>) {
        self.look(id::V1_CANCEL_06, Side::Agent);
        match reason {
            Some("cancelled") => self.look(id::V1_CANCEL_05, Side::Agent),
            Some(_) => {
                let what = "a cancelled turn ended with another reason";
                self.find_with(id::V1_CANCEL_05, Side::Agent, cancel, what);
            }
            None => {
                let what = "a cancelled turn ended with an error";
                self.find_with(id::V1_CANCEL_06, Side::Agent, cancel, what);
            }
        }
    }
}
