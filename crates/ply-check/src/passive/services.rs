//! What an agent asks of its client besides permission: files, terminals, forms.

use serde_json::Value;

use super::Passive;
use super::link::Open;
use super::message::{given, text};
use super::session::THINGS_MAX;
use crate::rule::Side;

impl Passive {
    pub(super) fn service_request(&mut self, method: &str, params: &Value, open: &mut Open) {
        match method {
            "fs/read_text_file" | "fs/write_text_file" => {
                self.absolute(params, "/path", "V1-FS-03", Side::Agent);
                let is_named = text(params, "/path").is_some() && open.session.is_some();
                let what = "`path` or `sessionId` is missing";
                self.keeps("V1-FS-03", Side::Agent, is_named, what);
                if let Some(line) = params.get("line").and_then(Value::as_u64) {
                    let what = "a line has the number 0";
                    self.keeps("V1-RPC-14", Side::Agent, line > 0, what);
                }
            }
            "terminal/create" => self.absolute(params, "/cwd", "V1-TERM-04", Side::Agent),
            "terminal/release" => {
                let session = self.session_of(open);
                if let (Some(session), Some(id)) = (session, text(params, "/terminalId")) {
                    session.terminals.remove(id);
                }
            }
            "elicitation/create" => self.form(params),
            _ => {}
        }
    }

    fn form(&mut self, params: &Value) {
        let scopes = [given(params, "/sessionId"), given(params, "/requestId")];
        let is_kept = scopes.iter().flatten().count() == 1;
        let what = "a form belongs to one session or one request";
        self.keeps("V1-ELIC-04", Side::Agent, is_kept, what);
        let mode = text(params, "/mode");
        let what = "a form does not say its `mode`";
        self.keeps("V1-ELIC-03", Side::Agent, mode.is_some(), what);
        let parent = match self.link.is_v2() {
            true => "capabilities.elicitation",
            false => "clientCapabilities.elicitation",
        };
        // Without any of it the method itself was found to be one too many.
        if let Some(mode) = mode
            && self.is_advertised(Side::Client, parent)
        {
            let is_kept = self.is_advertised(Side::Client, &format!("{parent}.{mode}"));
            let what = "a form in a mode that was not advertised";
            self.keeps("V1-ELIC-01", Side::Agent, is_kept, what);
        }
    }

    pub(super) fn service_answered(&mut self, open: &Open, result: &Value) {
        let has = |at: &str| text(result, at).is_some();
        let (rule, is_kept, what) = match open.method.as_str() {
            "fs/read_text_file" => ("V1-FS-06", has("/content"), "the answer has no `content`"),
            "terminal/create" => {
                self.terminal_made(open, result);
                let what = "the answer has no `terminalId`";
                ("V1-TERM-03", has("/terminalId"), what)
            }
            "terminal/output" => {
                let is_truncated = result.get("truncated").is_some_and(Value::is_boolean);
                let what = "the answer has no `output` or does not say whether it is `truncated`";
                ("V1-TERM-07", has("/output") && is_truncated, what)
            }
            "elicitation/create" => {
                let is_v2 = self.link.is_v2();
                let is_known = |action: &str| {
                    let is_custom = is_v2 && action.starts_with('_');
                    ["accept", "decline", "cancel"].contains(&action) || is_custom
                };
                let is_kept = text(result, "/action").is_some_and(is_known);
                ("V1-ELIC-16", is_kept, "the answer has no known `action`")
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
