//! A process of an agent that runs, as the rest of the hub sees it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as SyncMutex, OnceLock, PoisonError};
use std::time::Duration;

use ply_agent::{Error, Result, Session, Value};
use ply_wire::negotiate::Version;
use ply_wire::transcript::Transcript;
use ply_wire::v2;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::book::Book;
use super::driver::Driver;
use super::link::again::Resumed;
use super::link::{Done, Failure, Greeting, Hello, Wish};
use super::queue::{Baton, EVENTS_MAX, Queue};
use super::screen::Screen;
use super::{Caller, Holder, Launch, Launched};

/// How long a process may take to introduce itself: some are fetched first.
const GREETING_TIME_MAX: Duration = Duration::from_secs(60);
/// How long it may take to open a session, or to change an option.
pub(super) const REQUEST_TIME_MAX: Duration = Duration::from_secs(60);
/// How long it may take to answer what the protocol does not know.
const EXTENSION_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// How long an agent may take for a second greeting.
const SECOND_GREETING_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a request of a client waits for what the agent told to be reported.
const REPORT_TIME_MAX: Duration = Duration::from_secs(5);
/// How long closing a session waits for the end of its process, which goes on by itself.
const END_TIME_MAX: Duration = Duration::from_secs(3);
/// The error of an agent that wants a login first.
pub(super) const AUTH_REQUIRED: i64 = -32000;
/// Orders that may wait for a process.
const ORDERS_MAX: usize = 64;

/// Something for a process.
pub(super) enum Order {
    Wish(Wish, Option<oneshot::Sender<Reply>>),
    /// Says when everything that the agent did so far was reported.
    Barrier(oneshot::Sender<()>),
    /// A prompt, and how whoever works on it gets to the events.
    Prompt(Wish, oneshot::Sender<Baton>),
    /// Have the session's journal know all that another hub needs to go on. Whoever waits is told whether it does.
    Record(Session, oneshot::Sender<bool>),
    /// Leave the process to another hub, and say when nothing more is heard of it.
    LetGo(oneshot::Sender<()>),
    /// End the process.
    End,
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

    /// Notes the options that the session has, which the agent told another hub.
    pub(super) fn set(&self, options: &[v2::SessionConfigOption]) {
        if !options.is_empty() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(options.to_vec());
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
    /// What keeps it alive without this hub.
    pub(super) holder: Option<String>,
    /// Whether another hub could go on with it.
    is_recorded: AtomicBool,
}

/// Why a process is of no use.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Trouble {
    #[error("{0}")]
    Gone(String),
    #[error(transparent)]
    Failed(#[from] Failure),
    #[error("the agent did not answer `{method}` in time")]
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
        let launched = launch.launch(caller).await;
        let launched = launched.map_err(|error| Trouble::NotStarted(error.to_string()))?;
        let (mut process, driver) = Self::around(launched);
        tokio::spawn(driver.run());
        let reply = ask(&process.orders, &process.fate, Wish::Greet(greeting));
        let reply = tokio::time::timeout(GREETING_TIME_MAX, reply).await;
        let late = || Trouble::Late {
            method: "initialize",
        };
        let reply = reply.map_err(|_| late())??;
        let Done::Greeted(hello) = reply.outcome? else {
            return Err(late());
        };
        process.hello = *hello;
        Ok(process)
    }

    /// Goes on with a process that another hub started, where that hub stopped.
    pub(super) fn go_on(launched: Launched, resumed: Resumed, book: Book) -> Option<Self> {
        let (mut process, mut driver) = Self::around(launched);
        process.hello = resumed.link.hello()?.clone();
        process.is_recorded = AtomicBool::new(true);
        driver.go_on(resumed, book);
        tokio::spawn(driver.run());
        Some(process)
    }

    /// Returns a process that has not introduced itself, and what moves its lines.
    fn around(launched: Launched) -> (Self, Driver) {
        let Launched { pipe, holder } = launched;
        let (holder, control) = match holder {
            Some(Holder { id, control }) => (Some(id), Some(control)),
            None => (None, None),
        };
        let (orders, taken) = mpsc::channel(ORDERS_MAX);
        let (told, events) = mpsc::channel(EVENTS_MAX);
        let (known, screen) = (Arc::<Known>::default(), Arc::<Screen>::default());
        let fate = Arc::<OnceLock<String>>::default();
        let parts = (Arc::clone(&known), Arc::clone(&screen));
        let driver = Driver::new((pipe, control), (taken, told), parts, Arc::clone(&fate));
        let process = Self {
            hello: Hello::unknown(),
            orders,
            queue: Queue::new(events),
            known,
            screen,
            fate,
            holder,
            is_recorded: AtomicBool::new(false),
        };
        (process, driver)
    }

    /// Has the session's journal know all that another hub needs to go on with the process, if the process may outlive this one.
    /// Returns whether it does.
    pub(super) async fn record(&self, session: &Session) -> bool {
        if self.holder.is_none() || self.is_recorded.load(Ordering::Relaxed) {
            return self.holder.is_some();
        }
        let (done, recorded) = oneshot::channel();
        let order = Order::Record(session.clone(), done);
        let recording =
            async { self.orders.send(order).await.is_ok() && recorded.await.unwrap_or(false) };
        // Whoever reports may be busy with work that the agent began by itself.
        let is_recorded = tokio::time::timeout(REPORT_TIME_MAX, recording).await;
        let is_recorded = is_recorded.unwrap_or(false);
        self.is_recorded.store(is_recorded, Ordering::Relaxed);
        is_recorded
    }

    /// Returns whether another hub could go on with the process.
    pub(super) fn outlives(&self) -> bool {
        self.holder.is_some() && self.is_recorded.load(Ordering::Relaxed) && !self.is_gone()
    }

    /// Leaves the process to another hub. Returns whether it was there.
    pub(super) async fn let_go(&self) -> bool {
        let (done, left) = oneshot::channel();
        let sent = self.orders.send(Order::LetGo(done)).await;
        sent.is_ok() && left.await.is_ok()
    }

    /// Ends the process, and waits for that, but not for long.
    pub(super) async fn end(&self) {
        let ending = async {
            // One that is gone has ended.
            drop(self.orders.send(Order::End).await);
            self.orders.closed().await;
        };
        if tokio::time::timeout(END_TIME_MAX, ending).await.is_err() {
            tracing::debug!("an agent takes its time to end");
        }
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

    /// Has something passed on that the protocol does not know, and returns the answer.
    pub(super) async fn extend(&self, wish: Wish) -> Result<Value, Trouble> {
        let method = "an extension";
        let reply = self.ask_within(EXTENSION_TIME_MAX, method, wish).await?;
        match reply.outcome {
            Ok(Done::Extended(value)) => Ok(value),
            Ok(_) => Ok(Value::Null),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Has something done that has no answer, if not too much waits to be done.
    pub(super) fn tell_now(&self, wish: Wish) {
        if self.orders.try_send(Order::Wish(wish, None)).is_err() {
            tracing::debug!("an agent is not told something, since it is gone or slow");
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
