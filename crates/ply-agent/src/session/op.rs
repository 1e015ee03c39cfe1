//! What the agent's code reports to its session.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use ply_session::{Answer, Ask, AskId, Edit, History, Stop, TurnId, ViewId};
use ply_wire::v2;
use tokio::sync::oneshot;

use crate::{Result, Turn};

/// What a report is counted as besides its text.
const OP_BYTES: usize = 64;

/// The code of a turn that the agent starts itself.
pub(crate) type OwnWork =
    Box<dyn FnOnce(Turn) -> Pin<Box<dyn Future<Output = Result<Stop>> + Send>> + Send>;

/// A report. They are taken in order. Most are words, so that is what their size is made for.
pub(crate) enum Op {
    /// Plain text said or thought.
    Text {
        turn: Option<TurnId>,
        thought: bool,
        text: String,
    },
    /// Something else said or thought.
    Say {
        turn: Option<TurnId>,
        thought: bool,
        content: Box<v2::ContentBlock>,
    },
    Update {
        turn: Option<TurnId>,
        update: Box<v2::SessionUpdate>,
        edits: Vec<Edit>,
    },
    Ask {
        ask: Box<Ask>,
        answer: oneshot::Sender<Answer>,
    },
    Unask(AskId),
    /// The client that sees the session as this view made a terminal.
    ClientTerminal(ViewId, v2::TerminalId),
    Begin {
        work: OwnWork,
        ended: oneshot::Sender<v2::StopReason>,
    },
    History(oneshot::Sender<History>),
    /// Something that comes after what was reported before it, on the wire too.
    Then(Box<dyn FnOnce() + Send>),
}

impl Op {
    pub(crate) fn say(turn: Option<TurnId>, thought: bool, content: v2::ContentBlock) -> Self {
        match content {
            v2::ContentBlock::Text(text) if text.annotations.is_none() && text.meta.is_none() => {
                let text = text.text;
                Self::Text {
                    turn,
                    thought,
                    text,
                }
            }
            content => {
                let content = Box::new(content);
                Self::Say {
                    turn,
                    thought,
                    content,
                }
            }
        }
    }

    /// Returns about how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let content = match self {
            Self::Text { text, .. } => text.len(),
            Self::Say { content, .. } => block_bytes(content),
            Self::Update { update, edits, .. } => {
                let edits = edits.iter().map(|edit| {
                    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
                    text(&edit.old) + text(&edit.new)
                });
                update_bytes(update) + edits.sum::<usize>()
            }
            _ => 0,
        };
        OP_BYTES + content
    }
}

fn block_bytes(block: &v2::ContentBlock) -> usize {
    match block {
        v2::ContentBlock::Text(text) => text.text.len(),
        v2::ContentBlock::Image(image) => image.data.len(),
        v2::ContentBlock::Audio(audio) => audio.data.len(),
        // Rare, and of no size that can be told without encoding it.
        _ => 1024,
    }
}

fn update_bytes(update: &v2::SessionUpdate) -> usize {
    match update {
        v2::SessionUpdate::AgentMessageChunk(chunk)
        | v2::SessionUpdate::AgentThoughtChunk(chunk) => block_bytes(&chunk.content),
        v2::SessionUpdate::TerminalOutputChunk(chunk) => chunk.data.len(),
        v2::SessionUpdate::ToolCallContentChunk(chunk) => match &chunk.content {
            v2::ToolCallContent::Content(content) => block_bytes(&content.content),
            _ => 1024,
        },
        _ => 1024,
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text { .. } => "Text",
            Self::Say { .. } => "Say",
            Self::Update { .. } => "Update",
            Self::Ask { .. } => "Ask",
            Self::Unask(_) => "Unask",
            Self::ClientTerminal(..) => "ClientTerminal",
            Self::Begin { .. } => "Begin",
            Self::History(_) => "History",
            Self::Then(_) => "Then",
        })
    }
}
