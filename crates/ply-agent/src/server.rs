//! Serving an agent to clients.

use std::sync::Arc;

use ply_journal::{IntoJournal, Journal, Memory};
use ply_rpc::{Limits, Options};
use ply_wire::v2;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::connection::{Connection, HangUp, Views};
use crate::host::{Erased, Host};
use crate::settings::Settings;
use crate::{Agent, Caller, Result, Session};

/// Bytes of updates that wait for a client before the agent's code waits. Small enough that an
/// answer behind them is not late, large enough to keep a fast client busy.
const OUTBOX_BYTES_MAX: usize = 64 * 1024;

/// Serves an agent on the program's standard streams until the client closes them.
///
/// # Errors
///
/// The standard streams cannot be used.
///
/// # Cancel safety
///
/// Dropped before it is done, the connection ends; turns that run end by themselves.
#[doc(alias = "Stdio")]
pub async fn serve_stdio(agent: impl Agent) -> Result<()> {
    serve(agent).stdio().await
}

/// Returns a server for an agent, to be given a journal and a transport.
#[must_use]
pub fn serve(agent: impl Agent) -> Server {
    Server::new(agent)
}

/// What becomes of prompts that clients send.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NewPrompts {
    /// They are taken.
    #[default]
    Taken,
    /// They are not answered until their connection ends: whoever sends them again to another process gets an answer there.
    Wait,
    /// They are refused with these words.
    Refused(Arc<str>),
}

/// An agent on its way to its clients. Clones share the agent and its sessions.
#[derive(Debug, Clone)]
#[doc(alias = "AgentSideConnection")]
pub struct Server {
    agent: Arc<dyn crate::host::DynAgent>,
    journal: Arc<dyn Journal>,
    settings: Settings,
    host: Arc<std::sync::OnceLock<Arc<Host>>>,
}

impl Server {
    /// Returns a server that keeps its sessions in memory.
    #[must_use]
    pub fn new(agent: impl Agent) -> Self {
        Self {
            agent: Arc::new(Erased(agent)),
            journal: Arc::new(Memory::new()),
            settings: Settings::default(),
            host: Arc::default(),
        }
    }

    /// Keeps the sessions in `journal`: the path of a file, or any journal.
    ///
    /// To be said before the first client is served, also by a clone; later it changes nothing.
    #[must_use]
    pub fn journal(mut self, journal: impl IntoJournal) -> Self {
        self.journal = journal.into_journal();
        self
    }

    /// Decides how its sessions are treated. The default suits an agent that serves its own editor.
    ///
    /// To be said before the first client is served, also by a clone; later it changes nothing. The content that prompts may hold
    /// is what [`About::accepts`](crate::About::accepts) says.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Serves one client on the program's standard streams until it closes them, then closes every
    /// session.
    ///
    /// # Errors
    ///
    /// The standard streams cannot be used.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the connection ends; turns that run end by themselves.
    pub async fn stdio(self) -> Result<()> {
        let (input, output) = ply_rpc::transport::stdio::take()?;
        self.connect(input, output, HangUp::Ends, Caller::new())
            .await;
        self.shutdown().await;
        Ok(())
    }

    /// Serves one client over any byte stream until it closes. Several may be served at a time, one
    /// call for each; they share the sessions.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the connection ends.
    #[doc(alias = "connect_to")]
    pub async fn over<R, W>(&self, reader: R, writer: W)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.over_as(Caller::new(), reader, writer).await;
    }

    /// Serves one client of which more is known than it says itself; see [`over`](Self::over).
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the connection ends.
    pub async fn over_as<R, W>(&self, caller: Caller, reader: R, writer: W)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.connect(reader, writer, HangUp::GoesOn, caller).await;
    }

    async fn connect<R, W>(&self, reader: R, writer: W, hang_up: HangUp, caller: Caller)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        // Standard output is the process's own; what an author connects may be anything.
        let is_own = hang_up == HangUp::Ends;
        let connection = Connection::new(Arc::clone(self.host()), hang_up, caller);
        let views = connection.views();
        let mut limits = Limits::default();
        limits.outbox_bytes = OUTBOX_BYTES_MAX;
        let options = Options::agent().limits(limits).direct_writes(is_own);
        let (peer, link) = ply_rpc::connect(reader, writer, connection, options);
        let _leaves = Leave(peer.clone(), views);
        tokio::spawn(link);
        let reason = peer.closed().await;
        tracing::debug!(%reason, "the client is gone");
    }

    /// Closes every session: turns are cancelled and their ends written.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, some sessions may stay open.
    pub async fn shutdown(&self) {
        self.host().shutdown(&[]).await;
    }

    /// Closes every session but those `left`, and the journal after what they have written so far. For a program whose sessions are
    /// run by others that outlive it: another process goes on with these as after a crash of this one.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, some sessions may stay open.
    pub async fn shutdown_leaving(&self, left: &[v2::SessionId]) {
        self.host().shutdown(left).await;
    }

    /// Decides what becomes of prompts that clients send from now on. Those that were taken are not touched.
    pub fn new_prompts(&self, what: NewPrompts) {
        self.host().set_new_prompts(what);
    }

    /// Returns an open session.
    #[must_use]
    pub fn session(&self, id: &v2::SessionId) -> Option<Session> {
        self.host().open_session(id)
    }

    pub(crate) fn host(&self) -> &Arc<Host> {
        let make = || {
            Host::new(
                Arc::clone(&self.agent),
                Arc::clone(&self.journal),
                self.settings,
            )
        };
        self.host.get_or_init(make)
    }
}

/// Ends the link and leaves its sessions, also when whoever waits for it goes away.
struct Leave(ply_rpc::Peer, Views);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.close();
        self.1.detach_all();
    }
}
