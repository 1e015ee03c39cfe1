//! Calls whose answer takes effect in its place among the peer's messages.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, Sleep};

use crate::answered::{self, Answered};
use crate::calls::{Deadline, Failure, Outcome, ToCancel, Waiter};
use crate::frame::Encoded;
use crate::outbox::{Admission, OutboxClosed};
use crate::peer::Shared;
use crate::{CallError, CallOptions, Peer, RpcError};

/// The raw answer to a call.
pub type RawAnswer = Result<Box<RawValue>, CallError>;

impl Peer {
    /// Asks, and runs `then` with the answer before any later message of the peer is handed over.
    ///
    /// It runs exactly once and must not wait: on the link's task, like a [`Handler`](crate::Handler), or on a task of its own
    /// if the request cannot be made, but never before this returns. That the deadline passes or the link ends is told to it as
    /// an error. The returned handle cancels the call; dropping it changes nothing.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with time enabled.
    pub fn call_then(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
        options: CallOptions,
        then: impl FnOnce(RawAnswer) + Send + 'static,
    ) -> OrderedCall {
        let shared = Arc::clone(&self.shared);
        let id = shared.calls.next_id();
        self.begin(id, method, params, options, told(then));
        OrderedCall { shared, id }
    }

    /// Asks, has `read` look at the answer in the same way, and returns what it made of it.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with time enabled.
    pub fn call_read<T: Send + 'static>(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
        options: CallOptions,
        read: impl FnOnce(RawAnswer) -> T + Send + 'static,
    ) -> (OrderedCall, Answered<T>) {
        let shared = Arc::clone(&self.shared);
        let id = shared.calls.next_id();
        let (teller, answered) = answered::pair();
        let then = move |answer| teller.tell(read(answer));
        self.begin(id, method, params, options, then);
        (OrderedCall { shared, id }, answered)
    }

    fn begin(
        &self,
        id: i64,
        method: &str,
        params: &(impl Serialize + ?Sized),
        options: CallOptions,
        then: impl FnOnce(RawAnswer) -> Option<Waker> + Send + 'static,
    ) {
        match Encoded::request(id, method, params) {
            Ok(frame) => self.send_then(id, method, frame, options, then),
            Err(error) => {
                let (method, reason) = (method.into(), error.to_string().into());
                fail(then, CallError::Encode { method, reason });
            }
        }
    }

    /// Does the same with params that `write` appends, as JSON of about so many bytes.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with time enabled.
    pub fn call_json_then(
        &self,
        method: &'static str,
        (bytes, write): (usize, impl FnOnce(&mut Vec<u8>)),
        options: CallOptions,
        then: impl FnOnce(RawAnswer) + Send + 'static,
    ) {
        let id = self.shared.calls.next_id();
        let frame = Encoded::request_by(id, method, bytes, write);
        self.send_then(id, method, frame, options, told(then));
    }

    fn send_then(
        &self,
        id: i64,
        method: &str,
        frame: Encoded,
        options: CallOptions,
        then: impl FnOnce(RawAnswer) -> Option<Waker> + Send + 'static,
    ) {
        let shared = &*self.shared;
        if let Some(times) = shared.calls.switched_off(method) {
            let method = method.into();
            return fail(then, CallError::Unresponsive { method, times });
        }
        let deadline = options.deadline.and_then(|after| {
            Some(Deadline {
                // One that is too far away to be told is none.
                at: Instant::now().checked_add(after)?,
                after,
                method: method.into(),
            })
        });
        let method: Box<str> = method.into();
        let waiter = Waiter::Then(Box::new(move |outcome: Outcome| {
            then(outcome.map_err(|failure| failure.into_error(&method)))
        }));
        let patience = options.patience();
        let waiting = match shared.calls.wait_for(id, patience, waiter, deadline) {
            Ok(waiting) => waiting,
            Err((reason, waiter)) => return tell_later(waiter, Failure::Closed(reason)),
        };
        match shared.send_request(frame, waiting) {
            Ok(Admission::Entered) => {}
            Ok(Admission::Waits(ticket)) => shared.calls.waits(id, ticket),
            Err(OutboxClosed) => {
                // Unless the end of the link has told it meanwhile.
                if let Some(waiter) = shared.calls.forget(id) {
                    tell_later(waiter, Failure::Closed(shared.reason()));
                }
                return;
            }
        }
        if waiting.needs_clock {
            // Also while nothing can be written.
            shared.outbox.wake();
        }
    }
}

/// A call whose answer goes to the code that was given with it.
#[derive(Debug, Clone)]
pub struct OrderedCall {
    shared: Arc<Shared>,
    id: i64,
}

impl OrderedCall {
    /// Tells the peer once, by `$/cancel_request`, that the answer is no longer wanted. The peer still answers, and the code gets
    /// that. A call that was answered is left alone.
    ///
    /// A request that waits for its turn is withdrawn instead; then the code runs here, with [`RpcError::REQUEST_CANCELLED`].
    pub fn cancel(&self) {
        let shared = &*self.shared;
        match shared.calls.cancel(self.id) {
            Some(ToCancel::Withdraw(ticket)) if shared.outbox.withdraw(ticket) => {
                if let Some(waiter) = shared.calls.forget(self.id) {
                    waiter.tell(Err(Failure::Peer(RpcError::cancelled())));
                }
            }
            Some(_) => shared.tell_cancelled(self.id),
            None => {}
        }
    }

    /// Cancels the call and drops the code, whatever the peer answers.
    pub fn abandon(&self) {
        let shared = &*self.shared;
        let cancel = shared.calls.cancel(self.id);
        // Unless it runs at this very moment.
        drop(shared.calls.forget(self.id));
        match cancel {
            Some(ToCancel::Withdraw(ticket)) if shared.outbox.withdraw(ticket) => {}
            Some(_) => shared.tell_cancelled(self.id),
            None => {}
        }
    }
}

/// Not at once, since whoever asks may hold a lock that the code behind it takes.
fn fail(then: impl FnOnce(RawAnswer) -> Option<Waker> + Send + 'static, error: CallError) {
    tokio::spawn(async move {
        if let Some(waker) = then(Err(error)) {
            waker.wake();
        }
    });
}

/// Code that wakes whom it wants to by itself.
fn told(
    then: impl FnOnce(RawAnswer) + Send + 'static,
) -> impl FnOnce(RawAnswer) -> Option<Waker> + Send + 'static {
    |answer| {
        then(answer);
        None
    }
}

fn tell_later(waiter: Waiter, failure: Failure) {
    tokio::spawn(async move { waiter.tell(Err(failure)) });
}

/// The clock of the calls that the link's task gives up.
#[derive(Debug, Default)]
pub(crate) struct Overdue(Option<Pin<Box<Sleep>>>);

impl Overdue {
    /// Gives up what waited too long, and sees to it that the task is woken for what is next.
    pub(crate) fn poll(&mut self, shared: &Shared, cx: &mut Context<'_>) {
        loop {
            let set = self.0.as_ref().filter(|sleep| !sleep.is_elapsed());
            let Some(at) = shared.calls.next_look(set.map(|sleep| sleep.deadline())) else {
                return;
            };
            let sleep = self
                .0
                .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
            if sleep.deadline() != at {
                sleep.as_mut().reset(at);
            }
            if sleep.as_mut().poll(cx).is_pending() {
                return;
            }
            while let Some(call) = shared.calls.take_overdue(at) {
                // A request that never left says nothing about the peer.
                if !call
                    .waits
                    .is_some_and(|ticket| shared.outbox.withdraw(ticket))
                {
                    // Nor does one that is not answered because nobody wants the answer.
                    if !call.cancelled {
                        shared.calls.deadline_missed(&call.deadline.method);
                        shared.tell_cancelled(call.id);
                    }
                }
                let after = call.deadline.after;
                call.waiter.tell(Err(Failure::Deadline(after)));
            }
        }
    }
}
