//! How work ends before its time: cancelled, closed, or with the death of its agent.

use std::sync::Arc;

use ply_wire::convert;
use ply_wire::lift::Cancelled;
use ply_wire::link::Typed as _;
use ply_wire::negotiate::Version;
use ply_wire::transcript::Change;
use ply_wire::v2;
use tokio::time::Instant;

use super::cell::{SessionCell, State};
use crate::report::ReportKind;
use crate::turn::TurnEnd;
use crate::{PostMortem, TurnError};

/// What becomes of held prompts when the session is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    Drop,
    Keep,
}

impl SessionCell {
    /// Cancels the running work; held prompts are dropped.
    pub(crate) fn cancel(&self, held: Held) {
        let mut state = self.lock();
        if held == Held::Drop {
            let unsent = state.turns.iter().filter(|turn| !turn.sent);
            let unsent: Vec<u64> = unsent.map(|turn| turn.id).collect();
            for id in unsent {
                state.end_turn(id, Ok(TurnEnd::cancelled()));
            }
        }
        state.cancel_running(&self.id);
    }

    /// Cancels one turn: a held one is dropped, a running one is cancelled with the session's work.
    pub(crate) fn cancel_turn(&self, id: u64) {
        let is_held = {
            let mut state = self.lock();
            let Some(turn) = state.turns.iter().find(|turn| turn.id == id) else {
                return;
            };
            let is_held = !turn.sent;
            if is_held {
                state.end_turn(id, Ok(TurnEnd::cancelled()));
            }
            is_held
        };
        if !is_held {
            self.cancel(Held::Keep);
        }
    }

    /// Ends everything after the agent of this connection is gone.
    pub(crate) fn gone(&self, epoch: u64, end: &PostMortem) {
        let mut state = self.lock();
        match &state.wire {
            Some(wire) if wire.epoch == epoch => {
                if state.turns.iter().any(|turn| turn.sent) {
                    wire.routes.report(ReportKind::DiedInTurn, "");
                }
            }
            _ => return,
        }
        let cancelled = state.is_cancelling();
        state.end_work(cancelled);
        state.wire = None;
        state.opened = None;
        let turns: Vec<(u64, bool)> = state
            .turns
            .iter()
            .map(|turn| (turn.id, turn.cancelled_at.is_some()))
            .collect();
        for (id, cancelled) in turns {
            let result = if cancelled {
                Ok(TurnEnd::cancelled())
            } else {
                Err(TurnError::Interrupted(Box::new(end.clone())))
            };
            state.end_turn(id, result);
        }
    }

    /// Ends everything after the session was closed.
    pub(crate) fn close(self: &Arc<Self>) {
        let wire = {
            let mut state = self.lock();
            state.closed = true;
            state.opened = None;
            let wire = state.wire.take();
            let turns: Vec<u64> = state.turns.iter().map(|turn| turn.id).collect();
            for id in turns {
                state.end_turn(id, Err(TurnError::SessionClosed));
            }
            let State {
                readers,
                transcript,
                ..
            } = &mut *state;
            for stream in readers.streams_mut() {
                stream.end(Ok(TurnEnd::default()), transcript);
            }
            state.cancel_asks();
            wire
        };
        if let Some(wire) = wire {
            wire.routes.remove(self);
        }
    }
}

impl State {
    /// Tells the agent, shows unfinished calls as cancelled at once, and cancels what is asked (V1-CANCEL-03).
    fn cancel_running(&mut self, id: &v2::SessionId) {
        // In version 1 an open question may be all that is known of another client's turn.
        let is_running = self.turns.iter().any(|turn| turn.sent)
            || self.transcript.state().is_active()
            || !self.asks.is_empty();
        let Some(wire) = self.wire.clone().filter(|_| is_running) else {
            return;
        };
        let cancel = v2::CancelSessionNotification::new(id.clone());
        let told = match wire.version {
            Version::V1 => wire.peer.tell_now(&convert::session::cancel_down(&cancel)),
            Version::V2 => wire.peer.tell_now(&cancel),
        };
        if let Err(error) = told {
            tracing::debug!(%error, "the agent was gone before it could be told to stop");
        }
        let now = Instant::now();
        let mut woken = Vec::new();
        for turn in self.turns.iter_mut().filter(|turn| turn.sent) {
            turn.cancelled_at.get_or_insert(now);
            woken.push(turn.id);
        }
        for place in self.transcript.mark_cancelled() {
            let entry = self.transcript.entry(place);
            let Some(call) = entry.and_then(|entry| entry.as_tool_call()) else {
                continue;
            };
            let update =
                v2::ToolCallUpdate::new(call.id.clone()).status(v2::ToolCallStatus::Cancelled);
            let change = Change::Changed(place);
            self.deliver(v2::SessionUpdate::ToolCallUpdate(update), 0, change);
        }
        for id in woken {
            // Whoever waits for the turn now has a deadline to watch.
            if let Some(reader) = self.readers.get_mut(id) {
                reader.wake();
            }
        }
        self.cancel_asks();
    }

    /// Ends what the agent left open when it died.
    fn end_work(&mut self, cancelled: bool) {
        let error = v2::Error::new(
            v2::ErrorCode::InternalError.into(),
            "the agent stopped during the turn",
        );
        if self.lifter.is_some() {
            let cancelled = if cancelled {
                Cancelled::Yes
            } else {
                Cancelled::No
            };
            return self.lift(0, |lifter, out| lifter.agent_died(error, cancelled, out));
        }
        let status = if cancelled {
            v2::ToolCallStatus::Cancelled
        } else {
            v2::ToolCallStatus::Failed
        };
        let open: Vec<_> = self
            .transcript
            .tool_calls()
            .filter(|call| !call.is_finished())
            .map(|call| v2::ToolCallUpdate::new(call.id.clone()).status(status.clone()))
            .collect();
        for update in open {
            self.plain_fold(v2::SessionUpdate::ToolCallUpdate(update));
        }
        if self.transcript.state().is_active() {
            let reason = if cancelled {
                v2::StopReason::Cancelled
            } else {
                v2::StopReason::Error(v2::ErrorStopReason::new().error(error))
            };
            let idle = v2::IdleStateUpdate::new().stop_reason(reason);
            self.plain_fold(v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)));
        }
    }

    /// Folds and tells without drawing consequences for turns.
    fn plain_fold(&mut self, update: v2::SessionUpdate) {
        let change = self.transcript.apply(&update);
        self.deliver(update, 0, change);
    }
}
