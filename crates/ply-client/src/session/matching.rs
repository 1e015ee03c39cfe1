//! Which work of a version 2 agent belongs to which prompt.
//!
//! The answer to a prompt says only that it was taken. Its turn ends when work that includes it goes from active to idle, and
//! an idle that was on its way before does not count (V2-STATE-14).

use ply_rpc::{CallError, RawAnswer, RpcError};
use ply_wire::method::v2 as methods_v2;
use ply_wire::transcript::Change;
use ply_wire::v2;

use super::cell::{SessionCell, State};
use super::turns::result_of;
use crate::TurnError;
use crate::limits::SEEN_MESSAGES_MAX;
use crate::report::ReportKind;
use crate::routes::Routes;
use crate::turn::TurnEnd;

impl SessionCell {
    pub(super) fn answered_v2(&self, id: u64, answer: RawAnswer, routes: &Routes) {
        let mut state = self.lock();
        let message = match answer {
            Ok(answer) => match methods_v2::lenient_prompt_response(&answer) {
                Ok(answer) => answer.map(|answer| answer.message_id),
                Err(error) => {
                    routes.report(ReportKind::BadPromptAnswer, &error.to_string());
                    None
                }
            },
            // Whoever ends the sessions of a connection that is gone knows more.
            Err(CallError::Closed { .. }) => return,
            Err(error) => return state.refused(id, error),
        };
        state.accepted(id, message);
    }
}

impl State {
    /// The agent refused a prompt of version 2.
    fn refused(&mut self, id: u64, error: CallError) {
        let cancelled = self.cancelled_at(id).is_some() || error.is_cancelled();
        let result = match error {
            _ if cancelled => Ok(TurnEnd::cancelled()),
            CallError::Peer(error) => Err(TurnError::from_rpc(&error)),
            error => Err(TurnError::from_rpc(&RpcError::internal(error.to_string()))),
        };
        self.end_turn(id, result);
    }

    /// The agent took a prompt of version 2, which by itself ends nothing.
    fn accepted(&mut self, id: u64, message: Option<v2::MessageId>) {
        let taken: Vec<_> = self
            .turns
            .iter()
            .filter_map(|turn| turn.message.clone())
            .collect();
        let is_active = self.transcript.state().is_active();
        let is_oldest = self.turns.first().is_some_and(|turn| turn.id == id);
        let Some(turn) = self.turns.iter_mut().find(|turn| turn.id == id) else {
            return;
        };
        turn.answered = true;
        let is_named = message.is_some();
        let seen = std::mem::take(&mut turn.seen);
        // Agents of an earlier draft do not say the id: then it is the next message of the user.
        turn.message = message.or_else(|| seen.iter().find(|id| !taken.contains(id)).cloned());
        let is_seen = turn.message.as_ref().is_some_and(|id| seen.contains(id));
        turn.started |= is_seen || (is_oldest && is_active && turn.active_seen);
        // A prompt whose message is named and has not been seen was no part of the work that ended (V2-STATE-14).
        let is_its_end = is_seen || (!is_named && seen.is_empty());
        let ended = turn.early_end.take().filter(|_| is_its_end);
        let message = turn.message.clone();
        self.note_message(id, message.clone());
        if let Some(stop) = ended {
            self.end_turn(id, result_of(stop, message));
        }
    }

    fn note_message(&mut self, id: u64, message: Option<v2::MessageId>) {
        if let Some(reader) = self.readers.get_mut(id)
            && message.is_some()
        {
            reader.message_id = message;
        }
    }

    /// Notes what an update of version 2 says about the turns, before it is folded.
    pub(super) fn before_fold(&mut self, update: &v2::SessionUpdate) {
        match update {
            v2::SessionUpdate::UserMessage(message) => self.user_message(&message.message_id),
            v2::SessionUpdate::UserMessageChunk(chunk) => self.user_message(&chunk.message_id),
            v2::SessionUpdate::StateUpdate(state) if !matches!(state, v2::StateUpdate::Idle(_)) => {
                if let Some(turn) = self.turns.iter_mut().find(|turn| turn.sent) {
                    turn.active_seen = true;
                    turn.started |= turn.answered;
                }
            }
            _ => {}
        }
    }

    fn user_message(&mut self, id: &v2::MessageId) {
        let is_taken = self
            .turns
            .iter()
            .any(|turn| turn.message.as_ref() == Some(id));
        let mut noted = None;
        for turn in self.turns.iter_mut().filter(|turn| turn.sent) {
            if !turn.answered {
                if turn.seen.len() < SEEN_MESSAGES_MAX && !turn.seen.contains(id) {
                    turn.seen.push(id.clone());
                }
            } else if turn.message.as_ref() == Some(id) {
                turn.started = true;
            } else if turn.message.is_none() && !is_taken && noted.is_none() {
                turn.message = Some(id.clone());
                turn.started = true;
                noted = Some(turn.id);
            }
        }
        if let Some(turn) = noted {
            self.note_message(turn, Some(id.clone()));
        }
    }

    /// Ends the turns of version 2 whose work has ended.
    pub(super) fn after_fold(&mut self, change: Change) {
        if change != Change::Completed {
            return;
        }
        let stop = self.transcript.stop_reason().cloned();
        let mut ended = Vec::new();
        for (place, turn) in self.turns.iter_mut().enumerate() {
            let is_oldest = place == 0;
            if turn.started || (turn.answered && is_oldest) {
                ended.push((turn.id, turn.message.clone()));
            } else if turn.sent
                && !turn.answered
                && is_oldest
                && (turn.active_seen || !turn.seen.is_empty())
            {
                turn.early_end = Some(stop.clone());
            }
        }
        for (id, message) in ended {
            self.end_turn(id, result_of(stop.clone(), message));
        }
    }
}
