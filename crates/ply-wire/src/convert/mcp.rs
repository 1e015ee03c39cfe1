//! MCP servers: version 2 tags every entry and may omit lists, version 1 tags all but stdio.

use serde_json::Value;

use crate::{v1, v2};

/// The type of a server over SSE, which only version 1 has.
const SSE: &str = "sse";

/// A server uses a transport that the other version does not have. Answered with -32602: a server
/// left out silently would leave the user with missing tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the transport of the MCP server mcpServers[{place}] is not supported; give it as stdio or http"
)]
pub struct UnsupportedTransport {
    /// Which server of the list it is, counted from 0.
    pub place: usize,
}

impl From<UnsupportedTransport> for v1::Error {
    fn from(error: UnsupportedTransport) -> Self {
        let code = v1::ErrorCode::InvalidParams;
        Self::new(code.into(), error.to_string())
    }
}

impl From<UnsupportedTransport> for v2::Error {
    fn from(error: UnsupportedTransport) -> Self {
        let code = v2::ErrorCode::InvalidParams;
        Self::new(code.into(), error.to_string())
    }
}

/// Returns a server over SSE in the form that [`servers_down`] takes: version 2 has no such transport and keeps it as one that it
/// does not know.
#[must_use]
pub fn sse(server: &v1::McpServerSse) -> v2::McpServer {
    let fields = match serde_json::to_value(server) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        _ => Default::default(),
    };
    v2::McpServer::Other(v2::OtherMcpServer::new(SSE, fields))
}

/// Returns whether a server is one over SSE.
#[must_use]
pub fn is_sse(server: &v2::McpServer) -> bool {
    matches!(server, v2::McpServer::Other(other) if other.type_ == SSE)
}

/// Turns version 2 servers into version 1 servers. Nothing is lost.
///
/// # Errors
///
/// [`UnsupportedTransport`] for a transport that is neither stdio nor HTTP, nor SSE as [`sse`] writes it.
pub fn servers_down(servers: &[v2::McpServer]) -> Result<Vec<v1::McpServer>, UnsupportedTransport> {
    let servers = servers.iter().map(server_down).enumerate();
    servers
        .map(|(place, server)| server.ok_or(UnsupportedTransport { place }))
        .collect()
}

/// Turns version 1 servers into version 2 servers. Nothing is lost.
///
/// # Errors
///
/// [`UnsupportedTransport`] for SSE, which version 2 does not have. Capabilities made by
/// [`super::initialize`] never offer it.
pub fn servers_up(servers: &[v1::McpServer]) -> Result<Vec<v2::McpServer>, UnsupportedTransport> {
    let servers = servers.iter().map(server_up).enumerate();
    servers
        .map(|(place, server)| server.ok_or(UnsupportedTransport { place }))
        .collect()
}

fn server_down(server: &v2::McpServer) -> Option<v1::McpServer> {
    Some(match server {
        v2::McpServer::Http(http) => {
            let headers = http.headers.iter().map(|header| {
                v1::HttpHeader::new(header.name.clone(), header.value.clone())
                    .meta(header.meta.clone())
            });
            v1::McpServer::Http(
                v1::McpServerHttp::new(http.name.clone(), http.url.clone())
                    .headers(headers.collect())
                    .meta(http.meta.clone()),
            )
        }
        v2::McpServer::Stdio(stdio) => {
            let env = stdio.env.iter().map(|var| {
                v1::EnvVariable::new(var.name.clone(), var.value.clone()).meta(var.meta.clone())
            });
            v1::McpServer::Stdio(
                v1::McpServerStdio::new(stdio.name.clone(), stdio.command.0.clone())
                    .args(stdio.args.clone())
                    .env(env.collect())
                    .meta(stdio.meta.clone()),
            )
        }
        v2::McpServer::Other(other) if is_sse(server) => {
            let fields = other.fields.clone().into_iter().collect();
            let sse = serde_json::from_value(Value::Object(fields));
            v1::McpServer::Sse(sse.ok()?)
        }
        _ => return None,
    })
}

fn server_up(server: &v1::McpServer) -> Option<v2::McpServer> {
    Some(match server {
        v1::McpServer::Http(http) => {
            let headers = http.headers.iter().map(|header| {
                v2::HttpHeader::new(header.name.clone(), header.value.clone())
                    .meta(header.meta.clone())
            });
            v2::McpServer::Http(
                v2::McpServerHttp::new(http.name.clone(), http.url.clone())
                    .headers(headers.collect())
                    .meta(http.meta.clone()),
            )
        }
        v1::McpServer::Stdio(stdio) => {
            let env = stdio.env.iter().map(|var| {
                v2::EnvVariable::new(var.name.clone(), var.value.clone()).meta(var.meta.clone())
            });
            v2::McpServer::Stdio(
                v2::McpServerStdio::new(stdio.name.clone(), stdio.command.clone())
                    .args(stdio.args.clone())
                    .env(env.collect())
                    .meta(stdio.meta.clone()),
            )
        }
        _ => return None,
    })
}
