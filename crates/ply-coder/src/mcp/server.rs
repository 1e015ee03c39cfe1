//! A server of a session: how it is reached, the connection it has, the tools it lists.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_agent::v2;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::catalog::{Catalog, Listing};
use super::configured::{KnownClient, Start};
use super::host::{Host, Told};
use super::instructions::SERVER_BYTES_MAX;
use super::link::{Closing, Link, Running};
use super::login::tokens::Tokens;
use super::{Settings, http, link, prompts, stdio, words};

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
    /// Where its process runs.
    directory: PathBuf,
    /// Who the agent is where it logs in, if the user said so.
    client: Option<KnownClient>,
    closing: Arc<watch::Sender<Closing>>,
    link: tokio::sync::Mutex<Option<Arc<Link>>>,
    known: Mutex<Known>,
}

/// What is known of a server.
#[derive(Debug, Default)]
struct Known {
    listings: Vec<Arc<Listing>>,
    /// What it said about itself when it was first greeted.
    instructions: Option<String>,
    /// Where a login is kept that it wants, and its challenge, until somebody begins that.
    login: Option<(Arc<Tokens>, String)>,
    /// Whether the user was asked to log in.
    has_asked: bool,
    /// Whether it said that it has resources.
    has_resources: bool,
    /// Whether it said that it has prompts.
    has_prompts: bool,
    prompts: Vec<prompts::Listed>,
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
        start: Start,
        (name, key): (String, String),
        cwd: &Path,
        settings: Arc<Settings>,
        closing: Arc<watch::Sender<Closing>>,
    ) -> Self {
        Self {
            name,
            key,
            settings,
            way: start.server,
            cwd: cwd.to_owned(),
            directory: start.directory.unwrap_or_else(|| cwd.to_owned()),
            client: start.client,
            closing,
            link: tokio::sync::Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// Returns who the agent is where it logs in, if the user said so.
    pub(super) fn client(&self) -> Option<&KnownClient> {
        self.client.as_ref()
    }

    /// Returns what can be called.
    pub(super) fn listings(&self) -> Vec<Arc<Listing>> {
        self.known().listings.clone()
    }

    /// Returns what people should know.
    pub(super) fn problem(&self) -> Option<String> {
        self.known().problem.clone()
    }

    /// Returns what it says about itself.
    pub(super) fn instructions(&self) -> Option<String> {
        self.known().instructions.clone()
    }

    /// Returns its prompts.
    pub(super) fn prompts(&self) -> Vec<prompts::Listed> {
        self.known().prompts.clone()
    }

    /// Says whether it has resources.
    pub(super) fn has_resources(&self) -> bool {
        self.known().has_resources
    }

    /// Returns where a login is kept that it wants, and its challenge, once.
    pub(super) fn take_challenge(&self) -> Option<(Arc<Tokens>, String)> {
        let mut known = self.known();
        match known.has_asked {
            true => None,
            false => {
                let login = known.login.take()?;
                known.has_asked = true;
                Some(login)
            }
        }
    }

    /// Notes what people should know, if there is something.
    pub(super) fn has_problem(&self, problem: Option<String>) {
        self.known().problem = problem;
    }

    /// Returns what tells when the session wants its servers to end.
    pub(super) fn closing(&self) -> watch::Receiver<Closing> {
        self.closing.subscribe()
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
        self.ask_for_prompts(deadline).await;
    }

    /// Asks for the prompts, if the server has any. Without them it is as good as before.
    async fn ask_for_prompts(&self, deadline: Instant) {
        let has_prompts = self.known().has_prompts;
        let link = match has_prompts {
            true => self.link().await,
            false => return,
        };
        let Ok(link) = link else { return };
        match timeout_at(deadline, prompts::ask(&link.peer)).await {
            Ok(Ok(prompts)) => self.known().prompts = prompts,
            Ok(Err(_)) | Err(_) => {
                tracing::debug!(server = self.name, "prompts cannot be listed");
            }
        }
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
        self.greeted(&fresh);
        *link = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    /// Notes what the server said in the handshake.
    fn greeted(&self, link: &Link) {
        let Some(about) = link.peer.peer_info() else {
            return;
        };
        let mut known = self.known();
        known.has_resources = about.capabilities.resources.is_some();
        known.has_prompts = about.capabilities.prompts.is_some();
        let said = about.instructions.as_deref().unwrap_or_default();
        let said = || words::text(said, SERVER_BYTES_MAX);
        known.instructions.get_or_insert_with(said);
    }

    async fn open(&self, told: Arc<Told>) -> Result<Running, String> {
        let host = Host::new(&self.cwd, told);
        let deadline = Instant::now() + self.settings.connect;
        match &self.way {
            v2::McpServer::Stdio(server) => {
                stdio::open(server, &self.directory, &self.settings, host, deadline).await
            }
            v2::McpServer::Http(server) => {
                let opened = http::open(server, &self.settings, host, deadline).await;
                opened.map_err(|refused| {
                    self.known().login = refused.login;
                    refused.words
                })
            }
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
    clean_name(name)
}

/// Returns a name as people and rules know it.
pub(super) fn clean_name(name: &str) -> String {
    match words::line(name, NAME_CHARS_MAX) {
        name if name.is_empty() => "server".to_owned(),
        name => name,
    }
}
