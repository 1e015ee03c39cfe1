//! What an agent asks of its client besides permission: files, terminals, forms.

use serde_json::Value;

use super::Passive;
use super::link::Open;
use super::message::{given, text};
use super::session::THINGS_MAX;
use crate::rule::{Side, id};

impl Passive {
    pub(super) fn service_request(&mut self, method: &str, params: &Value, open: &mut Open) {
        match method {
            "fs/read_text_file" | "fs/write_text_file" => {
                self.absolute(params, "/path", id::V1_FS_03, Side::Agent);
                let session = open.session.as_deref();
                let is_known = session.is_some_and(|session| self.sessions.is_known(session));
                let is_named = text(params, "/path").is_some() && is_known;
                let what = "`path` is missing, or `sessionId` names no session";
                self.keeps(id::V1_FS_03, Side::Agent, is_named, what);
                if let Some(line) = params.get("line").and_then(Value::as_u64) {
                    let what = "a line has the number 0";
                    self.keeps(id::V1_RPC_14, Side::Agent, line > 0, what);
                }
            }
            "terminal/create" => self.terminal(params),
            "terminal/release" => {
                let session = self.session_of(open);
                if let (Some(session), Some(id)) = (session, text(params, "/terminalId")) {
                    session.terminals.remove(id);
                }
            }
            "elicitation/create" => self.elicitation(params),
            _ => {}
        }
    }

    /// Judges where and how a command is run for the agent.
    fn terminal(&mut self, params: &Value) {
        self.absolute(params, "/cwd", id::V1_TERM_04, Side::Agent);
        let is_pair =
            |pair: &Value| text(pair, "/name").is_some() && text(pair, "/value").is_some();
        let env = given(params, "/env");
        let is_kept = env.is_none_or(|env| {
            let pairs = env.as_array();
            pairs.is_some_and(|pairs| pairs.iter().all(is_pair))
        });
        let what = "the `env` of a terminal is not a list of names and values";
        self.keeps(id::V1_TERM_04, Side::Agent, is_kept, what);
    }

    /// Judges a report of a terminal that the agent runs itself, in version 2.
    pub(super) fn own_terminal(&mut self, session: &str, update: &Value) {
        self.absolute(update, "/cwd", id::V2_TERM_04, Side::Agent);
        let (Some(session), Some(terminal)) =
            (self.sessions.get_mut(session), text(update, "/terminalId"))
        else {
            return;
        };
        let (has_command, has_ended) = (
            given(update, "/command").is_some(),
            given(update, "/exitStatus").is_some(),
        );
        let has_past = session.has_past || session.own_terminals.len() >= THINGS_MAX;
        let known = session.own_terminals.get(terminal).copied();
        let is_over = has_ended || known == Some(true);
        session.own_terminals.insert(terminal.to_owned(), is_over);
        if known.is_none() && !has_past {
            let what = "the first update of a terminal has no command";
            self.keeps(id::V2_TERM_05, Side::Agent, has_command, what);
        }
        let is_again = known == Some(true) && has_command && !has_ended;
        let what = "a terminal that had ended got a new command";
        self.keeps(id::V2_TERM_01, Side::Agent, !is_again, what);
    }

    pub(super) fn service_answered(&mut self, open: &Open, result: &Value) {
        let has = |at: &str| text(result, at).is_some();
        let (rule, is_kept, what) = match open.method.as_str() {
            "fs/read_text_file" => (
                id::V1_FS_06,
                has("/content"),
                "the response has no `content`",
            ),
            "terminal/create" => {
                self.terminal_made(open, result);
                let what = "the response has no `terminalId`";
                (id::V1_TERM_03, has("/terminalId"), what)
            }
            "terminal/output" => {
                let is_truncated = result.get("truncated").is_some_and(Value::is_boolean);
                let what = "the response has no `output` or no `truncated`";
                (id::V1_TERM_07, has("/output") && is_truncated, what)
            }
            "elicitation/create" => {
                let is_v2 = self.link.is_v2();
                let is_known = |action: &str| {
                    let is_custom = is_v2 && action.starts_with('_');
                    ["accept", "decline", "cancel"].contains(&action) || is_custom
                };
                let is_kept = text(result, "/action").is_some_and(is_known);
                (
                    id::V1_ELIC_16,
                    is_kept,
                    "the response has no known `action`",
                )
            }
            _ => return,
        };
        self.look(rule, Side::Client);
        if !is_kept {
            self.find_with(rule, Side::Client, open.frame, what);
        }
    }

    fn terminal_made(&mut self, open: &Open, result: &Value) {
        if let (Some(session), Some(id)) = (self.session_of(open), text(result, "/terminalId"))
            && session.terminals.len() < THINGS_MAX
        {
            session.terminals.insert(id.to_owned(), open.frame);
            session.has_made_terminals = true;
        }
    }
}
