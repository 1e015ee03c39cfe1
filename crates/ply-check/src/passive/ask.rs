//! Questions for permission, and what the user decided.

use serde_json::Value;

use super::finding::quote;
use super::link::Open;
use super::message::{list, text};
use super::session::{Call, THINGS_MAX};
use super::{CROSSING_S, Passive};
use crate::rule::{Side, id};

const KINDS: &[&str] = &["allow_once", "allow_always", "reject_once", "reject_always"];

impl Passive {
    pub(super) fn ask(&mut self, params: &Value, open: &mut Open) {
        let is_v2 = self.link.is_v2();
        self.ask_after_cancel(open);
        let options = list(params, "/options");
        let mut ids: Vec<&str> = options
            .iter()
            .filter_map(|option| text(option, "/optionId"))
            .collect();
        open.options = options
            .iter()
            .filter_map(|option| {
                let rejects = text(option, "/kind").is_some_and(|kind| kind.starts_with("reject"));
                Some((text(option, "/optionId")?.to_owned(), rejects))
            })
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let is_unique = ids.len() == options.len();
        let call = match is_v2 {
            true => {
                text(params, "/subject/toolCall/toolCallId").or(text(params, "/subject/toolCallId"))
            }
            false => text(params, "/toolCall/toolCallId"),
        };
        open.tool_call = call.map(str::to_owned);
        let session = open.session.as_deref();
        let has_session = session.is_some_and(|session| self.sessions.is_known(session));
        if is_v2 {
            let has_title = text(params, "/title").is_some();
            let is_kept = has_session && has_title && !options.is_empty() && is_unique;
            let what = "a permission request lacks a member, or two options share an id";
            self.keeps(id::V2_PERM_01, Side::Agent, is_kept, what);
            if text(params, "/subject/type") == Some("command") {
                self.absolute(params, "/subject/cwd", id::V2_PERM_04, Side::Agent);
                let is_named = text(params, "/subject/command").is_some();
                let what = "a permission request about a command does not name it";
                self.keeps(id::V2_PERM_04, Side::Agent, is_named, what);
            }
            return;
        }
        let has_options = params.get("options").is_some_and(Value::is_array);
        let is_kept = has_session && call.is_some() && has_options;
        let what = "a permission request lacks `sessionId`, `toolCall` or `options`";
        self.keeps(id::V1_PERM_03, Side::Agent, is_kept, what);
        let is_whole = |option: &Value| {
            let kind = text(option, "/kind").is_some_and(|kind| KINDS.contains(&kind));
            text(option, "/name").is_some() && kind
        };
        if !options.is_empty() {
            let is_kept = is_unique && options.iter().all(is_whole);
            let what = "an option lacks a member, or two share an id";
            self.keeps(id::V1_PERM_04, Side::Agent, is_kept, what);
        }
        self.mention(open);
    }

    /// Judges a question that is asked when the turn was cancelled long enough ago.
    fn ask_after_cancel(&mut self, open: &Open) {
        let now = self.t;
        for rule in [id::V1_CANCEL_04, id::V2_CANCEL_05] {
            self.look(rule, Side::Agent);
        }
        let cancel = self.session_of(open).and_then(|session| session.cancel);
        if let Some((cancel, _)) = cancel.filter(|(_, t)| now - t >= CROSSING_S) {
            let what = "permission was requested in a cancelled turn";
            let rule = match self.link.is_v2() {
                true => id::V2_CANCEL_05,
                false => id::V1_CANCEL_04,
            };
            self.find_with(rule, Side::Agent, cancel, what);
        }
    }

    /// A question of version 1 may be the first to name a tool call.
    fn mention(&mut self, open: &Open) {
        let frame = self.frame;
        let session = self.session_of(open);
        if let (Some(session), Some(id)) = (session, &open.tool_call)
            && session.calls.len() < THINGS_MAX
            && !session.calls.contains_key(id)
        {
            let call = Call {
                frame,
                // What comes next may be an update of it or its announcement, and either is fine.
                is_mentioned: true,
                ..Call::default()
            };
            session.calls.insert(id.clone(), call);
        }
    }

    pub(super) fn decided(&mut self, open: &Open, result: &Value) {
        let is_v2 = self.link.is_v2();
        let shape = if is_v2 {
            id::V2_PERM_12
        } else {
            id::V1_PERM_05
        };
        self.look(shape, Side::Client);
        match text(result, "/outcome/outcome") {
            Some("selected") => match text(result, "/outcome/optionId") {
                Some(option) => self.selected(open, option),
                None => {
                    let what = "the response names no option";
                    self.find_with(shape, Side::Client, open.frame, what);
                }
            },
            Some("cancelled") => self.dismissed(open),
            Some(custom) if is_v2 && custom.starts_with('_') => {}
            _ => {
                let what = "the response has no known outcome";
                self.find_with(shape, Side::Client, open.frame, what);
            }
        }
    }

    fn selected(&mut self, open: &Open, option: &str) {
        let (frame, now) = (self.frame, self.t);
        let offered = open.options.iter().find(|(id, _)| id == option);
        let rule = match self.link.is_v2() {
            true => id::V2_PERM_12,
            false => id::V1_PERM_06,
        };
        self.look(rule, Side::Client);
        if offered.is_none() {
            let what = format!("the option {} was not offered", quote(option));
            self.find_with(rule, Side::Client, open.frame, what);
        }
        if open.taken_back.is_some_and(|t| now - t >= CROSSING_S) {
            let what = "a permission request that the agent cancelled returned an option";
            self.find_with(id::V2_CREQ_04, Side::Client, open.frame, what);
        }
        let Some(session) = self.session_of(open) else {
            return;
        };
        let cancel = session.cancel.filter(|(cancel, _)| *cancel > open.frame);
        if let (Some((_, rejects)), Some(id)) = (offered, &open.tool_call)
            && let Some(call) = session.calls.get_mut(id)
        {
            call.rejected = rejects.then_some(frame);
        }
        if let Some((cancel, _)) = cancel {
            let what = "a permission request of a cancelled turn returned an option";
            self.find_with(id::V1_CANCEL_03, Side::Client, cancel, what);
        }
    }

    fn dismissed(&mut self, open: &Open) {
        let frame = self.frame;
        if open.taken_back.is_some() {
            self.look(id::V2_CREQ_04, Side::Client);
        }
        let Some(session) = self.session_of(open) else {
            return;
        };
        session.is_stop_chosen = true;
        if let Some(call) = open
            .tool_call
            .as_ref()
            .and_then(|id| session.calls.get_mut(id))
        {
            call.rejected = Some(frame);
        }
        if session
            .cancel
            .is_some_and(|(cancel, _)| cancel > open.frame)
        {
            self.look(id::V1_CANCEL_03, Side::Client);
        }
    }
}
