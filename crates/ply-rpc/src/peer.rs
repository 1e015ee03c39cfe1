//! The handle through which a program talks to the other side.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::Notify;

use crate::call::{CallOptions, InFlight};
use crate::calls::{Calls, Waiting};
use crate::frame::Encoded;
use crate::limits::DIRECT_CALLS_MAX;
use crate::noise::Noise;
use crate::outbox::{Admission, Gathered, Outbox, OutboxClosed, Quietly};
use crate::served::Served;
use crate::writing::Direct;
use crate::{CallError, Closed, Options};

/// The method that tells the other side that an answer is no longer wanted.
pub const CANCEL_REQUEST: &str = "$/cancel_request";

/// What the handle and the link's task share.
pub(crate) struct Shared {
    pub(crate) outbox: Outbox,
    pub(crate) calls: Calls,
    pub(crate) served: Served,
    pub(crate) noise: Mutex<Noise>,
    /// Why nothing can be written any more, while reading goes on.
    pub(crate) unwritable: OnceLock<Closed>,
    /// Set when the link's task is over.
    pub(crate) closed: OnceLock<Closed>,
    pub(crate) ended: Notify,
    /// Whether ids that are no ids are refused with null in place of themselves.
    pub(crate) odd_ids_get_null: AtomicBool,
    /// The writing half, which ends with the link.
    pub(crate) direct: Weak<dyn Direct>,
    pub(crate) options: Options,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("outbox", &self.outbox)
            .field("calls", &self.calls)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Sends a request: by the link's task, or from here if that sleeps and there is little else to send.
    pub(crate) fn send_request(
        &self,
        frame: Encoded,
        waiting: Waiting,
    ) -> Result<Admission, OutboxClosed> {
        let is_busy = waiting.calls > DIRECT_CALLS_MAX || waiting.needs_clock;
        if is_busy || !self.options.direct_writes {
            return self.outbox.send(frame);
        }
        match self.outbox.send_quietly(frame)? {
            Quietly::Sent(admission) => Ok(admission),
            Quietly::Yours => {
                self.write_or_wake();
                Ok(Admission::Entered)
            }
        }
    }

    /// Writes what is in the outbox from here, or has the link's task do it.
    fn write_or_wake(&self) {
        let direct = self.direct.upgrade();
        let is_done = direct.is_some_and(|direct| direct.write_now(&self.outbox));
        // Looked at afterwards: a link that began to drain meanwhile may have found that something was left, and only the link's
        // task calls everybody who waits for room.
        if !is_done || self.outbox.drains() || self.outbox.has_waiting_for_room() {
            self.outbox.wake();
        }
    }

    /// Ends the link for everyone: the first reason counts.
    pub(crate) fn close(&self, reason: &Closed) {
        self.calls.close(reason);
        self.outbox.close();
        // Before the requests are given up, so that whoever hears of it can see why.
        self.closed.get_or_init(|| reason.clone());
        self.served.cancel_all();
        self.ended.notify_waiters();
    }
}

/// The other side of a link. Clones talk to the same side.
#[derive(Debug, Clone)]
pub struct Peer {
    pub(crate) shared: Arc<Shared>,
}

impl Peer {
    /// Asks. The request is queued at once; await the returned call for the answer.
    ///
    /// # Errors
    ///
    /// [`CallError`] tells apart what the peer refused, what it left unanswered, and a link that is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the call before its answer tells the peer with `$/cancel_request` that it is no longer wanted.
    pub fn call<R>(&self, method: &str, params: &(impl Serialize + ?Sized)) -> InFlight<R> {
        self.call_with(method, params, CallOptions::default())
    }

    /// Asks under `options`.
    ///
    /// # Errors
    ///
    /// See [`Peer::call`].
    ///
    /// # Panics
    ///
    /// With a deadline, outside a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// See [`Peer::call`].
    pub fn call_with<R>(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> InFlight<R> {
        let id = self.shared.calls.next_id();
        let encoded = Encoded::request(id, method, params);
        InFlight::begin(Arc::clone(&self.shared), id, method, encoded, options)
    }

    /// Tells, waiting while too much is waiting to be written.
    ///
    /// # Errors
    ///
    /// The params cannot be encoded, or the link is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the message is not sent.
    pub async fn notify(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<(), CallError> {
        let frame = Self::encode_notification(method, params)?;
        // A sender that never waits would keep the link's task from writing on a runtime with one thread.
        tokio::task::coop::consume_budget().await;
        let admitted = match self.shared.outbox.send(frame) {
            Ok(Admission::Entered) => Ok(()),
            Ok(Admission::Waits(ticket)) => self.shared.outbox.admitted(ticket).await,
            Err(closed) => Err(closed),
        };
        admitted.map_err(|_| self.closed_error(method))
    }

    /// Tells without waiting, however much is waiting to be written.
    ///
    /// For rare, small messages that must get through, such as a cancellation. A stream of messages belongs in
    /// [`Peer::notify`].
    ///
    /// # Errors
    ///
    /// The params cannot be encoded, or the link is gone.
    pub fn notify_now(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<(), CallError> {
        let frame = Self::encode_notification(method, params)?;
        self.shared
            .outbox
            .send_now(frame)
            .map_err(|_| self.closed_error(method))
    }

    /// Tells as [`Peer::notify_now`] does, with params that are JSON already, in pieces that make one value.
    ///
    /// # Errors
    ///
    /// The link is gone.
    pub fn notify_json_now(&self, method: &str, params: &[&str]) -> Result<(), CallError> {
        self.shared
            .outbox
            .send_now(Encoded::notification_of(method, params))
            .map_err(|_| self.closed_error(method))
    }

    /// Sends a notification as [`Peer::notify_json_now`] does, without a copy of `body`. Worth it if the body is long: each part is
    /// written by itself.
    ///
    /// # Errors
    ///
    /// The link is gone.
    pub fn notify_shared_now(
        &self,
        method: &str,
        (before, body, after): (&str, Bytes, &str),
    ) -> Result<(), CallError> {
        let encoded = Encoded::notification_around(method, (before, body, after));
        let sent = self.shared.outbox.send_now(encoded);
        sent.map_err(|_| self.closed_error(method))
    }

    /// Holds back what is sent from now on, by anybody, until the returned value is dropped; then all of it is written at once, from
    /// there if the transport may run wherever messages are made ([`Options::direct_writes`]).
    ///
    /// For a task that sends several messages without waiting in between. It must not be kept across an `await`.
    #[must_use]
    pub fn gather(&self) -> Gather {
        self.shared.outbox.begin_gathering();
        Gather(self.clone())
    }

    /// Waits until what was sent so far fits the outgoing budget, in turn with everybody else who waits, or the link is gone.
    ///
    /// With it a sender that must not stop in the middle of something can send with [`Peer::notify_now`] and wait afterwards.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped, but the place in the row.
    pub async fn room(&self) {
        // A link that is gone has room for everything.
        self.shared.outbox.room().await;
    }

    /// Returns whether senders have to wait at present.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.shared.outbox.is_full()
    }

    fn encode_notification(
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<Encoded, CallError> {
        let encode = |error: serde_json::Error| CallError::Encode {
            method: method.into(),
            reason: error.to_string().into(),
        };
        Encoded::notification(method, params).map_err(encode)
    }

    fn closed_error(&self, method: &str) -> CallError {
        CallError::Closed {
            method: method.into(),
            reason: self.shared.reason(),
        }
    }

    /// Waits until everything sent so far is written, or the link is gone.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn flush(&self) {
        self.shared.outbox.flush().await;
    }

    /// Asks the link to write what is queued and end; calls that wait fail.
    pub fn close(&self) {
        self.shared.outbox.begin_close();
    }

    /// Waits until the link is over and returns why.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn closed(&self) -> Closed {
        loop {
            let ended = self.shared.ended.notified();
            if let Some(reason) = self.shared.closed.get() {
                return reason.clone();
            }
            ended.await;
        }
    }

    /// Returns why the link is over, once it is.
    #[must_use]
    pub fn closed_reason(&self) -> Option<Closed> {
        self.shared.closed.get().cloned()
    }

    /// Returns what the peer wrote that was no message.
    #[must_use]
    pub fn noise(&self) -> Noise {
        self.shared
            .noise
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Refuses requests whose id is a boolean or a fraction with a null id from now on, as some protocols want it. Unless this
    /// is called they get theirs back, which is of more use to whoever sent it.
    pub fn refuse_odd_ids_with_null(&self) {
        self.shared.odd_ids_get_null.store(true, Ordering::Relaxed);
    }

    /// Returns how many bytes wait to be written.
    #[must_use]
    pub fn queued_bytes(&self) -> usize {
        self.shared.outbox.queued_bytes()
    }
}

/// Messages that are written together; see [`Peer::gather`].
#[derive(Debug)]
pub struct Gather(Peer);

impl Drop for Gather {
    fn drop(&mut self) {
        let shared = &*self.0.shared;
        match shared.outbox.end_gathering() {
            Gathered::Nothing => {}
            Gathered::Yours if shared.options.direct_writes => shared.write_or_wake(),
            Gathered::Yours | Gathered::Wake => shared.outbox.wake(),
        }
    }
}

impl Shared {
    /// Tells the peer that the answer to our request is no longer wanted.
    pub(crate) fn tell_cancelled(&self, id: i64) {
        let params = serde_json::json!({ "requestId": id });
        let Ok(frame) = Encoded::notification(CANCEL_REQUEST, &params) else {
            return;
        };
        if self.outbox.send_now(frame).is_err() {
            tracing::debug!(id, "the link closed before the cancellation");
        }
    }

    pub(crate) fn reason(&self) -> Closed {
        let reason = self
            .calls
            .closed()
            .or_else(|| self.unwritable.get().cloned());
        reason.unwrap_or(Closed::Local)
    }
}
