//! What follows from an input.

use std::sync::Arc;

use ply_wire::transcript::Entry;
use ply_wire::v2;

use crate::{Answer, AskId, Event, PromptId, TurnId, ViewId};

/// Something for the [core](crate::Core) to see to, in order.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Add the event to the session: for the journal, and for every view. What comes after it waits until it is as safe as
    /// its kind has to be.
    Append(Event),
    /// Show the update to every view without writing it: it is not part of the history.
    Tell(v2::SessionUpdate),
    /// Tell the sender that its prompt is in the conversation, under this message id.
    Accept {
        /// The prompt.
        prompt: PromptId,
        /// Its sender.
        view: ViewId,
        /// Its message.
        message: v2::MessageId,
    },
    /// Tell the sender that its prompt will not be in the conversation.
    Refuse {
        /// The prompt.
        prompt: PromptId,
        /// Its sender; none for a turn of the agent's own.
        view: Option<ViewId>,
        /// Why.
        refusal: Refusal,
    },
    /// Run the agent's code for a turn.
    StartTurn(Start),
    /// Pass a prompt to the turn that runs.
    Steer {
        /// The prompt.
        prompt: PromptId,
        /// The turn.
        turn: TurnId,
        /// The prompt's message.
        message: v2::MessageId,
        /// What it says.
        content: Vec<v2::ContentBlock>,
    },
    /// Ask the agent's code to stop, and say that it is
    /// [overdue](super::Input::TurnOverdue) if it does not.
    CancelTurn {
        /// The turn.
        turn: TurnId,
    },
    /// Stop waiting for the agent's code: its turn is over.
    AbandonTurn {
        /// The turn.
        turn: TurnId,
    },
    /// The work of an inserted prompt, or of a turn of the agent's own, has ended.
    Settle {
        /// The prompt.
        prompt: PromptId,
        /// Why it ended.
        stop: v2::StopReason,
    },
    /// Put a question to the user of a view.
    Offer {
        /// The question.
        ask: AskId,
        /// The view.
        view: ViewId,
    },
    /// Take a question back from a view that has not answered it.
    Retract {
        /// The question.
        ask: AskId,
        /// The view.
        view: ViewId,
    },
    /// Tell the agent's code what came of its question.
    Resolve {
        /// The question.
        ask: AskId,
        /// The answer.
        answer: Answer,
    },
    /// The session is over: nothing more comes of it.
    Closed,
}

/// A turn to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Its number.
    pub turn: TurnId,
    /// The prompt, or the number under which the agent asked for a turn of its own.
    pub prompt: PromptId,
    /// Whose prompt it is; none for a turn of the agent's own.
    pub view: Option<ViewId>,
    /// The id of the prompt's message; none for a turn of the agent's own.
    pub message: Option<v2::MessageId>,
    /// The prompt's message as it stands in the history; none for a turn of the agent's own. It is shared, since a prompt may be
    /// long.
    pub said: Option<Arc<Entry>>,
}

impl Start {
    /// Returns what the prompt says.
    #[must_use]
    pub fn content(&self) -> &[v2::ContentBlock] {
        match self.said.as_deref() {
            Some(Entry::Message(message)) => &message.content,
            _ => &[],
        }
    }
}

/// Why a prompt is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It has no content.
    #[error("The prompt is empty; send at least one content block.")]
    Empty,
    /// It holds content that was not advertised.
    #[error("This agent does not take {0} content in prompts; see its prompt capabilities.")]
    Unsupported(&'static str),
    /// Too many prompts wait already.
    #[error("Too many prompts wait for their turn; wait for one to end or cancel them.")]
    QueueFull,
    /// It was withdrawn, or dropped by `session/cancel`, before its turn came.
    #[error("The prompt was cancelled before its turn came.")]
    Cancelled,
    /// The session is closed, or about to be.
    #[error("The session is closed; resume it or create another.")]
    Closed,
}
