//! How sessions are made and brought back.

use std::path::Path;

use ply_wire::negotiate::Version;
use serde_json::Value;

use super::Watcher;

impl Watcher {
    /// Looks at a request that opens or lists sessions, or changes their options.
    pub(super) fn setup(&mut self, frame: usize, method: &str, params: &Value) {
        match method {
            "session/new" => {
                self.directories(frame, params);
                let has_servers = params.get("mcpServers").is_some_and(Value::is_array);
                let saw = "`mcpServers` is missing";
                self.see(&["V1-SESS-06"], has_servers, &[frame], saw);
                self.servers(frame, params);
            }
            "session/load" => {
                self.directories(frame, params);
                let is_whole = params.get("sessionId").is_some_and(Value::is_string)
                    && params.get("cwd").is_some_and(Value::is_string)
                    && params.get("mcpServers").is_some_and(Value::is_array);
                let saw = "one of `sessionId`, `cwd` and `mcpServers` is missing";
                self.see(&["V1-LOAD-03", "V1-SESS-06"], is_whole, &[frame], saw);
                self.servers(frame, params);
            }
            "session/resume" => {
                self.directories(frame, params);
                let is_whole = params.get("sessionId").is_some_and(Value::is_string)
                    && params.get("cwd").is_some_and(Value::is_string);
                let saw = "`sessionId` or `cwd` is missing";
                self.see(&["V1-RESUME-02"], is_whole, &[frame], saw);
                self.servers(frame, params);
            }
            "session/list" => {
                let cursor = params.get("cursor").filter(|cursor| !cursor.is_null());
                if let Some(cursor) = cursor {
                    let cursor = cursor.as_str().unwrap_or_default();
                    let is_ours = self.cursors.contains(cursor);
                    let saw = "a cursor came back that was never given";
                    self.see(&["V1-LIST-04", "V2-LIST-02"], is_ours, &[frame], saw);
                }
            }
            "session/set_mode" => {
                let mode = params.get("modeId").and_then(Value::as_str);
                let is_offered = matches!(mode, Some("ask" | "code"));
                let saw = "a mode was set that is not available";
                self.see(&["V1-MODE-02"], is_offered, &[frame], saw);
            }
            "session/set_config_option" => self.option(frame, params),
            _ => {}
        }
    }

    fn directories(&mut self, frame: usize, params: &Value) {
        let at = [frame];
        let cwd = params
            .get("cwd")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let saw = format!("`cwd` is `{cwd}`");
        let rules = &["V1-SESS-02", "V1-RPC-13", "V2-SESS-02"];
        self.see(rules, is_absolute(cwd), &at, &saw);
        let more = params
            .get("additionalDirectories")
            .and_then(Value::as_array);
        let Some(more) = more.filter(|more| !more.is_empty()) else {
            return self.see(&["V1-SESS-14", "V2-SESS-07"], true, &at, "");
        };
        let is_offered = self.offers(
            "/agentCapabilities/sessionCapabilities/additionalDirectories",
            "/capabilities/session/additionalDirectories",
        );
        let saw = "further directories were given, which the agent does not take";
        self.see(&["V1-SESS-14", "V2-SESS-07"], is_offered, &at, saw);
        let are_absolute = more
            .iter()
            .all(|path| path.as_str().is_some_and(is_absolute));
        let saw = "a further directory is no absolute path";
        self.see(
            &["V1-SESS-15", "V1-RPC-13", "V2-SESS-07"],
            are_absolute,
            &at,
            saw,
        );
    }

    fn servers(&mut self, frame: usize, params: &Value) {
        let at = [frame];
        let servers = params.get("mcpServers").and_then(Value::as_array);
        for server in servers.into_iter().flatten() {
            let has = |key: &str| server.get(key).is_some_and(Value::is_string);
            let lists = |key: &str| server.get(key).is_some_and(Value::is_array);
            let kind = server.get("type").and_then(Value::as_str);
            if self.version == Version::V2 {
                self.server_v2(frame, server, kind);
                continue;
            }
            match kind {
                None => {
                    let command = server.get("command").and_then(Value::as_str);
                    let is_whole = has("name")
                        && command.is_some_and(is_absolute)
                        && lists("args")
                        && lists("env");
                    let saw = "a server lacks `name`, an absolute `command`, `args` or `env`";
                    self.see(&["V1-MCP-04"], is_whole, &at, saw);
                }
                Some(kind @ ("http" | "sse")) => {
                    let is_whole = has("name") && has("url") && lists("headers");
                    let saw = "a server lacks `name`, `url` or `headers`";
                    self.see(&["V1-MCP-05"], is_whole, &at, saw);
                    let pointer = format!("/agentCapabilities/mcpCapabilities/{kind}");
                    let saw =
                        format!("a server over {kind} was given, which the agent does not take");
                    let is_offered = self.offers(&pointer, "/none");
                    self.see(&["V1-MCP-02"], is_offered, &at, &saw);
                }
                Some(_) => {}
            }
        }
    }

    fn server_v2(&mut self, frame: usize, server: &Value, kind: Option<&str>) {
        let at = [frame];
        let saw = "a server has no `type`";
        self.see(&["V2-MCP-01"], kind.is_some(), &at, saw);
        if let Some(kind @ ("stdio" | "http")) = kind {
            let pointer = format!("/capabilities/session/mcp/{kind}");
            let saw = format!("a server over {kind} was given, which the agent does not take");
            self.see(&["V2-MCP-01"], self.offers("/none", &pointer), &at, &saw);
            let needed = match kind {
                "stdio" => "command",
                _ => "url",
            };
            let is_whole = server.get(needed).is_some_and(Value::is_string)
                && server.get("name").is_some_and(Value::is_string);
            let saw = format!("a server lacks `name` or `{needed}`");
            self.see(&["V2-MCP-02"], is_whole, &at, &saw);
        }
        let saw = "a server over sse was given, which version 2 has not";
        self.see(&["V2-MCP-02"], kind != Some("sse"), &at, saw);
    }

    fn option(&mut self, frame: usize, params: &Value) {
        let at = [frame];
        let value = params.get("value");
        let kind = params.get("type").and_then(Value::as_str);
        if value.is_some_and(Value::is_boolean) {
            let saw = "a boolean value lacks `type: \"boolean\"`";
            self.see(
                &["V1-CONF-11", "V2-CONF-02"],
                kind == Some("boolean"),
                &at,
                saw,
            );
            return;
        }
        self.see(
            &["V1-CONF-11"],
            kind != Some("boolean"),
            &at,
            "the type is boolean, the value is not",
        );
        let is_typed = kind.is_some_and(|kind| kind == "id" || kind.starts_with('_'));
        self.see(&["V2-CONF-02"], is_typed, &at, "a value lacks its `type`");
    }
}

fn is_absolute(path: &str) -> bool {
    let is_drive = path
        .get(1..3)
        .is_some_and(|rest| rest == ":\\" || rest == ":/");
    Path::new(path).is_absolute() || is_drive || path.starts_with("\\\\")
}
