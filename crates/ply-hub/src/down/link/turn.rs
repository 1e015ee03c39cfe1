//! The agent's work: on a prompt, or by itself.
//!
//! Version 1 works on a prompt until it answers it. Version 2 answers when it has taken the prompt, and the work ends when the
//! session becomes idle; an idle that was on its way before does not count (V2-STATE-14).

use ply_rpc::RpcError;
use ply_wire::lift::Cancelled;
use ply_wire::link::rpc_error_v2;
use ply_wire::method::v1::{LenientPromptResponse, LenientStopReason, lenient_prompt_response};
use ply_wire::method::v2 as methods_v2;
use ply_wire::negotiate::Version;
use ply_wire::{convert, v1, v2};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Call, End, Link, Output};

/// Messages of the user that are remembered while a prompt is not answered.
const SEEN_MESSAGES_MAX: usize = 64;

/// A prompt that the agent works on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// Our request.
    call: i64,
    /// The number of its line.
    #[serde(default)]
    line: u64,
    is_cancelled: bool,
    /// Version 2: whether the prompt was taken.
    is_taken: bool,
    /// Version 2: the message that it became.
    message: Option<v2::MessageId>,
    /// Version 2: messages of the user that came before the prompt was taken.
    seen: Vec<v2::MessageId>,
    /// Version 2: whether work was seen to begin after the prompt was sent.
    is_active_seen: bool,
    /// Version 2: whether that work is known to be the prompt's.
    is_started: bool,
    /// Version 2: an end that came before the prompt was taken, which may be that of this turn.
    early_end: Option<EarlyEnd>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct EarlyEnd {
    stop: Option<v2::StopReason>,
}

impl Link {
    pub(super) fn prompt(
        &mut self,
        message: v2::MessageId,
        content: Vec<v2::ContentBlock>,
        out: &mut Vec<Output>,
    ) -> Option<i64> {
        let (version, session) = (self.version()?, self.session.as_ref()?);
        if session.turn.is_some() {
            out.push(Output::Odd(
                "a prompt came before the last one ended".to_owned(),
            ));
            return None;
        }
        let id = session.id.clone()?;
        let call = match version {
            Version::V1 => {
                let blocks = content.iter().cloned().map(convert::content::down);
                let request = v1::PromptRequest::new(id.0, blocks.collect());
                self.ask(Call::Prompt, &request, out)
            }
            Version::V2 => {
                let request = v2::PromptRequest::new(id, content.clone());
                self.ask(Call::Prompt, &request, out)
            }
        }?;
        self.prompted = Some(message.clone());
        let line = self.last_out;
        let session = self.session.as_mut()?;
        session.turn = Some(Turn {
            call,
            line,
            ..Turn::default()
        });
        session.lift(Vec::new(), out, |lifter, lifted| {
            lifter.begin_prompt(message, content, lifted);
        });
        Some(call)
    }

    /// Returns whether the prompt that was sent last never reached the agent, which was written lines up to `written`.
    #[must_use]
    pub fn is_prompt_unread(&self, written: u64) -> bool {
        let session = self.session.as_ref();
        let turn = session.and_then(|session| session.turn.as_ref());
        turn.is_some_and(|turn| turn.line > written)
    }

    /// Asks the agent to stop, and answers what it has asked (V1-CANCEL-03).
    pub(super) fn cancel(&mut self, out: &mut Vec<Output>) {
        let Some(session) = &mut self.session else {
            return;
        };
        let is_working = session.turn.is_some() || session.is_own;
        let (Some(id), true) = (session.id.clone(), is_working) else {
            return;
        };
        if let Some(turn) = &mut session.turn {
            turn.is_cancelled = true;
        }
        // The same in both versions.
        let cancel = v2::CancelSessionNotification::new(id);
        self.tell("session/cancel", &cancel, out);
        self.dismiss_questions(out);
    }

    /// Returns whether what the agent asks now comes after a cancel.
    pub(super) fn is_cancelling(&self) -> bool {
        let turn = self
            .session
            .as_ref()
            .and_then(|session| session.turn.as_ref());
        turn.is_some_and(|turn| turn.is_cancelled)
    }

    pub(super) fn prompt_answered(
        &mut self,
        call: i64,
        answer: Result<&RawValue, RpcError>,
        out: &mut Vec<Output>,
    ) {
        let version = self.version();
        let turn = self
            .session
            .as_ref()
            .and_then(|session| session.turn.as_ref());
        if turn.is_none_or(|turn| turn.call != call) {
            return;
        }
        match version {
            Some(Version::V2) => self.taken(answer, out),
            _ => self.answered_v1(answer, out),
        }
    }

    fn answered_v1(&mut self, answer: Result<&RawValue, RpcError>, out: &mut Vec<Output>) {
        let Some(session) = &mut self.session else {
            return;
        };
        let Some(turn) = session.turn.take() else {
            return;
        };
        let internal: i32 = v1::ErrorCode::InternalError.into();
        let error = answer.as_ref().err().cloned();
        let answer = match answer {
            Ok(result) => Ok(lenient_prompt_response(result).unwrap_or_else(|error| {
                out.push(Output::Odd(format!("the answer to a prompt: {error}")));
                // The turn is over all the same, and nothing says whether it went well.
                LenientPromptResponse::default()
            })),
            Err(error) => {
                let code = i32::try_from(error.code).unwrap_or(internal);
                Err(v1::Error::new(code, error.message))
            }
        };
        if let Ok(answer) = &answer {
            match &answer.stop_reason {
                Some(LenientStopReason::Known(_)) => {}
                Some(LenientStopReason::Other(_)) => {
                    out.push(Output::Odd(
                        "a stop reason is not in the protocol".to_owned(),
                    ));
                }
                None => out.push(Output::Odd(
                    "a prompt ended without a stop reason".to_owned(),
                )),
            }
        }
        let cancelled = if turn.is_cancelled {
            Cancelled::Yes
        } else {
            Cancelled::No
        };
        let mut lifted = Vec::new();
        if let Some(lifter) = &mut session.lifter {
            lifter.prompt_answered(&answer, cancelled, &mut lifted);
        }
        let mut end = Ok(None);
        for update in lifted {
            if let v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)) = update {
                end = end_of(idle.stop_reason);
            } else {
                session.show(update, Vec::new(), out);
            }
        }
        if let (Err(_), Some(error)) = (&end, error) {
            // The agent's own words, with their data.
            end = Err(error);
        }
        self.end_turn(end, out);
    }

    fn end_turn(&mut self, end: End, out: &mut Vec<Output>) {
        self.dismiss_questions(out);
        out.push(Output::Ended(end));
    }

    /// The agent took a prompt of version 2, or refused it.
    fn taken(&mut self, answer: Result<&RawValue, RpcError>, out: &mut Vec<Output>) {
        let Some(session) = &mut self.session else {
            return;
        };
        let Some(turn) = &mut session.turn else {
            return;
        };
        let message = match answer {
            Ok(result) => match methods_v2::lenient_prompt_response(result) {
                Ok(answer) => answer.map(|answer| answer.message_id),
                Err(error) => {
                    out.push(Output::Odd(format!("the answer to a prompt: {error}")));
                    None
                }
            },
            Err(error) => {
                let is_cancelled = turn.is_cancelled || error.code == RpcError::REQUEST_CANCELLED;
                let end = if is_cancelled {
                    Ok(Some(v2::StopReason::Cancelled))
                } else {
                    Err(error)
                };
                session.turn = None;
                return self.end_turn(end, out);
            }
        };
        turn.is_taken = true;
        let (seen, is_named) = (std::mem::take(&mut turn.seen), message.is_some());
        // Agents of an earlier draft do not say the id: then it is the next message of the user.
        turn.message = message.or_else(|| seen.first().cloned());
        let is_seen = turn.message.as_ref().is_some_and(|id| seen.contains(id));
        turn.is_started |= is_seen || (!session.is_own && turn.is_active_seen);
        // A prompt whose message is named and has not been seen was no part of the work that ended.
        let is_its_end = is_seen || (!is_named && seen.is_empty());
        if let Some(EarlyEnd { stop }) = turn.early_end.take().filter(|_| is_its_end) {
            session.turn = None;
            self.end_turn(end_of(stop), out);
        }
    }

    /// Notes what an update of version 2 says about the work.
    pub(super) fn work_of(&mut self, update: &v2::SessionUpdate, out: &mut Vec<Output>) {
        let Some(session) = &mut self.session else {
            return;
        };
        match (update, &mut session.turn) {
            (v2::SessionUpdate::UserMessage(message), Some(turn)) => turn.saw(&message.message_id),
            (v2::SessionUpdate::UserMessageChunk(chunk), Some(turn)) => turn.saw(&chunk.message_id),
            (v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)), _) => {
                self.idle(idle.stop_reason.clone(), out);
            }
            (v2::SessionUpdate::StateUpdate(_), Some(turn)) => {
                turn.is_active_seen = true;
                turn.is_started |= turn.is_taken && !session.is_own;
            }
            (v2::SessionUpdate::StateUpdate(_), None) if !session.is_own => {
                session.is_own = true;
                out.push(Output::Began);
            }
            _ => {}
        }
    }

    fn idle(&mut self, stop: Option<v2::StopReason>, out: &mut Vec<Output>) {
        let Some(session) = &mut self.session else {
            return;
        };
        let was_own = std::mem::take(&mut session.is_own);
        if let Some(turn) = &mut session.turn {
            if turn.is_started || (turn.is_taken && !was_own) {
                session.turn = None;
                return self.end_turn(end_of(stop), out);
            }
            if !turn.is_taken && !was_own && (turn.is_active_seen || !turn.seen.is_empty()) {
                turn.early_end = Some(EarlyEnd { stop: stop.clone() });
            }
        }
        if was_own {
            self.dismiss_questions(out);
            out.push(Output::Rested(end_of(stop)));
        }
    }
}

impl Turn {
    /// Notes a message of the user.
    fn saw(&mut self, id: &v2::MessageId) {
        if !self.is_taken {
            if self.seen.len() < SEEN_MESSAGES_MAX && !self.seen.contains(id) {
                self.seen.push(id.clone());
            }
        } else if self.message.get_or_insert_with(|| id.clone()) == id {
            self.is_started = true;
        }
    }
}

fn end_of(stop: Option<v2::StopReason>) -> End {
    match stop {
        Some(v2::StopReason::Error(stop)) => Err(match &stop.error {
            Some(error) => rpc_error_v2(error),
            None => RpcError::internal("the agent gave no reason"),
        }),
        stop => Ok(stop),
    }
}
