//! Tool calls: they move forward only, and end with their turn.

use ply_session::engine::Input;
use ply_session::{Event, Question, TurnId};
use ply_wire::transcript::{ToolCall, Transcript};
use ply_wire::v2;

use super::{Broken, Ledger};

impl Ledger {
    /// Folds an event and checks what it does to the tool call it is about.
    pub(super) fn check_calls(&mut self, input: &Input, event: &Event) -> Result<(), Broken> {
        let Some(id) = call_of(event) else {
            fold(&mut self.transcript, event);
            return Ok(());
        };
        let before = stage(self.transcript.tool_call(&id));
        let status = self
            .transcript
            .tool_call(&id)
            .map(|call| call.status.clone());
        fold(&mut self.transcript, event);
        let call = self.transcript.tool_call(&id);
        let after = stage(call);
        if after < before || (before == 2 && call.map(|call| &call.status) != status.as_ref()) {
            return Err(format!("call {id} went back from {status:?}"));
        }
        if after == 2 {
            self.calls.remove(&id);
        } else if status.is_none() {
            let turn = match input {
                Input::Update { turn, .. } => *turn,
                Input::Ask(ask) => ask.turn,
                _ => return Err(format!("nobody announced call {id}")),
            };
            self.calls.insert(id, turn);
        }
        Ok(())
    }

    /// Returns whether a call of the turn runs that nobody is asked about.
    pub(super) fn runs_beside_asks(&self, turn: TurnId) -> bool {
        let mut of_turn = self.calls.iter().filter(|(_, of)| **of == Some(turn));
        of_turn.any(|(id, _)| {
            stage(self.transcript.tool_call(id)) == 1
                && !self.asks.values().any(|ask| ask.is_about(id))
        })
    }
}

fn fold(transcript: &mut Transcript, event: &Event) {
    if let Some(update) = event.update() {
        transcript.apply(update);
    }
    if let Event::Asked {
        question: Question::Permission(request),
        ..
    } = event
    {
        transcript.permission_requested(request);
    }
}

fn call_of(event: &Event) -> Option<v2::ToolCallId> {
    match event {
        Event::Asked {
            question: Question::Permission(request),
            ..
        } => match &request.subject {
            Some(v2::RequestPermissionSubject::ToolCall(subject)) => {
                Some(subject.tool_call.tool_call_id.clone())
            }
            _ => None,
        },
        _ => match event.update()? {
            v2::SessionUpdate::ToolCallUpdate(update) => Some(update.tool_call_id.clone()),
            v2::SessionUpdate::ToolCallContentChunk(chunk) => Some(chunk.tool_call_id.clone()),
            _ => None,
        },
    }
}

/// Returns how far a call is: 0 waits, 1 runs, 2 is final.
fn stage(call: Option<&ToolCall>) -> u8 {
    match call {
        Some(call) if call.is_finished() => 2,
        Some(call) if call.status != v2::ToolCallStatus::Pending => 1,
        _ => 0,
    }
}
