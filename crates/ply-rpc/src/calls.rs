//! Our own requests that wait for an answer.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::answered::Teller;
use crate::limits::DEADLINES_MISSED_MAX;
use crate::outbox::Ticket;
use crate::{CallError, Closed, RpcError};

/// What the link hands to the task that called.
pub(crate) type Outcome = Result<Box<RawValue>, Failure>;

/// Why the link hands over no result.
#[derive(Debug)]
pub(crate) enum Failure {
    Peer(RpcError),
    Closed(Closed),
    BadAnswer(&'static str),
    Deadline(Duration),
}

impl Failure {
    /// Says it in the words of the call.
    pub(crate) fn into_error(self, method: &str) -> CallError {
        let method = method.into();
        match self {
            Self::Peer(error) => CallError::Peer(error),
            Self::Closed(reason) => CallError::Closed { method, reason },
            Self::Deadline(after) => CallError::Deadline { method, after },
            Self::BadAnswer(reason) => CallError::BadAnswer {
                method,
                reason: reason.into(),
            },
        }
    }
}

/// Who gets the outcome.
pub(crate) enum Waiter {
    /// A task that waits for it.
    Task(Teller<Outcome>),
    /// Code that the link's task runs, in the answer's place among the messages, and that returns whom to wake.
    Then(Box<dyn FnOnce(Outcome) -> Option<Waker> + Send>),
}

impl Waiter {
    /// Returns whom to wake.
    #[must_use]
    pub(crate) fn tell_quietly(self, outcome: Outcome) -> Option<Waker> {
        match self {
            Self::Task(task) => task.tell(outcome),
            Self::Then(then) => {
                let told = catch_unwind(AssertUnwindSafe(|| then(outcome)));
                told.unwrap_or_else(|_| {
                    tracing::error!("the code that takes an answer panicked");
                    None
                })
            }
        }
    }

    pub(crate) fn tell(self, outcome: Outcome) {
        if let Some(waker) = self.tell_quietly(outcome) {
            waker.wake();
        }
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Task(_) => "Task",
            Self::Then(_) => "Then",
        })
    }
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
    /// The calls that the link's task gives up in time, the next one first.
    deadlines: BTreeSet<(Instant, i64)>,
    /// When the link's task looks at them next.
    clock: Option<Instant>,
    closed: Option<Closed>,
    /// Deadlines missed in a row, per method.
    missed: HashMap<Box<str>, u8>,
}

#[derive(Debug)]
struct Pending {
    waiter: Waiter,
    patience: Patience,
    deadline: Option<Deadline>,
    /// The place of the request, while it has not left.
    waits: Option<Ticket>,
    /// Whether the peer was told that the answer is no longer wanted.
    cancelled: bool,
}

/// What waits besides a new call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    /// How many calls, with the new one.
    pub(crate) calls: usize,
    /// Whether the link's task has to set its clock for it.
    pub(crate) needs_clock: bool,
}

/// A call that the link's task gives up.
#[derive(Debug)]
pub(crate) struct GivenUp {
    pub(crate) id: i64,
    pub(crate) waiter: Waiter,
    pub(crate) deadline: Deadline,
    pub(crate) waits: Option<Ticket>,
    pub(crate) cancelled: bool,
}

/// What there is to do about a call that is cancelled.
#[derive(Debug)]
pub(crate) enum ToCancel {
    /// The peer has to be told.
    Tell,
    /// The request may not have left.
    Withdraw(Ticket),
}

/// When the link's task gives a call up, and what it needs to know for that.
#[derive(Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    pub(crate) after: Duration,
    pub(crate) method: Box<str>,
}

/// How a response was used.
#[derive(Debug)]
pub(crate) enum Resolved {
    /// It is for a call that waits; whoever resolves it tells the waiter.
    Waited(Waiter),
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
        waiter: Waiter,
        deadline: Option<Deadline>,
    ) -> Result<Waiting, (Closed, Waiter)> {
        let mut state = self.lock();
        if let Some(closed) = &state.closed {
            return Err((closed.clone(), waiter));
        }
        state.urgent += usize::from(patience == Patience::Urgent);
        let at = deadline.as_ref().map(|deadline| deadline.at);
        state.deadlines.extend(at.map(|at| (at, id)));
        let rings_before = |at| state.clock.is_some_and(|clock| clock <= at);
        let needs_clock = at.is_some_and(|at| !rings_before(at));
        let pending = Pending {
            waiter,
            patience,
            deadline,
            waits: None,
            cancelled: false,
        };
        state.pending.insert(id, pending);
        Ok(Waiting {
            calls: state.pending.len(),
            needs_clock,
        })
    }

    /// Notes that the request has not left yet, for the case that it is given up.
    pub(crate) fn waits(&self, id: i64, ticket: Ticket) {
        if let Some(pending) = self.lock().pending.get_mut(&id) {
            pending.waits = Some(ticket);
        }
    }

    /// Notes that a call is cancelled; none if it is answered, or was cancelled before.
    pub(crate) fn cancel(&self, id: i64) -> Option<ToCancel> {
        let mut state = self.lock();
        let pending = state.pending.get_mut(&id)?;
        if std::mem::replace(&mut pending.cancelled, true) {
            return None;
        }
        Some(pending.waits.map_or(ToCancel::Tell, ToCancel::Withdraw))
    }

    /// Returns when the link's task has to look for calls that waited too long, given when its clock rings next. A clock that
    /// rings too early is left alone: to set it for each call would cost more than a look now and then.
    pub(crate) fn next_look(&self, clock: Option<Instant>) -> Option<Instant> {
        let mut state = self.lock();
        let next = state.deadlines.first().map(|(at, _)| *at);
        state.clock = match (clock, next) {
            (Some(clock), Some(next)) => Some(clock.min(next)),
            (clock, next) => clock.or(next),
        };
        state.clock
    }

    /// Takes out a call whose time is over by `now`; whoever takes it fails it.
    pub(crate) fn take_overdue(&self, now: Instant) -> Option<GivenUp> {
        let mut state = self.lock();
        let (_, id) = *state.deadlines.first().filter(|(at, _)| *at <= now)?;
        let pending = state.take(id)?;
        Some(GivenUp {
            id,
            waiter: pending.waiter,
            deadline: pending.deadline?,
            waits: pending.waits,
            cancelled: pending.cancelled,
        })
    }

    /// Stops waiting for `id`; returns who waited, if it was still waited for.
    pub(crate) fn forget(&self, id: i64) -> Option<Waiter> {
        // Out of the lock's scope before it can be dropped.
        let pending = self.lock().take(id);
        pending.map(|pending| pending.waiter)
    }

    /// Takes out the call that an answer is for.
    pub(crate) fn resolve(&self, id: Option<i64>) -> Resolved {
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
        if let Some(deadline) = &pending.deadline {
            state.missed.remove(&deadline.method);
        }
        Resolved::Waited(pending.waiter)
    }

    /// Fails everything that waits, and everything that ever will.
    pub(crate) fn close(&self, reason: &Closed) {
        let pending = {
            let mut state = self.lock();
            state.closed.get_or_insert_with(|| reason.clone());
            state.urgent = 0;
            state.deadlines.clear();
            std::mem::take(&mut state.pending)
        };
        for (_, call) in pending {
            call.waiter.tell(Err(Failure::Closed(reason.clone())));
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
        if let Some(deadline) = &pending.deadline {
            self.deadlines.remove(&(deadline.at, id));
        }
        Some(pending)
    }
}
