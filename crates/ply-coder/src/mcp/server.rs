//! A server of a session: how it is reached, the connection it has, the tools it lists.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_agent::v2;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::catalog::{Catalog, Listing};
use super::host::{Host, Told};
use super::link::{Closing, Link, Running};
use super::{Settings, http, link, stdio, words};

/// How long the name of a server may be, in characters.
const NAME_CHARS_MAX: usize = 64;

/// A server of a session.
pub(super) struct Server {
    /// Its name for people and rules; no other server of the session has it.
    pub(super) name: String,
    /// Its name as a part of the names of tools.
    pub(super) key: String,
    pub(super) settings: Arc<Settings>,
    way: v2::McpServer,
    cwd: PathBuf,
    closing: Arc<watch::Sender<Closing>>,
    link: tokio::sync::Mutex<Option<Arc<Link>>>,
    known: Mutex<Known>,
}

/// What is known of a server.
#[derive(Debug, Default)]
struct Known {
    listings: Vec<Arc<Listing>>,
    /// What people should know: why it cannot be used, or what of it cannot.
    problem: Option<String>,
}

impl fmt::Debug for Server {
    // Not how it is reached: its environment and its headers hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Server {
    pub(super) fn new(
        way: v2::McpServer,
        (name, key): (String, String),
        cwd: &Path,
        settings: Arc<Settings>,
        closing: Arc<watch::Sender<Closing>>,
    ) -> Self {
        Self {
            name,
            key,
            settings,
            way,
            cwd: cwd.to_owned(),
            closing,
            link: tokio::sync::Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// Returns what can be called.
    pub(super) fn listings(&self) -> Vec<Arc<Listing>> {
        self.known().listings.clone()
    }

    /// Returns what people should know.
    pub(super) fn problem(&self) -> Option<String> {
        self.known().problem.clone()
    }

    /// Connects for the first time and asks for the tools.
    pub(super) async fn start(&self) {
        let deadline = Instant::now() + self.settings.connect;
        if let Err(problem) = self.link().await {
            tracing::warn!(server = self.name, problem, "an MCP server cannot be used");
            self.known().problem = Some(problem);
            return;
        }
        self.refresh(deadline).await;
    }

    /// Asks for the tools anew, if the server said that they changed.
    pub(super) async fn refresh(&self, deadline: Instant) {
        // Whoever holds the lock connects, and nothing is known before that is done.
        let link = self.link.try_lock().ok().and_then(|link| link.clone());
        let Some(link) = link.filter(|link| link.is_usable()) else {
            return;
        };
        let version = link.told.tools_version.load(Ordering::Acquire);
        if link.told.tools_known.load(Ordering::Acquire) == version {
            return;
        }
        let asked = timeout_at(deadline, Catalog::ask(&link.peer)).await;
        // A server that does not answer is not asked again, or every request would wait for it; it may tell of another change.
        link.told.tools_known.store(version, Ordering::Release);
        let problem = match asked {
            Ok(Ok(catalog)) => return self.learn(catalog),
            Ok(Err(error)) => words::request(&error),
            Err(_) => stdio::no_answer(self.settings.connect),
        };
        self.known().problem = Some(format!("its tools cannot be listed: {problem}"));
    }

    fn learn(&self, catalog: Catalog) {
        let mut known = self.known();
        known.listings = catalog.listings.into_iter().map(Arc::new).collect();
        known.problem = (catalog.left_out > 0).then(|| {
            let left_out = catalog.left_out;
            format!(
                "{left_out} of its tools are left out: too many, too large, unnamed or named twice"
            )
        });
    }

    /// Returns the connection, and makes one if there is none; once, within the time for it.
    ///
    /// Its error says what is wrong, as a sentence about the server.
    pub(super) async fn link(&self) -> Result<Arc<Link>, String> {
        let mut link = self.link.lock().await;
        if let Some(link) = link.as_ref().filter(|link| link.is_usable()) {
            return Ok(Arc::clone(link));
        }
        let told = Arc::new(Told::default());
        let closing = self.closing.subscribe();
        let running = tokio::select! {
            biased;
            () = link::wanted(closing.clone(), Closing::Politely) => {
                return Err("the session ended".to_owned());
            }
            running = self.open(Arc::clone(&told)) => running?,
        };
        let fresh = Link::new(running, told, closing);
        *link = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    async fn open(&self, told: Arc<Told>) -> Result<Running, String> {
        let host = Host::new(&self.cwd, told);
        let deadline = Instant::now() + self.settings.connect;
        match &self.way {
            v2::McpServer::Stdio(server) => {
                stdio::open(server, &self.cwd, &self.settings, host, deadline).await
            }
            v2::McpServer::Http(server) => http::open(server, &self.settings, host, deadline).await,
            other => Err(unsupported(other).unwrap_or_default()),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says why a server cannot be reached at all, if its transport is none that we speak.
pub(super) fn unsupported(server: &v2::McpServer) -> Option<String> {
    match server {
        v2::McpServer::Stdio(_) | v2::McpServer::Http(_) => None,
        v2::McpServer::Other(other) if other.type_ == "sse" => Some(
            "its transport SSE was replaced by streamable HTTP; give it as type `http`".to_owned(),
        ),
        v2::McpServer::Other(other) => {
            let kind = words::line(&other.type_, NAME_CHARS_MAX);
            Some(format!(
                "its transport `{kind}` is not supported; use `stdio` or `http`"
            ))
        }
        _ => Some("its transport is not supported; use `stdio` or `http`".to_owned()),
    }
}

/// Returns the name that the client gave to a server.
pub(super) fn given_name(server: &v2::McpServer) -> String {
    let name = match server {
        v2::McpServer::Stdio(server) => server.name.as_str(),
        v2::McpServer::Http(server) => server.name.as_str(),
        v2::McpServer::Other(other) => {
            let name = other.fields.get("name");
            name.and_then(serde_json::Value::as_str).unwrap_or_default()
        }
        _ => "",
    };
    match words::line(name, NAME_CHARS_MAX) {
        name if name.is_empty() => "server".to_owned(),
        name => name,
    }
}
