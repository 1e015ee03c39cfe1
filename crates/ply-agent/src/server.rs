//! Serving an agent to clients.

use std::sync::Arc;

use ply_journal::{IntoJournal, Journal, Memory};
use ply_rpc::{Limits, Options};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::connection::{Connection, HangUp, Views};
use crate::host::{Erased, Host};
use crate::{Agent, Result};

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

/// An agent on its way to its clients. Clones share the agent and its sessions.
#[derive(Debug, Clone)]
#[doc(alias = "AgentSideConnection")]
pub struct Server {
    agent: Arc<dyn crate::host::DynAgent>,
    journal: Arc<dyn Journal>,
    host: Arc<std::sync::OnceLock<Arc<Host>>>,
}

impl Server {
    /// Returns a server that keeps its sessions in memory.
    #[must_use]
    pub fn new(agent: impl Agent) -> Self {
        Self {
            agent: Arc::new(Erased(agent)),
            journal: Arc::new(Memory::new()),
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
        self.connect(input, output, HangUp::Ends).await;
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
        self.connect(reader, writer, HangUp::GoesOn).await;
    }

    async fn connect<R, W>(&self, reader: R, writer: W, hang_up: HangUp)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        // Standard output is the process's own; what an author connects may be anything.
        let is_own = hang_up == HangUp::Ends;
        let connection = Connection::new(Arc::clone(self.host()), hang_up);
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
        self.host().shutdown().await;
    }

    fn host(&self) -> &Arc<Host> {
        let make = || Host::new(Arc::clone(&self.agent), Arc::clone(&self.journal));
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
