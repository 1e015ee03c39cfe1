//! JSON-RPC itself: what a message is, ids, answers.

use serde_json::Value;

use super::Passive;
use super::capability::{Asks, is_method_of_v2};
use super::finding::quote;
use super::link::Open;
use super::message::{Message, text};
use crate::rule::{Side, id};
use crate::schema::Part;

/// Characters of an error's message, beyond which it is not concise.
const MESSAGE_CHARS_MAX: usize = 300;
/// The codes of answers to what could not be read, which have no id to repeat.
const UNREADABLE: [i64; 2] = [-32700, -32600];

impl Passive {
    /// Looks at a line, whatever is in it.
    pub(super) fn line(&mut self, from: Side) {
        for rule in [id::V1_RPC_02, id::V1_RPC_18, only_messages(from)] {
            self.look(rule, from);
        }
        self.look(id::V1_STDIO_02, from);
        if let Some(torn) = self.link.torn.remove(&from) {
            let what = "a message is not on one line";
            self.find_at(id::V1_STDIO_02, from, vec![torn], what);
            // More came, so its sender was not cut off.
            self.find_at(
                only_messages(from),
                from,
                vec![torn],
                "a line is not a message",
            );
        }
    }

    /// Judges a line that is no UTF-8.
    pub(super) fn bytes(&mut self, from: Side) {
        self.link.odd.insert(from);
        self.find(id::V1_RPC_02, from, "a line is not UTF-8");
    }

    /// Judges a line that is no JSON object.
    pub(super) fn text(&mut self, from: Side, line: &str) {
        if line.trim().is_empty() || self.link.is_unknown() {
            return;
        }
        self.link.odd.insert(from);
        match serde_json::from_str::<Value>(line) {
            Ok(Value::Array(_)) => self.find(id::V1_RPC_18, from, "several messages in one line"),
            Err(error) if error.is_eof() && line.trim_start().starts_with('{') => {
                self.link.torn.insert(from, self.frame);
            }
            _ => self.find(only_messages(from), from, "a line is not a message"),
        }
    }

    /// Judges the members of a message and returns what it is, if that can be told.
    pub(super) fn envelope<'a>(&mut self, from: Side, value: &'a Value) -> Option<Message<'a>> {
        let is_marked = text(value, "/jsonrpc") == Some("2.0");
        let what = "a message does not say `jsonrpc`: \"2.0\"";
        self.keeps(id::V1_RPC_01, from, is_marked, what);
        let (id, method) = (value.get("id"), value.get("method"));
        let (result, error) = (value.get("result"), value.get("error"));
        let is_answer = result.is_some() || error.is_some();
        let what = match method {
            Some(_) if is_answer => "a message is both a request and a response",
            Some(Value::String(method)) => {
                let params = value.get("params").unwrap_or(&Value::Null);
                return Some(match id {
                    Some(id) => Message::Request { id, method, params },
                    None => Message::Notification { method, params },
                });
            }
            Some(_) => "a `method` is not a string",
            None if is_answer => return Some(Message::Answer { id, result, error }),
            None => "a message is neither a request nor a response",
        };
        self.link.odd.insert(from);
        self.find(id::V1_RPC_01, from, what);
        None
    }

    pub(super) fn request(&mut self, from: Side, id: &Value, method: &str, params: &Value) {
        self.request_id(from, id);
        self.method(from, method, Asks::Answer);
        let mut open = Open {
            method: method.to_owned(),
            frame: self.frame,
            session: text(params, "/sessionId").map(str::to_owned),
            is_ungated: self.is_ungated(from, method),
            ..Open::default()
        };
        if method != "initialize" {
            self.fits(from, Part::Params, method, params);
        }
        self.dispatch(from, method, params, &mut open);
        self.link.open(from, id, open);
    }

    fn request_id(&mut self, from: Side, id: &Value) {
        let is_good = id.is_string() || id.is_i64() || id.is_u64();
        if !is_good && !id.is_null() {
            // Whoever refuses it may have no way to repeat it.
            self.link.odd.insert(from);
        }
        let what = "an id is neither a string nor an integer";
        self.keeps(id::V1_RPC_06, from, is_good, what);
        self.look(id::V2_RPC_03, from);
        if let Some(earlier) = self.link.opened(from, id).map(|open| open.frame) {
            let what = "an id is reused before the response";
            self.find_with(id::V2_RPC_03, from, earlier, what);
        }
    }

    fn dispatch(&mut self, from: Side, method: &str, params: &Value, open: &mut Open) {
        match from {
            Side::Client => {
                self.before_hello(method, open);
                match method {
                    "initialize" => self.hello(params, open),
                    "session/prompt" => self.prompt(params, open),
                    _ => self.setup_request(method, params, open),
                }
            }
            Side::Agent => match method {
                "session/request_permission" => self.ask(params, open),
                _ => self.service_request(method, params, open),
            },
        }
    }

    pub(super) fn notification(&mut self, from: Side, method: &str, params: &Value) {
        self.method(from, method, Asks::Nothing);
        self.link.has_notified.insert(from);
        self.look(id::V1_RPC_04, from.other());
        self.fits(from, Part::Params, method, params);
        match (from, method) {
            (Side::Agent, "session/update") => self.update(params),
            (Side::Client, "session/cancel") => self.cancel(params),
            (Side::Agent, "elicitation/complete") => self.page_done(params),
            (_, "$/cancel_request") => self.take_back(from, params),
            _ => {}
        }
    }

    fn take_back(&mut self, from: Side, params: &Value) {
        let id = params.get("requestId").unwrap_or(&Value::Null);
        let is_own = !self.link.is_unheard_of(from, id);
        let what = "a request is cancelled that its sender never sent";
        self.keeps(id::V2_CREQ_03, from, is_own, what);
        let t = self.t;
        let open = self.link.opened_mut(from, id);
        let session = open.and_then(|open| {
            open.taken_back.get_or_insert(t);
            open.session.clone()
        });
        if from == Side::Client
            && let Some(session) = session.and_then(|id| self.sessions.get_mut(&id))
        {
            session.is_stop_chosen = true;
        }
    }

    pub(super) fn answer(
        &mut self,
        from: Side,
        id: Option<&Value>,
        result: Option<&Value>,
        error: Option<&Value>,
    ) {
        self.answer_shape(from, result, error);
        let caller = from.other();
        let is_named = match id {
            Some(Value::Null) => result.is_none(),
            Some(_) => true,
            None => false,
        };
        let what = "a result has no id, or an error no `id` member";
        self.keeps(id::V2_RPC_04, from, is_named, what);
        if !is_named && self.link.is_v2() {
            return;
        }
        let id = match id {
            Some(id) if !id.is_null() || self.link.opened(caller, id).is_some() => id,
            _ => return self.nameless(from, error),
        };
        let Some(open) = self.link.close(caller, id, self.frame) else {
            return self.stray(from, id);
        };
        self.look(id::V1_RPC_05, from);
        if is_method_of_v2(caller, &open.method)
            && let Some(result) = result
        {
            self.look(id::V2_RPC_05, from);
            if !result.is_object() {
                let what = format!("the result of {} is not an object", quote(&open.method));
                self.find_with(id::V2_RPC_05, from, open.frame, what);
            }
        }
        // Whoever has no options need not know how to answer.
        let sets_option = open.method == "session/set_config_option";
        let has_options = self
            .session_of(&open)
            .is_some_and(|session| session.has_options);
        let is_stray = open.is_ungated || (sets_option && !has_options);
        if let Some(result) = result.filter(|_| open.method != "initialize" && !is_stray) {
            self.fits(from, Part::Result, &open.method, result);
        }
        match from {
            Side::Agent => self.agent_answers(&open, result, error),
            Side::Client => self.client_answers(&open, result),
        }
    }

    /// Judges an answer that names no request.
    fn nameless(&mut self, from: Side, error: Option<&Value>) {
        let code = error.and_then(|error| error.get("code"));
        let code = code.and_then(Value::as_i64);
        let is_lawful = code.is_some_and(|code| UNREADABLE.contains(&code));
        if is_lawful || self.link.odd.contains(&from.other()) {
            return;
        }
        match self.link.has_notified.contains(&from.other()) {
            true => {
                let what = "a response without an id: a notification got a response";
                self.find(id::V1_RPC_04, from, what);
            }
            false => self.find(id::V1_RPC_05, from, "a response has no id"),
        }
    }

    /// Judges an answer that fits no request that waits.
    fn stray(&mut self, from: Side, id: &Value) {
        let caller = from.other();
        if !self.link.is_stray(caller, id) {
            return;
        }
        match self.link.answered(caller, id) {
            Some((first, true)) if self.link.is_v1() => {
                self.find_with(id::V1_PROMPT_07, from, first, "a prompt got two responses");
            }
            Some((first, _)) => {
                self.find_with(id::V1_RPC_05, from, first, "a request got two responses");
            }
            None => self.find(id::V1_RPC_05, from, "a response matches no request"),
        }
    }

    fn answer_shape(&mut self, from: Side, result: Option<&Value>, error: Option<&Value>) {
        let is_one = result.is_none() || error.is_none();
        let what = "a response has both a result and an error";
        self.keeps(id::V1_RPC_03, from, is_one, what);
        let Some(error) = error else {
            return;
        };
        let code = error.get("code");
        let is_code = code.is_some_and(|code| code.is_i64() || code.is_u64());
        let message = text(error, "/message");
        if !is_code || message.is_none() {
            let what = "an error lacks an integer `code` or a string `message`";
            self.find(id::V1_RPC_03, from, what);
        }
        if let Some(message) = message {
            let is_short = message.chars().count() <= MESSAGE_CHARS_MAX;
            let is_kept = is_short && !message.trim().is_empty() && !message.contains('\n');
            let what = "the message of an error is empty, long or has several lines";
            self.keeps(id::V1_ERR_02, from, is_kept, what);
        }
    }

    fn agent_answers(&mut self, open: &Open, result: Option<&Value>, error: Option<&Value>) {
        if open.is_early {
            self.look(id::V1_INIT_19, Side::Agent);
            if result.is_some() {
                let what = format!("{} was accepted before `initialize`", quote(&open.method));
                self.find_with(id::V1_INIT_19, Side::Agent, open.frame, what);
            }
        }
        match open.method.as_str() {
            "initialize" => self.welcome(open, result),
            "session/prompt" => self.prompt_answered(open, result, error),
            _ => self.setup_answered(open, result),
        }
    }

    fn client_answers(&mut self, open: &Open, result: Option<&Value>) {
        if let Some(session) = self.session_of(open) {
            session.was_answered = true;
        }
        match (open.method.as_str(), result) {
            ("session/request_permission", Some(result)) => self.decided(open, result),
            (_, Some(result)) => self.service_answered(open, result),
            (_, None) => {}
        }
    }
}

/// Returns the rule that a side writes nothing but messages.
fn only_messages(side: Side) -> &'static str {
    match side {
        Side::Agent => id::V1_STDIO_03,
        Side::Client => id::V1_STDIO_04,
    }
}
