//! Blocks of content, MCP servers, options and commands: what they need, and what has to be advertised.

use serde_json::Value;

use super::Passive;
use super::finding::quote;
use super::message::{is_absolute, list, text};
use crate::rule::Side;

impl Passive {
    /// Judges the blocks of a prompt.
    pub(super) fn prompt_content(&mut self, params: &Value) {
        let blocks = list(params, "/prompt");
        self.keeps(
            "V2-PROMPT-04",
            Side::Client,
            !blocks.is_empty(),
            "a prompt is empty",
        );
        for block in blocks {
            self.may_be_sent(block);
            self.block(block, Side::Client);
        }
    }

    /// Judges whether the agent takes a block.
    fn may_be_sent(&mut self, block: &Value) {
        let kind = text(block, "/type").unwrap_or_default();
        let (rule, name) = match kind {
            "image" => ("V1-CONTENT-04", "image"),
            "audio" => ("V1-CONTENT-05", "audio"),
            "resource" => ("V1-CONTENT-06", "embeddedContext"),
            _ => return,
        };
        if self.link.welcome.is_none() {
            return;
        }
        let (rule, path) = match self.link.is_v2() {
            true => (
                "V2-PROMPT-02",
                format!("capabilities.session.prompt.{name}"),
            ),
            false => (rule, format!("agentCapabilities.promptCapabilities.{name}")),
        };
        self.look(rule, Side::Client);
        if !self.is_advertised(Side::Agent, &path) {
            let what = format!("a prompt has {} for an agent that takes none", quote(kind));
            self.find(rule, Side::Client, what);
        }
    }

    /// Judges the members of a block.
    pub(super) fn block(&mut self, block: &Value, side: Side) {
        let has = |at: &str| text(block, at).is_some();
        let is_whole = match text(block, "/type") {
            Some("text") => has("/text"),
            Some("image" | "audio") => has("/data") && has("/mimeType"),
            Some("resource_link") => has("/uri") && has("/name"),
            Some("resource") => {
                has("/resource/uri") && (has("/resource/text") || has("/resource/blob"))
            }
            Some(custom) if self.link.is_v2() && custom.starts_with('_') => return,
            other => {
                let kind = quote(other.unwrap_or("none"));
                let what = format!("a block of content of the type {kind}");
                return self.find("V1-CONTENT-01", side, what);
            }
        };
        self.look("V1-CONTENT-01", side);
        self.look("V1-CONTENT-08", side);
        if !is_whole {
            let kind = quote(text(block, "/type").unwrap_or_default());
            let what = format!("a block of content ({kind}) lacks a member");
            self.find("V1-CONTENT-08", side, what);
        }
    }

    pub(super) fn mcp_servers(&mut self, method: &str, params: &Value) {
        let is_v2 = self.link.is_v2();
        if ["session/new", "session/load"].contains(&method) {
            self.look("V1-SESS-06", Side::Client);
            if !params.get("mcpServers").is_some_and(Value::is_array) {
                let what = format!("`mcpServers` is missing on {}", quote(method));
                self.find("V1-SESS-06", Side::Client, what);
            }
        }
        for server in list(params, "/mcpServers") {
            let kind = text(server, "/type");
            match is_v2 {
                true => self.mcp_server_v2(kind),
                false => self.mcp_server_v1(server, kind),
            }
        }
    }

    fn mcp_server_v2(&mut self, kind: Option<&str>) {
        self.look("V2-MCP-01", Side::Client);
        self.look("V2-MCP-02", Side::Client);
        match kind {
            Some(kind @ ("stdio" | "http")) => {
                let path = format!("capabilities.session.mcp.{kind}");
                if !self.is_advertised(Side::Agent, &path) {
                    let kind = quote(kind);
                    let what = format!("an MCP server over {kind} for an agent that takes none");
                    self.find("V2-MCP-01", Side::Client, what);
                }
            }
            None => self.find("V2-MCP-01", Side::Client, "an MCP server has no `type`"),
            Some("sse") => self.find("V2-MCP-02", Side::Client, "version 2 has no MCP over sse"),
            Some(_) => {}
        }
    }

    fn mcp_server_v1(&mut self, server: &Value, kind: Option<&str>) {
        let has_list = |name: &str| server.get(name).is_some_and(Value::is_array);
        let is_named = text(server, "/name").is_some();
        match kind {
            None | Some("stdio") => {
                let command = text(server, "/command").is_some_and(is_absolute);
                let is_kept = command && is_named && has_list("args") && has_list("env");
                let what = "an MCP server lacks a member, or its command is not absolute";
                self.keeps("V1-MCP-04", Side::Client, is_kept, what);
            }
            Some(kind @ ("http" | "sse")) => {
                let path = format!("agentCapabilities.mcpCapabilities.{kind}");
                let is_known = self.link.welcome.is_some();
                let is_kept = !is_known || self.is_advertised(Side::Agent, &path);
                let what = "an MCP server over a transport that the agent does not take";
                self.keeps("V1-MCP-02", Side::Client, is_kept, what);
                let has_url = text(server, "/url").is_some();
                let is_kept = is_named && has_url && has_list("headers");
                let what = "an MCP server lacks a member";
                self.keeps("V1-MCP-05", Side::Client, is_kept, what);
            }
            Some(_) => {}
        }
    }

    /// Judges a list of options.
    pub(super) fn options(&mut self, options: &[Value]) {
        for option in options {
            let kind = text(option, "/type");
            if kind == Some("boolean") {
                let gate = "clientCapabilities.session.configOptions.boolean";
                let is_kept = self.link.is_v2() || self.is_advertised(Side::Client, gate);
                let what = "a boolean option for a client that knows none";
                self.keeps("V1-CONF-04", Side::Agent, is_kept, what);
            }
            if kind != Some("select") {
                continue;
            }
            let current = text(option, "/currentValue");
            let groups = list(option, "/options").iter();
            let values = groups.flat_map(|item| match list(item, "/options") {
                [] => std::slice::from_ref(item),
                inner => inner,
            });
            let mut values = values.filter_map(|value| text(value, "/value"));
            let is_kept = values.any(|value| Some(value) == current);
            let what = "the current value of an option is none of its values";
            self.keeps("V1-CONF-05", Side::Agent, is_kept, what);
        }
    }

    /// Judges a list of commands.
    pub(super) fn commands(&mut self, commands: &[Value]) {
        for command in commands {
            let name = text(command, "/name").unwrap_or_default();
            let is_whole = !name.is_empty() && text(command, "/description").is_some();
            let is_plain = !name.starts_with('/') && !name.contains(char::is_whitespace);
            let what = "a command lacks its name or description";
            self.keeps("V1-CMD-03", Side::Agent, is_whole, what);
            let what = "a command lacks a member or has an odd name";
            self.keeps("V2-CMD-01", Side::Agent, is_whole && is_plain, what);
        }
    }

    /// Judges a plan of version 1.
    pub(super) fn plan(&mut self, update: &Value) {
        let is_one_of = |entry: &Value, at: &str, listed: &[&str]| {
            text(entry, at).is_some_and(|value| listed.contains(&value))
        };
        for entry in list(update, "/entries") {
            let is_kept = text(entry, "/content").is_some()
                && is_one_of(entry, "/priority", &["high", "medium", "low"])
                && is_one_of(entry, "/status", &["pending", "in_progress", "completed"]);
            let what = "an entry of a plan lacks a member or has an unknown value";
            self.keeps("V1-PLAN-02", Side::Agent, is_kept, what);
        }
    }
}
