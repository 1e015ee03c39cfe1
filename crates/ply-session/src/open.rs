//! Opening a session from its journal, also one whose last turn was cut off.

use std::collections::BTreeSet;

use ply_wire::transcript::Entry;
use ply_wire::v2;

use crate::engine::Engine;
use crate::{Action, Answer, AskId, Event, History, Settings};

/// What a client is told about a turn that ended with its process.
const INTERRUPTED: &str = "The turn was interrupted: the agent stopped before it ended.";

/// A session on its way back from its journal, of which no more than its state is held.
#[derive(Debug, Default)]
pub struct Opening {
    history: History,
    asked: BTreeSet<AskId>,
}

impl Opening {
    /// Takes the next event of the journal.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Asked { ask, .. } => {
                self.asked.insert(*ask);
            }
            Event::Answered { ask, .. } => {
                self.asked.remove(ask);
            }
            Event::Update(_) | Event::Edited { .. } => {}
        }
        self.history.apply(event);
    }

    /// Returns what happened in the session.
    #[must_use]
    pub fn into_history(self) -> History {
        self.history
    }

    /// Returns the engine of the session, and appends what must be done to close a turn that was cut
    /// off: its questions are cancelled, its tool calls failed, its state is idle.
    #[must_use]
    pub fn finish(self, settings: Settings, out: &mut Vec<Action>) -> Engine {
        let mut engine = Engine::with_history(settings, self.history);
        engine.repair(self.asked, out);
        engine
    }
}

impl Engine {
    /// Returns the engine of a session that was kept; see [`Opening`].
    #[must_use]
    pub fn open(
        settings: Settings,
        events: impl IntoIterator<Item = Event>,
        out: &mut Vec<Action>,
    ) -> Self {
        let mut opening = Opening::default();
        for event in events {
            opening.event(&event);
        }
        opening.finish(settings, out)
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
        let compactions = self
            .history
            .transcript()
            .entries()
            .filter_map(|entry| match entry {
                Entry::Compaction(compaction)
                    if compaction.status == v2::CompactionStatus::InProgress =>
                {
                    Some(compaction.id.clone())
                }
                _ => None,
            });
        let compactions: Vec<_> = compactions.collect();
        for id in compactions {
            self.end_compaction(id, v2::CompactionStatus::Failed, out);
        }
        if self.history.is_cut_off() {
            let error = v2::Error::new(v2::ErrorCode::InternalError.into(), INTERRUPTED);
            let stop = v2::StopReason::Error(v2::ErrorStopReason::new().error(error));
            let idle = v2::IdleStateUpdate::new().stop_reason(stop);
            self.set_state(v2::StateUpdate::Idle(idle), out);
        }
    }
}
