//! One life of an agent: its link and its process.

mod end;
mod ending;
mod start;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use ply_rpc::{CallError, CallOptions, Closed, OrderedCall, Peer, RawAnswer};
use ply_wire::method::Request;
use ply_wire::negotiate::{self, Version};
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

use crate::client::Settings;
use crate::error::{AUTH_REQUIRED, StartFailure};
use crate::hello::{self, Hello};
use crate::limits::{CALL_TIME_MAX, SECOND_GREETING_TIME_MAX};
use crate::routes::Routes;
use crate::session::cell::Wire;
use crate::{Error, PostMortem};

#[cfg(feature = "unstable_session_archive")]
pub(crate) use self::ending::Ending;
pub(crate) use self::start::Start;

/// Returns the runtime that this is called in. Without one there are neither clocks nor tasks, and whatever needs them panics.
pub(crate) fn runtime() -> Result<Handle, Error> {
    Handle::try_current().map_err(|_| Error::NoRuntime)
}

/// A connection to an agent that has answered `initialize`.
pub(crate) struct Connection {
    pub(crate) hello: Hello,
    pub(crate) parts: Arc<Parts>,
}

/// What is there from the first byte on.
pub(crate) struct Parts {
    pub(crate) peer: Peer,
    pub(crate) routes: Arc<Routes>,
    pub(crate) epoch: u64,
    pub(crate) process_id: Option<u32>,
    /// What is known as soon as the connection is over.
    end: OnceLock<PostMortem>,
    /// What is known when the process tree has ended too.
    last: OnceLock<PostMortem>,
    told: Notify,
    killed: AtomicBool,
    kill: Notify,
}

impl Parts {
    async fn initialize(&self, settings: &Settings) -> Result<Hello, StartFailure> {
        let deadline = settings.start_deadline;
        let (told, answer) = oneshot::channel();
        let (routes, versions) = (Arc::clone(&self.routes), settings.versions);
        let read = move |answer: RawAnswer| {
            let answer = match answer {
                Ok(answer) => read_hello(&answer, versions),
                Err(CallError::Closed { .. }) => Err(StartFailure::Ended),
                Err(CallError::Deadline { after, .. }) => Err(StartFailure::Deadline(after)),
                Err(CallError::Peer(error)) => Err(StartFailure::Refused(error)),
                Err(error) => Err(StartFailure::Call(error)),
            };
            if let Ok(hello) = &answer {
                // Here, so that whatever the agent says next is read in the right version.
                routes.version.get_or_init(|| hello.version);
            }
            drop(told.send(answer));
        };
        let params = hello::request(settings);
        self.peer
            .call_then("initialize", &params, CallOptions::default(), read);
        let answer = tokio::time::timeout(deadline, answer).await;
        let answer = answer.map_err(|_| StartFailure::Deadline(deadline))?;
        if self.routes.echoes.load(Ordering::Relaxed) {
            return Err(StartFailure::Echo);
        }
        let hello = answer.unwrap_or(Err(StartFailure::Ended))?;
        if hello.version == Version::V2 {
            // V2-RPC-02.
            self.peer.refuse_odd_ids_with_null();
        }
        self.introduce_services(settings, hello).await
    }

    /// Greets a version 1 agent once more in its own words, if there are services to tell of: agents made with the official SDK
    /// do not look for them in a request for version 2. One that takes no second greeting (V1-INIT-20) keeps the first.
    async fn introduce_services(
        &self,
        settings: &Settings,
        hello: Hello,
    ) -> Result<Hello, StartFailure> {
        let has_services = settings.files.is_some() || settings.terminals.is_some();
        let asked_for_more = settings.versions == negotiate::Supported::Both;
        if hello.version != Version::V1 || !asked_for_more || !has_services {
            return Ok(hello);
        }
        let options = CallOptions::default().deadline(SECOND_GREETING_TIME_MAX);
        let params = hello::request_v1(settings);
        let answer = self
            .peer
            .call_with::<Box<RawValue>>("initialize", &params, options);
        match answer.await {
            Ok(answer) => Ok(read_hello(&answer, negotiate::Supported::V1).unwrap_or(hello)),
            Err(CallError::Closed { .. }) => Err(StartFailure::SecondGreeting),
            Err(error) => {
                tracing::debug!(%error, "the agent took no second greeting");
                Ok(hello)
            }
        }
    }

    /// Ends the connection and the process at once.
    pub(crate) fn kill(&self) {
        self.killed.store(true, Ordering::SeqCst);
        self.kill.notify_one();
        self.peer.close();
    }

    /// Whether it is known how the connection ended, and its sessions have heard of it.
    pub(crate) fn has_ended(&self) -> bool {
        self.end.get().is_some()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.routes.over.get().is_some()
    }

    /// Waits for what is known of the end as soon as the connection is over.
    pub(crate) async fn end(&self) -> PostMortem {
        self.wait_for(&self.end).await
    }

    /// Waits until the process tree has ended too.
    pub(crate) async fn last(&self) -> PostMortem {
        self.wait_for(&self.last).await
    }

    async fn wait_for(&self, told: &OnceLock<PostMortem>) -> PostMortem {
        loop {
            let mut news = std::pin::pin!(self.told.notified());
            news.as_mut().enable();
            if let Some(told) = told.get() {
                return told.clone();
            }
            news.await;
        }
    }

    fn tell(&self, where_to: &OnceLock<PostMortem>, end: &PostMortem) {
        where_to.get_or_init(|| end.clone());
        self.told.notify_waiters();
    }

    async fn over(&self) -> Closed {
        loop {
            let mut ended = std::pin::pin!(self.routes.ended.notified());
            ended.as_mut().enable();
            if let Some(reason) = self.routes.over.get() {
                return reason.clone();
            }
            ended.await;
        }
    }
}

fn read_hello(answer: &RawValue, versions: negotiate::Supported) -> Result<Hello, StartFailure> {
    negotiate::read_answer(answer, versions)
        .map(Hello::from_answer)
        .map_err(StartFailure::Answer)
}

impl Connection {
    pub(crate) fn wire(&self) -> Wire {
        Wire {
            peer: self.parts.peer.clone(),
            routes: Arc::clone(&self.parts.routes),
            epoch: self.parts.epoch,
            version: self.hello.version,
        }
    }

    /// Asks with a deadline; `then` runs in its place among the agent's updates. Dropped before the answer, it cancels the
    /// request.
    pub(crate) async fn ask<Q: Request, T: Send + 'static>(
        &self,
        params: &Q,
        then: impl FnOnce(&RawValue) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let options = CallOptions::default().deadline(CALL_TIME_MAX);
        self.ask_with(params, options, taken(then)).await
    }

    /// Asks as [`ask`](Self::ask) does, under other options.
    pub(crate) async fn ask_with<Q: Request, T: Send + 'static>(
        &self,
        params: &Q,
        options: CallOptions,
        then: impl FnOnce(RawAnswer) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Error> {
        let (call, answer) = self.send(params, options, then);
        let wanted = Wanted(Some(call));
        let answer = self.answered(answer).await;
        wanted.answered();
        answer
    }

    /// Asks for the end of something. The request stands although nobody waits for its answer: whoever lost patience with a
    /// close does not want the session open.
    pub(crate) async fn ask_to_end<Q: Request, T: Send + 'static>(
        &self,
        params: &Q,
        then: impl FnOnce(RawAnswer) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Error> {
        let options = CallOptions::default().deadline(CALL_TIME_MAX);
        let (_, answer) = self.send(params, options, then);
        self.answered(answer).await
    }

    fn send<Q: Request, T: Send + 'static>(
        &self,
        params: &Q,
        options: CallOptions,
        then: impl FnOnce(RawAnswer) -> Result<T, Failure> + Send + 'static,
    ) -> (OrderedCall, Answered<T>) {
        let peer = &self.parts.peer;
        peer.call_read(Q::METHOD, params, options, then)
    }

    async fn answered<T>(&self, answer: Answered<T>) -> Result<T, Error> {
        match answer.await {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(Failure::Ours(error))) => Err(error),
            Some(Err(Failure::Call(error))) => Err(self.failed(error).await),
            None => Err(Error::Gone(Box::new(self.parts.end().await))),
        }
    }

    /// Returns what a call that failed means.
    pub(crate) async fn failed(&self, error: CallError) -> Error {
        match error {
            CallError::Closed { .. } => Error::Gone(Box::new(self.parts.end().await)),
            CallError::Peer(error) if error.code == AUTH_REQUIRED => Error::AuthRequired {
                methods: self.hello.auth_methods.clone(),
            },
            CallError::Peer(error) => Error::Refused(error),
            error => Error::Call(error),
        }
    }
}

type Answered<T> = ply_rpc::Answered<Result<T, Failure>>;

fn taken<T>(
    then: impl FnOnce(&RawValue) -> Result<T, Error>,
) -> impl FnOnce(RawAnswer) -> Result<T, Failure> {
    |answer| match answer {
        Ok(answer) => then(&answer).map_err(Failure::Ours),
        Err(error) => Err(Failure::Call(error)),
    }
}

/// Takes an answer that says no more than that it is done.
pub(crate) fn done(answer: RawAnswer) -> Result<(), Failure> {
    answer.map(drop).map_err(Failure::Call)
}

/// Cancels a request whose answer nobody waits for any more.
struct Wanted(Option<OrderedCall>);

impl Wanted {
    fn answered(mut self) {
        self.0 = None;
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        if let Some(call) = &self.0 {
            call.cancel();
        }
    }
}

/// Why an answer is none.
pub(crate) enum Failure {
    Call(CallError),
    Ours(Error),
}
