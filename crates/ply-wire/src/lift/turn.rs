//! Turns of a v1 agent: from the prompt to its answer, and the questions in between.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Lifter, tool_call::title_of};
use crate::{
    convert,
    method::v1::{LenientPermissionRequest, LenientPromptResponse, LenientStopReason},
    transcript::State,
    v1, v2,
};

/// Whether the turn was cancelled from our side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// `session/cancel` was sent before the answer came.
    Yes,
    /// It was not.
    No,
}

/// The lifter's name for something the user is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AskId(u64);

/// How a v1 permission request goes on.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum PermissionUp {
    /// Ask this; tell [`Lifter::ask_closed`] when it is answered or withdrawn.
    Ask(AskId, Box<v2::RequestPermissionRequest>),
    /// There is nothing to choose from, and v2 cannot ask that; the agent gets this answer.
    Answer(v1::RequestPermissionOutcome),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Turn {
    state: State,
    /// Counts turns from 1, to tell what is news of which one.
    number: u64,
    /// Counts prompts, those of a history that the agent tells again included.
    prompts: u64,
    asked: u64,
    /// The open questions of this turn and the calls they are about. What is asked while idle is
    /// background work's, and no turn waits for it.
    asks: Vec<(AskId, Option<v2::ToolCallId>)>,
}

impl Turn {
    /// Returns which turn something is news of that happens now.
    pub(super) fn now(&self) -> Option<u64> {
        self.state.is_active().then_some(self.number)
    }

    /// Returns how many prompts there were so far.
    pub(super) fn prompts(&self) -> u64 {
        self.prompts
    }

    /// Notes a message of the user that the agent tells. In a turn it is the echo of the prompt or
    /// belongs to the same work; otherwise it is the prompt of another turn. One that comes in
    /// several chunks is counted too often, which does no harm: no call comes between them.
    pub(super) fn user_message_told(&mut self) {
        if !self.state.is_active() {
            self.prompts += 1;
        }
    }
}

impl Lifter {
    /// Begins a turn: the prompt becomes message `message`, and work runs.
    pub fn begin_prompt(
        &mut self,
        message: v2::MessageId,
        prompt: Vec<v2::ContentBlock>,
        out: &mut Vec<v2::SessionUpdate>,
    ) {
        self.segments.begin_turn(message.clone(), &prompt);
        let user = v2::UserMessage::new(message).content(prompt);
        out.push(v2::SessionUpdate::UserMessage(user));
        self.turn.state = State::Running;
        self.turn.number += 1;
        self.turn.prompts += 1;
        self.turn.asks.clear();
        out.push(running());
    }

    /// Ends the turn with the agent's answer to the prompt. Nothing a user cancelled ends as an
    /// error. An answer without a turn, such as the error of a request whose agent died, changes
    /// nothing.
    pub fn prompt_answered(
        &mut self,
        answer: &Result<LenientPromptResponse, v1::Error>,
        cancelled: Cancelled,
        out: &mut Vec<v2::SessionUpdate>,
    ) {
        if !self.turn.state.is_active() {
            return;
        }
        let reason = match answer {
            Ok(response) => match &response.stop_reason {
                Some(reason) => Some(stop_reason_up(reason)),
                None if cancelled == Cancelled::Yes => Some(v2::StopReason::Cancelled),
                None => None,
            },
            Err(error)
                if cancelled == Cancelled::Yes || error.code == v1::ErrorCode::RequestCancelled =>
            {
                Some(v2::StopReason::Cancelled)
            }
            Err(error) => Some(error_stop(convert::error::up(error))),
        };
        match (cancelled, &reason) {
            (Cancelled::Yes, _) | (_, Some(v2::StopReason::Cancelled)) => {
                self.end_calls(&v2::ToolCallStatus::Cancelled, out);
            }
            (_, Some(v2::StopReason::Error(_))) => {
                self.end_calls(&v2::ToolCallStatus::Failed, out);
            }
            // The agent may go on with them in the background.
            _ => {}
        }
        self.end_turn(reason, out);
    }

    /// Ends everything after the agent's process is gone.
    pub fn agent_died(
        &mut self,
        error: v2::Error,
        cancelled: Cancelled,
        out: &mut Vec<v2::SessionUpdate>,
    ) {
        let (status, reason) = match cancelled {
            Cancelled::Yes => (v2::ToolCallStatus::Cancelled, v2::StopReason::Cancelled),
            Cancelled::No => (v2::ToolCallStatus::Failed, error_stop(error)),
        };
        self.end_calls(&status, out);
        if self.turn.state.is_active() {
            self.end_turn(Some(reason), out);
        }
    }

    /// Lifts a permission request. The call it is about is applied first (V2-PERM-03). Options of
    /// unknown kinds come after the others.
    pub fn permission_asked(
        &mut self,
        asked: &LenientPermissionRequest,
        out: &mut Vec<v2::SessionUpdate>,
    ) -> PermissionUp {
        let request = &asked.request;
        let mut options = convert::permission::options_up(&request.options);
        options.extend(asked.other_options.iter().cloned());
        if options.is_empty() {
            return PermissionUp::Answer(v1::RequestPermissionOutcome::Cancelled);
        }
        self.segments.echo_ends();
        // Only what is still to be done needs a permission, so the request announces a call as much
        // as `tool_call` does.
        self.announced(&request.tool_call.tool_call_id);
        let call = self.lift_call(&request.tool_call);
        out.push(v2::SessionUpdate::ToolCallUpdate(call.clone()));
        let id = self.ask_opened(Some(call.tool_call_id.clone()), out);
        let title = format!(
            "Allow: {}",
            title_of(&call, self.calls.get(&call.tool_call_id))
        );
        let session = v2::SessionId::new(request.session_id.0.clone());
        let lifted = v2::RequestPermissionRequest::new(session, title, options)
            .subject(v2::RequestPermissionSubject::from(call))
            .meta(request.meta.clone());
        PermissionUp::Ask(id, Box::new(lifted))
    }

    /// Notes that the user is asked something, about a call or not, such as by an elicitation.
    pub fn ask_opened(
        &mut self,
        about: Option<v2::ToolCallId>,
        out: &mut Vec<v2::SessionUpdate>,
    ) -> AskId {
        self.turn.asked += 1;
        let id = AskId(self.turn.asked);
        if self.turn.state.is_active() {
            self.turn.asks.push((id, about));
        }
        self.refresh_state(out);
        id
    }

    /// Notes that a question was answered or withdrawn. Its turn may have ended before.
    pub fn ask_closed(&mut self, ask: AskId, out: &mut Vec<v2::SessionUpdate>) {
        self.turn.asks.retain(|(id, _)| *id != ask);
        self.refresh_state(out);
    }

    /// Reports whether the turn waits for the user: something is asked, and no other call is in
    /// progress.
    pub(super) fn refresh_state(&mut self, out: &mut Vec<v2::SessionUpdate>) {
        let Some(now) = self.turn.now() else {
            return;
        };
        let asks = &self.turn.asks;
        let other_work = || {
            let open = self.open.iter().map(|id| v2::ToolCallId::new(id.clone()));
            open.filter(|id| !asks.iter().any(|(_, about)| about.as_ref() == Some(id)))
                .filter_map(|id| self.calls.get(&id))
                .any(|known| known.is_in_progress(now))
        };
        let state = if asks.is_empty() || other_work() {
            State::Running
        } else {
            State::RequiresAction
        };
        if state == self.turn.state {
            return;
        }
        out.push(match state {
            State::Running => running(),
            _ => v2::SessionUpdate::StateUpdate(v2::StateUpdate::RequiresAction(
                v2::RequiresActionStateUpdate::new(),
            )),
        });
        self.turn.state = state;
    }

    fn end_turn(&mut self, reason: Option<v2::StopReason>, out: &mut Vec<v2::SessionUpdate>) {
        self.segments.echo_ends();
        self.segments.end_segment();
        self.turn.state = State::Idle;
        self.turn.asks.clear();
        let idle = v2::IdleStateUpdate::new().stop_reason(reason);
        out.push(v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)));
    }
}

fn running() -> v2::SessionUpdate {
    v2::SessionUpdate::StateUpdate(v2::StateUpdate::Running(v2::RunningStateUpdate::new()))
}

fn error_stop(error: v2::Error) -> v2::StopReason {
    v2::StopReason::Error(v2::ErrorStopReason::new().error(error))
}

fn stop_reason_up(reason: &LenientStopReason) -> v2::StopReason {
    match reason {
        LenientStopReason::Known(v1::StopReason::MaxTokens) => v2::StopReason::MaxTokens,
        LenientStopReason::Known(v1::StopReason::MaxTurnRequests) => {
            v2::StopReason::MaxTurnRequests
        }
        LenientStopReason::Known(v1::StopReason::Refusal) => v2::StopReason::Refusal,
        LenientStopReason::Known(v1::StopReason::Cancelled) => v2::StopReason::Cancelled,
        LenientStopReason::Known(_) => v2::StopReason::EndTurn,
        LenientStopReason::Other(reason) => {
            v2::StopReason::Other(v2::OtherStopReason::new(reason.clone(), BTreeMap::new()))
        }
    }
}
