//! Words that inputs, effects and records share.

use ply_wire::v2;
use serde::{Deserialize, Serialize};

/// An attached client. The driver numbers them and uses no number twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewId(pub u64);

/// A request of a client, or of the agent's code for a turn of its own. The driver numbers them and uses no number twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// A prompt, or a turn of the agent's own, from its arrival to its end. The driver numbers them and
/// uses no number twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PromptId(pub u64);

/// A turn. The engine numbers them; the numbers grow within one life of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TurnId(pub u64);

/// A question to the user. The driver numbers them and uses no number twice in a session, also if others owned it before: a
/// client that comes back by a cursor must not take one question for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AskId(pub u64);

/// Something in a session that can be cancelled by itself, or go on in the background.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Entity {
    /// A tool call.
    ToolCall(v2::ToolCallId),
    /// A terminal of the agent's.
    Terminal(v2::TerminalId),
}

/// Which kinds of content a prompt may hold besides text and resource links, which every agent
/// takes (V1-CONTENT-02, V1-CONTENT-03).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accepts {
    /// Images.
    pub image: bool,
    /// Audio.
    pub audio: bool,
    /// Embedded resources.
    pub embedded_context: bool,
}

/// Which questions a view can put to its user besides permission, which every client can
/// (V1-PERM-01).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answers {
    /// Forms.
    pub form: bool,
    /// URLs to visit.
    pub url: bool,
}

/// A question of the agent.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Its number.
    pub id: AskId,
    /// The turn that waits for it; none for background work, which changes no state.
    pub turn: Option<TurnId>,
    /// What is asked.
    pub question: Question,
}

/// What the user is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Question {
    /// Whether something may be done.
    Permission(Box<v2::RequestPermissionRequest>),
    /// For input.
    Elicitation(Box<v2::CreateElicitationRequest>),
}

/// What a client made of a question.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// An option was chosen, offered or not.
    Selected(v2::PermissionOptionId),
    /// The question was dismissed, by the user or by policy: not approved (V2-PERM-08).
    Dismissed,
    /// The question was dismissed because the turn is cancelled, which is what version 1 means by
    /// `cancelled` (V1-CANCEL-12).
    CancelTurn,
    /// The elicitation came to this.
    Elicited(v2::ElicitationAction),
    /// The client answered with an error, or with something that makes no sense.
    Failed,
}

/// What the agent hears of its question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// One of the offered options was chosen.
    Selected(v2::PermissionOptionId),
    /// The elicitation came to this.
    Elicited(v2::ElicitationAction),
    /// It was dismissed or cancelled: not approved.
    Cancelled,
    /// Nobody decided: no client can ask this, or the one that was asked failed. Not approved, and
    /// not refused by the user either.
    Unanswered,
}

/// How the agent's code for a turn went.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// It said why it stops.
    Stopped(Stop),
    /// It failed, or panicked.
    Failed(v2::Error),
}

/// Why a turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "StopReason")]
#[doc(alias = "PromptResponse")]
pub enum Stop {
    /// The work is done.
    EndTurn,
    /// The model's token limit was reached.
    MaxTokens,
    /// The limit of model requests in one turn was reached.
    MaxTurnRequests,
    /// The agent declines; the prompt and what followed leave the history (V1-STOP-05).
    Refusal,
    /// The user chose to stop, other than by `session/cancel`: with a permission option, say.
    Cancelled,
}

/// The reason of another agent, to be passed on. One that there is no word for here counts as the end of the turn.
impl From<&v2::StopReason> for Stop {
    fn from(reason: &v2::StopReason) -> Self {
        match reason {
            v2::StopReason::MaxTokens => Self::MaxTokens,
            v2::StopReason::MaxTurnRequests => Self::MaxTurnRequests,
            v2::StopReason::Refusal => Self::Refusal,
            v2::StopReason::Cancelled => Self::Cancelled,
            _ => Self::EndTurn,
        }
    }
}

impl From<Stop> for v2::StopReason {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::EndTurn => Self::EndTurn,
            Stop::MaxTokens => Self::MaxTokens,
            Stop::MaxTurnRequests => Self::MaxTurnRequests,
            Stop::Refusal => Self::Refusal,
            Stop::Cancelled => Self::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_reason_that_is_passed_on_stays_what_it_is() {
        for stop in [
            Stop::EndTurn,
            Stop::MaxTokens,
            Stop::MaxTurnRequests,
            Stop::Refusal,
            Stop::Cancelled,
        ] {
            assert_eq!(Stop::from(&v2::StopReason::from(stop)), stop);
        }
    }
}
