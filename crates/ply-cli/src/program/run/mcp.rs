//! MCP servers from a file, in the form that most programs use.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ply_client::text::{self, Line};
use ply_client::v2;
use serde::Deserialize;
use serde_json::{Value, json};

use super::failure::Failure;
use super::file;

/// The file: `{"mcpServers": {"name": {…}}}`. What else is in it belongs to other programs.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    mcp_servers: BTreeMap<String, Server>,
}

#[derive(Debug, Deserialize)]
struct Server {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// Reads the servers of a file.
pub(super) fn read(path: &Path, search: Option<&OsStr>) -> Result<Vec<v2::McpServer>, Failure> {
    let shown = text::path(path);
    let text = file::text(path, "list of MCP servers")?;
    let hint = r#"such as {"mcpServers": {"time": {"command": "mcp-time"}}}"#;
    parse(&text, search).map_err(|what| Failure::usage(format!("{shown}: {what}")).hint(hint))
}

/// Reads the servers of a file, or says what is wrong with it.
pub(in crate::program) fn servers(
    path: &Path,
    search: Option<&OsStr>,
) -> Result<Vec<v2::McpServer>, String> {
    let text = file::text(path, "list of MCP servers").map_err(|failure| failure.detail)?;
    parse(&text, search)
}

fn parse(text: &str, search: Option<&OsStr>) -> Result<Vec<v2::McpServer>, String> {
    // What is wrong is said by place alone: the file may hold secrets.
    let file: File = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("it is not of the form {{\"mcpServers\": {{…}}}} (line {line}, column {column})")
    })?;
    let servers = file.mcp_servers.into_iter();
    servers
        .map(|(name, server)| server.into_wire(&name, search))
        .collect()
}

impl Server {
    fn into_wire(self, name: &str, search: Option<&OsStr>) -> Result<v2::McpServer, String> {
        let shown = Line(name).to_string();
        match (self.kind.as_deref(), self.command, self.url) {
            (None | Some("stdio"), Some(command), None) => {
                let program = find(&command, search)
                    .ok_or_else(|| format!("the program of the server `{shown}` is not found"))?;
                let env = self.env.into_iter();
                let env = env.map(|(name, value)| v2::EnvVariable::new(name, value));
                let server = v2::McpServerStdio::new(name, program)
                    .args(self.args)
                    .env(env.collect());
                Ok(v2::McpServer::Stdio(server))
            }
            (None | Some("http" | "streamable-http"), None, Some(url)) => {
                let headers = self.headers.into_iter();
                let headers = headers.map(|(name, value)| v2::HttpHeader::new(name, value));
                let server = v2::McpServerHttp::new(name, url).headers(headers.collect());
                Ok(v2::McpServer::Http(server))
            }
            // Version 1 has these alone; whether the agent takes them is seen when it is started.
            (Some("sse"), None, Some(url)) => {
                let headers = self.headers.into_iter();
                let headers = headers.map(|(name, value)| json!({ "name": name, "value": value }));
                let headers = headers.collect();
                let fields = [
                    ("name", json!(name)),
                    ("url", json!(url)),
                    ("headers", Value::Array(headers)),
                ];
                let fields = fields.map(|(name, value)| (name.to_owned(), value));
                let server = v2::OtherMcpServer::new("sse", fields.into());
                Ok(v2::McpServer::Other(server))
            }
            _ => Err(format!(
                "the server `{shown}` needs either a `command` or a `url`, and a `type` that fits it"
            )),
        }
    }
}

/// Returns the absolute path of a program, which is what agents are to be given.
fn find(command: &str, search: Option<&OsStr>) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        let about = std::fs::metadata(path).ok();
        about.is_some_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    if command.contains('/') {
        return std::path::absolute(command).ok();
    }
    let directories = std::env::split_paths(search?);
    let mut candidates = directories.map(|directory| directory.join(command));
    candidates.find(|path| path.is_absolute() && is_program(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_all_kinds_are_read() {
        let text = r#"{"other": 1, "mcpServers": {
            "files": {"command": "sh", "args": ["-c", "x"], "env": {"KEY": "v"}},
            "old": {"type": "sse", "url": "http://127.0.0.1:1/sse", "headers": {"A": "b"}},
            "web": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"A": "b"}}
        }}"#;
        let servers = parse(text, Some(OsStr::new("/nowhere:/bin"))).unwrap();
        let written = serde_json::to_value(&servers).unwrap();
        assert_eq!(written[0]["command"], "/bin/sh");
        assert_eq!(written[0]["env"][0]["value"], "v");
        assert_eq!(written[1]["type"], "sse");
        assert_eq!(written[1]["headers"][0]["value"], "b");
        assert_eq!(written[2]["url"], "http://127.0.0.1:1/mcp");
        assert_eq!(written[2]["headers"][0]["name"], "A");
    }

    #[test]
    fn what_cannot_be_meant_is_refused_and_no_secret_is_told() {
        for wrong in [
            "{}",
            "[]",
            r#"{"mcpServers": {"a": {}}}"#,
            r#"{"mcpServers": {"a": {"command": "sh", "url": "http://secret"}}}"#,
            r#"{"mcpServers": {"a": {"type": "sse", "command": "secret"}}}"#,
            r#"{"mcpServers": {"a": {"type": "http", "command": "secret"}}}"#,
            r#"{"mcpServers": {"a": {"command": "no-such-secret-program"}}}"#,
            r#"{"mcpServers": {"a": {"command": "sh", "env": {"KEY": ["secret"]}}}}"#,
        ] {
            let why = parse(wrong, Some(OsStr::new("/bin"))).unwrap_err();
            assert!(!why.contains("secret"), "{why}");
        }
    }
}
