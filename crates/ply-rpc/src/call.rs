//! One request of ours, from its queueing to its answer.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::Sleep;

use crate::answered::{self, Answered};
use crate::calls::{Outcome, Patience, Waiter};
use crate::frame::Encoded;
use crate::outbox::{Admission, OutboxClosed, Ticket};
use crate::peer::Shared;
use crate::{CallError, Closed, RpcError, decode_reason};

/// How long to wait for an answer, and what may happen meanwhile.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct CallOptions {
    pub(crate) deadline: Option<Duration>,
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

    pub(crate) fn patience(self) -> Patience {
        if self.patient {
            Patience::Patient
        } else {
            Patience::Urgent
        }
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

enum Progress {
    /// The request waits its turn, or is out; the answer will come here.
    Asked {
        answer: Answered<Outcome>,
        waits: Option<Ticket>,
        cancelled: bool,
    },
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
        let progress = Self::queue(&shared, id, method, encoded, options);
        let sleep = |after| (after, Box::pin(tokio::time::sleep(after)));
        Self {
            progress: progress.unwrap_or_else(Progress::Failed),
            deadline: options.deadline.map(sleep),
            shared,
            id,
            method: method.into(),
            result: PhantomData,
        }
    }

    fn queue(
        shared: &Shared,
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
            let method = method.into();
            return Err(CallError::Unresponsive { method, times });
        }
        let closed = |reason| CallError::Closed {
            method: method.into(),
            reason,
        };
        let (task, answer) = answered::pair();
        let waits = shared
            .calls
            .wait_for(id, options.patience(), Waiter::Task(task), None);
        let waiting = waits.map_err(|(reason, _)| closed(reason))?;
        let waits = match shared.send_request(frame, waiting) {
            Ok(Admission::Entered) => None,
            Ok(Admission::Waits(ticket)) => Some(ticket),
            Err(OutboxClosed) => {
                shared.calls.forget(id);
                return Err(closed(shared.reason()));
            }
        };
        Ok(Progress::Asked {
            answer,
            waits,
            cancelled: false,
        })
    }

    /// Returns our id for the request.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Tells the peer that the answer is no longer wanted. It still answers, and that can be awaited.
    ///
    /// A request that waits for its turn is withdrawn instead, and fails as cancelled.
    pub fn cancel(&mut self) {
        if self.stop_asking() {
            self.shared.calls.forget(self.id);
            self.progress = Progress::Failed(CallError::Peer(RpcError::cancelled()));
        }
    }

    /// Takes the request back, or tells the peer once that it is no longer wanted; returns whether it was taken back.
    fn stop_asking(&mut self) -> bool {
        let Progress::Asked {
            waits, cancelled, ..
        } = &mut self.progress
        else {
            return false;
        };
        if waits.is_some_and(|ticket| self.shared.outbox.withdraw(ticket)) {
            return true;
        }
        if !std::mem::replace(cancelled, true) {
            self.shared.tell_cancelled(self.id);
        }
        false
    }

    fn closed(&self, reason: Closed) -> CallError {
        CallError::Closed {
            method: self.method.clone(),
            reason,
        }
    }

    fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome, CallError>> {
        match &mut self.progress {
            Progress::Asked { answer, .. } => match Pin::new(answer).poll(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(outcome) => {
                    self.progress = Progress::Over;
                    Poll::Ready(outcome.ok_or_else(|| self.closed(self.shared.reason())))
                }
            },
            Progress::Failed(error) => {
                let error = error.clone();
                self.progress = Progress::Over;
                Poll::Ready(Err(error))
            }
            // Polled after it was ready, which futures may answer as they like but not with a panic.
            Progress::Over => Poll::Pending,
        }
    }

    fn read(&self, outcome: Outcome) -> Result<R, CallError>
    where
        R: DeserializeOwned,
    {
        if self.deadline.is_some() {
            self.shared.calls.deadline_kept(&self.method);
        }
        let result = outcome.map_err(|failure| failure.into_error(&self.method))?;
        serde_json::from_str(result.get()).map_err(|error| CallError::BadAnswer {
            method: self.method.clone(),
            reason: decode_reason(&error).into(),
        })
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
        // A request that never left says nothing about the peer, nor does one whose answer nobody wants.
        let is_unwanted = matches!(
            self.progress,
            Progress::Asked {
                cancelled: true,
                ..
            }
        );
        if !self.give_up() && !is_unwanted {
            self.shared.calls.deadline_missed(&self.method);
        }
        Poll::Ready(Err(CallError::Deadline {
            method: self.method.clone(),
            after,
        }))
    }
}

impl<R> InFlight<R> {
    /// Stops waiting; returns whether the request was taken back before it left.
    fn give_up(&mut self) -> bool {
        let waited_for = self.shared.calls.forget(self.id).is_some();
        let taken_back = waited_for && self.stop_asking();
        self.progress = Progress::Over;
        taken_back
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
