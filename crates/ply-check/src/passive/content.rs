//! Blocks of content and MCP servers: what they need, and what has to be advertised.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::Passive;
use super::finding::quote;
use super::message::{is_absolute, list, text};
use crate::rule::{Side, id};

impl Passive {
    /// Judges the blocks of a prompt.
    pub(super) fn prompt_content(&mut self, params: &Value) {
        let blocks = list(params, "/prompt");
        self.keeps(
            id::V2_PROMPT_04,
            Side::Client,
            !blocks.is_empty(),
            "a prompt is empty",
        );
        self.look(id::V1_PROMPT_02, Side::Client);
        for block in blocks {
            self.may_be_sent(block);
            self.block(block, Side::Client);
        }
    }

    /// Judges whether the agent takes a block.
    fn may_be_sent(&mut self, block: &Value) {
        let kind = text(block, "/type").unwrap_or_default();
        let (rule, name) = match kind {
            "image" => (id::V1_CONTENT_04, "image"),
            "audio" => (id::V1_CONTENT_05, "audio"),
            "resource" => (id::V1_CONTENT_06, "embeddedContext"),
            _ => return,
        };
        if self.link.welcome.is_none() {
            return;
        }
        let (rule, path) = match self.link.is_v2() {
            true => (
                id::V2_PROMPT_02,
                format!("capabilities.session.prompt.{name}"),
            ),
            false => (rule, format!("agentCapabilities.promptCapabilities.{name}")),
        };
        let is_kept = self.is_advertised(Side::Agent, &path);
        let what = format!(
            "a prompt has {} for an agent that does not support it",
            quote(kind)
        );
        self.keeps(rule, Side::Client, is_kept, &what);
        self.keeps(id::V1_PROMPT_02, Side::Client, is_kept, &what);
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
                return self.find(id::V1_CONTENT_01, side, what);
            }
        };
        self.look(id::V1_CONTENT_01, side);
        self.look(id::V1_CONTENT_08, side);
        if !is_whole {
            let kind = quote(text(block, "/type").unwrap_or_default());
            let what = format!("a block of content ({kind}) lacks a member");
            self.find(id::V1_CONTENT_08, side, what);
        }
        let what = "data is not base64, a priority is out of range, or a URI is empty";
        self.keeps(id::V2_CONTENT_03, side, is_sound(block), what);
    }

    pub(super) fn mcp_servers(&mut self, method: &str, params: &Value) {
        let is_v2 = self.link.is_v2();
        if ["session/new", "session/load"].contains(&method) {
            self.look(id::V1_SESS_06, Side::Client);
            if !params.get("mcpServers").is_some_and(Value::is_array) {
                let what = format!("`mcpServers` is missing on {}", quote(method));
                self.find(id::V1_SESS_06, Side::Client, what);
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
        self.look(id::V2_MCP_01, Side::Client);
        self.look(id::V2_MCP_02, Side::Client);
        match kind {
            Some(kind @ ("stdio" | "http")) => {
                let path = format!("capabilities.session.mcp.{kind}");
                if !self.is_advertised(Side::Agent, &path) {
                    let kind = quote(kind);
                    let what =
                        format!("an MCP server over {kind} for an agent that does not support it");
                    self.find(id::V2_MCP_01, Side::Client, what);
                }
            }
            None => self.find(id::V2_MCP_01, Side::Client, "an MCP server has no `type`"),
            Some("sse") => self.find(id::V2_MCP_02, Side::Client, "version 2 has no MCP over sse"),
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
                self.keeps(id::V1_MCP_04, Side::Client, is_kept, what);
            }
            Some(kind @ ("http" | "sse")) => {
                let path = format!("agentCapabilities.mcpCapabilities.{kind}");
                let is_known = self.link.welcome.is_some();
                let is_kept = !is_known || self.is_advertised(Side::Agent, &path);
                let what = "an MCP server over a transport that the agent does not support";
                self.keeps(id::V1_MCP_02, Side::Client, is_kept, what);
                let has_url = text(server, "/url").is_some();
                let is_kept = is_named && has_url && has_list("headers");
                let what = "an MCP server lacks a member";
                self.keeps(id::V1_MCP_05, Side::Client, is_kept, what);
            }
            Some(_) => {}
        }
    }
}

/// Returns whether the members of a block have values that mean something.
fn is_sound(block: &Value) -> bool {
    let priority = block
        .pointer("/annotations/priority")
        .and_then(Value::as_f64);
    let is_in_range = priority.is_none_or(|priority| (0.0..=1.0).contains(&priority));
    is_in_range
        && match text(block, "/type") {
            Some("image" | "audio") => {
                text(block, "/data").is_none_or(|data| STANDARD.decode(data).is_ok())
            }
            Some("resource_link") => text(block, "/uri") != Some(""),
            _ => true,
        }
}
