//! Prompts of a v1 client: which message is which prompt's, and when each is answered.

use std::collections::HashSet;

use super::mark;
use crate::{convert, transcript::State, v1, v2};

/// The caller's name for a `session/prompt` request that waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PromptTicket(pub u64);

/// An answered prompt.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) prompt: PromptTicket,
    pub(super) outcome: Result<v1::PromptResponse, v1::Error>,
}

#[derive(Debug, Default)]
pub(super) struct Prompts {
    state: State,
    /// Prompts whose message is not known yet.
    expected: Vec<Waiting>,
    /// Prompts whose message is known.
    open: Vec<Open>,
    /// All messages that are this client's own.
    own: HashSet<v2::MessageId>,
    /// User messages of unknown origin that came while a prompt was expected.
    held: Vec<(v2::MessageId, v2::SessionUpdate)>,
    /// User messages that the current work includes and nobody claimed.
    working: Vec<v2::MessageId>,
    /// The same for work that has ended, with how it ended: an agent may be done before it names
    /// the message.
    ended: Vec<(v2::MessageId, Option<v2::StopReason>)>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    prompt: PromptTicket,
    cancelled: bool,
}

#[derive(Debug)]
struct Open {
    waiting: Waiting,
    message: v2::MessageId,
    /// Whether the work that goes on includes the message, so that its end is the prompt's end. An
    /// idle that was on its way before is not (V2-STATE-14).
    included: bool,
}

impl Prompts {
    /// Forgets the messages of the history, which no prompt of this client is waiting for.
    pub(super) fn history_ends(&mut self) {
        self.working.clear();
    }

    pub(super) fn expect(&mut self, prompt: PromptTicket) {
        self.expected.push(Waiting {
            prompt,
            cancelled: false,
        });
    }

    pub(super) fn own(&mut self, prompt: PromptTicket, message: v2::MessageId) -> Option<Settled> {
        if self.open.iter().any(|open| open.waiting.prompt == prompt) {
            return None;
        }
        let waiting = self.take_expected(prompt).unwrap_or(Waiting {
            prompt,
            cancelled: false,
        });
        self.own.insert(message.clone());
        self.held.retain(|(held, _)| *held != message);
        if let Some(at) = self.ended.iter().position(|(ended, _)| *ended == message) {
            let (_, reason) = self.ended.swap_remove(at);
            return Some(waiting.settle(reason.as_ref()));
        }
        let included = self.working.contains(&message);
        self.working.retain(|working| *working != message);
        self.open.push(Open {
            waiting,
            message,
            included,
        });
        None
    }

    pub(super) fn refused(&mut self, prompt: PromptTicket, error: &v2::Error) -> Option<Settled> {
        let opened = self
            .open
            .iter()
            .position(|open| open.waiting.prompt == prompt);
        let waiting = match opened {
            Some(at) => self.open.swap_remove(at).waiting,
            None => self.take_expected(prompt)?,
        };
        // What the user took back is not an error (-32800 stands for a prompt that was dropped by
        // cancel or close).
        let outcome = if waiting.cancelled || error.code == v2::ErrorCode::RequestCancelled {
            Ok(v1::PromptResponse::new(v1::StopReason::Cancelled))
        } else {
            Err(convert::error::down(error))
        };
        Some(Settled { prompt, outcome })
    }

    pub(super) fn cancel_requested(&mut self) {
        self.expected
            .iter_mut()
            .for_each(|waiting| waiting.cancelled = true);
        self.open
            .iter_mut()
            .for_each(|open| open.waiting.cancelled = true);
    }

    pub(super) fn close(&mut self) -> Vec<Settled> {
        let open = self.open.drain(..).map(|open| open.waiting);
        open.chain(self.expected.drain(..))
            .map(|waiting| {
                let outcome = Ok(v1::PromptResponse::new(v1::StopReason::Cancelled));
                Settled {
                    prompt: waiting.prompt,
                    outcome,
                }
            })
            .collect()
    }

    /// Takes note of an update of a user message and returns whether to show it now.
    pub(super) fn is_shown(&mut self, message: &v2::MessageId, update: &v2::SessionUpdate) -> bool {
        if self.own.contains(message) {
            let own = self.open.iter_mut().filter(|open| open.message == *message);
            own.for_each(|open| open.included = true);
            return false;
        }
        if !self.working.contains(message) {
            self.working.push(message.clone());
        }
        if self.expected.is_empty() {
            return true;
        }
        self.held.push((message.clone(), update.clone()));
        false
    }

    /// Returns the messages that turned out to be somebody else's.
    pub(super) fn released(&mut self) -> Vec<v2::SessionUpdate> {
        if !self.expected.is_empty() {
            return Vec::new();
        }
        std::mem::take(&mut self.held)
            .into_iter()
            .map(|(_, update)| update)
            .collect()
    }

    /// Follows the state. Returns the prompts that are answered if foreground work has ended, and
    /// none otherwise.
    pub(super) fn state(&mut self, update: &v2::StateUpdate) -> Option<Vec<Settled>> {
        let was_active = self.state.is_active();
        self.state = State::from(update);
        match (was_active, update) {
            (true, v2::StateUpdate::Idle(idle)) => Some(self.complete(idle.stop_reason.as_ref())),
            (false, _) if self.state.is_active() => {
                self.open.iter_mut().for_each(|open| open.included = true);
                None
            }
            _ => None,
        }
    }

    fn complete(&mut self, reason: Option<&v2::StopReason>) -> Vec<Settled> {
        if self.expected.is_empty() {
            self.ended.clear();
        }
        let ended = self
            .working
            .drain(..)
            .map(|message| (message, reason.cloned()));
        self.ended.extend(ended);
        let (done, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|open| open.included);
        self.open = open;
        let done: Vec<Open> = done;
        done.into_iter()
            .map(|open| open.waiting.settle(reason))
            .collect()
    }

    fn take_expected(&mut self, prompt: PromptTicket) -> Option<Waiting> {
        let at = self
            .expected
            .iter()
            .position(|waiting| waiting.prompt == prompt)?;
        Some(self.expected.remove(at))
    }
}

impl Waiting {
    fn settle(self, reason: Option<&v2::StopReason>) -> Settled {
        let response = |reason| Ok(v1::PromptResponse::new(reason));
        let outcome = match reason {
            Some(v2::StopReason::EndTurn) => response(v1::StopReason::EndTurn),
            Some(v2::StopReason::MaxTokens) => response(v1::StopReason::MaxTokens),
            Some(v2::StopReason::MaxTurnRequests) => response(v1::StopReason::MaxTurnRequests),
            Some(v2::StopReason::Refusal) => response(v1::StopReason::Refusal),
            Some(v2::StopReason::Cancelled) => response(v1::StopReason::Cancelled),
            // Whatever aborting led to, the user's cancel is what happened (V1-STOP-07).
            _ if self.cancelled => response(v1::StopReason::Cancelled),
            Some(v2::StopReason::Error(stop)) => Err(stop
                .error
                .as_deref()
                .map_or_else(v1::Error::internal_error, convert::error::down)),
            Some(v2::StopReason::Other(other)) => {
                let mut meta = v1::Meta::new();
                meta.insert(
                    mark::STOP_REASON.to_owned(),
                    other.stop_reason.clone().into(),
                );
                Ok(v1::PromptResponse::new(v1::StopReason::EndTurn).meta(meta))
            }
            _ => response(v1::StopReason::EndTurn),
        };
        Settled {
            prompt: self.prompt,
            outcome,
        }
    }
}
