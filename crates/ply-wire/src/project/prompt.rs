//! Prompts of a v1 client: which message is which prompt's, and when each is answered.

use std::collections::HashSet;

use super::{
    held::{Expected, Held},
    mark,
    settled::{Settled, SettledTickets},
};
use crate::{convert, transcript::State, v1, v2};

/// The caller's name for a `session/prompt` request that waits for its answer.
///
/// Callers count them up and use none twice: a ticket that was answered is never answered again, so
/// a second prompt under its name would get no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PromptTicket(pub u64);

#[derive(Debug, Default)]
pub(super) struct Prompts {
    state: State,
    /// Prompts whose message is not known yet.
    expected: Vec<Expected>,
    /// Prompts whose message is known.
    open: Vec<Open>,
    /// All messages that are this client's own.
    own: HashSet<v2::MessageId>,
    /// User messages that may turn out to be one of the expected prompts.
    held: Vec<Held>,
    /// User messages that the current work includes and nobody claimed.
    working: Vec<v2::MessageId>,
    /// The same for work that has ended, with how it ended: an agent may be done before it names
    /// the message.
    ended: Vec<(v2::MessageId, Option<v2::StopReason>)>,
    settled: SettledTickets,
    /// Whether the session was closed, after which every prompt is answered at once.
    closed: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) prompt: PromptTicket,
    pub(super) cancelled: bool,
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

    pub(super) fn expect(&mut self, prompt: PromptTicket, content: &[v2::ContentBlock]) {
        if !self.is_waiting(prompt) && !self.settled.contains(prompt) {
            self.expected.push(Expected::new(prompt, content));
        }
    }

    pub(super) fn own(&mut self, prompt: PromptTicket, message: v2::MessageId) -> Option<Settled> {
        if self.open.iter().any(|open| open.waiting.prompt == prompt) {
            return None;
        }
        // Also if the prompt is answered already: the client wrote the message itself.
        self.own.insert(message.clone());
        self.held.retain(|held| held.message != message);
        if self.settled.contains(prompt) {
            return None;
        }
        let waiting = self.take_expected(prompt).unwrap_or(Waiting {
            prompt,
            cancelled: false,
        });
        if self.closed {
            return Some(self.settle(prompt, cancelled()));
        }
        if let Some(at) = self.ended.iter().position(|(ended, _)| *ended == message) {
            let (_, reason) = self.ended.remove(at);
            return Some(self.settle(prompt, waiting.outcome(reason.as_ref())));
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
        if self.settled.contains(prompt) {
            return None;
        }
        let opened = self
            .open
            .iter()
            .position(|open| open.waiting.prompt == prompt);
        let waiting = match opened {
            Some(at) => Some(self.open.remove(at).waiting),
            None => self.take_expected(prompt),
        };
        let was_cancelled = self.closed || waiting.is_some_and(|waiting| waiting.cancelled);
        // What the user took back is not an error (-32800 stands for a prompt that was dropped by
        // cancel or close).
        let outcome = if was_cancelled || error.code == v2::ErrorCode::RequestCancelled {
            cancelled()
        } else {
            Err(convert::error::down(error))
        };
        Some(self.settle(prompt, outcome))
    }

    pub(super) fn cancel_requested(&mut self) {
        let expected = self.expected.iter_mut().map(|prompt| &mut prompt.waiting);
        let open = self.open.iter_mut().map(|open| &mut open.waiting);
        expected
            .chain(open)
            .for_each(|waiting| waiting.cancelled = true);
    }

    pub(super) fn close(&mut self) -> Vec<Settled> {
        self.closed = true;
        // Nobody will say any more whose these were.
        self.held.clear();
        let open = std::mem::take(&mut self.open).into_iter();
        let expected = std::mem::take(&mut self.expected).into_iter();
        open.map(|open| open.waiting)
            .chain(expected.map(|expected| expected.waiting))
            .map(|waiting| self.settle(waiting.prompt, cancelled()))
            .collect()
    }

    /// Takes note of an update of a user message and returns what to show now, which is more than
    /// the update if parts of its message were held, and nothing if it is the client's own or may
    /// be.
    pub(super) fn user_message(
        &mut self,
        message: &v2::MessageId,
        update: &v2::SessionUpdate,
    ) -> Vec<v2::SessionUpdate> {
        if self.own.contains(message) {
            let own = self.open.iter_mut().filter(|open| open.message == *message);
            own.for_each(|open| open.included = true);
            return Vec::new();
        }
        let is_working = self.working.contains(message);
        let was_seen = is_working || self.ended.iter().any(|(ended, _)| ended == message);
        if !is_working {
            self.working.push(message.clone());
        }
        let held_at = self.held.iter().position(|held| held.message == *message);
        let (place, mut held) = match held_at {
            Some(at) => (at, self.held.remove(at)),
            // A message that began as somebody else's goes on as that.
            None if was_seen || self.expected.is_empty() => return vec![update.clone()],
            None => (self.held.len(), Held::new(message.clone())),
        };
        held.push(update);
        if held.may_be_one_of(&self.expected) {
            self.held.insert(place, held);
            return Vec::new();
        }
        held.updates
    }

    /// Returns the messages that turned out to be somebody else's.
    pub(super) fn released(&mut self) -> Vec<v2::SessionUpdate> {
        self.release_unless(Held::may_be_one_of)
    }

    /// The same at the end of work, when messages are complete. One that says what a prompt says
    /// goes on waiting.
    pub(super) fn released_at_end(&mut self) -> Vec<v2::SessionUpdate> {
        self.release_unless(Held::is_one_of)
    }

    fn release_unless(
        &mut self,
        waits: impl Fn(&Held, &[Expected]) -> bool,
    ) -> Vec<v2::SessionUpdate> {
        let (held, released): (Vec<Held>, Vec<Held>) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|held| waits(held, &self.expected));
        self.held = held;
        released.into_iter().flat_map(|held| held.updates).collect()
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
        let (done, open): (Vec<Open>, Vec<Open>) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|open| open.included);
        self.open = open;
        done.into_iter()
            .map(|open| self.settle(open.waiting.prompt, open.waiting.outcome(reason)))
            .collect()
    }

    /// Every answer passes here, so that none is given twice.
    fn settle(
        &mut self,
        prompt: PromptTicket,
        outcome: Result<v1::PromptResponse, v1::Error>,
    ) -> Settled {
        self.settled.insert(prompt);
        Settled { prompt, outcome }
    }

    fn is_waiting(&self, prompt: PromptTicket) -> bool {
        self.open.iter().any(|open| open.waiting.prompt == prompt)
            || self
                .expected
                .iter()
                .any(|expected| expected.waiting.prompt == prompt)
    }

    fn take_expected(&mut self, prompt: PromptTicket) -> Option<Waiting> {
        let at = self
            .expected
            .iter()
            .position(|expected| expected.waiting.prompt == prompt)?;
        Some(self.expected.remove(at).waiting)
    }
}

impl Waiting {
    fn outcome(self, reason: Option<&v2::StopReason>) -> Result<v1::PromptResponse, v1::Error> {
        if self.cancelled {
            // Whatever aborting led to, the user's cancel is what happened (V1-STOP-07).
            return cancelled();
        }
        let response = |reason| Ok(v1::PromptResponse::new(reason));
        match reason {
            Some(v2::StopReason::MaxTokens) => response(v1::StopReason::MaxTokens),
            Some(v2::StopReason::MaxTurnRequests) => response(v1::StopReason::MaxTurnRequests),
            Some(v2::StopReason::Refusal) => response(v1::StopReason::Refusal),
            Some(v2::StopReason::Cancelled) => cancelled(),
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
        }
    }
}

fn cancelled() -> Result<v1::PromptResponse, v1::Error> {
    Ok(v1::PromptResponse::new(v1::StopReason::Cancelled))
}
