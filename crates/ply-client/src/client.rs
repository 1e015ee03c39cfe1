//! What a client is like, before it meets an agent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ply_rpc::Options;
use ply_rpc::transport::Transport;
use ply_rpc::transport::child::Grace;
use ply_wire::negotiate::Supported;
use ply_wire::v2;

use crate::Error;
use crate::agent::Agent;
use crate::command::Command;
use crate::connection::{Start, runtime};
use crate::extension::{self, DynExtensions, Extensions};
use crate::fate::Fate;
use crate::limits::START_TIME_MAX;
use crate::policy::{AskUser, Permissions};
use crate::services::{
    self, DynElicitations, DynFiles, DynTerminals, ElicitationService, FileService, TerminalService,
};
use crate::tap::{Direction, OnLine};

/// How this client behaves towards an agent.
///
/// ```no_run
/// # async fn example() -> Result<(), ply_client::Error> {
/// use ply_client::{AllowAll, Client, Files};
///
/// let agent = Client::new()
///     .info("my-editor", "1.0.0")
///     .permissions(AllowAll)
///     .files(Files::new())
///     .spawn(["gemini", "--acp"])
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a client does nothing until it spawns or connects"]
#[doc(alias = "ClientSideConnection")]
pub struct Client {
    settings: Settings,
}

#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) info: v2::Implementation,
    pub(crate) versions: Supported,
    pub(crate) permissions: Arc<dyn Permissions>,
    pub(crate) files: Option<Arc<dyn DynFiles>>,
    pub(crate) terminals: Option<Arc<dyn DynTerminals>>,
    pub(crate) elicitation: Option<Arc<dyn DynElicitations>>,
    pub(crate) terminal_login: bool,
    pub(crate) extensions: Option<Arc<dyn DynExtensions>>,
    pub(crate) meta: Option<v2::Meta>,
    pub(crate) options: Options,
    pub(crate) start_deadline: Duration,
    pub(crate) grace: Grace,
    pub(crate) on_line: Option<OnLine>,
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

impl Client {
    /// Returns a client that speaks both versions, asks its user for every permission, and offers no services.
    pub fn new() -> Self {
        let settings = Settings {
            info: v2::Implementation::new("ply", env!("CARGO_PKG_VERSION")),
            versions: Supported::Both,
            permissions: Arc::new(AskUser),
            files: None,
            terminals: None,
            elicitation: None,
            terminal_login: false,
            extensions: None,
            meta: None,
            options: Options::client(),
            start_deadline: START_TIME_MAX,
            grace: Grace::default(),
            on_line: None,
        };
        Self { settings }
    }

    /// Sets the name and version that agents see.
    pub fn info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.settings.info = v2::Implementation::new(name, version);
        self
    }

    /// Sets the versions to speak. With both, 2 is asked for and 1 is taken.
    pub fn versions(mut self, versions: Supported) -> Self {
        self.settings.versions = versions;
        self
    }

    /// Sets who decides permission requests.
    pub fn permissions(mut self, policy: impl Permissions + 'static) -> Self {
        self.settings.permissions = Arc::new(policy);
        self
    }

    /// Offers files to agents of version 1: [`Files`](crate::Files), or a service of your own.
    pub fn files(mut self, files: impl FileService) -> Self {
        self.settings.files = Some(Arc::new(services::Erased(files)));
        self
    }

    /// Offers terminals to agents of version 1: [`Terminals`](crate::Terminals), or a service of your own. They end with the
    /// agent.
    pub fn terminals(mut self, terminals: impl TerminalService) -> Self {
        self.settings.terminals = Some(Arc::new(services::Erased(terminals)));
        self
    }

    /// Serves requests and notifications that the protocol does not know, whose names begin with an underscore. Say in
    /// [`meta`](Self::meta) which.
    pub fn extensions(mut self, extensions: impl Extensions) -> Self {
        self.settings.extensions = Some(Arc::new(extension::Erased(extensions)));
        self
    }

    /// Sets the `_meta` of the capabilities, where a client names the extensions it knows.
    pub fn meta(mut self, meta: v2::Meta) -> Self {
        self.settings.meta = Some(meta);
        self
    }

    /// Takes requests for information: [`Elicitations`](crate::Elicitations), or a service of your own.
    pub fn elicitation(mut self, service: impl ElicitationService) -> Self {
        self.settings.elicitation = Some(Arc::new(services::Erased(service)));
        self
    }

    /// Sets how the link behaves, such as its limits.
    pub fn options(mut self, options: Options) -> Self {
        self.settings.options = options;
        self
    }

    /// Sets how long an agent may take to answer `initialize`.
    pub fn start_deadline(mut self, deadline: Duration) -> Self {
        self.settings.start_deadline = deadline;
        self
    }

    /// Sets how long an agent may take to end by itself.
    pub fn grace(mut self, grace: Grace) -> Self {
        self.settings.grace = grace;
        self
    }

    /// Shows every line between client and agent to `sink`, without its line end, as it is sent and as it comes: for logs of the
    /// wire. Over all lives of the agent. Of a line that is longer than the link takes, only that much is shown.
    ///
    /// It is called on the task that reads and writes, so it must not wait.
    pub fn on_line(mut self, sink: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        self.settings.on_line = Some(Arc::new(sink));
        self
    }

    /// Tells agents that logins in a terminal can be run here; see [`Agent::terminal_login`].
    pub fn terminal_login(mut self) -> Self {
        self.settings.terminal_login = true;
        self
    }

    /// Starts an agent and greets it. It is started again when it is needed after it died.
    ///
    /// # Errors
    ///
    /// [`Error::Spawn`] if the program cannot be started, [`Error::Start`] if it is no agent, [`Error::NoRuntime`] outside of a
    /// tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// A process that was started all the same is ended at once.
    #[doc(alias = "AcpAgent")]
    pub async fn spawn(self, command: impl Into<Command>) -> Result<Agent, Error> {
        runtime()?;
        let command = command.into();
        let start = self.start(Fate::returning());
        let (reports, fate) = (Arc::clone(&start.reports), Arc::clone(&start.fate));
        let connection = start.spawn(&command).await?;
        Ok(Agent::new(connection, reports, Some(command), fate))
    }

    /// Greets an agent at the other end of any byte stream: a socket, a pipe in memory, or with [`Transport::new`] a reader and a
    /// writer. It is not started again when it dies.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// # use ply_client::Client;
    /// let socket = tokio::net::UnixStream::connect("/run/agent.sock").await?;
    /// let agent = Client::new().connect(socket).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Start`] if it is no agent, [`Error::NoRuntime`] outside of a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// The connection is closed.
    #[doc(alias = "connect_to")]
    #[doc(alias = "connect_with")]
    pub async fn connect(self, transport: impl Into<Transport>) -> Result<Agent, Error> {
        runtime()?;
        let (reader, writer) = transport.into().into_halves();
        let start = self.start(Fate::final_life());
        let (reports, fate) = (Arc::clone(&start.reports), Arc::clone(&start.fate));
        let connection = start.connect(reader, writer).await?;
        Ok(Agent::new(connection, reports, None, fate))
    }

    fn start(self, fate: Fate) -> Start {
        Start {
            settings: Arc::new(self.settings),
            reports: Arc::default(),
            fate: Arc::new(fate),
            epoch: 1,
        }
    }
}

impl Settings {
    /// Returns the same settings for version 1 alone.
    pub(crate) fn v1_only(&self) -> Self {
        Self {
            versions: Supported::V1,
            ..self.clone()
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("info", &self.info)
            .field("versions", &self.versions)
            .field("files", &self.files.is_some())
            .field("terminals", &self.terminals.is_some())
            .field("elicitation", &self.elicitation.is_some())
            .finish_non_exhaustive()
    }
}
