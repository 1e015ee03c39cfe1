//! What clients and the process send each other.

use ply_session::{AskId, Question, Reply, TurnId};
use ply_wire::{v1, v2};

/// What a client sends.
#[derive(Debug, Clone)]
pub(crate) enum Up {
    Attach {
        resumes: bool,
    },
    Detach,
    Prompt {
        request: u64,
        content: Vec<v2::ContentBlock>,
    },
    Withdraw {
        request: u64,
    },
    Cancel,
    CancelTurn,
    Close,
    Answer {
        ask: AskId,
        reply: Reply,
    },
}

/// What a client is sent.
#[derive(Debug, Clone)]
pub(crate) enum Down {
    /// The replay is over and the client is attached.
    Attached,
    V1(v1::SessionUpdate),
    V2(v2::SessionUpdate),
    Answer {
        request: u64,
        outcome: PromptOutcome,
    },
    Ask {
        ask: AskId,
        question: Question,
    },
    Unask {
        ask: AskId,
    },
    /// Not sent in the real world: everything of the turn was sent before this.
    TurnIsOver {
        life: u64,
        turn: TurnId,
    },
    Closed,
}

/// The answer to a prompt.
#[derive(Debug, Clone)]
pub(crate) enum PromptOutcome {
    Inserted(v2::MessageId),
    Refused,
    /// An answer of version 1, which the view has looked at.
    V1,
}
