//! Work that goes on beside turns, and what clients are told of it.
//!
//! Calls and terminals that belong to no turn are in the background. Clients see a list of them in the state, whole each time.
//! The list is told from the first work of this kind on, with every state (V2-BG-02); until then nothing is said of it.

use ply_wire::transcript::{State, ToolCall};
use ply_wire::v2;

use super::{Action, Engine};
use crate::{Entity, TurnId};

impl Engine {
    /// Lets a call or a terminal of the turn that runs go on without it.
    pub(super) fn outlive(&mut self, turn: TurnId, entity: &Entity, out: &mut Vec<Action>) {
        if self.is_late(Some(turn)) {
            return;
        }
        match entity {
            Entity::ToolCall(id) => self.calls.outlive(turn, id),
            Entity::Terminal(id) => self.terminals.outlive(turn, id),
        }
        self.refresh_state(out);
        self.refresh_background(out);
    }

    /// Tells clients of the list if it changed, with the state as it is.
    pub(super) fn refresh_background(&mut self, out: &mut Vec<Action>) {
        let (work, told) = (self.background(), self.history.transcript().background());
        if told.map_or(work.is_empty(), |told| told == work) {
            return;
        }
        let state = match self.history.state() {
            State::Running => v2::StateUpdate::Running(v2::RunningStateUpdate::new()),
            State::RequiresAction => {
                v2::StateUpdate::RequiresAction(v2::RequiresActionStateUpdate::new())
            }
            State::Idle => v2::StateUpdate::Idle(v2::IdleStateUpdate::new()),
            _ => return,
        };
        self.set_state(state, out);
    }

    /// Does the same if anything was appended meanwhile. What had no effect must not have this one: the turn may be cut off, and
    /// what is open not known until that is put right.
    pub(super) fn refresh_background_since(&mut self, emitted: u64, out: &mut Vec<Action>) {
        if self.emitted != emitted {
            self.refresh_background(out);
        }
    }

    /// Adds the list to a state, if it is told at all.
    pub(crate) fn with_background(&self, mut state: v2::StateUpdate) -> v2::StateUpdate {
        let work = self.background();
        if work.is_empty() && self.history.transcript().background().is_none() {
            return state;
        }
        match &mut state {
            v2::StateUpdate::Running(state) => state.background = Some(work),
            v2::StateUpdate::RequiresAction(state) => state.background = Some(work),
            v2::StateUpdate::Idle(state) => state.background = Some(work),
            _ => {}
        }
        state
    }

    /// Returns the work in the background, each piece of it once: a call whose process has a terminal is listed as that
    /// (V2-BG-04).
    fn background(&self) -> Vec<v2::BackgroundWork> {
        let terminals = self
            .terminals
            .in_background()
            .map(|id| v2::BackgroundWork::Terminal(v2::BackgroundTerminal::new(id.clone())));
        let calls = self.calls.in_background().filter(|id| {
            let call = self.history.transcript().tool_call(id);
            !call.is_some_and(|call| self.has_process(call))
        });
        let calls =
            calls.map(|id| v2::BackgroundWork::ToolCall(v2::BackgroundToolCall::new(id.clone())));
        terminals.chain(calls).collect()
    }

    /// Returns whether a call shows a terminal that is in the background itself.
    fn has_process(&self, call: &ToolCall) -> bool {
        call.content.iter().any(|content| match content {
            v2::ToolCallContent::Terminal(shown) => {
                let mut listed = self.terminals.in_background();
                listed.any(|id| *id == shown.terminal_id)
            }
            _ => false,
        })
    }
}
