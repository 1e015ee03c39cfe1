//! Lines of the agent, and answers to its requests.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Client, Next, Question, THINKING};

impl Client {
    pub(super) fn on_line(&mut self, line: &[u8]) -> Next {
        if self.has("dies-on-crlf") && line.ends_with(b"\r\n") {
            return Next::End(1);
        }
        let line = line.trim_ascii();
        if line.is_empty() || (self.has("deaf-after-cancel") && self.is_cancelled) {
            return Next::Go;
        }
        let message = match serde_json::from_slice::<Value>(line) {
            Ok(message @ Value::Object(_)) => message,
            Ok(Value::Array(messages)) if self.has("runs-arrays") => {
                for message in messages {
                    self.on_message(&message);
                }
                return Next::Go;
            }
            _ if self.has("dies-on-noise") => return Next::End(1),
            // Whether it is answered or skipped is left open for a client; it skips.
            _ => return Next::Go,
        };
        self.on_message(&message)
    }

    fn on_message(&mut self, message: &Value) -> Next {
        let method = message.get("method").and_then(Value::as_str);
        let params = message.get("params").cloned().unwrap_or_default();
        match (method, message.get("id")) {
            (Some("session/update"), None) => self.on_update(&params),
            (Some("$/cancel_request"), None) => self.on_take_back(&params),
            (Some("elicitation/complete"), None) if self.has("dies-on-unknown-page") => {
                Next::End(1)
            }
            (Some("elicitation/complete"), None) => Next::Go,
            (Some(_), None) if self.has("dies-on-unknown-notification") => Next::End(1),
            (Some(_), None) if self.has("answers-notifications") => {
                self.fail(&json!(987), -32601, "Method not found");
                Next::Go
            }
            (Some(method), Some(id)) => {
                self.on_request(method, id, &params);
                Next::Go
            }
            (None, Some(_)) => self.on_answer(message),
            _ => Next::Go,
        }
    }

    fn on_request(&mut self, method: &str, id: &Value, params: &Value) {
        let is_v1 = self.version == 1;
        let is_mistaken = self.has("one-id-space") && self.pending.contains_key(&id.to_string());
        // The ping that finds out whether there is anybody is still heard.
        let is_deaf = self.has("deaf-in-turns") && self.is_prompted && method != "_ply/ping";
        if is_mistaken || is_deaf {
            return;
        }
        match method {
            "session/request_permission" => self.on_permission(id, params),
            "elicitation/create" => self.on_elicitation(id, params),
            "fs/read_text_file" if is_v1 || self.has("serves-files-in-v2") => {
                self.read_file(id, params)
            }
            "fs/write_text_file" if is_v1 => self.write_file(id, params),
            method if is_v1 && method.starts_with("terminal/") => {
                let cwd = self.cwd.clone();
                match self.terminals.serve(method, id, params, &cwd) {
                    Some(Ok(result)) => self.respond(id, result),
                    Some(Err((code, message))) => self.fail(id, code, message),
                    None => {}
                }
            }
            _ if self.has("unknown-method-code") => self.fail(id, -32603, "Internal error"),
            method if self.has("custom-request-silence") && method == "_ply/nope" => {}
            _ => self.fail(id, -32601, "Method not found"),
        }
    }

    fn on_permission(&mut self, id: &Value, params: &Value) {
        let is_whole = params.get("options").is_some_and(Value::is_array)
            && params.get("sessionId").is_some_and(Value::is_string);
        if !is_whole {
            return match self.has("takes-bad-params") {
                true => self.respond(id, json!({"outcome": {"outcome": "cancelled"}})),
                false => self.fail(id, -32602, "Invalid params"),
            };
        }
        if self.has("no-permission") {
            return self.fail(id, -32601, "Method not found");
        }
        let call = params
            .pointer("/toolCall/toolCallId")
            .or_else(|| params.pointer("/subject/toolCall/toolCallId"));
        let is_known = call
            .and_then(Value::as_str)
            .is_none_or(|call| self.calls.contains(call));
        if self.has("refuses-unseen-call") && !is_known {
            return self.fail(id, -32002, "Not found");
        }
        if self.is_cancelled {
            return self.respond(id, json!({"outcome": {"outcome": "cancelled"}}));
        }
        self.questions.push(Question {
            id: id.clone(),
            params: params.clone(),
            due: Instant::now() + THINKING,
        });
    }

    /// Decides the questions that were thought about.
    pub(super) fn decide(&mut self) {
        let now = Instant::now();
        let (due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.questions)
            .into_iter()
            .partition(|question| question.due <= now);
        self.questions = rest;
        for question in due {
            self.choose(&question.id, &question.params);
        }
    }

    /// Chooses the option that allows it once.
    pub(super) fn choose(&self, id: &Value, params: &Value) {
        let options = params
            .get("options")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let is_wanted =
            |option: &&Value| option.get("kind").and_then(Value::as_str) == Some("allow_once");
        let Some(option) = options.iter().find(is_wanted) else {
            return self.respond(id, json!({"outcome": {"outcome": "cancelled"}}));
        };
        let key = match self.has("chooses-kind") {
            true => "kind",
            false => "optionId",
        };
        let chosen = option.get(key);
        match self.has("flat-outcome") {
            true => self.respond(id, json!({"outcome": "selected", "optionId": chosen})),
            false => self.respond(
                id,
                json!({"outcome": {"outcome": "selected", "optionId": chosen}}),
            ),
        }
    }

    fn on_take_back(&mut self, params: &Value) -> Next {
        let wanted = params.get("requestId");
        let place = self
            .questions
            .iter()
            .position(|question| Some(&question.id) == wanted);
        let Some(place) = place else {
            return match self.has("dies-on-late-take-back") {
                true => Next::End(1),
                false => Next::Go,
            };
        };
        if self.has("cancel-leaves-questions") {
            return Next::Go;
        }
        let question = self.questions.remove(place);
        if self.has("loses-what-is-taken-back") {
            return Next::Go;
        }
        match self.has("take-back-fails") {
            true => self.fail(&question.id, -32603, "Internal error"),
            false => self.respond(&question.id, json!({"outcome": {"outcome": "cancelled"}})),
        }
        Next::Go
    }

    fn on_elicitation(&mut self, id: &Value, params: &Value) {
        let is_form = params.get("mode").and_then(Value::as_str) == Some("form");
        if !is_form {
            return match self.has("accepts-any-mode") {
                true => self.respond(id, json!({"action": "accept", "content": {}})),
                false => self.fail(id, -32602, "Invalid params"),
            };
        }
        let action = match self.has("odd-action") {
            true => "ok",
            false => "accept",
        };
        self.respond(
            id,
            json!({"action": action, "content": {"name": "release", "count": 3, "sign": true}}),
        );
    }
}
