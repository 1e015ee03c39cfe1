//! One request of ours, from its queueing to its answer.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use tokio::time::Sleep;

use crate::calls::{Failure, Outcome, Patience};
use crate::frame::Encoded;
use crate::outbox::OutboxClosed;
use crate::peer::{CANCEL_REQUEST, Shared};
use crate::{CallError, Closed, decode_reason};

/// How long to wait for an answer, and what may happen meanwhile.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct CallOptions {
    deadline: Option<Duration>,
    patient: bool,
}

impl CallOptions {
    /// Gives up after `deadline`, and after three misses in a row no longer asks this method.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Marks a call whose answer ends a long exchange, such as a prompt turn: the handler's
    /// [`poll_ready`](crate::Handler::poll_ready) keeps its say while the call waits.
    #[must_use]
    pub fn patient(mut self) -> Self {
        self.patient = true;
        self
    }
}

/// A request on its way. Await it for the answer; drop it to cancel.
#[must_use = "dropping a call cancels it"]
pub struct InFlight<R> {
    shared: Arc<Shared>,
    id: i64,
    method: Box<str>,
    progress: Progress,
    deadline: Option<(Duration, Pin<Box<Sleep>>)>,
    result: PhantomData<fn() -> R>,
}

type Pushing = Pin<Box<dyn Future<Output = Result<(), OutboxClosed>> + Send>>;

enum Progress {
    /// Over the outgoing budget, the request waits its turn.
    Queueing(Pushing, oneshot::Receiver<Outcome>),
    Asked(oneshot::Receiver<Outcome>),
    Failed(CallError),
    Over,
}

impl<R> InFlight<R> {
    pub(crate) fn begin(
        shared: Arc<Shared>,
        id: i64,
        method: &str,
        encoded: Result<Encoded, serde_json::Error>,
        options: CallOptions,
    ) -> Self {
        let progress =
            Self::queue(&shared, id, method, encoded, options).unwrap_or_else(Progress::Failed);
        let deadline = options
            .deadline
            .map(|after| (after, Box::pin(tokio::time::sleep(after))));
        Self {
            shared,
            id,
            method: method.into(),
            progress,
            deadline,
            result: PhantomData,
        }
    }

    fn queue(
        shared: &Arc<Shared>,
        id: i64,
        method: &str,
        encoded: Result<Encoded, serde_json::Error>,
        options: CallOptions,
    ) -> Result<Progress, CallError> {
        let frame = encoded.map_err(|error| CallError::Encode {
            method: method.into(),
            reason: error.to_string().into(),
        })?;
        if let Some(times) = shared.calls.switched_off(method) {
            return Err(CallError::Unresponsive {
                method: method.into(),
                times,
            });
        }
        let patience = if options.patient {
            Patience::Patient
        } else {
            Patience::Urgent
        };
        let closed = |reason| CallError::Closed {
            method: method.into(),
            reason,
        };
        let answer = shared.calls.wait_for(id, patience).map_err(closed)?;
        match shared.outbox.try_push(frame) {
            Ok(None) => Ok(Progress::Asked(answer)),
            Ok(Some(frame)) => {
                let shared = Arc::clone(shared);
                let pushing = Box::pin(async move { shared.outbox.push(frame).await });
                Ok(Progress::Queueing(pushing, answer))
            }
            Err(OutboxClosed) => {
                shared.calls.forget(id);
                Err(closed(shared.reason()))
            }
        }
    }

    /// Returns our id for the request.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Tells the peer that the answer is no longer wanted. It still answers, and that can be awaited.
    ///
    /// A request that is not even queued yet is withdrawn instead, and fails as cancelled.
    pub fn cancel(&mut self) {
        match self.progress {
            Progress::Asked(_) => self.tell_cancelled(),
            Progress::Queueing(..) => {
                self.shared.calls.forget(self.id);
                self.progress = Progress::Failed(CallError::Peer(crate::RpcError::cancelled()));
            }
            Progress::Failed(_) | Progress::Over => {}
        }
    }

    fn tell_cancelled(&self) {
        let params = serde_json::json!({ "requestId": self.id });
        let Ok(frame) = Encoded::notification(CANCEL_REQUEST, &params) else {
            return;
        };
        if self.shared.outbox.push_now(frame).is_err() {
            tracing::debug!(id = self.id, "the link closed before the cancellation");
        }
    }

    fn closed(&self, reason: Closed) -> CallError {
        CallError::Closed {
            method: self.method.clone(),
            reason,
        }
    }

    fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome, CallError>> {
        loop {
            match std::mem::replace(&mut self.progress, Progress::Over) {
                Progress::Queueing(mut pushing, answer) => match pushing.as_mut().poll(cx) {
                    Poll::Ready(Ok(())) => self.progress = Progress::Asked(answer),
                    Poll::Ready(Err(OutboxClosed)) => {
                        return Poll::Ready(Err(self.closed(self.shared.reason())));
                    }
                    Poll::Pending => {
                        self.progress = Progress::Queueing(pushing, answer);
                        return Poll::Pending;
                    }
                },
                Progress::Asked(mut answer) => match Pin::new(&mut answer).poll(cx) {
                    Poll::Ready(Ok(outcome)) => return Poll::Ready(Ok(outcome)),
                    Poll::Ready(Err(_)) => {
                        return Poll::Ready(Err(self.closed(self.shared.reason())));
                    }
                    Poll::Pending => {
                        self.progress = Progress::Asked(answer);
                        return Poll::Pending;
                    }
                },
                Progress::Failed(error) => return Poll::Ready(Err(error)),
                // Polled after it was ready, which futures may answer as they like but not with a panic.
                Progress::Over => return Poll::Pending,
            }
        }
    }

    fn read(&self, outcome: Outcome) -> Result<R, CallError>
    where
        R: DeserializeOwned,
    {
        if self.deadline.is_some() {
            self.shared.calls.deadline_kept(&self.method);
        }
        let bad = |reason: &str| CallError::BadAnswer {
            method: self.method.clone(),
            reason: reason.into(),
        };
        match outcome {
            Ok(result) => {
                serde_json::from_str(result.get()).map_err(|error| bad(&decode_reason(&error)))
            }
            Err(Failure::Peer(error)) => Err(CallError::Peer(error)),
            Err(Failure::BadAnswer(reason)) => Err(bad(reason)),
            Err(Failure::Closed(reason)) => Err(self.closed(reason)),
        }
    }
}

impl<R: DeserializeOwned> Future for InFlight<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(outcome) = self.poll_outcome(cx) {
            return Poll::Ready(outcome.and_then(|outcome| self.read(outcome)));
        }
        let Some((after, deadline)) = &mut self.deadline else {
            return Poll::Pending;
        };
        if deadline.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        let after = *after;
        self.shared.calls.deadline_missed(&self.method);
        self.give_up();
        Poll::Ready(Err(CallError::Deadline {
            method: self.method.clone(),
            after,
        }))
    }
}

impl<R> InFlight<R> {
    /// Stops waiting, and says so to the peer if it was asked and has not answered.
    fn give_up(&mut self) {
        let asked = matches!(self.progress, Progress::Asked(_));
        self.progress = Progress::Over;
        if self.shared.calls.forget(self.id) && asked {
            self.tell_cancelled();
        }
    }
}

impl<R> Drop for InFlight<R> {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl<R> std::fmt::Debug for InFlight<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InFlight")
            .field("id", &self.id)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}
