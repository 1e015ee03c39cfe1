//! One turn: the events of a prompt, and how it ended.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use ply_wire::v2;
use tokio::time::{Instant, Sleep};

use crate::agent::Agent;
use crate::event::{Event, TurnId};
use crate::limits::{CANCEL_IGNORED_TIME_MAX, CANCEL_TIME_MAX, QUIET_TIME};
use crate::session::hold::Hold;
use crate::session::readers::{Queue, Taken, next_of};
use crate::{Error, TurnError};

pub(crate) type TurnResult = Result<TurnEnd, TurnError>;

/// How a turn ended.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TurnEnd {
    /// Why the agent stopped. None if it did not say, which is no success: nothing is known of how the turn went.
    pub stop_reason: Option<v2::StopReason>,
    /// The user's message that the prompt became, if the agent said so.
    pub message_id: Option<v2::MessageId>,
}

impl TurnEnd {
    pub(crate) fn new(
        stop_reason: Option<v2::StopReason>,
        message_id: Option<v2::MessageId>,
    ) -> Self {
        Self {
            stop_reason,
            message_id,
        }
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(Some(v2::StopReason::Cancelled), None)
    }

    /// Returns whether the agent refused. Then the prompt and all that came after it is no longer in its context, which a
    /// person should be shown.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.stop_reason == Some(v2::StopReason::Refusal)
    }

    /// Returns whether the turn was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.stop_reason == Some(v2::StopReason::Cancelled)
    }
}

/// A prompt and what the agent does about it.
///
/// Dropping a turn does not end it: the agent goes on, the transcript grows, only the events are no longer kept. Questions that
/// were not read stay open and are told to streams of [`Session::events`](crate::Session::events). A turn that is held and not
/// read holds up nobody: when too much waits, events are dropped, and the reader goes on with [`Event::Lagged`] and the transcript.
#[must_use = "a turn that is dropped goes on, and its questions wait for somebody else to answer them"]
pub struct Turn {
    session: Hold,
    /// Keeps the agent running while its turn is read.
    _agent: Agent,
    id: u64,
    batch: Queue,
    end: Option<TurnResult>,
    heard_at: Instant,
    quiet_told: bool,
    overdue_told: bool,
    clock: Option<Pin<Box<Sleep>>>,
}

impl Turn {
    pub(crate) fn new(session: Hold, agent: Agent, id: u64) -> Self {
        Self {
            session,
            _agent: agent,
            id,
            batch: Queue::new(),
            end: None,
            heard_at: Instant::now(),
            quiet_told: false,
            overdue_told: false,
            clock: None,
        }
    }

    /// Returns the turn's id, which the events of [`Session::events`](crate::Session::events) name.
    #[must_use]
    pub fn id(&self) -> TurnId {
        TurnId(self.id)
    }

    /// Waits for the next event; none when the turn has ended.
    ///
    /// # Errors
    ///
    /// The turn failed or its agent died, once, as the last thing before the end.
    ///
    /// # Cancel safety
    ///
    /// No event is lost when it is dropped.
    #[doc(alias = "read_update")]
    pub async fn next(&mut self) -> Option<Result<Event, TurnError>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Reads the turn to its end and returns how it ended. Questions are left to whoever reads a stream of
    /// [`Session::events`](crate::Session::events), and to other clients of the session.
    ///
    /// # Errors
    ///
    /// The turn failed or its agent died; [`TurnError::CancelIgnored`] if the turn was cancelled and did not end within
    /// [`CANCEL_IGNORED_TIME_MAX`].
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the turn, which goes on by itself. To stop the work after a time, wait for `next` with a timeout, then
    /// [`cancel`](Self::cancel) the turn and read on.
    pub async fn finish(mut self) -> Result<TurnEnd, TurnError> {
        let mut deadline = None;
        loop {
            let event = match deadline {
                None => self.next().await,
                // An agent that never stops talking is always ready, so the clock is looked at first.
                Some(at) if Instant::now() >= at => return Err(cancel_ignored()),
                Some(at) => match tokio::time::timeout_at(at, self.next()).await {
                    Ok(event) => event,
                    Err(_) => return Err(cancel_ignored()),
                },
            };
            let Some(event) = event else {
                break;
            };
            event?;
            if deadline.is_none() {
                let cancelled_at = self.session.lock().cancelled_at(self.id);
                deadline = cancelled_at.map(|at| at + CANCEL_IGNORED_TIME_MAX);
            }
        }
        match self.end.take() {
            Some(end) => end,
            None => Err(TurnError::SessionClosed),
        }
    }

    /// Returns why the agent stopped, once the turn has ended well.
    #[must_use]
    pub fn stop_reason(&self) -> Option<&v2::StopReason> {
        self.end()?.stop_reason.as_ref()
    }

    /// Returns how the turn ended, once it has ended well and all its events were read.
    #[must_use]
    pub fn end(&self) -> Option<&TurnEnd> {
        self.end.as_ref()?.as_ref().ok()
    }

    /// Returns the id of the user's message that the prompt became, once known.
    #[must_use]
    pub fn message_id(&self) -> Option<v2::MessageId> {
        self.session.lock().message_id(self.id)
    }

    /// Stops the turn: one that waits is dropped, a running one is cancelled with all work of its session. Go on reading: what
    /// the agent still says is shown, and then the turn ends.
    ///
    /// # Errors
    ///
    /// None today; a turn that has ended is left as it is.
    ///
    /// # Cancel safety
    ///
    /// Everything happens at once.
    pub async fn cancel(&self) -> Result<(), Error> {
        self.session.cancel_turn(self.id);
        Ok(())
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, TurnError>>> {
        loop {
            if let Some((_, event)) = next_of(&mut self.batch) {
                return Poll::Ready(Some(Ok(event)));
            }
            if self.end.is_some() {
                return Poll::Ready(None);
            }
            match self.session.poll_take(self.id, &mut self.batch, cx) {
                Poll::Ready(Some(Taken::Events)) => {
                    self.heard_at = Instant::now();
                    self.quiet_told = false;
                }
                Poll::Ready(Some(Taken::Ended(end))) => {
                    let failure = end.as_ref().err().cloned();
                    self.end = Some(end);
                    return Poll::Ready(failure.map(Err));
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return self.poll_clock(cx).map(|event| Some(Ok(event))),
            }
        }
    }

    /// Waits for the time at which silence or a cancellation without effect is worth telling.
    fn poll_clock(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        loop {
            let Some(due) = self.due() else {
                return Poll::Pending;
            };
            let clock = self
                .clock
                .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
            // One that is set too early is looked at again when it rings, which is cheaper than setting it at each event.
            if clock.is_elapsed() || clock.deadline() > due {
                clock.as_mut().reset(due);
            }
            if clock.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let now = Instant::now();
            if now < due {
                continue;
            }
            let cancelled_at = self.session.lock().cancelled_at(self.id);
            if cancelled_at.is_some_and(|at| at + CANCEL_TIME_MAX <= now) && !self.overdue_told {
                self.overdue_told = true;
                return Poll::Ready(Event::CancelOverdue);
            }
            self.quiet_told = true;
            let for_s = now.duration_since(self.heard_at).as_secs();
            return Poll::Ready(Event::Quiet { for_s });
        }
    }

    fn due(&mut self) -> Option<Instant> {
        let (overdue, is_sent, waits_for_user) = {
            let state = self.session.lock();
            let overdue = state.cancelled_at(self.id).map(|at| at + CANCEL_TIME_MAX);
            (overdue, state.is_sent(self.id), state.waits_for_user())
        };
        let overdue = overdue.filter(|_| !self.overdue_told);
        // While somebody else has to act first, the agent's silence means nothing.
        if !is_sent || waits_for_user {
            self.heard_at = Instant::now();
        }
        let quiet = (!self.quiet_told).then(|| self.heard_at + QUIET_TIME);
        match (overdue, quiet) {
            (Some(overdue), Some(quiet)) => Some(overdue.min(quiet)),
            (overdue, quiet) => overdue.or(quiet),
        }
    }
}

fn cancel_ignored() -> TurnError {
    TurnError::CancelIgnored {
        after: CANCEL_IGNORED_TIME_MAX,
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.session.remove_reader(self.id);
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn")
            .field("session", &self.session.id)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}
