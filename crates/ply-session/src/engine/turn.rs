//! The turn that runs, and which state it is in.

use ply_wire::transcript::State;
use ply_wire::v2;

use super::Action;
use super::Engine;
use crate::{PromptId, TurnId};

#[derive(Debug)]
pub(crate) struct ActiveTurn {
    pub(crate) id: TurnId,
    pub(crate) prompt: PromptId,
    pub(crate) cancelled: bool,
    /// Further prompts that it works on.
    pub(crate) steered: Vec<PromptId>,
}

impl ActiveTurn {
    pub(crate) fn new(id: TurnId, prompt: PromptId) -> Self {
        Self {
            id,
            prompt,
            cancelled: false,
            steered: Vec::new(),
        }
    }
}

impl Engine {
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
