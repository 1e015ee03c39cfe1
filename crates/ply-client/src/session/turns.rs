//! Prompts and their turns: held, sent, answered, ended.

use std::sync::Arc;

use ply_rpc::{CallError, CallOptions, RawAnswer, RpcError};
use ply_wire::convert;
use ply_wire::encode::PlainContent;
use ply_wire::lift::Cancelled;
use ply_wire::method::Request as _;
use ply_wire::method::v1::{LenientPromptResponse, LenientStopReason, lenient_prompt_response};
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use tokio::time::Instant;

use super::cell::{SessionCell, State, Wire};
use super::readers::Kind;
use crate::event::TurnId;
use crate::limits::HELD_PROMPTS_MAX;
use crate::prompt::Fitted;
use crate::report::ReportKind;
use crate::routes::Routes;
use crate::turn::{TurnEnd, TurnResult};
use crate::{Error, TurnError};

/// A prompt that has not come to its end.
#[derive(Debug)]
pub(crate) struct OpenTurn {
    /// The same as that of its reader.
    pub(super) id: u64,
    prompt: Fitted,
    pub(super) sent: bool,
    /// Version 2: whether the prompt was answered, which is not its end.
    pub(super) answered: bool,
    /// Version 2: whether the work on it was seen to begin.
    pub(super) started: bool,
    pub(super) message: Option<v2::MessageId>,
    /// Version 2: user messages that came while the prompt was not answered.
    pub(super) seen: Vec<v2::MessageId>,
    /// Version 2: whether work began after the prompt was sent.
    pub(super) active_seen: bool,
    /// Version 2: an end that came before the answer, which may be that of this turn.
    pub(super) early_end: Option<Option<v2::StopReason>>,
    pub(super) cancelled_at: Option<Instant>,
}

impl SessionCell {
    /// Takes a prompt; it is sent now, or on version 1 when those before it have ended.
    pub(crate) fn prompt(self: &Arc<Self>, prompt: Fitted) -> Result<u64, Error> {
        let mut state = self.lock();
        if state.closed {
            return Err(Error::SessionClosed);
        }
        if state.turns.len() >= HELD_PROMPTS_MAX {
            return Err(Error::TooManyPrompts(HELD_PROMPTS_MAX));
        }
        let id = state.readers.add(Kind::Turn);
        state.turns.push(OpenTurn {
            id,
            prompt,
            sent: false,
            answered: false,
            started: false,
            message: None,
            seen: Vec::new(),
            active_seen: false,
            early_end: None,
            cancelled_at: None,
        });
        state.advance(self);
        Ok(id)
    }

    fn answered_v1(self: &Arc<Self>, id: u64, answer: RawAnswer, routes: &Routes) {
        let mut state = self.lock();
        let Some(turn) = state.turns.iter().find(|turn| turn.id == id) else {
            return;
        };
        let cancelled = if turn.cancelled_at.is_some() {
            Cancelled::Yes
        } else {
            Cancelled::No
        };
        let message = turn.message.clone();
        let failure = match &answer {
            Err(CallError::Peer(error)) => Some(TurnError::from_rpc(error)),
            Err(error) => Some(TurnError::from_rpc(&RpcError::internal(error.to_string()))),
            Ok(_) => None,
        };
        let Some(answer) = read_answer_v1(answer, routes) else {
            return;
        };
        state.lift(0, |lifter, out| {
            lifter.prompt_answered(&answer, cancelled, out);
        });
        let result = match (state.transcript.stop_reason(), failure) {
            (Some(v2::StopReason::Error(_)), Some(failure)) => Err(failure),
            (stop, _) => result_of(stop.cloned(), message),
        };
        state.end_turn(id, result);
        state.advance(self);
    }
}

/// Sends a prompt. One of plain text looks the same in both versions.
fn send_prompt(
    wire: &Wire,
    session: &v2::SessionId,
    Fitted { content, meta }: &Fitted,
    then: impl FnOnce(RawAnswer) + Send + 'static,
) {
    let (peer, options) = (&wire.peer, CallOptions::default());
    let method = v2::PromptRequest::METHOD;
    if let Some(plain) = PlainContent::of(content).filter(|_| meta.is_none()) {
        let write = |out: &mut Vec<u8>| plain.write_prompt(session, out);
        return peer.call_json_then(method, (plain.bytes(), write), options, then);
    }
    match wire.version {
        Version::V1 => {
            let blocks = content.iter().cloned().map(convert::content::down);
            let params = v1::PromptRequest::new(Arc::clone(&session.0), blocks.collect());
            peer.call_then(method, &params.meta(meta.clone()), options, then);
        }
        Version::V2 => {
            let params = v2::PromptRequest::new(session.clone(), content.clone());
            peer.call_then(method, &params.meta(meta.clone()), options, then);
        }
    }
}

/// Reads the answer to a prompt; none if the connection is gone, whose end is told elsewhere.
fn read_answer_v1(
    answer: RawAnswer,
    routes: &Routes,
) -> Option<Result<LenientPromptResponse, v1::Error>> {
    let internal: i32 = v1::ErrorCode::InternalError.into();
    Some(match answer {
        Ok(answer) => Ok(match lenient_prompt_response(&answer) {
            Ok(response) => {
                if let Some(LenientStopReason::Other(reason)) = &response.stop_reason {
                    routes.report(ReportKind::UnknownStopReason, reason);
                }
                response
            }
            Err(error) => {
                // The turn is over all the same, and nothing says whether it went well.
                routes.report(ReportKind::BadPromptAnswer, &error.to_string());
                LenientPromptResponse::default()
            }
        }),
        Err(CallError::Closed { .. }) => return None,
        Err(CallError::Peer(error)) => {
            let code = i32::try_from(error.code).unwrap_or(internal);
            Err(v1::Error::new(code, error.message))
        }
        Err(error) => Err(v1::Error::new(internal, error.to_string())),
    })
}

pub(super) fn result_of(
    stop: Option<v2::StopReason>,
    message: Option<v2::MessageId>,
) -> TurnResult {
    match stop {
        Some(v2::StopReason::Error(stop)) => Err(match &stop.error {
            Some(error) => TurnError::from_wire(error),
            None => TurnError::from_rpc(&RpcError::internal("the agent gave no reason")),
        }),
        stop => Ok(TurnEnd::new(stop, message)),
    }
}

impl State {
    /// Sends the prompts that may be sent now.
    pub(super) fn advance(&mut self, cell: &Arc<SessionCell>) {
        // While the session is being opened again nothing may be sent: the agent does not know it yet.
        let is_open = |wire: &Wire| self.opened == Some(wire.epoch);
        let Some(wire) = self.wire.clone().filter(is_open) else {
            let unsent: Vec<u64> = self.turns.iter().map(|turn| turn.id).collect();
            for id in unsent {
                self.end_turn(id, Err(TurnError::Interrupted(Box::default())));
            }
            return;
        };
        match wire.version {
            Version::V1 => {
                if !self.turns.iter().any(|turn| turn.sent) {
                    self.send_v1(cell, &wire);
                }
            }
            Version::V2 => self.send_v2(cell, &wire),
        }
    }

    fn send_v1(&mut self, cell: &Arc<SessionCell>, wire: &Wire) {
        self.prompts_made += 1;
        let message = v2::MessageId::new(format!("ply.{}.p{}", wire.epoch, self.prompts_made));
        let Some(turn) = self.turns.first_mut() else {
            return;
        };
        turn.sent = true;
        turn.message = Some(message.clone());
        let prompt = std::mem::take(&mut turn.prompt);
        let id = turn.id;
        if let Some(reader) = self.readers.get_mut(id) {
            reader.message_id = Some(message.clone());
        }
        let (cell, routes) = (Arc::clone(cell), Arc::clone(&wire.routes));
        let session = cell.id.clone();
        // Nobody hears of the answer before the prompt is in the transcript: the session is locked.
        send_prompt(wire, &session, &prompt, move |answer| {
            note_use(&answer, &routes);
            cell.answered_v1(id, answer, &routes);
        });
        self.lift(0, |lifter, out| {
            lifter.begin_prompt(message, prompt.content, out);
        });
    }

    fn send_v2(&mut self, cell: &Arc<SessionCell>, wire: &Wire) {
        for turn in self.turns.iter_mut().filter(|turn| !turn.sent) {
            turn.sent = true;
            let prompt = std::mem::take(&mut turn.prompt);
            let (id, cell, routes) = (turn.id, Arc::clone(cell), Arc::clone(&wire.routes));
            let session = cell.id.clone();
            send_prompt(wire, &session, &prompt, move |answer| {
                note_use(&answer, &routes);
                cell.answered_v2(id, answer, &routes);
            });
        }
    }

    /// Returns the turn that what happens now belongs to: the oldest one that was sent. One whose handle was dropped leaves it to
    /// a later one only when work on that has begun.
    pub(super) fn current_turn(&self) -> Option<TurnId> {
        let mut sent = self.turns.iter().filter(|turn| turn.sent);
        let oldest = sent.next()?;
        let is_held = |turn: &OpenTurn| self.readers.contains(turn.id);
        let mut later = || sent.find(|turn| turn.started && is_held(turn));
        let current = if is_held(oldest) { None } else { later() };
        Some(TurnId(current.unwrap_or(oldest).id))
    }

    pub(super) fn is_cancelling(&self) -> bool {
        let mut sent = self.turns.iter().filter(|turn| turn.sent);
        sent.any(|turn| turn.cancelled_at.is_some())
    }

    pub(crate) fn cancelled_at(&self, id: u64) -> Option<Instant> {
        let mut turns = self.turns.iter();
        turns.find(|turn| turn.id == id)?.cancelled_at
    }

    pub(crate) fn is_sent(&self, id: u64) -> bool {
        self.turns.iter().any(|turn| turn.id == id && turn.sent)
    }

    pub(crate) fn message_id(&mut self, id: u64) -> Option<v2::MessageId> {
        self.readers.get_mut(id)?.message_id.clone()
    }

    pub(super) fn end_turn(&mut self, id: u64, result: TurnResult) {
        let Some(at) = self.turns.iter().position(|turn| turn.id == id) else {
            return;
        };
        if self.turns.remove(at).sent {
            self.turns_ended += 1;
            let is_unsaid = matches!(&result, Ok(end) if end.stop_reason.is_none());
            if let Some(wire) = self.wire.as_ref().filter(|_| is_unsaid) {
                wire.routes.report(ReportKind::NoStopReason, "");
            }
        }
        if let Some(reader) = self.readers.get_mut(id) {
            reader.end(result, &self.transcript);
        }
        self.cancel_asks_of(TurnId(id));
    }
}

/// An agent that answers prompts is no crash loop.
fn note_use(answer: &RawAnswer, routes: &Routes) {
    if !matches!(answer, Err(CallError::Closed { .. })) {
        routes
            .useful
            .store(true, std::sync::atomic::Ordering::Relaxed);
    }
}
