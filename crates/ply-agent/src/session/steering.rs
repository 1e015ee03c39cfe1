//! What the user says to a turn that runs, on its way to the turn's code.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ply_session::TurnId;
use ply_wire::v2;
use tokio::sync::Notify;

use super::Session;

/// How many prompts of a turn may wait for its code. Further ones begin turns of their own.
const WAITING_MAX: usize = 64;

/// Something that the user said to a turn that ran.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Steered {
    /// The id of its message in the history.
    pub message_id: v2::MessageId,
    /// Everything in it.
    pub content: Vec<v2::ContentBlock>,
}

impl Steered {
    pub(crate) fn new(message_id: v2::MessageId, content: Vec<v2::ContentBlock>) -> Self {
        Self {
            message_id,
            content,
        }
    }

    /// Returns its text: its text blocks, one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            v2::ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// What waits for the turn that runs.
#[derive(Debug, Default)]
pub(super) struct Steering {
    waiting: Mutex<Waiting>,
    /// Something came.
    came: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The turn whose code takes more.
    turn: Option<TurnId>,
    prompts: Vec<Steered>,
    /// How many are on their way to the journal, and come then.
    coming: usize,
}

/// Keeps the code of a turn from taking no more while the core is told something for it.
#[derive(Debug)]
pub(super) struct Hold<'s>(MutexGuard<'s, Waiting>);

impl Hold<'_> {
    /// Returns whether there is a turn that takes more.
    pub(super) fn is_open(&self) -> bool {
        self.0.turn.is_some()
    }

    /// Has the code wait for as many as the core has for it.
    pub(super) fn expect(mut self, coming: usize) {
        self.0.coming = coming;
    }
}

/// The right of a turn's code to what the user says. Dropped, it takes no more.
#[derive(Debug)]
pub(crate) struct Open {
    session: Session,
    turn: TurnId,
}

impl Session {
    /// Lets a turn take what the user says.
    pub(crate) fn open_steering(&self, turn: TurnId) -> Open {
        *self.waiting() = Waiting {
            turn: Some(turn),
            ..Waiting::default()
        };
        Open {
            session: self.clone(),
            turn,
        }
    }

    /// Returns whether there is a turn that takes what the user says, and room for it.
    pub(crate) fn is_steered(&self) -> bool {
        let waiting = self.waiting();
        waiting.turn.is_some() && waiting.prompts.len() < WAITING_MAX
    }

    /// Keeps the code of the turn that runs from taking no more.
    pub(super) fn hold_steering(&self) -> Hold<'_> {
        Hold(self.waiting())
    }

    /// Passes something on to a turn. Where its code takes no more, the history has it for the next one.
    pub(crate) fn steer(&self, turn: TurnId, steered: Steered) {
        let mut waiting = self.waiting();
        if waiting.turn == Some(turn) {
            waiting.coming = waiting.coming.saturating_sub(1);
            waiting.prompts.push(steered);
            self.0.steering.came.notify_one();
        }
    }

    /// A panic elsewhere leaves it whole.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        let waiting = self.0.steering.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Takes what waits.
    pub(crate) fn take(&self) -> Vec<Steered> {
        let mut waiting = self.session.waiting();
        match waiting.turn == Some(self.turn) {
            true => std::mem::take(&mut waiting.prompts),
            false => Vec::new(),
        }
    }

    /// Takes what waits, and waits for what is on its way. If that is nothing, there will be no more.
    ///
    /// # Cancel safety
    ///
    /// Nothing is taken when it is dropped.
    pub(crate) async fn take_last(&self) -> Vec<Steered> {
        loop {
            // It is told of what came before this was asked, too.
            let came = self.session.0.steering.came.notified();
            {
                let mut waiting = self.session.waiting();
                if waiting.turn != Some(self.turn) {
                    return Vec::new();
                }
                if !waiting.prompts.is_empty() {
                    return std::mem::take(&mut waiting.prompts);
                }
                if waiting.coming == 0 {
                    waiting.turn = None;
                    return Vec::new();
                }
            }
            came.await;
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut waiting = self.session.waiting();
        if waiting.turn == Some(self.turn) {
            *waiting = Waiting::default();
        }
    }
}
