//! What happens in a session, one thing at a time.

mod meta;

use std::fmt;
use std::sync::Weak;

use ply_wire::transcript::{self, MessageKind};
use ply_wire::{MaybeUndefined, v2};

use crate::ask::{Elicitation, Permission};
use crate::limits::JOINED_TEXT_BYTES_MAX;
use crate::session::cell::SessionCell;

/// A prompt of this client in one session, from when it is said to the end of the work on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TurnId(pub(crate) u64);

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "turn {}", self.0)
    }
}

/// An event of a session, with the turn it belongs to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionEvent {
    /// The turn of this client that ran; none outside turns and in those of other clients, and for what is told after
    /// [`Event::Lagged`] if it is of more than one.
    pub turn: Option<TurnId>,
    /// What happened.
    pub event: Event,
}

/// Something that happened in a session, in version 2 meaning whatever the agent speaks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The agent says something; displays as its text.
    Message(Message),
    /// The agent thinks something; displays as its text.
    Thought(Message),
    /// Something the user said, as the agent has it.
    UserMessage(Message),
    /// A tool call began or changed.
    ToolCall(ToolCall),
    /// A plan was made or replaced.
    Plan(v2::PlanUpdate),
    /// A terminal of the agent began, printed or ended.
    Terminal(Terminal),
    /// The agent asks for permission. Dropped without an answer, it is left to other clients of the session.
    Permission(Permission),
    /// The agent asks for information. Dropped without an answer, it is left to other clients of the session.
    Elicitation(Elicitation),
    /// The agent says that the visit to a URL is over, to which an [`Event::Elicitation`] sent the user.
    VisitFinished(v2::ElicitationId),
    /// The options of the session changed.
    ConfigOptions(v2::ConfigOptionUpdate),
    /// The commands of the session changed.
    Commands(v2::AvailableCommandsUpdate),
    /// Title or time of the session changed.
    Info(v2::SessionInfoUpdate),
    /// Context size or cost changed.
    Usage(v2::UsageUpdate),
    /// Something to show now, which is not part of the history.
    Notice(v2::Notice),
    /// The session went to work, waits for the user, or is idle.
    State(v2::StateUpdate),
    /// Nothing was heard from the agent for a while, though it should be at work. Told once per silence; nothing was ended.
    Quiet {
        /// How long, in seconds.
        for_s: u64,
    },
    /// This reader was too slow, and events were dropped. What changed meanwhile follows as it is now: messages from where they
    /// were left, so that whoever adds up their text has all of it; tool calls and other entries whole; options and state where
    /// they changed; last the questions that are open and the visits that are over, up to
    /// [`VISITS_MAX`](crate::limits::VISITS_MAX) of them. Notices, and states that have passed, are not told again.
    Lagged {
        /// How many events were dropped.
        events: u64,
    },
    /// The turn was cancelled and the agent goes on all the same. Told once; [`Agent::kill`](crate::Agent::kill) ends it.
    CancelOverdue,
    /// Any other update.
    Other(v2::SessionUpdate),
}

impl Event {
    /// Returns the update behind the event; questions and what the client itself noticed have none.
    #[must_use]
    pub fn into_update(self) -> Option<v2::SessionUpdate> {
        Some(match self {
            Self::Message(message) | Self::Thought(message) | Self::UserMessage(message) => {
                message.update
            }
            Self::ToolCall(call) => call.update,
            Self::Plan(update) => v2::SessionUpdate::PlanUpdate(update),
            Self::Terminal(terminal) => terminal.update,
            Self::ConfigOptions(update) => v2::SessionUpdate::ConfigOptionUpdate(update),
            Self::Commands(update) => v2::SessionUpdate::AvailableCommandsUpdate(update),
            Self::Info(update) => v2::SessionUpdate::SessionInfoUpdate(update),
            Self::Usage(update) => v2::SessionUpdate::UsageUpdate(update),
            Self::Notice(notice) => v2::SessionUpdate::Notice(notice),
            Self::State(state) => v2::SessionUpdate::StateUpdate(state),
            Self::Other(update) => update,
            Self::Permission(_)
            | Self::Elicitation(_)
            | Self::VisitFinished(_)
            | Self::Quiet { .. }
            | Self::Lagged { .. }
            | Self::CancelOverdue => {
                return None;
            }
        })
    }

    /// Returns a copy of the update behind the event; see [`Event::into_update`].
    #[must_use]
    pub fn to_update(&self) -> Option<v2::SessionUpdate> {
        self.clone().into_update()
    }

    pub(crate) fn from_update(update: v2::SessionUpdate, session: &Weak<SessionCell>) -> Self {
        use v2::SessionUpdate as Update;
        match update {
            Update::AgentMessageChunk(_) | Update::AgentMessage(_) => {
                Self::Message(Message { update })
            }
            Update::AgentThoughtChunk(_) | Update::AgentThought(_) => {
                Self::Thought(Message { update })
            }
            Update::UserMessageChunk(_) | Update::UserMessage(_) => {
                Self::UserMessage(Message { update })
            }
            Update::ToolCallUpdate(_) | Update::ToolCallContentChunk(_) => {
                Self::ToolCall(ToolCall {
                    update,
                    session: session.clone(),
                })
            }
            Update::TerminalUpdate(_) | Update::TerminalOutputChunk(_) => {
                Self::Terminal(Terminal {
                    update,
                    session: session.clone(),
                })
            }
            Update::PlanUpdate(update) => Self::Plan(update),
            Update::ConfigOptionUpdate(update) => Self::ConfigOptions(update),
            Update::AvailableCommandsUpdate(update) => Self::Commands(update),
            Update::SessionInfoUpdate(update) => Self::Info(update),
            Update::UsageUpdate(update) => Self::Usage(update),
            Update::Notice(notice) => Self::Notice(notice),
            Update::StateUpdate(state) => Self::State(state),
            update => Self::Other(update),
        }
    }

    /// Takes the text of the next update into this event, if both are words of one message; returns how many bytes it took.
    pub(crate) fn join(&mut self, next: &v2::SessionUpdate) -> Option<usize> {
        use v2::SessionUpdate as Update;
        let (Self::Message(last) | Self::Thought(last)) = self else {
            return None;
        };
        match (&mut last.update, next) {
            (Update::AgentMessageChunk(last), Update::AgentMessageChunk(next))
            | (Update::AgentThoughtChunk(last), Update::AgentThoughtChunk(next)) => {
                join_chunks(last, next)
            }
            _ => None,
        }
    }
}

fn join_chunks(last: &mut v2::ContentChunk, next: &v2::ContentChunk) -> Option<usize> {
    let is_same = last.message_id == next.message_id && last.meta.is_none() && next.meta.is_none();
    match (&mut last.content, &next.content) {
        (v2::ContentBlock::Text(last), v2::ContentBlock::Text(text))
            if is_same
                && last.annotations.is_none()
                && last.meta.is_none()
                && text.annotations.is_none()
                && text.meta.is_none()
                && last.text.len() + text.text.len() <= JOINED_TEXT_BYTES_MAX =>
        {
            last.text.push_str(&text.text);
            Some(text.text.len())
        }
        _ => None,
    }
}

/// A piece of a message, or a whole one that replaces what was said before under its id.
///
/// It displays as its text; other content is left out.
#[derive(Debug, Clone)]
pub struct Message {
    update: v2::SessionUpdate,
}

impl Message {
    /// Returns the id of the message that this belongs to.
    #[must_use]
    pub fn id(&self) -> Option<&v2::MessageId> {
        use v2::SessionUpdate as Update;
        Some(match &self.update {
            Update::UserMessageChunk(chunk)
            | Update::AgentMessageChunk(chunk)
            | Update::AgentThoughtChunk(chunk) => &chunk.message_id,
            Update::UserMessage(message) => &message.message_id,
            Update::AgentMessage(message) => &message.message_id,
            Update::AgentThought(message) => &message.message_id,
            _ => return None,
        })
    }

    /// Returns the blocks it holds.
    #[must_use]
    pub fn content(&self) -> &[v2::ContentBlock] {
        use v2::SessionUpdate as Update;
        let whole = match &self.update {
            Update::UserMessageChunk(chunk)
            | Update::AgentMessageChunk(chunk)
            | Update::AgentThoughtChunk(chunk) => return std::slice::from_ref(&chunk.content),
            Update::UserMessage(message) => &message.content,
            Update::AgentMessage(message) => &message.content,
            Update::AgentThought(message) => &message.content,
            _ => return &[],
        };
        match whole {
            MaybeUndefined::Value(content) => content,
            _ => &[],
        }
    }

    /// Returns whether this replaces everything said before under its id, rather than adding to it.
    #[must_use]
    pub fn replaces(&self) -> bool {
        use v2::SessionUpdate as Update;
        let whole = match &self.update {
            Update::UserMessage(message) => &message.content,
            Update::AgentMessage(message) => &message.content,
            Update::AgentThought(message) => &message.content,
            _ => return false,
        };
        !matches!(whole, MaybeUndefined::Undefined)
    }

    /// Returns who it is from.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        use v2::SessionUpdate as Update;
        match &self.update {
            Update::AgentMessageChunk(_) | Update::AgentMessage(_) => MessageKind::Agent,
            Update::AgentThoughtChunk(_) | Update::AgentThought(_) => MessageKind::Thought,
            _ => MessageKind::User,
        }
    }

    /// Returns its text; other content is left out.
    #[must_use]
    pub fn text(&self) -> String {
        self.to_string()
    }

    /// Returns the update behind it.
    #[must_use]
    pub fn update(&self) -> &v2::SessionUpdate {
        &self.update
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.content().iter().try_for_each(|block| match block {
            v2::ContentBlock::Text(text) => f.write_str(&text.text),
            _ => Ok(()),
        })
    }
}

/// A change of a tool call.
#[derive(Debug, Clone)]
pub struct ToolCall {
    update: v2::SessionUpdate,
    session: Weak<SessionCell>,
}

impl ToolCall {
    /// Returns the id of the call.
    #[must_use]
    pub fn id(&self) -> Option<&v2::ToolCallId> {
        match &self.update {
            v2::SessionUpdate::ToolCallUpdate(update) => Some(&update.tool_call_id),
            v2::SessionUpdate::ToolCallContentChunk(chunk) => Some(&chunk.tool_call_id),
            _ => None,
        }
    }

    /// Returns the call as it is now, which may be newer than this event.
    #[must_use]
    pub fn snapshot(&self) -> Option<transcript::ToolCall> {
        let session = self.session.upgrade()?;
        session.read(|transcript| transcript.tool_call(self.id()?).cloned())
    }

    /// Returns the update behind it.
    #[must_use]
    pub fn update(&self) -> &v2::SessionUpdate {
        &self.update
    }
}

/// A change of a terminal of the agent.
#[derive(Debug, Clone)]
pub struct Terminal {
    update: v2::SessionUpdate,
    session: Weak<SessionCell>,
}

impl Terminal {
    /// Returns the id of the terminal.
    #[must_use]
    pub fn id(&self) -> Option<&v2::TerminalId> {
        match &self.update {
            v2::SessionUpdate::TerminalUpdate(update) => Some(&update.terminal_id),
            v2::SessionUpdate::TerminalOutputChunk(chunk) => Some(&chunk.terminal_id),
            _ => None,
        }
    }

    /// Returns the terminal as it is now, which may be newer than this event.
    #[must_use]
    pub fn snapshot(&self) -> Option<transcript::Terminal> {
        let session = self.session.upgrade()?;
        session.read(|transcript| transcript.terminal(self.id()?).cloned())
    }

    /// Returns the update behind it.
    #[must_use]
    pub fn update(&self) -> &v2::SessionUpdate {
        &self.update
    }
}
