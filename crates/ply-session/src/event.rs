//! What the journal of a session holds.

use std::borrow::Cow;
use std::path::PathBuf;

use ply_wire::{MaybeUndefined, v2};
use serde::{Deserialize, Serialize};

use crate::{Answer, AskId, Level, Question, Questions, Settings, TurnId};

/// One event of a session, in the meaning of version 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// Something that clients are shown.
    Update(v2::SessionUpdate),
    /// The same, with the texts that its diffs leave out and version 1 wants.
    Edited {
        /// What clients are shown.
        update: v2::SessionUpdate,
        /// The texts.
        edits: Vec<Edit>,
    },
    /// The user was asked something.
    Asked {
        /// The question's number.
        ask: AskId,
        /// The turn that waits for it.
        turn: Option<TurnId>,
        /// What was asked.
        question: Question,
    },
    /// The question was answered, or given up.
    Answered {
        /// The question's number.
        ask: AskId,
        /// What came of it.
        answer: Answer,
        /// Whose answer it was, where several people share the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A prompt was queued that is to survive its sender and this process.
    Queued {
        /// Its name in the queue.
        key: String,
        /// What it says.
        content: Vec<v2::ContentBlock>,
        /// Who sent it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The sender's key; sent again under it, it is the same prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<String>,
    },
    /// The queue changed otherwise.
    Queue(QueueChange),
    /// The prompt that became this message was sent under this key; sent again, it is the same prompt.
    Operation {
        /// The sender's name for the request.
        key: String,
        /// The message it became.
        message: v2::MessageId,
    },
    /// Another program runs the turns of the session from here on.
    Runner(Runner),
    /// A client named the session; titles of the agent do not replace that name.
    Titled {
        /// What clients are shown.
        update: v2::SessionUpdate,
        /// Who did, where several people share the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The session began as a copy of another one. The ids that are made in it are others than those that the source made.
    Forked {
        /// The source.
        from: v2::SessionId,
    },
    /// This owner wrote the first record of the session: those before it wrote none, so no place that they told a client is one
    /// in this journal.
    Begun {
        /// The number of the owner.
        owner: u64,
    },
    /// The lines of that program are recorded up to this number.
    Lines {
        /// The number of the last one.
        upto: u64,
    },
    /// What else another owner needs to go on with that program.
    Connection(Connection),
}

/// The connection to a program that runs the turns of a session and may outlive the session's owner. Whoever drives it writes down
/// its state now and then, and what it told the program since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Connection {
    /// Its state, in the words of its driver.
    State {
        /// The state.
        state: String,
        /// The number of the last [`Told`](Self::Told) that is part of it.
        told: u64,
        /// The number of the last request of the program that is part of it. None of them is open.
        requests: u64,
    },
    /// Something that the program is told.
    Told {
        /// Its number.
        number: u64,
        /// How many lines of the program came before.
        after: u64,
        /// What, in the words of the driver.
        what: String,
        /// Whether it must not be done twice, also by another program after the loss of power.
        #[serde(default, skip_serializing_if = "is_false")]
        once: bool,
    },
    /// A question of the session is a request of the program.
    Asked {
        /// The question.
        ask: AskId,
        /// The number of the request.
        request: u64,
    },
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A program that runs the turns of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Runner {
    /// The agent's name.
    pub agent: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its own id for the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The name of the process that keeps it alive without the session's owner, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// What the session's owner has to know of it to go on with it, in the owner's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

impl Runner {
    /// Returns the runner with this name.
    #[must_use]
    pub fn new(agent: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            version: None,
            session: None,
            holder: None,
            kept: None,
        }
    }

    /// Says which version of it.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Says its own id for the session.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Says what keeps it alive without the session's owner.
    #[must_use]
    pub fn holder(mut self, holder: impl Into<String>) -> Self {
        self.holder = Some(holder.into());
        self
    }

    /// Returns it as JSON, for the head of the session.
    pub(crate) fn to_json(&self) -> String {
        // A few strings can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<Runner> for Event {
    fn from(runner: Runner) -> Self {
        Self::Runner(runner)
    }
}

/// A change of the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QueueChange {
    /// A queued prompt says something else now.
    Edited {
        /// Its name.
        key: String,
        /// What it says.
        content: Vec<v2::ContentBlock>,
    },
    /// A queued prompt has another place.
    Moved {
        /// Its name.
        key: String,
        /// How many are before it.
        to: usize,
    },
    /// A queued prompt was taken back, or its turn began.
    Left {
        /// Its name.
        key: String,
    },
    /// No queued prompt begins until the queue is resumed.
    Paused,
    /// Queued prompts begin again.
    Resumed,
}

/// The whole text of a file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The file.
    pub path: PathBuf,
    /// The text before; none if the file was new.
    pub old: Option<String>,
    /// The text after; none if the file was deleted.
    pub new: Option<String>,
}

impl Event {
    /// Returns whether the event must be safe on disk before anybody hears of it: accepted prompts,
    /// answers, and the beginnings of tool calls and of turns and their ends. The rest may follow in
    /// groups.
    ///
    /// A tool that runs may have done something when the process dies; that it was about to must be
    /// known then, so that nobody runs it again unasked.
    ///
    /// A turn's beginning is among them so that no later life uses the ids of the turn again, if
    /// nothing else of it survives.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        match self {
            Self::Update(update) | Self::Edited { update, .. } => match update {
                v2::SessionUpdate::UserMessage(_)
                | v2::SessionUpdate::StateUpdate(
                    v2::StateUpdate::Running(_) | v2::StateUpdate::Idle(_),
                ) => true,
                v2::SessionUpdate::ToolCallUpdate(call) => begins(call),
                _ => false,
            },
            Self::Asked {
                question: Question::Permission(request),
                ..
            } => match &request.subject {
                Some(v2::RequestPermissionSubject::ToolCall(subject)) => begins(&subject.tool_call),
                _ => false,
            },
            Self::Answered { .. }
            | Self::Queued { .. }
            | Self::Queue(_)
            | Self::Operation { .. }
            | Self::Runner(_)
            | Self::Titled { .. }
            | Self::Forked { .. }
            | Self::Connection(Connection::Told { once: true, .. }) => true,
            Self::Asked { .. } | Self::Begun { .. } | Self::Lines { .. } | Self::Connection(_) => {
                false
            }
        }
    }

    /// Returns how far it must have come before anybody hears of it.
    pub(crate) fn level(&self, settings: &Settings) -> Level {
        // What waits for whoever comes must be there for them.
        let waits = settings.questions == Questions::Wait && matches!(self, Self::Asked { .. });
        if self.is_durable() || waits {
            Level::Durable
        } else {
            settings.shows
        }
    }

    /// Returns what clients are shown of it.
    #[must_use]
    pub fn update(&self) -> Option<&v2::SessionUpdate> {
        match self {
            Self::Update(update) | Self::Edited { update, .. } | Self::Titled { update, .. } => {
                Some(update)
            }
            _ => None,
        }
    }
}

/// Returns whether an update says that a tool call runs.
fn begins(call: &v2::ToolCallUpdate) -> bool {
    call.status == MaybeUndefined::Value(v2::ToolCallStatus::InProgress)
}

/// Joins text chunks of one message that follow each other, so that a journal of many small chunks
/// stays small. What it folds to stays the same.
#[must_use]
pub fn coalesce<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Event> {
    let joined = joined(events).into_iter();
    joined.map(Cow::into_owned).collect()
}

/// Does the same without copying what stands alone.
#[must_use]
pub fn joined<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Cow<'a, Event>> {
    let mut joined: Vec<Cow<'a, Event>> = Vec::new();
    for event in events {
        match (joined.last_mut(), plain_text(event)) {
            (Some(last), Some(next))
                if plain_text(last).is_some_and(|last| last.follows(&next)) =>
            {
                append(last.to_mut(), next.text);
            }
            _ => joined.push(Cow::Borrowed(event)),
        }
    }
    joined
}

/// A chunk of plain text.
struct PlainText<'a> {
    thought: bool,
    message: &'a v2::MessageId,
    text: &'a str,
}

impl PlainText<'_> {
    fn follows(&self, other: &PlainText<'_>) -> bool {
        self.thought == other.thought && self.message == other.message
    }
}

fn plain_text(event: &Event) -> Option<PlainText<'_>> {
    let (thought, chunk) = match event {
        Event::Update(v2::SessionUpdate::AgentMessageChunk(chunk)) => (false, chunk),
        Event::Update(v2::SessionUpdate::AgentThoughtChunk(chunk)) => (true, chunk),
        _ => return None,
    };
    let message = &chunk.message_id;
    match &chunk.content {
        v2::ContentBlock::Text(text)
            if chunk.meta.is_none() && text.annotations.is_none() && text.meta.is_none() =>
        {
            let text = &text.text;
            Some(PlainText {
                thought,
                message,
                text,
            })
        }
        _ => None,
    }
}

fn append(event: &mut Event, next: &str) {
    if let Event::Update(
        v2::SessionUpdate::AgentMessageChunk(chunk) | v2::SessionUpdate::AgentThoughtChunk(chunk),
    ) = event
        && let v2::ContentBlock::Text(text) = &mut chunk.content
    {
        text.text.push_str(next);
    }
}
