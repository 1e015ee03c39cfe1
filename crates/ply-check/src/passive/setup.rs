//! What the client asks around sessions, and what it is answered.

use serde_json::Value;

use super::finding::quote;
use super::link::Open;
use super::message::{given, is_absolute, list, text};
use super::{CROSSING_S, Passive};
use crate::rule::Side;

impl Passive {
    pub(super) fn setup_request(&mut self, method: &str, params: &Value, open: &mut Open) {
        match method {
            "session/new" | "session/load" | "session/resume" | "session/fork" => {
                self.place(method, params);
                self.mcp_servers(method, params);
            }
            "authenticate" | "auth/login" => self.login(params),
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
        self.absolute(params, "/cwd", "V1-SESS-02", Side::Client);
        self.link.is_misplaced |= text(params, "/cwd").is_some_and(|cwd| !is_absolute(cwd));
        if text(params, "/cwd").is_none() && method == "session/new" {
            self.find("V1-SESS-02", Side::Client, "`cwd` is missing");
        }
        let roots = list(params, "/additionalDirectories");
        if roots.is_empty() || self.link.welcome.is_none() {
            return;
        }
        let gate = match self.link.is_v2() {
            true => "capabilities.session.additionalDirectories",
            false => "agentCapabilities.sessionCapabilities.additionalDirectories",
        };
        let is_kept = self.is_advertised(Side::Agent, gate);
        let what = "further directories for an agent that takes none";
        self.keeps("V1-SESS-14", Side::Client, is_kept, what);
        let is_fit = |root: &Value| root.as_str().is_some_and(is_absolute);
        let what = "a further directory is not absolute";
        let is_kept = roots.iter().all(is_fit);
        self.keeps("V1-SESS-15", Side::Client, is_kept, what);
    }

    /// Judges a path, if there is one.
    pub(super) fn absolute(&mut self, value: &Value, at: &str, rule: &'static str, side: Side) {
        let Some(path) = text(value, at) else {
            return;
        };
        self.look(rule, side);
        if !is_absolute(path) {
            let what = format!("the path {} is not absolute", quote(path));
            self.find(rule, side, what);
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
        let Some(modes) = session.and_then(|session| session.modes.as_ref()) else {
            return;
        };
        let is_known = modes.iter().any(|known| known == mode);
        self.look("V1-MODE-02", Side::Client);
        if !is_known {
            let what = format!("the mode {} is not available", quote(mode));
            self.find("V1-MODE-02", Side::Client, what);
        }
    }

    fn set_option(&mut self, params: &Value) {
        let kind = text(params, "/type");
        let what = "an option is set without `type`";
        self.keeps("V2-CONF-02", Side::Client, kind.is_some(), what);
        if params.get("value").is_some_and(Value::is_boolean) {
            let what = "a boolean is set without `type`: \"boolean\"";
            let is_kept = kind == Some("boolean");
            self.keeps("V1-CONF-11", Side::Client, is_kept, what);
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
        let what = "a tool call is cancelled that does not offer it";
        self.keeps("V2-ECANCEL-01", Side::Client, is_offered, what);
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
                    self.look("V1-CONF-09", Side::Agent);
                    if !is_whole {
                        let what = "the answer lacks the list of options";
                        self.find_with("V1-CONF-09", Side::Agent, open.frame, what);
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
        self.look("V2-SESS-09", Side::Agent);
        if result.is_some() {
            let what = "served for a session that is not active on this connection";
            self.find_with("V2-SESS-09", Side::Agent, open.frame, what);
        }
    }

    fn session_made(&mut self, open: &Open, result: &Value) {
        if open.method == "session/new" {
            self.look("V1-SESS-01", Side::Agent);
        }
        let Some(id) = text(result, "/sessionId") else {
            let what = "the answer lacks `sessionId`";
            return self.find_with("V1-SESS-01", Side::Agent, open.frame, what);
        };
        // A client may have asked for any id; only those that the agent gave count.
        if self
            .sessions
            .get_mut(id)
            .is_some_and(|session| session.is_made)
        {
            let what = format!("the id {} was given to a session before", quote(id));
            self.find_with("V1-SESS-01", Side::Agent, open.frame, what);
        }
        let (session, early) = self.sessions.introduce(id);
        if let Some(session) = session {
            session.modes = modes(result);
            session.has_options = !list(result, "/configOptions").is_empty();
            session.is_made = true;
            session.has_past |= open.method == "session/fork";
        }
        if let Some(early) = early {
            let what = "an update of a session came before the answer that names it";
            self.find_with("V1-SESS-11", Side::Agent, early, what);
        }
        self.setup_lists(result);
    }

    fn setup_lists(&mut self, result: &Value) {
        if !self.link.is_v2() {
            return self.options(list(result, "/configOptions"));
        }
        for name in ["configOptions", "availableCommands"] {
            if let Some(value) = result.get(name) {
                self.look("V2-SESS-05", Side::Agent);
                if !value.is_array() {
                    self.find("V2-SESS-05", Side::Agent, format!("`{name}` is no list"));
                }
            }
        }
        self.options(list(result, "/configOptions"));
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
            "session/load" => self.look("V1-LOAD-05", Side::Agent),
            _ => {
                self.look("V2-RESUME-08", Side::Agent);
                if !open.replays && !open.while_running {
                    self.look("V1-RESUME-03", Side::Agent);
                }
            }
        }
        if !open.saw_state {
            let what = "a session was resumed without saying its state first";
            self.find_with("V2-RESUME-08", Side::Agent, open.frame, what);
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
        self.look("V2-CLOSE-04", Side::Agent);
        if was_stopped {
            self.look("V2-CLOSE-02", Side::Agent);
        }
        if let Some(active) = active {
            let what = "a session was closed before its work was told to be over";
            self.find_with("V2-CLOSE-02", Side::Agent, active, what);
        }
        if made {
            self.look("V1-TERM-11", Side::Agent);
        }
        for made in terminals {
            let what = "a terminal was not released when its session was closed";
            self.find_with("V1-TERM-11", Side::Agent, made, what);
        }
    }

    fn listed(&mut self, open: &Open, result: &Value) {
        self.look("V1-LIST-02", Side::Agent);
        if !result.get("sessions").is_some_and(Value::is_array) {
            let what = "the answer lacks `sessions`";
            self.find_with("V1-LIST-02", Side::Agent, open.frame, what);
        }
        // What was made in a relative directory by mistake is listed with it.
        if self.link.is_misplaced {
            return;
        }
        for session in list(result, "/sessions") {
            self.absolute(session, "/cwd", "V1-LIST-10", Side::Agent);
        }
    }
}

fn modes(result: &Value) -> Option<Vec<String>> {
    result.get("modes").filter(|modes| modes.is_object())?;
    let modes = list(result, "/modes/availableModes").iter();
    let ids = modes.filter_map(|mode| text(mode, "/id"));
    Some(ids.map(str::to_owned).collect())
}
