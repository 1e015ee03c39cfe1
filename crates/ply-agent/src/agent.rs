//! What an agent author writes.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use ply_session::{Accepts, Handover, Stop};
use ply_wire::v2;
use serde_json::Value;

use crate::{Asker, Caller, Error, Extension, Result, Session, Turn};

/// An agent. One method is required; the others have defaults that suit an agent without the
/// feature.
///
/// The same agent serves clients of version 1 and version 2. Sessions, history, queueing, cancel,
/// load, resume, list, close and delete are taken care of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "implement `ply_agent::Agent` (in `ply`: `ply::agent::Agent`) for this type",
    note = "one method is enough: `async fn prompt(&self, turn: &mut Turn) -> Result<Stop>`"
)]
pub trait Agent: Send + Sync + 'static {
    /// Works on one prompt and says why it stops.
    ///
    /// Whatever it returns, a turn that the user cancelled ends as cancelled; [`Turn::cancelled`]
    /// tells when to stop, and everything of the turn that waits fails then. Two seconds later the
    /// turn is over, and this future is dropped where it stands. Prompts that come meanwhile wait.
    fn prompt(&self, turn: &mut Turn) -> impl Future<Output = Result<Stop>> + Send;

    /// Says who the agent is and what it can do. Asked once for each server.
    #[doc(alias = "initialize")]
    fn about(&self) -> About {
        About::default()
    }

    /// Prepares a session that is created, or opened again: connects to its MCP servers, sets its
    /// config options and commands. An error refuses the session;
    /// [`Error::auth_required`] asks the client to log in.
    #[doc(alias = "new_session")]
    #[doc(alias = "load_session")]
    #[doc(alias = "resume_session")]
    fn open(
        &self,
        session: &Session,
        setup: &SessionSetup,
    ) -> impl Future<Output = Result<()>> + Send {
        let _ = (session, setup);
        std::future::ready(Ok(()))
    }

    /// Returns whether what ran the turns of a stored session outlived the session's last owner, so that they go on. Then nothing in
    /// the session is ended, and [`open`](Self::open) takes over what [`SessionSetup::adopted`] says. An error refuses the session,
    /// which stays as it is.
    fn adopts(
        &self,
        session: &v2::SessionId,
        setup: &SessionSetup,
    ) -> impl Future<Output = Result<bool>> + Send {
        let _ = (session, setup);
        std::future::ready(Ok(false))
    }

    /// Frees what belongs to a session that is closed, also one that [`open`](Self::open) refused.
    fn close(&self, session: &Session) -> impl Future<Output = ()> + Send {
        let _ = session;
        std::future::ready(())
    }

    /// Takes note of a config option that the client changes, or refuses. The value is one that the
    /// option offers; the option itself is changed after this.
    #[doc(alias = "set_session_mode")]
    #[doc(alias = "set_session_config_option")]
    fn set_option(
        &self,
        session: &Session,
        option: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> impl Future<Output = Result<()>> + Send {
        let _ = (session, option, value);
        std::future::ready(Ok(()))
    }

    /// Logs in with one of the methods that [`About::auth_methods`] names.
    #[doc(alias = "authenticate")]
    fn login(&self, method: &v2::AuthMethodId) -> impl Future<Output = Result<()>> + Send {
        let _ = method;
        std::future::ready(Err(Error::method_not_found()))
    }

    /// Logs in like [`login`](Self::login), and may ask the user meanwhile. This is what is called; by default it asks nothing.
    fn login_asking(
        &self,
        method: &v2::AuthMethodId,
        user: &Asker,
    ) -> impl Future<Output = Result<()>> + Send {
        let _ = user;
        self.login(method)
    }

    /// Logs out.
    fn logout(&self) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Err(Error::method_not_found()))
    }

    /// Serves a request of the agent's own; its name begins with an underscore. It may take its time: whatever else the client
    /// sends is served meanwhile, and this is dropped if the client takes the request back.
    ///
    /// ```
    /// # use ply_agent::{Agent, Error, Extension, Result, Stop, Turn, Value, serde_json};
    /// # struct Adder;
    /// #[derive(serde::Deserialize)]
    /// struct Add {
    ///     summands: Vec<i64>,
    /// }
    ///
    /// impl Agent for Adder {
    ///     async fn extension(&self, request: &Extension) -> Result<Value> {
    ///         match request.method() {
    ///             "_example.com/add" => {
    ///                 let Add { summands } = request.params()?;
    ///                 Ok(serde_json::to_value(summands.iter().sum::<i64>())?)
    ///             }
    ///             _ => Err(Error::method_not_found()),
    ///         }
    ///     }
    /// #   async fn prompt(&self, _: &mut Turn) -> Result<Stop> { Ok(Stop::EndTurn) }
    /// }
    /// ```
    #[doc(alias = "ext_method")]
    fn extension(&self, request: &Extension) -> impl Future<Output = Result<Value>> + Send {
        let _ = request;
        std::future::ready(Err(Error::method_not_found()))
    }

    /// Hears of a notification of the agent's own; its name begins with an underscore. Those of one client come one after the
    /// other, in their order. A client that sends faster than this returns loses some.
    #[doc(alias = "ext_notification")]
    fn extension_notification(&self, notification: &Extension) -> impl Future<Output = ()> + Send {
        let _ = notification;
        std::future::ready(())
    }
}

/// Who an agent is and what it can do. What is not said here is not advertised, and what is not
/// advertised is refused.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct About {
    /// Its name for programs.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its name for people.
    pub title: Option<String>,
    /// The content it takes in prompts besides text and resource links.
    pub accepts: Accepts,
    /// Which MCP servers it connects to.
    pub mcp: Mcp,
    /// Whether a session may have further directories.
    pub additional_directories: bool,
    /// Whether clients may add to a turn that runs (`_session/steering`); see [`Turn::steered`].
    pub steering: bool,
    /// How to log in; empty if there is no need to.
    pub auth_methods: Vec<v2::AuthMethod>,
    /// Whether clients may fork sessions (`session/fork`).
    #[cfg(feature = "unstable_session_fork")]
    pub session_fork: bool,
    /// Whether clients may ask for the status of a session without opening it (`session/status`).
    #[cfg(feature = "unstable_session_status")]
    pub session_status: bool,
    /// Whether clients may name sessions (`session/set_title`).
    #[cfg(feature = "unstable_session_set_title")]
    pub session_set_title: bool,
    /// Whether clients may archive sessions (`session/archive`, `session/unarchive`).
    #[cfg(feature = "unstable_session_archive")]
    pub session_archive: bool,
    /// The `_meta` of the capabilities, where an agent names the extensions it knows.
    pub meta: Option<v2::Meta>,
}

/// Which kinds of MCP servers an agent connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mcp {
    /// Programs.
    pub stdio: bool,
    /// HTTP servers.
    pub http: bool,
}

impl Default for About {
    fn default() -> Self {
        Self::new("agent", "0.0.0")
    }
}

impl About {
    /// Returns an agent that can do what every agent must.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            title: None,
            accepts: Accepts::default(),
            mcp: Mcp::default(),
            additional_directories: false,
            steering: false,
            auth_methods: Vec::new(),
            #[cfg(feature = "unstable_session_fork")]
            session_fork: false,
            #[cfg(feature = "unstable_session_status")]
            session_status: false,
            #[cfg(feature = "unstable_session_set_title")]
            session_set_title: false,
            #[cfg(feature = "unstable_session_archive")]
            session_archive: false,
            meta: None,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the content it takes in prompts.
    #[must_use]
    pub fn accepts(mut self, accepts: Accepts) -> Self {
        self.accepts = accepts;
        self
    }

    /// Sets the MCP servers it connects to.
    #[must_use]
    pub fn mcp(mut self, mcp: Mcp) -> Self {
        self.mcp = mcp;
        self
    }

    /// Says that a session may have further directories.
    #[must_use]
    pub fn additional_directories(mut self) -> Self {
        self.additional_directories = true;
        self
    }

    /// Lets clients add to a turn that runs: what they say then comes with [`Turn::steered`]. It is advertised under `steering` in
    /// the `_meta` of the capabilities, as agents do that know `_session/steering`.
    #[must_use]
    pub fn steering(mut self) -> Self {
        self.steering = true;
        self
    }

    /// Adds a way to log in.
    #[must_use]
    pub fn auth_method(mut self, method: v2::AuthMethod) -> Self {
        self.auth_methods.push(method);
        self
    }

    /// Lets clients fork sessions. A fork is a copy of the session up to its last finished turn; [`Agent::open`] prepares it like a
    /// session that is opened again.
    #[cfg(feature = "unstable_session_fork")]
    #[must_use]
    pub fn session_fork(mut self) -> Self {
        self.session_fork = true;
        self
    }

    /// Lets clients ask for the status of a session without opening it.
    #[cfg(feature = "unstable_session_status")]
    #[must_use]
    pub fn session_status(mut self) -> Self {
        self.session_status = true;
        self
    }

    /// Lets clients name sessions. [`Session::set_title`] does not replace such a name.
    #[cfg(feature = "unstable_session_set_title")]
    #[must_use]
    pub fn session_set_title(mut self) -> Self {
        self.session_set_title = true;
        self
    }

    /// Lets clients archive sessions. An archived session is closed, stays in the journal, and is left out of default listings.
    #[cfg(feature = "unstable_session_archive")]
    #[must_use]
    pub fn session_archive(mut self) -> Self {
        self.session_archive = true;
        self
    }

    /// Sets the `_meta` of the capabilities, where an agent names the extensions it knows.
    #[must_use]
    pub fn meta(mut self, meta: v2::Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Returns the capabilities this comes to.
    pub(crate) fn capabilities(&self) -> v2::AgentCapabilities {
        let mut prompt = v2::PromptCapabilities::new();
        if self.accepts.image {
            prompt = prompt.image(v2::PromptImageCapabilities::new());
        }
        if self.accepts.audio {
            prompt = prompt.audio(v2::PromptAudioCapabilities::new());
        }
        if self.accepts.embedded_context {
            prompt = prompt.embedded_context(v2::PromptEmbeddedContextCapabilities::new());
        }
        let mut mcp = v2::McpCapabilities::new();
        if self.mcp.stdio {
            mcp = mcp.stdio(v2::McpStdioCapabilities::new());
        }
        if self.mcp.http {
            mcp = mcp.http(v2::McpHttpCapabilities::new());
        }
        let mut session = v2::SessionCapabilities::new()
            .prompt(prompt)
            .mcp(mcp)
            .delete(v2::SessionDeleteCapabilities::new());
        if self.additional_directories {
            let directories = v2::SessionAdditionalDirectoriesCapabilities::new();
            session = session.additional_directories(directories);
        }
        #[cfg(feature = "unstable_session_fork")]
        if self.session_fork {
            session = session.fork(v2::SessionForkCapabilities::new());
        }
        #[cfg(feature = "unstable_session_status")]
        if self.session_status {
            session = session.status(v2::SessionStatusCapabilities::new());
        }
        #[cfg(feature = "unstable_session_set_title")]
        if self.session_set_title {
            session = session.title(v2::SessionTitleCapabilities::new());
        }
        #[cfg(feature = "unstable_session_archive")]
        if self.session_archive {
            session = session.archive(v2::SessionArchiveCapabilities::new());
        }
        let mut meta = self.meta.clone();
        if self.steering {
            let meta = meta.get_or_insert_default();
            meta.insert(
                "steering".to_owned(),
                serde_json::json!({"supported": true}),
            );
        }
        v2::AgentCapabilities::new().session(session).meta(meta)
    }

    /// Returns whether requests of this method are served; those that are not unstable always are, or say themselves why not.
    pub(crate) fn offers(&self, method: &str) -> bool {
        match method {
            #[cfg(feature = "unstable_session_fork")]
            "session/fork" => self.session_fork,
            #[cfg(feature = "unstable_session_status")]
            "session/status" => self.session_status,
            #[cfg(feature = "unstable_session_set_title")]
            "session/set_title" => self.session_set_title,
            #[cfg(feature = "unstable_session_archive")]
            "session/archive" | "session/unarchive" => self.session_archive,
            _ => true,
        }
    }

    pub(crate) fn implementation(&self) -> v2::Implementation {
        v2::Implementation::new(self.name.clone(), self.version.clone()).title(self.title.clone())
    }
}

/// What a client gives a session to work with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionSetup {
    /// The working directory: absolute, and the base of relative paths.
    pub cwd: PathBuf,
    /// Further directories, absolute.
    pub additional_directories: Vec<PathBuf>,
    /// The MCP servers to connect to, all of them: those of an earlier life do not count.
    pub mcp_servers: Vec<v2::McpServer>,
    /// Whether the session is opened again, or is a fork.
    pub reopened: bool,
    /// The session that this one was just forked from. It has the same history up to here, and nothing else of the agent's own.
    #[cfg(feature = "unstable_session_fork")]
    pub forked_from: Option<v2::SessionId>,
    /// The `_meta` of the client's request. A session that is open already is not opened again for a second client, whose
    /// metadata nobody sees.
    pub meta: Option<v2::Meta>,
    /// The client that asked, as [`Server::over_as`](crate::Server::over_as) was told about it. Nothing is known of it if a
    /// session is opened for another reason.
    pub caller: Caller,
    /// What the journal keeps of a session that is opened again ([`Head::host`](crate::journal::Head::host)).
    pub host: Option<String>,
    /// What is known of the program that ran the turns, if it may still be alive; see [`Agent::adopts`].
    pub adopted: Option<Arc<Handover>>,
}
