//! What the agent's code reports to its session.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use ply_session::{
    Answer, Ask, AskId, Connection, Edit, Entity, History, Outcome, RequestId, Runner, Stop,
    TurnId, ViewId, block_bytes, update_bytes,
};
use ply_wire::v2;
use tokio::sync::oneshot;

use crate::passing::Line;
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
        /// Which request of another program it is.
        request: Option<u64>,
    },
    /// Somebody waits for the answer to a question that an earlier owner of the session asked.
    Await {
        ask: AskId,
        answer: oneshot::Sender<Answer>,
    },
    /// What a line of another program means.
    Line(Option<TurnId>, Box<Line>),
    /// The connection to another program.
    Connection(Connection),
    /// The code of a turn that goes on in another program; it is told whether there is one.
    Adopt(OwnWork, oneshot::Sender<bool>),
    Unask(AskId),
    /// Another program runs the turns from here on.
    Runner(Runner),
    /// A call or terminal of the turn goes on after it.
    Outlive(TurnId, Entity),
    /// The client that sees the session as this view made a terminal.
    ClientTerminal(ViewId, v2::TerminalId),
    Begin {
        work: OwnWork,
        ended: oneshot::Sender<v2::StopReason>,
    },
    History(oneshot::Sender<History>),
    /// Something that is done once everything that was reported before it is safe and the client that sees the session as this
    /// view was sent it. It is told whether that came to pass.
    Then {
        view: Option<ViewId>,
        then: Then,
    },
    /// The code of a turn is done.
    Ended {
        turn: TurnId,
        outcome: Outcome,
    },
    /// The session is ready for prompts, or cannot be.
    Prepared(Result<(), v2::Error>),
    /// The agent has taken note of a changed option, or refuses it.
    OptionSet(RequestId, Result<(), v2::Error>),
}

/// What waits for a report to be safe.
pub(crate) type Then = Box<dyn FnOnce(bool) + Send>;

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

    /// Returns whether it asks for a turn of the agent's own.
    pub(crate) fn begins(&self) -> bool {
        matches!(self, Self::Begin { .. })
    }

    /// Returns whether it only looks at what is there, which needs no journal.
    pub(crate) fn looks(&self) -> bool {
        matches!(self, Self::History(_))
    }

    /// Returns about how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let content = match self {
            Self::Text { text, .. } => text.len(),
            Self::Say { content, .. } => block_bytes(content),
            Self::Update { update, edits, .. } => {
                update_bytes(update) + edits.iter().map(Edit::bytes).sum::<usize>()
            }
            Self::Line(_, line) => line.bytes(),
            _ => 0,
        };
        OP_BYTES + content
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text { .. } => "Text",
            Self::Say { .. } => "Say",
            Self::Update { .. } => "Update",
            Self::Ask { .. } => "Ask",
            Self::Await { .. } => "Await",
            Self::Line(..) => "Line",
            Self::Connection(_) => "Connection",
            Self::Adopt(..) => "Adopt",
            Self::Unask(_) => "Unask",
            Self::Runner(_) => "Runner",
            Self::Outlive(..) => "Outlive",
            Self::ClientTerminal(..) => "ClientTerminal",
            Self::Begin { .. } => "Begin",
            Self::History(_) => "History",
            Self::Then { .. } => "Then",
            Self::Ended { .. } => "Ended",
            Self::Prepared(_) => "Prepared",
            Self::OptionSet(..) => "OptionSet",
        })
    }
}
