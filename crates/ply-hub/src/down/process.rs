//! A process of an agent that runs, as the rest of the hub sees it.

use std::sync::{Arc, Mutex as SyncMutex, OnceLock, PoisonError};
use std::time::Duration;

use ply_agent::{Error, Result};
use ply_wire::negotiate::Version;
use ply_wire::transcript::Transcript;
use ply_wire::v2;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::driver::Driver;
use super::link::{Done, Failure, Greeting, Hello, Wish};
use super::queue::{Baton, EVENTS_MAX, Queue};
use super::screen::Screen;
use super::{Caller, Launch};

/// How long a process may take to introduce itself: some are fetched first.
const GREETING_TIME_MAX: Duration = Duration::from_secs(60);
/// How long it may take to open a session, or to change an option.
pub(super) const REQUEST_TIME_MAX: Duration = Duration::from_secs(60);
/// How long an agent may take for a second greeting.
const SECOND_GREETING_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a request of a client waits for what the agent told to be reported.
const REPORT_TIME_MAX: Duration = Duration::from_secs(5);
/// Orders that may wait for a process.
const ORDERS_MAX: usize = 64;

/// Something for a process.
#[derive(Debug)]
pub(super) enum Order {
    Wish(Wish, Option<oneshot::Sender<Reply>>),
    /// Says when everything that the agent did so far was reported.
    Barrier(oneshot::Sender<()>),
    /// A prompt, and how whoever works on it gets to the events.
    Prompt(Wish, oneshot::Sender<Baton>),
}

/// What came of a wish.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) outcome: Result<Done, Failure>,
    /// What the agent told of the past when it opened the session.
    pub(super) replay: Transcript,
}

/// What the agent last told of the session.
#[derive(Debug, Default)]
pub(super) struct Known(SyncMutex<Option<Vec<v2::SessionConfigOption>>>);

impl Known {
    pub(super) fn note(&self, update: &v2::SessionUpdate) {
        if let v2::SessionUpdate::ConfigOptionUpdate(update) = update {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(update.config_options.clone());
        }
    }

    /// Returns the options, if the agent has told of any.
    pub(super) fn options(&self) -> Option<Vec<v2::SessionConfigOption>> {
        let options = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        options.clone()
    }
}

/// A process that has introduced itself. Dropped, it is ended.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) hello: Hello,
    orders: mpsc::Sender<Order>,
    pub(super) queue: Arc<Mutex<Queue>>,
    pub(super) known: Arc<Known>,
    pub(super) screen: Arc<Screen>,
    fate: Arc<OnceLock<String>>,
}

/// Why a process is of no use.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Trouble {
    #[error("{0}")]
    Gone(String),
    #[error(transparent)]
    Failed(#[from] Failure),
    #[error("the agent has not answered `{method}` for {} seconds", REQUEST_TIME_MAX.as_secs())]
    Late { method: &'static str },
    #[error("the agent's program could not be started: {0}")]
    NotStarted(String),
}

impl Trouble {
    /// Returns the error that a client is told; the agent's own words where there are some.
    pub(super) fn error(self) -> Error {
        match self {
            Self::Failed(Failure::Refused { error, .. }) => error.into(),
            trouble => Error::msg(trouble.to_string()),
        }
    }

    /// Returns whether the agent wants a login first.
    pub(super) fn wants_login(&self) -> bool {
        const AUTH_REQUIRED: i64 = -32000;
        let refusal = match self {
            Self::Failed(failure) => failure.refusal(),
            _ => None,
        };
        refusal.is_some_and(|error| error.code == AUTH_REQUIRED)
    }
}

impl Process {
    /// Starts a process and greets it. One that answers version 2 and speaks version 1 is started again.
    pub(super) async fn start(
        launch: &dyn Launch,
        caller: &Caller,
        greeting: Greeting,
    ) -> Result<Self, Trouble> {
        let only_v1 = Greeting {
            only_v1: true,
            ..greeting
        };
        let process = match Self::start_once(launch, caller, greeting).await {
            Err(Trouble::Failed(Failure::Echoed)) if !greeting.only_v1 => {
                return Self::start_once(launch, caller, only_v1).await;
            }
            started => started?,
        };
        let has_services = greeting.files || greeting.terminals;
        if process.hello.version != Version::V1 || greeting.only_v1 || !has_services {
            return Ok(process);
        }
        // Agents made with the official SDK do not look for these in a request for version 2. One that takes no second greeting
        // keeps the first (V1-INIT-20), and one that dies of it is asked for version 1 alone.
        let again =
            process.ask_within(SECOND_GREETING_TIME_MAX, "initialize", Wish::Greet(only_v1));
        match again.await {
            Err(Trouble::Gone(_)) => Self::start_once(launch, caller, only_v1).await,
            Err(trouble) => {
                tracing::debug!(%trouble, "the agent took no second greeting");
                Ok(process)
            }
            Ok(_) => Ok(process),
        }
    }

    async fn start_once(
        launch: &dyn Launch,
        caller: &Caller,
        greeting: Greeting,
    ) -> Result<Self, Trouble> {
        let pipe = launch.launch(caller).await;
        let pipe = pipe.map_err(|error| Trouble::NotStarted(error.to_string()))?;
        let (orders, taken) = mpsc::channel(ORDERS_MAX);
        let (told, events) = mpsc::channel(EVENTS_MAX);
        let (known, screen) = (Arc::<Known>::default(), Arc::<Screen>::default());
        let fate = Arc::<OnceLock<String>>::default();
        let parts = (Arc::clone(&known), Arc::clone(&screen));
        let driver = Driver::new(pipe, (taken, told), parts, Arc::clone(&fate));
        tokio::spawn(driver.run());
        let queue = Queue::new(events);
        let reply = ask(&orders, &fate, Wish::Greet(greeting));
        let reply = tokio::time::timeout(GREETING_TIME_MAX, reply).await;
        let reply = reply.map_err(|_| Trouble::Late {
            method: "initialize",
        })??;
        let Done::Greeted(hello) = reply.outcome? else {
            return Err(Trouble::Late {
                method: "initialize",
            });
        };
        Ok(Self {
            hello: *hello,
            orders,
            queue,
            known,
            screen,
            fate,
        })
    }

    /// Has something done that the agent answers.
    pub(super) async fn ask(&self, method: &'static str, wish: Wish) -> Result<Reply, Trouble> {
        self.ask_within(REQUEST_TIME_MAX, method, wish).await
    }

    async fn ask_within(
        &self,
        time: Duration,
        method: &'static str,
        wish: Wish,
    ) -> Result<Reply, Trouble> {
        let reply = ask(&self.orders, &self.fate, wish);
        let reply = tokio::time::timeout(time, reply).await;
        let reply = reply.map_err(|_| Trouble::Late { method })??;
        match reply.outcome {
            Ok(_) => Ok(reply),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Has something done that has no answer.
    pub(super) async fn tell(&self, wish: Wish) {
        // A process that is gone needs nothing more.
        drop(self.orders.send(Order::Wish(wish, None)).await);
    }

    /// Waits until everything that the agent did so far was reported, but not for long: whoever reports may be busy.
    pub(super) async fn reported(&self) {
        let (told, reported) = oneshot::channel();
        let waiting = async {
            if self.orders.send(Order::Barrier(told)).await.is_ok() {
                // A process that is gone reports nothing more.
                drop(reported.await);
            }
        };
        if tokio::time::timeout(REPORT_TIME_MAX, waiting)
            .await
            .is_err()
        {
            tracing::debug!("what an agent told is not reported yet");
        }
    }

    /// Sends a prompt; its turn begins when the baton comes.
    pub(super) async fn prompt(&self, wish: Wish) -> Result<oneshot::Receiver<Baton>, Trouble> {
        let (baton, comes) = oneshot::channel();
        let sent = self.orders.send(Order::Prompt(wish, baton)).await;
        sent.map_err(|_| self.gone())?;
        Ok(comes)
    }

    /// Returns whether the process is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.fate.get().is_some() || self.orders.is_closed()
    }

    /// Says how it ended.
    pub(super) fn gone(&self) -> Trouble {
        gone(&self.fate)
    }
}

async fn ask(
    orders: &mpsc::Sender<Order>,
    fate: &OnceLock<String>,
    wish: Wish,
) -> Result<Reply, Trouble> {
    let (reply, replied) = oneshot::channel();
    let sent = orders.send(Order::Wish(wish, Some(reply))).await;
    sent.map_err(|_| gone(fate))?;
    replied.await.map_err(|_| gone(fate))
}

fn gone(fate: &OnceLock<String>) -> Trouble {
    let words = fate.get().cloned();
    Trouble::Gone(words.unwrap_or_else(|| "the agent cannot do that now".to_owned()))
}
