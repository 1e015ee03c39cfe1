//! Our own requests that wait for an answer.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::limits::DEADLINES_MISSED_MAX;
use crate::{Closed, RpcError};

/// What the link hands to the task that called.
pub(crate) type Outcome = Result<Box<RawValue>, Failure>;

/// Why the link hands over no result.
#[derive(Debug)]
pub(crate) enum Failure {
    Peer(RpcError),
    Closed(Closed),
    BadAnswer(&'static str),
}

/// Whether a call may hold up the handler's wish for a pause in reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// The caller blocks on the answer: reading goes on until it is there.
    Urgent,
    /// The answer ends a long exchange, whose messages the caller takes in meanwhile.
    Patient,
}

#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last_id: i64,
    pending: HashMap<i64, Pending>,
    urgent: usize,
    closed: Option<Closed>,
    /// Deadlines missed in a row, per method.
    missed: HashMap<Box<str>, u8>,
}

#[derive(Debug)]
struct Pending {
    answer: oneshot::Sender<Outcome>,
    patience: Patience,
}

/// How a response was used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// It answered a waiting call.
    Answered,
    /// It came for a call of ours that no longer waits.
    Late,
    /// It is for no call of ours.
    Unknown,
}

impl Calls {
    /// Returns an id that was never used on this link.
    pub(crate) fn next_id(&self) -> i64 {
        let mut state = self.lock();
        state.last_id += 1;
        state.last_id
    }

    pub(crate) fn wait_for(
        &self,
        id: i64,
        patience: Patience,
    ) -> Result<oneshot::Receiver<Outcome>, Closed> {
        let mut state = self.lock();
        if let Some(closed) = &state.closed {
            return Err(closed.clone());
        }
        let (answer, receiver) = oneshot::channel();
        state.pending.insert(id, Pending { answer, patience });
        state.urgent += usize::from(patience == Patience::Urgent);
        Ok(receiver)
    }

    /// Stops waiting for `id`; returns whether it was still waited for.
    pub(crate) fn forget(&self, id: i64) -> bool {
        self.lock().take(id).is_some()
    }

    pub(crate) fn resolve(&self, id: Option<i64>, outcome: impl FnOnce() -> Outcome) -> Resolved {
        let mut state = self.lock();
        let Some(id) = id else {
            return Resolved::Unknown;
        };
        let Some(pending) = state.take(id) else {
            let ours = (1..=state.last_id).contains(&id);
            return if ours {
                Resolved::Late
            } else {
                Resolved::Unknown
            };
        };
        drop(state);
        // The caller may have gone at this very moment; then nobody wants the answer.
        drop(pending.answer.send(outcome()));
        Resolved::Answered
    }

    /// Fails everything that waits, and everything that ever will.
    pub(crate) fn close(&self, reason: &Closed) {
        let pending = {
            let mut state = self.lock();
            state.closed.get_or_insert_with(|| reason.clone());
            state.urgent = 0;
            std::mem::take(&mut state.pending)
        };
        for (_, call) in pending {
            // As above: a caller that is gone needs no answer.
            drop(call.answer.send(Err(Failure::Closed(reason.clone()))));
        }
    }

    pub(crate) fn closed(&self) -> Option<Closed> {
        self.lock().closed.clone()
    }

    pub(crate) fn has_urgent(&self) -> bool {
        self.lock().urgent > 0
    }

    /// Returns how often `method` went unanswered, once that is too often.
    pub(crate) fn switched_off(&self, method: &str) -> Option<u8> {
        self.lock()
            .missed
            .get(method)
            .copied()
            .filter(|times| *times >= DEADLINES_MISSED_MAX)
    }

    pub(crate) fn deadline_missed(&self, method: &str) {
        let mut state = self.lock();
        let times = state.missed.entry(method.into()).or_default();
        *times = times.saturating_add(1);
    }

    pub(crate) fn deadline_kept(&self, method: &str) {
        self.lock().missed.remove(method);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, id: i64) -> Option<Pending> {
        let pending = self.pending.remove(&id)?;
        self.urgent -= usize::from(pending.patience == Patience::Urgent);
        Some(pending)
    }
}
