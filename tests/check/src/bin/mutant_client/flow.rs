//! The life of a connection: greeting, session, prompt, end.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Client, Next, terminals};

impl Client {
    pub(super) fn new(
        fault: String,
        version: u64,
        cwd: String,
        out: mpsc::Sender<Vec<u8>>,
    ) -> Self {
        Self {
            terminals: terminals::Terminals::new(out.clone(), fault.clone()),
            fault,
            version,
            cwd,
            out,
            pending: Default::default(),
            last_id: 0,
            welcome: Value::Null,
            session: String::new(),
            is_prompted: false,
            is_working: false,
            is_cancelled: false,
            questions: Vec::new(),
            calls: Default::default(),
            messages: Default::default(),
            last_message: String::new(),
            is_running: false,
        }
    }

    pub(super) fn hello(&mut self) {
        let info = json!({"name": "mutant", "version": "0.1.0"});
        let mut params = match self.version {
            1 => json!({
                "protocolVersion": 1,
                "clientCapabilities": {
                    "fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true, "auth": {"terminal": true}, "elicitation": {"form": {}}
                },
                "clientInfo": info
            }),
            _ => {
                json!({"protocolVersion": 2, "capabilities": {"auth": {"terminal": {}}, "elicitation": {"form": {}}}, "info": info})
            }
        };
        if let Some(params) = params.as_object_mut() {
            if self.has("version-as-text") {
                params.insert(
                    "protocolVersion".to_owned(),
                    json!(self.version.to_string()),
                );
            }
            if self.has("no-info") {
                params.remove("info");
                params.remove("clientInfo");
            }
        }
        if self.has("terminal-as-text") {
            merge(
                &mut params,
                json!({"clientCapabilities": {"terminal": "yes"}}),
            );
        }
        if self.has("odd-capabilities") {
            let (key, value) = match self.version {
                1 => ("clientCapabilities", json!("all")),
                _ => ("capabilities", json!({"auth": {"terminal": true}})),
            };
            merge(&mut params, json!({key: value}));
        }
        self.ask("initialize", params);
        if self.has("new-before-init") {
            self.new_session();
        }
    }

    /// Returns whether the agent offers something, by its pointer in either version.
    pub(super) fn offered(&self, v1: &str, v2: &str) -> Value {
        let pointer = match self.version {
            1 => v1,
            _ => v2,
        };
        self.welcome.pointer(pointer).cloned().unwrap_or_default()
    }

    fn new_session(&mut self) {
        let mut params = json!({"cwd": self.cwd, "mcpServers": []});
        let Some(members) = params.as_object_mut() else {
            return;
        };
        if self.fault == "relative-cwd" {
            members.insert("cwd".to_owned(), json!("work"));
        }
        if matches!(self.fault.as_str(), "no-mcp-servers" | "snake-case") {
            members.remove("mcpServers");
        }
        if self.fault == "snake-case" {
            members.insert("mcp_servers".to_owned(), json!([]));
        }
        let url = "https://127.0.0.1:9/";
        let server = match self.fault.as_str() {
            "wrong-mcp-server" => Some(json!({"name": "files", "command": "files"})),
            "http-server-anyway" => {
                Some(json!({"type": "http", "name": "files", "url": url, "headers": []}))
            }
            "bare-http-server" => Some(json!({"type": "http", "name": "files", "url": url})),
            "sse-server" => Some(json!({"type": "sse", "name": "files", "url": url})),
            _ => None,
        };
        if let Some(server) = server {
            members.insert("mcpServers".to_owned(), json!([server]));
        }
        let directory = match self.fault.as_str() {
            "more-directories" => Some("/tmp"),
            "relative-directories" => Some("src"),
            _ => None,
        };
        if let Some(directory) = directory {
            members.insert("additionalDirectories".to_owned(), json!([directory]));
        }
        self.ask("session/new", params);
        if self.has("same-id") {
            let id = json!(self.last_id);
            self.write(
                &json!({"jsonrpc": "2.0", "id": id, "method": "session/list", "params": {}}),
            );
        }
    }

    /// Takes an answer to a request of ours.
    pub(super) fn on_answer(&mut self, message: &Value) -> Next {
        let id = message.get("id").map(Value::to_string).unwrap_or_default();
        let Some(method) = self.pending.remove(&id) else {
            return Next::Go;
        };
        let error = message.pointer("/error/code").and_then(Value::as_i64);
        let result = message.get("result").cloned().unwrap_or_default();
        let options = result.get("configOptions").and_then(Value::as_array);
        let has_odd_category = || {
            let mut options = options.into_iter().flatten();
            options.any(|option| option.get("category") == Some(&json!("zzz")))
        };
        let is_fatal = match self.fault.as_str() {
            "dies-on-future-members" => result.get("futureField").is_some(),
            "dies-on-odd-category" => has_odd_category(),
            "dies-on-null-load" => method == "session/load" && result.is_null(),
            _ => false,
        };
        if is_fatal {
            return Next::End(1);
        }
        match (method, error) {
            ("initialize", None) => self.greeted(result),
            ("session/new", None) => {
                let id = result.get("sessionId").and_then(Value::as_str);
                self.session = id.unwrap_or_default().to_owned();
                self.prompt();
                Next::Go
            }
            ("session/new", Some(-32000)) => {
                self.login();
                Next::Go
            }
            ("authenticate" | "auth/login", _)
                if self.session.is_empty()
                    && !self.has("wrong-login")
                    && !self.has("login-is-all") =>
            {
                self.new_session();
                Next::Go
            }
            ("session/list", None) => {
                if let Some(cursor) = result.get("nextCursor").and_then(Value::as_str) {
                    let cursor = match self.has("changes-cursor") {
                        true => cursor.to_ascii_uppercase(),
                        false => cursor.to_owned(),
                    };
                    self.ask("session/list", json!({"cursor": cursor}));
                }
                Next::Go
            }
            ("session/prompt", Some(_)) if self.has("crashes-on-error") => Next::End(101),
            ("session/prompt", Some(_)) => Next::End(1),
            ("session/prompt", None) if self.version == 1 || self.has("answer-is-end") => {
                Next::End(0)
            }
            ("initialize" | "session/new", Some(_)) => Next::End(1),
            _ => Next::Go,
        }
    }

    fn greeted(&mut self, welcome: Value) -> Next {
        let chosen = welcome.get("protocolVersion").and_then(Value::as_u64);
        if chosen != Some(self.version) && !self.has("ignores-version") {
            return Next::End(1);
        }
        self.welcome = welcome;
        let has_sessions =
            self.version == 1 || self.welcome.pointer("/capabilities/session").is_some();
        if !has_sessions && !self.has("makes-sessions-anyway") {
            return Next::End(1);
        }
        self.wrong_calls();
        if !self.has("new-before-init") {
            self.new_session();
        }
        Next::Go
    }

    /// Calls that are wrong after the greeting.
    fn wrong_calls(&mut self) {
        let lists = self
            .offered(
                "/agentCapabilities/sessionCapabilities/list",
                "/capabilities/session",
            )
            .is_object();
        match self.fault.as_str() {
            "lists-unoffered" => self.ask("session/list", json!({})),
            "changes-cursor" if lists => self.ask("session/list", json!({})),
            "loads-unoffered" | "dies-on-null-load" | "dies-on-replays" => self.load(),
            "loads-without-servers" => {
                let params = json!({"sessionId": "old session", "cwd": self.cwd});
                self.ask("session/load", params);
            }
            "resumes-unoffered" => {
                let params = json!({"sessionId": "old session", "cwd": self.cwd});
                self.ask("session/resume", params);
            }
            "resumes-without-cwd" => {
                self.ask("session/resume", json!({"sessionId": "old session"}));
            }
            "closes-unoffered" => self.ask("session/close", json!({"sessionId": "old session"})),
            "logs-out-unoffered" => self.ask("logout", json!({})),
            "lists-if-null"
                if self
                    .welcome
                    .pointer("/agentCapabilities/sessionCapabilities/list")
                    .is_some() =>
            {
                self.ask("session/list", json!({}));
            }
            "takes-back-nothing" => self.notify("$/cancel_request", json!({"requestId": 4711})),
            "null-id-results" => self.write(&json!({"jsonrpc": "2.0", "id": null, "result": {}})),
            "loads-if-false"
                if self
                    .welcome
                    .pointer("/agentCapabilities/loadSession")
                    .is_some() =>
            {
                self.load()
            }
            "deletes-unoffered" => self.ask("session/delete", json!({"sessionId": "old"})),
            "wrong-login" => {
                let method = match self.version {
                    1 => "authenticate",
                    _ => "auth/login",
                };
                self.ask(method, json!({"methodId": "nope"}));
            }
            "other-words" if self.version == 1 => {
                self.ask(
                    "tool_call/cancel",
                    json!({"sessionId": "s", "toolCallId": "t"}),
                );
            }
            "other-words" => self.ask(
                "session/set_mode",
                json!({"sessionId": "s", "modeId": "ask"}),
            ),
            "custom-method" => self.notify("window/focus", json!({})),
            "sends-arrays" => {
                self.write(&json!([{"jsonrpc": "2.0", "method": "_mutant/note", "params": {}}]))
            }
            "prints-log" => self.write_bytes(b"[info] connected\n".to_vec()),
            "many-lines" => {
                self.write_bytes(
                    b"{\"jsonrpc\": \"2.0\",\n\"method\": \"_mutant/note\", \"params\": {}}\n"
                        .to_vec(),
                );
            }
            _ => {}
        }
    }

    fn load(&mut self) {
        let params = json!({"sessionId": "old session", "cwd": self.cwd, "mcpServers": []});
        self.ask("session/load", params);
    }

    fn login(&mut self) {
        let methods = self
            .welcome
            .get("authMethods")
            .and_then(Value::as_array)
            .cloned();
        let methods = methods.unwrap_or_default();
        let is_usable = |method: &&Value| {
            matches!(
                method.get("type").and_then(Value::as_str),
                None | Some("agent")
            )
        };
        let anything = methods
            .first()
            .filter(|_| self.has("terminal-login-anyway"));
        let Some(method) = anything.or_else(|| methods.iter().find(is_usable)) else {
            return;
        };
        let id = method.get("id").or_else(|| method.get("methodId")).cloned();
        let name = match self.version {
            1 => "authenticate",
            _ => "auth/login",
        };
        self.ask(name, json!({"methodId": id}));
    }

    fn prompt(&mut self) {
        match self.fault.as_str() {
            "unknown-mode" => {
                self.ask(
                    "session/set_mode",
                    json!({"sessionId": self.session, "modeId": "fly"}),
                );
            }
            "untyped-boolean" => {
                let params = json!({"sessionId": self.session, "configId": "web", "value": true});
                self.ask("session/set_config_option", params);
            }
            "untyped-option" => {
                let params =
                    json!({"sessionId": self.session, "configId": "mode", "value": "code"});
                self.ask("session/set_config_option", params);
            }
            _ => {}
        }
        let mut blocks = vec![json!({"type": "text", "text": "Hello \u{1F980}"})];
        match self.fault.as_str() {
            "image-anyway" => blocks
                .push(json!({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"})),
            "audio-anyway" => {
                blocks.push(json!({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}));
            }
            "resource-anyway" => {
                let resource = json!({"uri": "file:///a", "text": "a"});
                blocks.push(json!({"type": "resource", "resource": resource}));
            }
            "odd-block" => blocks.push(json!({"type": "table", "rows": []})),
            "odd-priority" => {
                let annotations = json!({"priority": 7});
                blocks.push(json!({"type": "text", "text": "!", "annotations": annotations}));
            }
            "unnamed-link" => blocks.push(json!({"type": "resource_link", "uri": "file:///a"})),
            "empty-prompt" => blocks.clear(),
            _ => {}
        }
        let session = match self.has("wrong-session") {
            true => "nope",
            false => self.session.as_str(),
        };
        let mut params = json!({"sessionId": session, "prompt": blocks});
        match self.fault.as_str() {
            "custom-member" => merge(&mut params, json!({"mood": "blue"})),
            "prompt-as-text" => merge(&mut params, json!({"prompt": "Hello"})),
            "meta-as-text" => merge(&mut params, json!({"_meta": "blue"})),
            _ => {}
        }
        self.is_prompted = true;
        if self.has("bad-utf8") {
            self.write_bytes(
                b"{\"jsonrpc\":\"2.0\",\"method\":\"_mutant/note\",\"params\":{\"t\":\"\xff\"}}\n"
                    .to_vec(),
            );
        }
        self.ask("session/prompt", params);
    }

    /// Cancels the turn, as the user wishes.
    pub(super) fn cancel(&mut self) {
        if self.is_cancelled || !self.is_prompted {
            return;
        }
        self.is_cancelled = true;
        self.notify("session/cancel", json!({"sessionId": self.session}));
        if self.has("cancel-leaves-questions") {
            // They stay where they are, and nobody decides them.
            for question in &mut self.questions {
                question.due += Duration::from_secs(3600);
            }
            return;
        }
        for question in std::mem::take(&mut self.questions) {
            match self.has("cancel-chooses") {
                true => self.choose(&question.id, &question.params),
                false => self.respond(&question.id, json!({"outcome": {"outcome": "cancelled"}})),
            }
        }
    }
}

/// Puts the members of one object into another.
fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}
