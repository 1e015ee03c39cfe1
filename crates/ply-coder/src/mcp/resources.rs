//! Resources of servers, as two tools: one lists them, one reads one.

use std::sync::Arc;

use ply_agent::v2;
use rmcp::model::{PaginatedRequestParams, ReadResourceRequestParams};
use rmcp::service::ServiceError;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::catalog::Listing;
use super::server::Server;
use super::{Servers, outcome, stdio, words};
use crate::model::ToolSpec;
use crate::tool::{Access, Arguments, Outcome, Prepared, Preparing, Tool, ToolContext};

/// The name of the tool that lists resources.
const LIST: &str = "list_mcp_resources";
/// The name of the tool that reads one.
const READ: &str = "read_mcp_resource";
/// How many resources of one server are listed.
const RESOURCES_MAX: usize = 500;
/// How many pages a server's list may have.
const PAGES_MAX: usize = 32;
/// How much a list tells, in bytes.
const LIST_BYTES_MAX: usize = 48 * 1024;
/// How long a name, an address or a description in a list may be, in characters.
const LABEL_CHARS_MAX: usize = 300;
/// How long the address of a resource may be, in bytes.
const URI_BYTES_MAX: usize = 8 * 1024;

impl Servers {
    /// Returns the tools for resources, if a server has any.
    pub(super) fn resource_tools(&self) -> Vec<Arc<dyn Tool>> {
        let servers = self.servers().into_iter();
        let servers: Vec<_> = servers.filter(|server| server.has_resources()).collect();
        if servers.is_empty() {
            return Vec::new();
        }
        let list = ListResources(servers.clone());
        vec![Arc::new(list), Arc::new(ReadResource(servers))]
    }
}

/// The tool that lists resources.
#[derive(Debug)]
struct ListResources(Vec<Arc<Server>>);

/// The tool that reads one.
#[derive(Debug)]
struct ReadResource(Vec<Arc<Server>>);

impl Tool for ListResources {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: LIST.to_owned(),
            description: format!(
                "Lists the resources that MCP servers offer, such as documents and records. Servers: {}.",
                names(&self.0)
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "server": { "type": "string", "description": "One server; all of them without it." }
                },
                "additionalProperties": false
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Search
    }

    fn prepare<'t>(&'t self, arguments: Value, _context: ToolContext<'t>) -> Preparing<'t> {
        let prepared = Arguments::new(arguments).and_then(|arguments| {
            let servers = match arguments.optional_text("server")? {
                None => self.0.clone(),
                Some(name) => vec![named(&self.0, &name)?],
            };
            let title = match servers.as_slice() {
                [one] => format!("List resources of {}", one.name),
                _ => "List resources of MCP servers".to_owned(),
            };
            Ok(Prepared::new(title, self.kind(), list(servers)))
        });
        Box::pin(std::future::ready(prepared))
    }
}

impl Tool for ReadResource {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: READ.to_owned(),
            description: format!(
                "Reads a resource of an MCP server. `{LIST}` lists them. Servers: {}.",
                names(&self.0)
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "server": { "type": "string", "description": "The server's name." },
                    "uri": { "type": "string", "description": "The resource's URI, as it is listed." }
                },
                "required": ["server", "uri"],
                "additionalProperties": false
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Read
    }

    fn prepare<'t>(&'t self, arguments: Value, _context: ToolContext<'t>) -> Preparing<'t> {
        let prepared = Arguments::new(arguments).and_then(|arguments| self.prepared(&arguments));
        Box::pin(std::future::ready(prepared))
    }
}

impl ReadResource {
    fn prepared(&self, arguments: &Arguments) -> Result<Prepared<'_>, Outcome> {
        let server = named(&self.0, &arguments.text("server")?)?;
        let uri = arguments.text("uri")?;
        if uri.is_empty() || uri.len() > URI_BYTES_MAX {
            let what = format!("must have 1 to {URI_BYTES_MAX} bytes");
            return Err(arguments.wrong("uri", &what));
        }
        let title = format!("{}: {}", server.name, words::line(&uri, LABEL_CHARS_MAX));
        // A server does what it likes with this as well, so it is asked about like a tool of its own.
        let stands_for = Listing {
            name: READ.to_owned(),
            description: String::new(),
            schema: Value::Null,
            read_only: true,
        };
        let access = Access::Mcp {
            server: server.name.clone(),
            tool: READ.to_owned(),
            arguments: json!({ "uri": uri }).to_string(),
            version: stands_for.version(),
        };
        Ok(Prepared::new(title, self.kind(), read(server, uri)).needs(access))
    }
}

fn names(servers: &[Arc<Server>]) -> String {
    let names = servers.iter().map(|server| format!("`{}`", server.name));
    names.collect::<Vec<_>>().join(", ")
}

fn named(servers: &[Arc<Server>], name: &str) -> Result<Arc<Server>, Outcome> {
    let found = servers.iter().find(|server| server.name == name);
    found.cloned().ok_or_else(|| {
        Outcome::failed(format!(
            "No MCP server of that name has resources. There are: {}.",
            names(servers)
        ))
    })
}

async fn list(servers: Vec<Arc<Server>>) -> Outcome {
    let lists = servers.iter().map(|server| async move {
        let listed = timeout(server.settings.connect, list_one(server)).await;
        listed.unwrap_or_else(|_| Err(stdio::no_answer(server.settings.connect)))
    });
    let lists = futures::future::join_all(lists).await;
    let mut text = String::new();
    for (server, listed) in servers.iter().zip(&lists) {
        let lines = match listed {
            Ok(lines) if lines.is_empty() => vec!["It lists none.".to_owned()],
            Ok(lines) => lines.clone(),
            Err(problem) => vec![format!("They cannot be listed: {problem}.")],
        };
        text.push_str(&format!("Resources of `{}`, in its words:\n", server.name));
        for line in lines {
            if text.len() + line.len() > LIST_BYTES_MAX {
                text.push_str("There are more than can be told; ask for one server.\n");
                break;
            }
            text.push_str(&line);
            text.push('\n');
        }
    }
    Outcome {
        failed: lists.iter().all(Result::is_err),
        ..Outcome::done(text)
    }
}

async fn list_one(server: &Server) -> Result<Vec<String>, String> {
    let link = server.link().await?;
    let mut lines = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        let page = link.peer.list_resources(Some(params)).await;
        let page = page.map_err(|error| words::request(&error))?;
        let label = |text: &str| words::line(text, LABEL_CHARS_MAX);
        for resource in page.resources {
            let kind = resource.mime_type.as_deref().map(label);
            let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
            let about = resource.description.as_deref().map(label);
            let about = about.map(|about| format!(": {about}")).unwrap_or_default();
            // As it is: one with hidden characters cleaned out of it would be another.
            let uri = Value::from(resource.uri);
            lines.push(format!("- {uri} {}{kind}{about}", label(&resource.name)));
        }
        cursor = page.next_cursor;
        if cursor.is_none() || lines.len() >= RESOURCES_MAX {
            break;
        }
    }
    lines.truncate(RESOURCES_MAX);
    Ok(lines)
}

async fn read(server: Arc<Server>, uri: String) -> Outcome {
    let link = match server.link().await {
        Ok(link) => link,
        Err(problem) => {
            let name = &server.name;
            return Outcome::failed(format!(
                "The MCP server `{name}` cannot be reached: {problem}."
            ));
        }
    };
    let params = ReadResourceRequestParams::new(uri);
    let answer = timeout(server.settings.silence, link.peer.read_resource(params)).await;
    match answer {
        Ok(Ok(answer)) => outcome::resources(answer.contents),
        Ok(Err(error)) => {
            if matches!(
                error,
                ServiceError::TransportClosed | ServiceError::TransportSend(_)
            ) {
                link.give_up();
            }
            let problem = words::request(&error);
            Outcome::failed(format!(
                "The MCP server `{}` failed: {problem}.",
                server.name
            ))
        }
        Err(_) => {
            let problem = stdio::no_answer(server.settings.silence);
            Outcome::failed(format!(
                "The MCP server `{}` failed: {problem}.",
                server.name
            ))
        }
    }
}
