//! What a program does with the peer's messages.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::frame::{self, Encoded};
use crate::peer::Shared;
use crate::served::Cancel;
use crate::{Closed, Peer, RequestId, RpcError};

/// Takes the peer's messages, one after the other, in the order they were written.
///
/// The methods are not `async` on purpose: they run on the link's own task, so a message is handled before the next one is
/// looked at, and a handler cannot wait for an answer that the same link would have to read. Work that takes time goes
/// elsewhere: to [`Responder::run`] or to a task or queue of the program's own.
pub trait Handler: Send + 'static {
    /// Takes a request. The answer is given through `responder`, now or later.
    fn request(&mut self, peer: &Peer, request: Request<'_>, responder: Responder);

    /// Takes a notification. Unknown ones are to be ignored.
    fn notification(&mut self, peer: &Peer, notification: Notification<'_>);

    /// Takes a whole line before its envelope is read, for messages that come so often that a shorter way pays.
    ///
    /// Returns whether it did. A handler must leave every line that is not a valid notification to the envelope's reader. If it
    /// panics, a notification is lost; a request or an answer is read as if it had been left.
    fn line(&mut self, peer: &Peer, line: &[u8]) -> bool {
        let _ = (peer, line);
        false
    }

    /// Says whether more messages are welcome; pending pauses reading, which slows the peer down.
    ///
    /// While a call of ours waits for its answer, reading goes on regardless, since the answer may be needed to make room.
    /// Calls made with [`CallOptions::patient`](crate::CallOptions::patient) do not count. A handler that queues messages
    /// therefore sees its queue grow past its wish by what the peer sends before it answers.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        Poll::Ready(())
    }

    /// Hears that every message that has come so far is handed over, and that what could be written is written.
    ///
    /// For what is better done once for many messages than once for each, such as waking the task that reads them.
    fn caught_up(&mut self) {}

    /// Hears that no more messages will come. Answers can still be given for a while.
    fn ended(&mut self, peer: &Peer, reason: &Closed) {
        let _ = (peer, reason);
    }
}

/// A request of the peer, borrowed from the read buffer.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// What is asked.
    pub method: &'a str,
    /// With what, as JSON text.
    pub raw_params: Option<&'a RawValue>,
}

/// A notification of the peer, borrowed from the read buffer.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Notification<'a> {
    /// What is told.
    pub method: &'a str,
    /// With what, as JSON text.
    pub raw_params: Option<&'a RawValue>,
}

impl<'a> Request<'a> {
    pub(crate) fn new(method: &'a str, raw_params: Option<&'a RawValue>) -> Self {
        Self { method, raw_params }
    }

    /// Decodes the params; absent ones are the empty object.
    ///
    /// # Errors
    ///
    /// An invalid-params error ready to be answered, which repeats none of the input.
    pub fn params<T: Deserialize<'a>>(&self) -> Result<T, RpcError> {
        frame::decode(self.raw_params).map_err(|error| RpcError::from_decode(&error))
    }
}

impl<'a> Notification<'a> {
    pub(crate) fn new(method: &'a str, raw_params: Option<&'a RawValue>) -> Self {
        Self { method, raw_params }
    }

    /// Decodes the params; absent ones are the empty object.
    ///
    /// # Errors
    ///
    /// An invalid-params error to log; notifications are never answered.
    pub fn params<T: Deserialize<'a>>(&self) -> Result<T, RpcError> {
        frame::decode(self.raw_params).map_err(|error| RpcError::from_decode(&error))
    }
}

/// The duty to answer one request, exactly once.
///
/// Dropped without an answer, also by a panic, it answers with an internal error.
#[must_use = "a request that is not answered gets an internal error"]
#[derive(Debug)]
pub struct Responder {
    shared: Arc<Shared>,
    id: RequestId,
    cancel: Arc<Cancel>,
}

impl Responder {
    pub(crate) fn new(shared: Arc<Shared>, id: RequestId, cancel: Arc<Cancel>) -> Self {
        Self { shared, id, cancel }
    }

    /// Returns the peer's id for the request.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// Gives the answer. Answers never wait and are written after everything sent before them.
    pub fn respond<T: Serialize>(self, answer: Result<T, RpcError>) {
        let frame = match answer {
            Ok(result) => Encoded::result(&self.id, &result).unwrap_or_else(|error| {
                tracing::error!(id = %self.id, %error, "the result cannot be encoded");
                Encoded::error(
                    &self.id,
                    &RpcError::internal("the result cannot be encoded"),
                )
            }),
            Err(error) => Encoded::error(&self.id, &error),
        };
        self.send(|| frame);
    }

    /// Works on the answer in a task of its own, which may call the peer and wait.
    ///
    /// When the peer cancels the request, or the link ends, the work is dropped; the answer to a cancelled request is -32800.
    pub fn run<T, F>(self, work: F)
    where
        T: Serialize + Send + 'static,
        F: Future<Output = Result<T, RpcError>> + Send + 'static,
    {
        tokio::spawn(async move {
            let answer = tokio::select! {
                biased;
                answer = work => answer,
                () = self.cancelled() => Err(RpcError::cancelled()),
            };
            self.respond(answer);
        });
    }

    /// Waits until the peer no longer wants the result, or the link ends. The request must still be answered.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn cancelled(&self) {
        self.cancel.asked().await;
    }

    /// Calls `hook` when the peer no longer wants the result, or the link ends; at once if that has happened already.
    ///
    /// It runs on the link's task and must not wait. An answer drops it. A later hook takes the place of an earlier one.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        self.cancel.on_asked(Box::new(hook));
    }

    /// Returns a handle on the peer's wish, for code that must not hold the responder when it comes.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        Cancellation(Arc::clone(&self.cancel))
    }

    /// Returns whether the peer no longer wants the result, or the link ended.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_asked()
    }

    fn send(&self, frame: impl FnOnce() -> Encoded) {
        self.shared.served.end(&self.id, || {
            if self.shared.outbox.send_now(frame()).is_err() {
                tracing::debug!(id = %self.id, "the link closed before the answer");
            }
        });
    }
}

/// The peer's wish that a request is not served any further.
#[derive(Debug)]
pub struct Cancellation(Arc<Cancel>);

impl Cancellation {
    /// Calls `hook` as [`Responder::on_cancel`] does.
    pub fn on_asked(&self, hook: impl FnOnce() + Send + 'static) {
        self.0.on_asked(Box::new(hook));
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        // After an answer this finds nothing to end and sends nothing.
        self.send(|| {
            let error = RpcError::internal("the request was dropped without an answer");
            Encoded::error(&self.id, &error)
        });
    }
}
