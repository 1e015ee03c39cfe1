//! Tools of MCP servers.
//!
//! A session has the servers that its client names, those of the user's configuration, and those of the project that the user
//! allowed. They are connected to side by side while the session begins; one that fails
//! is told of in [`Servers::failures`] and harms nobody else. What they list becomes tools of the agent, and everything they say
//! is bounded and not trusted. No process of theirs outlives the session.

mod authorized;
mod begin;
mod catalog;
pub(crate) mod configured;
mod host;
mod http;
mod instructions;
mod link;
mod login;
mod logins;
mod outcome;
pub(crate) mod project;
mod prompts;
mod remote;
mod resources;
pub(crate) mod search;
mod server;
mod stdio;
mod words;

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ply_agent::v2;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

pub use self::begin::project_servers;
pub use self::configured::{Configured, LoginClient, Variables, Way};
pub use self::logins::{NewLogin, is_logged_in, log_out};
pub use self::prompts::ServerPrompt;

use self::configured::Start;
use self::link::Closing;
use self::remote::Remote;
use self::server::Server;
use crate::tool::Tool;

/// How long a server may take from its start to its list of tools.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(15);
/// How long a server may say nothing during a call.
pub const SILENCE_TIME_MAX: Duration = Duration::from_secs(300);
/// How long the end of all servers may take. Each has a second to end by itself, and then it is killed.
const END_TIME_MAX: Duration = Duration::from_secs(5);
/// How long the name of a server may be inside the name of a tool, in characters.
const KEY_CHARS_MAX: usize = 32;

/// How a session deals with its servers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// How long a server may take from its start to its list of tools.
    pub connect: Duration,
    /// How long a server may say nothing during a call.
    pub silence: Duration,
    /// The program's `PATH`, for the message that a command was not found there.
    pub search_path: Option<String>,
    /// Variables of the program's environment that servers do not get, besides those that are called
    /// like secrets: such as those with keys of models. Commands of the session do not get them either.
    pub withheld: Vec<String>,
    /// The directory in which logins at servers are kept, absolute; none logs in nowhere.
    pub tokens: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connect: CONNECT_TIME_MAX,
            silence: SILENCE_TIME_MAX,
            search_path: None,
            withheld: Vec::new(),
            tokens: None,
        }
    }
}

/// A server that cannot be used, or not wholly.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failed {
    /// The server's name.
    pub server: String,
    /// What is wrong and what to do, for people; the server is "it".
    pub message: String,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP server `{}`: {}", self.server, self.message)
    }
}

/// The MCP servers of a session.
///
/// Dropped without [`Servers::end`], they are killed.
#[derive(Debug)]
pub struct Servers {
    known: Mutex<Known>,
    cwd: PathBuf,
    settings: Arc<Settings>,
    /// How many have not yet come up or failed.
    starting: Arc<watch::Sender<usize>>,
    closing: Arc<watch::Sender<Closing>>,
}

/// The servers that there are so far. More are added, and none goes before the session does.
#[derive(Debug, Default)]
struct Known {
    servers: Vec<Arc<Server>>,
    names: HashSet<String>,
    keys: HashSet<String>,
    /// Those that could not even be tried.
    refused: Vec<Failed>,
}

impl Servers {
    /// Says which server is reached in a way that this agent does not speak, so that the request can be refused.
    #[must_use]
    pub fn unsupported(servers: &[v2::McpServer]) -> Option<Failed> {
        servers.iter().find_map(|server| {
            Some(Failed {
                message: server::unsupported(server)?,
                server: server::given_name(server),
            })
        })
    }

    /// Begins to connect to all servers, and returns at once.
    ///
    /// It must be called within a tokio runtime.
    #[must_use]
    pub fn start(servers: &[v2::McpServer], cwd: &Path, settings: Settings) -> Self {
        let started = Self {
            known: Mutex::default(),
            cwd: cwd.to_owned(),
            settings: Arc::new(settings),
            starting: Arc::new(watch::Sender::new(0)),
            closing: Arc::new(watch::Sender::new(Closing::Open)),
        };
        for server in servers {
            started.add(Start::from(server.clone()));
        }
        started
    }

    /// Begins to connect to one more server, and returns at once.
    ///
    /// It must be called within a tokio runtime.
    pub(crate) fn add(&self, start: Start) {
        let mut settings = Arc::clone(&self.settings);
        if start.connect.is_some() || start.silence.is_some() {
            let own = Arc::make_mut(&mut settings);
            own.connect = start.connect.unwrap_or(own.connect);
            own.silence = start.silence.unwrap_or(own.silence);
        }
        let server = {
            let mut known = self.known();
            let name = unique(server::given_name(&start.server), &mut known.names);
            let key: String = catalog::plain_name(&name)
                .chars()
                .take(KEY_CHARS_MAX)
                .collect();
            let named = (name, unique(key, &mut known.keys));
            let closing = Arc::clone(&self.closing);
            let server = Arc::new(Server::new(start, named, &self.cwd, settings, closing));
            known.servers.push(Arc::clone(&server));
            server
        };
        self.starting.send_modify(|left| *left += 1);
        let started = Started(Arc::clone(&self.starting));
        tokio::spawn(async move {
            server.start().await;
            drop(started);
        });
    }

    /// Says that a server cannot even be tried.
    pub(crate) fn refuse(&self, server: String, message: String) {
        self.known().refused.push(Failed { server, message });
    }

    /// Says whether there is a server of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.known().names.contains(name)
    }

    fn servers(&self) -> Vec<Arc<Server>> {
        self.known().servers.clone()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects to all servers, and returns when each of them came up or failed.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, it kills what was started.
    pub async fn connect(servers: &[v2::McpServer], cwd: &Path, settings: Settings) -> Self {
        let servers = Self::start(servers, cwd, settings);
        servers.ready().await;
        servers
    }

    /// Waits until each server came up or failed, which takes no longer than [`Settings::connect`] and a moment.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn ready(&self) {
        let mut starting = self.starting.subscribe();
        // Connecting has a deadline of its own; after it a failed process is given a moment for its last words.
        let servers = self.servers();
        let connect = servers.iter().map(|server| server.settings.connect).max();
        let at_most = connect.unwrap_or_default() + END_TIME_MAX;
        if timeout(at_most, starting.wait_for(|left| *left == 0))
            .await
            .is_err()
        {
            tracing::warn!("MCP servers take too long to start");
        }
    }

    /// Returns the servers that cannot be used, or not wholly, as far as that is known.
    #[must_use]
    pub fn failures(&self) -> Vec<Failed> {
        let failed = |server: &Arc<Server>| {
            Some(Failed {
                message: server.problem()?,
                server: server.name.clone(),
            })
        };
        let refused = self.known().refused.clone();
        let servers = self.servers();
        let failed = servers.iter().filter_map(failed);
        refused.into_iter().chain(failed).collect()
    }

    /// Returns the tools of all servers; those that said that theirs changed are asked anew first.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped; the next call asks again.
    pub async fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let remotes = self.remotes().await.into_iter();
        remotes.map(|remote| remote as Arc<dyn Tool>).collect()
    }

    async fn remotes(&self) -> Vec<Arc<Remote>> {
        let deadline = Instant::now() + self.settings.connect;
        let servers = self.servers();
        let refreshes = servers.iter().map(|server| server.refresh(deadline));
        futures::future::join_all(refreshes).await;
        let mut taken = HashSet::new();
        let mut tools = Vec::new();
        for server in &servers {
            for listing in server.listings() {
                tools.push(Arc::new(Remote {
                    name: catalog::call_name(&server.key, &listing.name, &mut taken),
                    listing,
                    server: Arc::clone(server),
                }));
            }
        }
        tools
    }

    /// Ends all servers: politely first, by force after a second. Calls fail from here on.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, the servers go on ending.
    pub async fn end(&self) {
        self.closing.send_if_modified(|closing| {
            let open = *closing == Closing::Open;
            if open {
                *closing = Closing::Politely;
            }
            open
        });
        if timeout(END_TIME_MAX, self.closing.closed()).await.is_err() {
            tracing::warn!("MCP servers do not end; they are killed");
            self.closing.send_replace(Closing::Now);
        }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.closing.send_replace(Closing::Now);
    }
}

/// Counts a server as started when it is dropped, however that comes about.
struct Started(Arc<watch::Sender<usize>>);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.send_modify(|left| *left = left.saturating_sub(1));
    }
}

/// Returns a name that is not taken yet, and takes it.
fn unique(name: String, taken: &mut HashSet<String>) -> String {
    let mut other = name.clone();
    let mut number = 1;
    while !taken.insert(other.clone()) {
        number += 1;
        other = format!("{name}_{number}");
    }
    other
}
