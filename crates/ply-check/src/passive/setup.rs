//! What the client asks around sessions, and what it is answered.

use serde_json::Value;

use super::finding::quote;
use super::link::Open;
use super::message::{given, is_absolute, list, text};
use super::{CROSSING_S, Passive};
use crate::rule::{Side, id};
use crate::schema::{LISTED, Part};

/// Cursors that are remembered.
const CURSORS_MAX: usize = 10_000;

impl Passive {
    pub(super) fn setup_request(&mut self, method: &str, params: &Value, open: &mut Open) {
        match method {
            "session/new" | "session/load" | "session/resume" | "session/fork" => {
                self.place(method, params);
                self.reopens(method, params);
                self.mcp_servers(method, params);
            }
            "authenticate" | "auth/login" => self.login(params),
            "session/list" => self.turns_page(params),
            "session/set_mode" => self.set_mode(params),
            "session/set_config_option" => self.set_option(params),
            "tool_call/cancel" => self.cancel_call(params),
            _ => {}
        }
        let Some(id) = open.session.clone() else {
            return;
        };
        match method {
            "session/load" | "session/resume" => self.reopen(method, params, &id, open),
            "session/close" => {
                let session = self.sessions.get_mut(&id);
                if let Some(session) = session {
                    session.is_stop_chosen = true;
                    session.was_closed_at_work = session.active.is_some();
                }
            }
            _ => open.is_for_unknown = !self.sessions.is_known(&id),
        }
    }

    fn place(&mut self, method: &str, params: &Value) {
        self.absolute(params, "/cwd", id::V1_SESS_02, Side::Client);
        if let Some(cwd) = text(params, "/cwd").filter(|cwd| !is_absolute(cwd)) {
            self.link.misplaced.insert(cwd.to_owned());
        }
        if text(params, "/cwd").is_none() && method == "session/new" {
            self.find(id::V1_SESS_02, Side::Client, "`cwd` is missing");
        }
        let roots = list(params, "/additionalDirectories");
        if self.link.welcome.is_none() {
            return;
        }
        if roots.is_empty() {
            return self.look(id::V1_SESS_14, Side::Client);
        }
        let gate = match self.link.is_v2() {
            true => "capabilities.session.additionalDirectories",
            false => "agentCapabilities.sessionCapabilities.additionalDirectories",
        };
        let is_kept = self.is_advertised(Side::Agent, gate);
        let what = "additional directories for an agent that does not support them";
        self.keeps(id::V1_SESS_14, Side::Client, is_kept, what);
        let is_fit = |root: &Value| root.as_str().is_some_and(is_absolute);
        let what = "an additional directory is not absolute";
        let is_kept = roots.iter().all(is_fit);
        self.keeps(id::V1_SESS_15, Side::Client, is_kept, what);
    }

    /// Judges the members of a request that brings a session back.
    fn reopens(&mut self, method: &str, params: &Value) {
        let is_named = text(params, "/sessionId").is_some() && text(params, "/cwd").is_some();
        match method {
            "session/load" => {
                let has_servers = params.get("mcpServers").is_some_and(Value::is_array);
                let what = "one of `sessionId`, `cwd` and `mcpServers` is missing";
                let is_kept = is_named && has_servers;
                self.keeps(id::V1_LOAD_03, Side::Client, is_kept, what);
            }
            "session/resume" => {
                let what = "`sessionId` or `cwd` is missing";
                self.keeps(id::V1_RESUME_02, Side::Client, is_named, what);
            }
            _ => {}
        }
    }

    /// Judges the cursor of a request for the next page.
    fn turns_page(&mut self, params: &Value) {
        if let Some(cursor) = given(params, "/cursor") {
            let cursor = cursor.as_str().unwrap_or_default();
            let is_full = self.link.cursors.len() >= CURSORS_MAX;
            let is_kept = is_full || self.link.cursors.contains(cursor);
            let what = "a cursor was sent that was never given out";
            self.keeps(id::V1_LIST_04, Side::Client, is_kept, what);
        }
    }

    /// Judges a path, if there is one.
    pub(super) fn absolute(&mut self, value: &Value, at: &str, rule: &'static str, side: Side) {
        let Some(path) = text(value, at) else {
            return;
        };
        let what = format!("the path {} is not absolute", quote(path));
        for rule in [rule, id::V1_RPC_13] {
            self.keeps(rule, side, is_absolute(path), &what);
        }
    }

    fn reopen(&mut self, method: &str, params: &Value, id: &str, open: &mut Open) {
        open.replays = method == "session/load" || given(params, "/replayFrom").is_some();
        let replays = open.replays;
        let (session, _) = self.sessions.introduce(id);
        let Some(session) = session else {
            return;
        };
        open.while_running = session.active.is_some() || session.running > 0;
        session.closed = None;
        session.has_past = true;
        if replays {
            session.loading += 1;
            // The replay tells them again.
            session.calls.clear();
        }
    }

    fn set_mode(&mut self, params: &Value) {
        let (Some(id), Some(mode)) = (text(params, "/sessionId"), text(params, "/modeId")) else {
            return;
        };
        let session = self.sessions.get_mut(id);
        let Some(modes) = session.and_then(|session| session.modes.as_mut()) else {
            return;
        };
        let is_known = modes.iter().any(|known| known == mode);
        if !is_known {
            // An agent that takes it breaks no text, and then it may tell that it did.
            modes.push(mode.to_owned());
        }
        self.look(id::V1_MODE_02, Side::Client);
        if !is_known {
            let what = format!("the mode {} is not available", quote(mode));
            self.find(id::V1_MODE_02, Side::Client, what);
        }
    }

    fn set_option(&mut self, params: &Value) {
        let kind = text(params, "/type");
        let what = "an option is set without a `type`";
        self.keeps(id::V2_CONF_02, Side::Client, kind.is_some(), what);
        if params.get("value").is_some_and(Value::is_boolean) {
            let what = "a boolean is set without `type`: \"boolean\"";
            let is_kept = kind == Some("boolean");
            self.keeps(id::V1_CONF_11, Side::Client, is_kept, what);
        }
    }

    fn cancel_call(&mut self, params: &Value) {
        let now = self.t;
        let (Some(id), Some(call)) = (text(params, "/sessionId"), text(params, "/toolCallId"))
        else {
            return;
        };
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        session.is_stop_chosen = true;
        if session.has_past {
            return;
        }
        let call = session.calls.get(call);
        let is_offered = call.is_some_and(|call| {
            let is_fresh = call.withdrawn.is_some_and(|t| now - t < CROSSING_S);
            call.can_be_cancelled || is_fresh
        });
        let what = "a tool call is cancelled that does not offer cancelling";
        self.keeps(id::V2_ECANCEL_01, Side::Client, is_offered, what);
    }

    pub(super) fn setup_answered(&mut self, open: &Open, result: Option<&Value>) {
        match open.method.as_str() {
            "session/new" | "session/fork" => {
                if let Some(result) = result {
                    self.session_made(open, result);
                }
            }
            "session/load" | "session/resume" => self.reopened(open, result),
            "session/close" => self.closed(open, result),
            "session/list" => {
                if let Some(result) = result.filter(|_| !open.is_ungated) {
                    self.listed(open, result);
                }
            }
            "session/set_config_option" => {
                // Whoever has no options need not know how to answer.
                let has_options = self
                    .session_of(open)
                    .is_some_and(|session| session.has_options);
                if let Some(result) = result.filter(|_| has_options) {
                    let is_whole = result.get("configOptions").is_some_and(Value::is_array);
                    self.look(id::V1_CONF_09, Side::Agent);
                    if !is_whole {
                        let what = "the response lacks the list of options";
                        self.find_with(id::V1_CONF_09, Side::Agent, open.frame, what);
                    }
                }
            }
            _ => {}
        }
        // In version 1 a session may be known to the agent from before.
        if open.method.starts_with("session/set_") && open.is_for_unknown {
            self.served_unknown(open, result);
        }
    }

    /// Judges the answer to a request for a session that is not active on this connection.
    pub(super) fn served_unknown(&mut self, open: &Open, result: Option<&Value>) {
        self.look(id::V2_SESS_09, Side::Agent);
        if result.is_some() {
            let what = "served for a session that is not active on this connection";
            self.find_with(id::V2_SESS_09, Side::Agent, open.frame, what);
        }
    }

    fn session_made(&mut self, open: &Open, result: &Value) {
        if open.method == "session/new" {
            self.look(id::V1_SESS_01, Side::Agent);
        }
        let Some(id) = text(result, "/sessionId") else {
            let what = "the response lacks `sessionId`";
            return self.find_with(id::V1_SESS_01, Side::Agent, open.frame, what);
        };
        // A client may have asked for any id; only those that the agent gave count.
        if self
            .sessions
            .get_mut(id)
            .is_some_and(|session| session.is_made)
        {
            let what = format!("the id {} was given to a session before", quote(id));
            self.find_with(id::V1_SESS_01, Side::Agent, open.frame, what);
        }
        let (session, early) = self.sessions.introduce(id);
        if let Some(session) = session {
            session.modes = modes(result);
            session.has_options = !list(result, "/configOptions").is_empty();
            session.is_made = true;
            session.has_past |= open.method == "session/fork";
        }
        if let Some(early) = early {
            let what = "an update about a session came before the response that names it";
            self.find_with(id::V1_SESS_11, Side::Agent, early, what);
        }
        self.modes(result);
        self.setup_lists(result);
    }

    fn setup_lists(&mut self, result: &Value) {
        if !self.link.is_v2() {
            return self.options(list(result, "/configOptions"));
        }
        for name in ["configOptions", "availableCommands"] {
            if let Some(value) = result.get(name) {
                self.look(id::V2_SESS_05, Side::Agent);
                if !value.is_array() {
                    self.find(
                        id::V2_SESS_05,
                        Side::Agent,
                        format!("`{name}` is not an array"),
                    );
                }
            }
        }
        self.options(list(result, "/configOptions"));
        if result.get("availableCommands").is_some_and(Value::is_array) {
            self.commands(list(result, "/availableCommands"));
        }
    }

    fn reopened(&mut self, open: &Open, result: Option<&Value>) {
        let Some(id) = &open.session else {
            return;
        };
        let now = self.t;
        if let Some(session) = self.sessions.get_mut(id) {
            if open.replays {
                session.loading = session.loading.saturating_sub(1);
                let is_over = result.is_some() && session.running == 0;
                session.loaded = is_over.then_some(now);
            }
            if let Some(result) = result {
                session.modes = modes(result).or(session.modes.take());
                session.has_options |= !list(result, "/configOptions").is_empty();
            }
        }
        let Some(result) = result else {
            return;
        };
        match open.method.as_str() {
            "session/load" => self.look(id::V1_LOAD_05, Side::Agent),
            _ => {
                self.look(id::V2_RESUME_08, Side::Agent);
                if !open.replays && !open.while_running {
                    self.look(id::V1_RESUME_03, Side::Agent);
                }
            }
        }
        if !open.saw_state {
            let what = "a session was resumed without reporting its state first";
            self.find_with(id::V2_RESUME_08, Side::Agent, open.frame, what);
        }
        self.setup_lists(result);
    }

    fn closed(&mut self, open: &Open, result: Option<&Value>) {
        let frame = self.frame;
        let session = self.session_of(open);
        let Some(session) = session.filter(|_| result.is_some()) else {
            return;
        };
        session.closed = Some(frame);
        let active = session.active.take();
        let was_stopped = std::mem::take(&mut session.was_closed_at_work);
        let made = std::mem::take(&mut session.has_made_terminals);
        let terminals: Vec<usize> = session.terminals.drain().map(|(_, frame)| frame).collect();
        self.look(id::V2_CLOSE_04, Side::Agent);
        if was_stopped {
            self.look(id::V2_CLOSE_02, Side::Agent);
        }
        if let Some(active) = active {
            let what = "a session was closed before its work was reported as ended";
            self.find_with(id::V2_CLOSE_02, Side::Agent, active, what);
        }
        if made {
            self.look(id::V1_TERM_11, Side::Agent);
        }
        for made in terminals {
            let what = "a terminal was not released when its session was closed";
            self.find_with(id::V1_TERM_11, Side::Agent, made, what);
        }
    }

    fn listed(&mut self, open: &Open, result: &Value) {
        self.look(id::V1_LIST_02, Side::Agent);
        if !result.get("sessions").is_some_and(Value::is_array) {
            let what = "the response lacks `sessions`";
            self.find_with(id::V1_LIST_02, Side::Agent, open.frame, what);
        }
        if self.link.cursors.len() < CURSORS_MAX {
            let cursor = text(result, "/nextCursor");
            self.link.cursors.extend(cursor.map(str::to_owned));
        }
        for session in list(result, "/sessions") {
            self.listed_session(session);
        }
    }

    fn listed_session(&mut self, session: &Value) {
        self.strange_members(Side::Agent, Part::Result, LISTED, session);
        let is_named = text(session, "/sessionId").is_some_and(|id| !id.is_empty());
        self.keeps(
            id::V1_LIST_02,
            Side::Agent,
            is_named,
            "an entry has no `sessionId`",
        );
        // What a client made in a relative directory is listed with it: the client broke the rule.
        if !text(session, "/cwd").is_some_and(|cwd| self.link.misplaced.contains(cwd)) {
            self.absolute(session, "/cwd", id::V1_LIST_10, Side::Agent);
        }
        if let Some(when) = given(session, "/updatedAt") {
            let when = when.as_str().unwrap_or_default();
            let is_time = when.parse::<jiff::Timestamp>().is_ok();
            let what = "the `updatedAt` of an entry is not a date and time";
            self.keeps(id::V2_LIST_04, Side::Agent, is_time, what);
            // ISO 8601, which version 1 asks for, has times without an offset.
            let is_time = is_time || when.parse::<jiff::civil::DateTime>().is_ok();
            if self.link.is_v1() {
                self.keeps(id::V1_LIST_10, Side::Agent, is_time, what);
            }
        }
    }
}

fn modes(result: &Value) -> Option<Vec<String>> {
    result.get("modes").filter(|modes| modes.is_object())?;
    let modes = list(result, "/modes/availableModes").iter();
    let ids = modes.filter_map(|mode| text(mode, "/id"));
    Some(ids.map(str::to_owned).collect())
}
