//! What a program may ask the hub besides serving it: one question and one answer for each connection.

use std::path::PathBuf;

use ply_agent::event::{AskId, Question, QueueChange, QueuedPrompt};
use ply_agent::{Overview, v2};
use serde::{Deserialize, Serialize};

/// Something that the hub is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ask {
    /// How it is.
    Status,
    /// Which sessions are open.
    Sessions,
    /// To see sessions without taking part. ACP is spoken from here on, and nothing can be prompted, answered or changed.
    Watch,
    /// To pick an option of a permission request.
    Answer {
        /// The session.
        session: String,
        /// The question's number.
        question: u64,
        /// The option.
        option: String,
        /// Who picks it.
        by: String,
    },
    /// To send a prompt to an open session.
    Send {
        /// The session.
        session: String,
        /// What it says.
        text: String,
    },
    /// To close a session that no client sees.
    Close {
        /// The session.
        session: String,
    },
    /// To change the prompts that wait for their turn.
    Queue {
        /// The session.
        session: String,
        /// What changes.
        change: Change,
    },
    /// To end, with all agents.
    Stop {
        /// Whether turns that run may end first.
        drain: bool,
    },
    /// To end and leave agents to the next hub.
    HandOver,
}

/// A change of the prompts that wait for their turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// A prompt says something else.
    Edit {
        /// Its name in the queue.
        key: String,
        /// What it says.
        text: String,
    },
    /// A prompt has another place.
    Move {
        /// Its name in the queue.
        key: String,
        /// How many are before it.
        to: usize,
    },
    /// A prompt is taken back.
    Drop {
        /// Its name in the queue.
        key: String,
    },
    /// No prompt begins for now.
    Pause,
    /// Prompts begin again.
    Resume,
}

impl From<Change> for QueueChange {
    fn from(change: Change) -> Self {
        match change {
            Change::Edit { key, text } => {
                let content = vec![v2::ContentBlock::from(text)];
                Self::Edited { key, content }
            }
            Change::Move { key, to } => Self::Moved { key, to },
            Change::Drop { key } => Self::Left { key },
            Change::Pause => Self::Paused,
            Change::Resume => Self::Resumed,
        }
    }
}

/// What the hub answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Told {
    /// How it is.
    Status(Status),
    /// The sessions that are open.
    Sessions(Vec<Live>),
    /// It is done, or will be.
    Done,
}

/// How a hub is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its process.
    pub pid: u32,
    /// The version of its program.
    pub version: String,
    /// Where it keeps sessions.
    pub store: PathBuf,
    /// How many sessions are open.
    pub sessions: usize,
    /// In how many of them something goes on.
    pub busy: usize,
    /// How many questions wait for an answer.
    pub questions: usize,
    /// Whether it is about to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
}

/// How a hub is that is about to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopping {
    /// Whether agents go on and are left to the next hub.
    pub hands_over: bool,
    /// What it waits for.
    pub waits_for: Vec<Wait>,
}

/// A session that keeps a hub from ending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The session.
    pub session: String,
    /// What goes on in it.
    pub what: Busy,
}

/// What goes on in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Busy {
    /// Its user is asked something.
    Question,
    /// A turn runs.
    Turn,
    /// Prompts wait for their turn.
    Queue,
}

/// An open session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// Its id.
    pub id: String,
    /// Its agent.
    pub agent: Option<String>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its title.
    pub title: Option<String>,
    /// `running`, `requires_action` or `idle`.
    pub state: String,
    /// How many clients see it.
    pub clients: usize,
    /// How many of them may answer its questions.
    #[serde(default)]
    pub approvers: usize,
    /// The prompts that wait for their turn.
    pub queue: Vec<Waiting>,
    /// Whether they wait until `ply queue resume`.
    pub paused: bool,
    /// What its user is asked.
    pub questions: Vec<Asked>,
}

/// A prompt that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its name in the queue.
    pub key: String,
    /// What it says, as far as that is text.
    pub text: String,
}

/// A question that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Its number.
    pub id: u64,
    /// What it is about.
    pub title: String,
    /// The answers it offers; none if it is a form, which only a client can show.
    pub options: Vec<Choice>,
}

/// An answer that a question offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Its id.
    pub id: String,
    /// What it says.
    pub name: String,
    /// `allow_once`, `allow_always`, `reject_once`, `reject_always`, or what the agent calls it.
    pub kind: String,
}

impl Live {
    /// Returns whether something goes on.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.state != "idle" || !(self.queue.is_empty() || self.paused)
    }

    pub(crate) fn session_id(&self) -> v2::SessionId {
        v2::SessionId::new(self.id.clone())
    }
}

impl From<&Live> for Wait {
    fn from(live: &Live) -> Self {
        let what = match (live.questions.is_empty(), live.state.as_str()) {
            (false, _) => Busy::Question,
            (true, "idle") => Busy::Queue,
            (true, _) => Busy::Turn,
        };
        Self {
            session: live.id.clone(),
            what,
        }
    }
}

impl From<Overview> for Live {
    fn from(session: Overview) -> Self {
        let agent = session.host.as_deref().and_then(|host| host.lines().next());
        Self {
            id: session.id.0.to_string(),
            agent: agent.map(str::to_owned),
            cwd: session.cwd,
            title: session.title,
            state: word(&session.state, "state"),
            clients: session.clients,
            approvers: session.approvers,
            queue: session.queue.iter().map(Waiting::from).collect(),
            paused: session.is_paused,
            questions: session
                .questions
                .iter()
                .map(|open| Asked::new(open.id, &open.question))
                .collect(),
        }
    }
}

impl From<&QueuedPrompt> for Waiting {
    fn from(queued: &QueuedPrompt) -> Self {
        let text = queued.content.iter().filter_map(|block| match block {
            v2::ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        Self {
            key: queued.key.clone(),
            text: text.collect(),
        }
    }
}

impl Asked {
    fn new(id: AskId, question: &Question) -> Self {
        let (title, options) = match question {
            Question::Permission(request) => {
                let choice = |option: &v2::PermissionOption| Choice {
                    id: option.option_id.0.to_string(),
                    name: option.name.clone(),
                    kind: word(option, "kind"),
                };
                let options = request.options.iter().map(choice).collect();
                (request.title.clone(), options)
            }
            Question::Elicitation(request) => (request.message.clone(), Vec::new()),
            _ => (String::new(), Vec::new()),
        };
        Self {
            id: id.0,
            title,
            options,
        }
    }
}

/// Returns a word of the protocol, as it is written there: types that may grow have no names for words they do not know.
fn word<T: Serialize>(of: &T, member: &str) -> String {
    let value = serde_json::to_value(of).unwrap_or_default();
    let word = value.get(member).and_then(serde_json::Value::as_str);
    word.unwrap_or_default().to_owned()
}
