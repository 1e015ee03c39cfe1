//! Opening a session from its journal, also one whose last turn was cut off.

use std::collections::BTreeSet;

use ply_wire::v2;

use crate::engine::Engine;
use crate::{Action, Answer, AskId, Event, History, Settings};

/// What a client is told about a turn that ended with its process.
const INTERRUPTED: &str = "The turn was interrupted: the agent stopped before it ended.";

impl Engine {
    /// Returns the engine of a session that was kept, and appends what must be done to close a turn
    /// that was cut off: its questions are cancelled, its tool calls failed, its state is idle.
    #[must_use]
    pub fn open(
        settings: Settings,
        events: impl IntoIterator<Item = Event>,
        out: &mut Vec<Action>,
    ) -> Self {
        let mut history = History::default();
        let mut asked: BTreeSet<AskId> = BTreeSet::new();
        for event in events {
            match &event {
                Event::Asked { ask, .. } => {
                    asked.insert(*ask);
                }
                Event::Answered { ask, .. } => {
                    asked.remove(ask);
                }
                Event::Update(_) | Event::Edited { .. } => {}
            }
            history.apply(&event);
        }
        let mut engine = Self::with_history(settings, history);
        engine.repair(asked, out);
        engine
    }

    fn repair(&mut self, asked: BTreeSet<AskId>, out: &mut Vec<Action>) {
        for ask in asked {
            let answer = Answer::Cancelled;
            self.append(Event::Answered { ask, answer }, out);
        }
        let calls = self.history.transcript().tool_calls();
        let open = calls.filter(|call| !call.is_finished());
        let open: Vec<_> = open.map(|call| call.id.clone()).collect();
        for id in open {
            let update = v2::ToolCallUpdate::new(id).status(v2::ToolCallStatus::Failed);
            self.append(
                Event::Update(v2::SessionUpdate::ToolCallUpdate(update)),
                out,
            );
        }
        if self.history.is_cut_off() {
            let error = v2::Error::new(v2::ErrorCode::InternalError.into(), INTERRUPTED);
            let stop = v2::StopReason::Error(v2::ErrorStopReason::new().error(error));
            let idle = v2::IdleStateUpdate::new().stop_reason(stop);
            self.set_state(v2::StateUpdate::Idle(idle), out);
        }
    }
}
