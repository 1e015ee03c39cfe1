//! Where a session works and what it is given.

use std::path::{Path, PathBuf};

use ply_wire::{convert, v1, v2};

use crate::Error;
use crate::hello::Hello;

/// Where a session works and what it is given. A path alone is one.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct SessionSetup {
    pub(crate) cwd: PathBuf,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) mcp_servers: Vec<v2::McpServer>,
    pub(crate) meta: Option<v2::Meta>,
}

impl SessionSetup {
    /// Returns the setup of a session that works in `cwd`, an absolute path.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            roots: Vec::new(),
            mcp_servers: Vec::new(),
            meta: None,
        }
    }

    /// Works in another directory, an absolute path.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// Adds a directory that belongs to the work, an absolute path.
    pub fn root(mut self, directory: impl Into<PathBuf>) -> Self {
        self.roots.push(directory.into());
        self
    }

    /// Adds an MCP server that the agent shall connect to.
    pub fn mcp_server(mut self, server: v2::McpServer) -> Self {
        self.mcp_servers.push(server);
        self
    }

    /// Adds an MCP server over SSE. Only agents of version 1 can take one, and only some of them do.
    pub fn mcp_sse_server(self, server: &v1::McpServerSse) -> Self {
        self.mcp_server(convert::mcp::sse(server))
    }

    /// Sets the `_meta` of the request that makes or opens the session.
    pub fn meta(mut self, meta: v2::Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Checks everything that the agent must not be sent.
    pub(crate) fn check(&self, agent: &Hello) -> Result<(), Error> {
        let absolute = |path: &PathBuf| path.is_absolute();
        if !absolute(&self.cwd) || !self.roots.iter().all(absolute) {
            let what = "the directories of a session must be absolute paths";
            return Err(Error::Invalid { what });
        }
        if !self.roots.is_empty() && !agent.takes_roots() {
            return Err(Error::NotOffered {
                what: "additional directories",
                hint: "open the session without them",
            });
        }
        self.mcp_servers
            .iter()
            .try_for_each(|server| check_server(server, agent))
    }

    pub(crate) fn to_new(&self) -> v2::NewSessionRequest {
        v2::NewSessionRequest::new(self.cwd.clone())
            .additional_directories(self.root_paths())
            .mcp_servers(self.mcp_servers.clone())
            .meta(self.meta.clone())
    }

    pub(crate) fn to_resume(&self, id: &v2::SessionId) -> v2::ResumeSessionRequest {
        v2::ResumeSessionRequest::new(id.clone(), self.cwd.clone())
            .additional_directories(self.root_paths())
            .mcp_servers(self.mcp_servers.clone())
            .meta(self.meta.clone())
    }

    #[cfg(feature = "unstable_session_fork")]
    pub(crate) fn to_fork(&self, id: &v2::SessionId) -> v2::ForkSessionRequest {
        v2::ForkSessionRequest::new(id.clone(), self.cwd.clone())
            .additional_directories(self.root_paths())
            .mcp_servers(self.mcp_servers.clone())
            .meta(self.meta.clone())
    }

    fn root_paths(&self) -> Vec<v2::AbsolutePath> {
        let roots = self.roots.iter().cloned();
        roots.map(v2::AbsolutePath::new).collect()
    }
}

fn check_server(server: &v2::McpServer, agent: &Hello) -> Result<(), Error> {
    let (offered, what) = match server {
        v2::McpServer::Stdio(stdio) => {
            if !stdio.command.0.is_absolute() {
                let what = "the command of an MCP server must be an absolute path";
                return Err(Error::Invalid { what });
            }
            (agent.takes_mcp_stdio(), "MCP servers on standard streams")
        }
        v2::McpServer::Http(_) => (agent.takes_mcp_http(), "MCP servers over HTTP"),
        server if convert::mcp::is_sse(server) => (agent.takes_mcp_sse(), "MCP servers over SSE"),
        _ => (false, "MCP servers of this type"),
    };
    let hint = "open the session without this server";
    offered
        .then_some(())
        .ok_or(Error::NotOffered { what, hint })
}

impl From<&str> for SessionSetup {
    fn from(cwd: &str) -> Self {
        Self::new(cwd)
    }
}

impl From<String> for SessionSetup {
    fn from(cwd: String) -> Self {
        Self::new(cwd)
    }
}

impl From<&Path> for SessionSetup {
    fn from(cwd: &Path) -> Self {
        Self::new(cwd)
    }
}

impl From<PathBuf> for SessionSetup {
    fn from(cwd: PathBuf) -> Self {
        Self::new(cwd)
    }
}

impl From<&PathBuf> for SessionSetup {
    fn from(cwd: &PathBuf) -> Self {
        Self::new(cwd)
    }
}
