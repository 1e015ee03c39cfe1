//! The turn that runs: how it begins and ends, and which state it is in.

use ply_wire::transcript::State;
use ply_wire::v2;

use super::queue::Queued;
use super::{Action, Engine, Phase, Start};
use crate::{Event, Outcome, PromptId, Stop, TurnId, ViewId};

#[derive(Debug)]
pub(crate) struct ActiveTurn {
    pub(crate) id: TurnId,
    pub(crate) prompt: PromptId,
    pub(crate) cancelled: bool,
    /// Further prompts that it works on.
    pub(crate) steered: Vec<PromptId>,
    /// The clients whose prompts it works on; nobody for a turn of the agent's own.
    pub(crate) prompters: Vec<ViewId>,
}

impl ActiveTurn {
    pub(crate) fn new(id: TurnId, prompt: PromptId, prompter: Option<ViewId>) -> Self {
        Self {
            id,
            prompt,
            cancelled: false,
            steered: Vec::new(),
            prompters: prompter.into_iter().collect(),
        }
    }
}

impl Engine {
    /// Inserts the prompt that waits longest, if nothing runs.
    pub(super) fn start_next(&mut self, out: &mut Vec<Action>) {
        if self.turn.is_some() || self.phase != Phase::Open || self.history.is_paused() {
            return;
        }
        if let Some(queued) = self.queue.pop() {
            self.begin(queued, out);
        }
    }

    /// Inserts a prompt; nothing runs.
    pub(super) fn begin(&mut self, queued: Queued, out: &mut Vec<Action>) {
        self.leave_queue(&queued, out);
        let (view, mut message, mut said) = (queued.view, None, None);
        if let Some(view) = view {
            let id = v2::MessageId::new(self.fresh_id("msg"));
            let update = v2::UserMessage::new(id.clone()).content(queued.content);
            self.append(Event::Update(v2::SessionUpdate::UserMessage(update)), out);
            // Its id is new, so it is the last entry.
            said = self
                .history
                .transcript()
                .shared_entries()
                .next_back()
                .cloned();
            out.push(Action::Accept {
                prompt: queued.prompt,
                view,
                message: id.clone(),
            });
            message = Some(id);
        }
        self.ids += 1;
        let turn = TurnId(self.ids);
        self.turn = Some(ActiveTurn::new(turn, queued.prompt, view));
        self.set_state(v2::StateUpdate::Running(v2::RunningStateUpdate::new()), out);
        out.push(Action::StartTurn(Start {
            turn,
            prompt: queued.prompt,
            view,
            message,
            said,
        }));
    }

    pub(super) fn cancel_turn(&mut self, out: &mut Vec<Action>) {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.cancelled) else {
            return;
        };
        turn.cancelled = true;
        let turn = turn.id;
        // First, so that code which hears that its question is cancelled can see why.
        out.push(Action::CancelTurn { turn });
        self.cancel_asks(Some(turn), out);
    }

    pub(super) fn turn_ended(&mut self, turn: TurnId, outcome: Outcome, out: &mut Vec<Action>) {
        if self.running() != Some(turn) {
            return;
        }
        let stop = match outcome {
            // Whatever aborting led to, the user's cancel is what happened (V1-STOP-07).
            _ if self.is_cancelled() => v2::StopReason::Cancelled,
            Outcome::Stopped(stop) => stop.into(),
            Outcome::Failed(error) => {
                v2::StopReason::Error(v2::ErrorStopReason::new().error(error))
            }
        };
        self.end_turn(stop, out);
    }

    pub(super) fn turn_overdue(&mut self, turn: TurnId, out: &mut Vec<Action>) {
        if self.running() == Some(turn) && self.is_cancelled() {
            out.push(Action::AbandonTurn { turn });
            self.end_turn(Stop::Cancelled.into(), out);
        }
    }

    fn end_turn(&mut self, stop: v2::StopReason, out: &mut Vec<Action>) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        let status = match stop {
            v2::StopReason::Cancelled => v2::ToolCallStatus::Cancelled,
            _ => v2::ToolCallStatus::Failed,
        };
        self.cancel_asks(Some(turn.id), out);
        self.end_calls(Some(turn.id), status, out);
        // After a turn that came to its own end a command may go on in the background.
        if matches!(stop, v2::StopReason::Cancelled | v2::StopReason::Error(_)) {
            self.end_terminals(Some(turn.id), out);
        } else {
            self.terminals.all_outlive(turn.id);
        }
        let status = match stop {
            v2::StopReason::Cancelled => v2::CompactionStatus::Cancelled,
            _ => v2::CompactionStatus::Failed,
        };
        if let Some(id) = self.compacting.take() {
            self.end_compaction(id, status, out);
        }
        self.speaking = None;
        if self.pauses_after(&stop) {
            let notice = self.queue_is_paused();
            self.tell(v2::SessionUpdate::Notice(notice), out);
        }
        let idle = v2::IdleStateUpdate::new().stop_reason(stop.clone());
        self.set_state(v2::StateUpdate::Idle(idle), out);
        for prompt in turn.steered {
            let stop = stop.clone();
            out.push(Action::Settle { prompt, stop });
        }
        self.pause_after(&stop, out);
        out.push(Action::Settle {
            prompt: turn.prompt,
            stop,
        });
        match self.phase {
            Phase::Closing => self.finish_close(out),
            Phase::Open | Phase::Closed => self.start_next(out),
        }
    }

    /// Reports `requires_action` when the whole turn waits for the user, and `running` when it no
    /// longer does. While another tool call runs, the turn does not wait (V2-STATE-06).
    pub(crate) fn refresh_state(&mut self, out: &mut Vec<Action>) {
        let Some(turn) = self.turn.as_ref().filter(|turn| !turn.cancelled) else {
            return;
        };
        let turn = turn.id;
        let waits = self.asks.is_waiting(turn) && !self.calls.is_running(turn, &self.asks);
        match (self.history.state(), waits) {
            (State::Running, true) => {
                let state = v2::RequiresActionStateUpdate::new();
                self.set_state(v2::StateUpdate::RequiresAction(state), out);
            }
            (State::RequiresAction, false) => {
                self.set_state(v2::StateUpdate::Running(v2::RunningStateUpdate::new()), out);
            }
            _ => {}
        }
    }
}
