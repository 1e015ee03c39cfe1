//! A client made with the official SDK that starts an agent and keeps what happened.

mod requests;
mod services;
mod unstable;
mod v1;
mod v2;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::{
    AcpAgent, AcpAgentConfig, Agent, BoxFuture, ConnectionTo, Protocol, Responder,
    Result as SdkResult,
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::record::{Event, Log, Record, word};

/// Every wait of the client ends by then.
const DEADLINE: Duration = Duration::from_secs(20);

const UNPOISONED: &str = "nothing panics while it holds the lock";

/// Why the client could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The agent answered with an error.
    #[error("the agent refused {method}: {error}")]
    Refused {
        /// The method of the request.
        method: String,
        /// The error object.
        error: Value,
    },
    /// Nothing came in time.
    #[error("waited too long for {0}")]
    Deadline(String),
    /// The connection is gone, or never was.
    #[error("there is no connection to the agent any more, see its standard error")]
    Closed,
    /// The SDK could not send or end the connection.
    #[error("the SDK failed")]
    Sdk(#[from] agent_client_protocol::Error),
}

/// The version a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The stable version.
    V1,
    /// The draft.
    V2,
}

/// How to answer a permission request.
#[derive(Clone, Copy, Debug)]
pub enum Choice {
    /// Selects the first option of this kind, such as `allow_once`.
    Pick(&'static str),
    /// Answers `cancelled`.
    Cancel,
    /// Leaves the request open until the client cancels (version 1) or the agent takes it back, then answers `cancelled`.
    Hold,
}

/// What the client offers and how it answers.
pub struct Settings {
    /// Answers permission requests, given their params.
    pub permit: Box<dyn Fn(&Value) -> Choice + Send + Sync>,
    /// The files to serve by `fs/*` on version 1; without them the client offers none.
    pub files: Option<BTreeMap<PathBuf, String>>,
    /// Whether to serve `terminal/*` on version 1.
    pub terminal: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            permit: Box::new(|_| Choice::Pick("allow_once")),
            files: None,
            terminal: false,
        }
    }
}

/// How a prompt ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// With this stop reason.
    Stopped(String),
    /// With this error: the answer on version 1, the stop reason `error` on version 2.
    Failed(Value),
}

/// What the handlers of a connection share.
struct Shared {
    log: Log,
    settings: Settings,
    cancels: watch::Sender<()>,
    files: Mutex<BTreeMap<PathBuf, String>>,
    terminals: services::Terminals,
}

/// A client over a running agent program.
pub struct SdkClient {
    version: Version,
    agent: ConnectionTo<Agent>,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    connection: JoinHandle<SdkResult<()>>,
}

impl SdkClient {
    /// Starts an agent program.
    ///
    /// # Errors
    ///
    /// Fails when the program does not start.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the agent's process group.
    pub async fn start(
        version: Version,
        program: impl AsRef<Path>,
        args: &[&str],
        settings: Settings,
    ) -> Result<Self, Error> {
        let config = AcpAgentConfig::new(program.as_ref()).args(args.iter().copied());
        let shared = Arc::new(Shared {
            log: Log::new(),
            files: Mutex::new(settings.files.clone().unwrap_or_default()),
            settings,
            cancels: watch::Sender::new(()),
            terminals: services::Terminals::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let (ready, connected) = oneshot::channel();
        let (agent, host) = (AcpAgent::new(config), Arc::clone(&shared));
        let connection = match version {
            Version::V1 => tokio::spawn(v1::run(agent, host, ready, stopped)),
            Version::V2 => tokio::spawn(v2::run(agent, host, ready, stopped)),
        };
        let agent = within("the connection", connected).await?;
        Ok(Self {
            version,
            agent: agent.map_err(|_| Error::Closed)?,
            shared,
            stop: Some(stop),
            connection,
        })
    }

    /// Returns what happened so far.
    #[must_use]
    pub fn record(&self) -> Record {
        self.shared.log.with(|record| record.clone())
    }

    /// Returns a file that the client serves, as the agent left it.
    #[must_use]
    pub fn file(&self, path: impl AsRef<Path>) -> Option<String> {
        let files = self.shared.files.lock().expect(UNPOISONED);
        files.get(path.as_ref()).cloned()
    }

    /// Waits until the record holds something; `what` is for the error.
    ///
    /// # Errors
    ///
    /// Fails when it does not come in time.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped.
    pub async fn wait_for(&self, what: &str, seen: impl Fn(&Record) -> bool) -> Result<(), Error> {
        let look = |record: &Record| seen(record).then_some(());
        within(what, self.shared.log.until(look)).await
    }

    /// Closes the connection, waits for the agent to exit and returns the whole record.
    ///
    /// # Errors
    ///
    /// Fails when the connection broke or the agent ended badly.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the agent's process group.
    pub async fn stop(mut self) -> Result<Record, Error> {
        // The connection waits for the sender to go.
        drop(self.stop.take());
        let ended = within("the agent's exit", &mut self.connection).await?;
        ended.map_err(|_| Error::Closed)??;
        Ok(self.record())
    }
}

impl Drop for SdkClient {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Shared {
    fn asked(&self, method: &str, params: &impl Serialize) -> SdkResult<Value> {
        let params = serde_json::to_value(params)?;
        self.log.push(Event::Asked {
            method: method.to_owned(),
            params: params.clone(),
        });
        Ok(params)
    }

    fn updated(&self, params: &impl Serialize) -> SdkResult<()> {
        self.log.push(Event::Update(serde_json::to_value(params)?));
        Ok(())
    }

    /// Records a permission request and returns the work of answering it.
    fn permit<P: Protocol>(
        self: &Arc<Self>,
        version: Version,
        params: &impl Serialize,
        responder: Responder<Value, P>,
    ) -> SdkResult<BoxFuture<'static, SdkResult<()>>> {
        const METHOD: &str = "session/request_permission";
        let params = self.asked(METHOD, params)?;
        let shared = Arc::clone(self);
        // Subscribed here, so that no cancel after the request is missed.
        let mut cancels = self.cancels.subscribe();
        Ok(Box::pin(async move {
            let option = match (shared.settings.permit)(&params) {
                Choice::Pick(kind) => option_of_kind(&params, kind),
                Choice::Cancel => None,
                Choice::Hold => {
                    let withdrawn = responder.cancellation();
                    tokio::select! {
                        () = withdrawn.cancelled() => {
                            let method = METHOD.to_owned();
                            shared.log.push(Event::Withdrawn { method });
                        }
                        _ = cancels.changed(), if version == Version::V1 => {}
                    }
                    None
                }
            };
            responder.respond(match option {
                Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
                None => json!({"outcome": {"outcome": "cancelled"}}),
            })
        }))
    }
}

fn option_of_kind<'a>(params: &'a Value, kind: &str) -> Option<&'a Value> {
    let options = params.get("options")?.as_array()?;
    let option = options.iter().find(|option| word(option, "kind") == kind)?;
    option.get("optionId")
}

async fn within<T>(what: &str, wait: impl Future<Output = T>) -> Result<T, Error> {
    let ended = timeout(DEADLINE, wait).await;
    ended.map_err(|_| Error::Deadline(what.to_owned()))
}
