//! An agent to talk to.

mod finding;
mod introduction;
mod listing;
mod login;
mod opening;
#[cfg(any(
    feature = "unstable_session_fork",
    feature = "unstable_session_status",
    feature = "unstable_session_set_title",
    feature = "unstable_session_archive"
))]
mod unstable;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ply_rpc::{CallOptions, Noise};
use ply_wire::convert;
use ply_wire::method::decode_result;
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};

pub use listing::SessionFilter;
pub use login::TerminalLogin;
pub(crate) use opening::{Reopen, reopen};

use crate::Error;
use crate::command::Command;
use crate::connection::{Connection, done};
use crate::error::PostMortem;
use crate::fate::Fate;
use crate::hello::offered;
use crate::lock::lock;
use crate::report::{Report, Reports};
use crate::restart::Crashes;

/// An agent that answered our greeting. Clones are the same agent; when the last of them, its sessions and its turns are gone,
/// the connection closes and a process that was started here ends.
#[derive(Clone)]
pub struct Agent {
    pub(crate) inner: Arc<AgentInner>,
}

pub(crate) struct AgentInner {
    pub(crate) reports: Arc<Reports>,
    /// How to start it again, if it is ours.
    pub(crate) command: Option<Command>,
    current: Mutex<Arc<Connection>>,
    pub(crate) crashes: tokio::sync::Mutex<Crashes>,
    /// The last life whose end was counted.
    pub(crate) counted: AtomicU64,
    pub(crate) epochs: AtomicU64,
    pub(crate) is_closed: AtomicBool,
    pub(crate) fate: Arc<Fate>,
}

impl AgentInner {
    pub(crate) fn current(&self) -> Arc<Connection> {
        Arc::clone(&lock(&self.current))
    }

    pub(crate) fn set_current(&self, connection: Arc<Connection>) {
        let old = std::mem::replace(&mut *lock(&self.current), connection);
        drop(old);
    }

    /// Notes that the agent is not started again, and returns its last life.
    fn give_up(&self) -> Arc<Connection> {
        self.is_closed.store(true, Ordering::SeqCst);
        self.fate.give_up();
        let current = self.current();
        if current.parts.has_ended() {
            self.fate.life_ended();
        }
        current
    }

    pub(crate) fn living(&self) -> Option<Arc<Connection>> {
        let current = self.current();
        (!current.parts.is_over()).then_some(current)
    }
}

impl Drop for AgentInner {
    fn drop(&mut self) {
        self.give_up().parts.peer.close();
    }
}

impl Agent {
    pub(crate) fn new(
        connection: Connection,
        reports: Arc<Reports>,
        command: Option<Command>,
        fate: Arc<Fate>,
    ) -> Self {
        let epoch = connection.parts.epoch;
        let inner = AgentInner {
            reports,
            command,
            current: Mutex::new(Arc::new(connection)),
            crashes: tokio::sync::Mutex::default(),
            counted: AtomicU64::new(0),
            epochs: AtomicU64::new(epoch),
            is_closed: AtomicBool::new(false),
            fate,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Returns the protocol version spoken.
    #[must_use]
    pub fn version(&self) -> Version {
        self.inner.current().hello.version
    }

    /// Returns the agent's name and version.
    #[must_use]
    pub fn info(&self) -> v2::Implementation {
        self.inner.current().hello.info.clone()
    }

    /// Returns what the agent can do, in the words of version 2.
    #[must_use]
    pub fn capabilities(&self) -> v2::AgentCapabilities {
        self.inner.current().hello.capabilities.clone()
    }

    /// Returns the ways to log in.
    #[must_use]
    pub fn auth_methods(&self) -> Vec<v2::AuthMethod> {
        self.inner.current().hello.auth_methods.clone()
    }

    /// Logs in with one of the agent's own methods. It may take as long as a person needs.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a method that is not offered or does not go through the protocol; [`Error::Refused`] if the agent
    /// says no.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the request is cancelled. The agent may log in all the same.
    #[doc(alias = "authenticate")]
    pub async fn login(&self, method: &str) -> Result<(), Error> {
        let connection = self.inner.connection().await?;
        connection.hello.check_login(method)?;
        let request = v2::LoginAuthRequest::new(method);
        let options = CallOptions::default();
        match connection.hello.version {
            Version::V1 => {
                let request = convert::auth::login_down(&request);
                connection.ask_with(&request, options, done).await
            }
            Version::V2 => connection.ask_with(&request, options, done).await,
        }
    }

    /// Logs out. Open sessions may fail with [`Error::AuthRequired`] afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the agent has no logout.
    ///
    /// # Cancel safety
    ///
    /// The request is not taken back: the agent logs out all the same.
    pub async fn logout(&self) -> Result<(), Error> {
        let connection = self.inner.connection().await?;
        let can = connection.hello.can_log_out();
        offered(
            can,
            "logging out",
            "remove its credentials by its own means",
        )?;
        match connection.hello.version {
            Version::V1 => connection.ask_to_end(&v1::LogoutRequest::new(), done).await,
            Version::V2 => {
                let request = v2::LogoutAuthRequest::new();
                connection.ask_to_end(&request, done).await
            }
        }
    }

    /// Closes the connection and ends the agent's processes: by closing its input, then by asking, then by force.
    ///
    /// # Cancel safety
    ///
    /// The end goes on by itself when it is dropped.
    pub async fn close(&self) -> PostMortem {
        let current = self.inner.give_up();
        current.parts.peer.close();
        current.parts.last().await
    }

    /// Ends the agent's processes at once. Running turns are interrupted; a later prompt starts the agent again.
    ///
    /// # Cancel safety
    ///
    /// The end goes on by itself when it is dropped.
    pub async fn kill(&self) -> PostMortem {
        let current = self.inner.current();
        current.parts.kill();
        current.parts.last().await
    }

    /// Waits until the connection and the process are gone, whoever ended them.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn closed(&self) -> PostMortem {
        self.inner.current().parts.last().await
    }

    /// Returns the id of the agent's process, if it was started here.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.inner.current().parts.process_id
    }

    /// Returns the rules that the agent broke so far, over all its lives.
    #[must_use]
    pub fn reports(&self) -> Vec<Report> {
        self.inner.reports.list()
    }

    /// Returns what the agent printed that is no protocol message.
    #[must_use]
    pub fn noise(&self) -> Noise {
        self.inner.current().parts.peer.noise()
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("info", &self.info())
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

/// Reads a result that has to fit its type.
pub(crate) fn read<T: serde::de::DeserializeOwned>(
    method: &str,
    answer: &serde_json::value::RawValue,
) -> Result<T, Error> {
    decode_result(answer).map_err(|error| {
        Error::Call(ply_rpc::CallError::BadAnswer {
            method: method.into(),
            reason: error.to_string().into(),
        })
    })
}
