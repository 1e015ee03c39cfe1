//! What can happen to the conversation of a session.

use std::sync::Arc;

use ply_wire::v2;

use crate::{Answers, Ask, AskId, Edit, Entity, Outcome, PromptId, Reply, TurnId, ViewId};

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all inputs are updates, and boxing each would cost more"
)]
pub enum Input {
    /// A client attached. It has seen everything up to here.
    Attach {
        /// Its number.
        view: ViewId,
        /// What it can ask its user.
        answers: Answers,
    },
    /// A client left. A running turn goes on, and whether its queued prompts stay is for the host to set.
    Detach {
        /// Its number.
        view: ViewId,
    },
    /// A client sent a prompt.
    Prompt(Prompt),
    /// A client sent a prompt for the turn that runs.
    Steer(Prompt),
    /// The agent wants a turn of its own, with no prompt.
    Begin {
        /// Its number, counted with the prompts.
        prompt: PromptId,
    },
    /// A prompt is no longer wanted (`$/cancel_request`). Queued, it is dropped; inserted, it stays.
    Withdraw {
        /// Its number.
        prompt: PromptId,
    },
    /// The user wants everything that goes on to stop (`session/cancel`).
    Cancel,
    /// The user wants the turn that runs to stop, and nothing else.
    CancelTurn,
    /// The session is to end.
    Close,
    /// The agent says or thinks something; the engine names the message.
    Say {
        /// The turn it belongs to; none for words outside any turn.
        turn: Option<TurnId>,
        /// Whether it is a thought.
        thought: bool,
        /// What it says.
        content: v2::ContentBlock,
    },
    /// The agent reports something else.
    Update {
        /// The turn it belongs to; none outside any turn.
        turn: Option<TurnId>,
        /// What it reports.
        update: v2::SessionUpdate,
        /// Whole texts of the files whose diffs the update shows.
        edits: Vec<Edit>,
    },
    /// A call or terminal of a turn goes on after it, in the background. Neither the end of the turn nor its cancel ends it
    /// from here on.
    Outlive {
        /// The turn.
        turn: TurnId,
        /// What goes on.
        entity: Entity,
    },
    /// The agent asks the user something.
    Ask(Ask),
    /// The agent no longer needs an answer.
    Unask {
        /// The question.
        ask: AskId,
    },
    /// A client answered a question.
    Answer {
        /// The question.
        ask: AskId,
        /// Who answered.
        view: ViewId,
        /// On whose behalf, where that is known.
        by: Option<Arc<str>>,
        /// What it answered.
        reply: Reply,
    },
    /// The agent's code for the turn is done, however it went.
    TurnEnded {
        /// The turn.
        turn: TurnId,
        /// How it went.
        outcome: Outcome,
    },
    /// A cancelled turn has not ended within [`CANCEL_TIME_MAX`](crate::CANCEL_TIME_MAX).
    TurnOverdue {
        /// The turn.
        turn: TurnId,
    },
}

/// A prompt of a client.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Its number.
    pub id: PromptId,
    /// Who sent it.
    pub view: ViewId,
    /// What it says.
    pub content: Vec<v2::ContentBlock>,
    /// The sender's key for it, if there is one.
    pub operation: Option<String>,
}
