//! What the hub wants of an agent, and what comes of it.

use std::path::PathBuf;

use bytes::Bytes;
use ply_rpc::RpcError;
use ply_session::{Answer, Edit, Question};
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something the hub wants of the agent.
///
/// A link is what its wishes and the agent's lines made of it, so wishes can be recorded. What must not be recorded, or need not
/// be, is left out when they are: which MCP servers a session has, and what files and terminals held.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Wish {
    /// Greet the agent.
    Greet(Greeting),
    /// Open the session.
    Open(Box<Opening>),
    /// Work on a prompt.
    Prompt {
        /// The id of its message.
        message: v2::MessageId,
        /// What it says. The session's history has it too, so a record need not.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        content: Vec<v2::ContentBlock>,
    },
    /// Stop what goes on in the foreground.
    Cancel,
    /// Change an option.
    SetOption {
        /// Which.
        option: v2::SessionConfigId,
        /// To what.
        value: v2::SessionConfigOptionValue,
    },
    /// Answer a question of the agent.
    Answer {
        /// Its number.
        request: u64,
        /// The answer.
        answer: Answer,
    },
    /// Answer a request for a file or a terminal.
    Serve {
        /// Its number.
        request: u64,
        /// The terminal that was made for it.
        terminal: Option<v1::TerminalId>,
        /// The answer.
        #[serde(skip)]
        result: Option<Result<Value, RpcError>>,
    },
    /// Stop one tool call.
    CancelCall {
        /// Which.
        call: v2::ToolCallId,
    },
    /// Stop one terminal.
    CancelTerminal {
        /// Which.
        terminal: v2::TerminalId,
    },
    /// Pass on a message that the protocol does not know.
    Extend {
        /// Its method, which begins with an underscore.
        method: String,
        /// Its params, with the agent's own id of the session. They may hold anything, and are never recorded.
        #[serde(skip)]
        params: Value,
        /// Whether it is answered.
        is_request: bool,
    },
    /// Close the session.
    Close,
    /// Log in.
    Login {
        /// How.
        method: v2::AuthMethodId,
    },
    /// Log out.
    Logout,
}

/// What the agent is told of the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// Whether only version 1 is offered, for an agent that answers with whatever version it is asked for.
    pub only_v1: bool,
    /// Whether the agent may read and write files through the hub.
    pub files: bool,
    /// Whether the hub runs commands for the agent.
    pub terminals: bool,
    /// Whether somebody can be asked for information.
    pub elicitation: bool,
}

/// How a session is opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Opening {
    /// Whether the agent has it already.
    pub how: How,
    /// The agent's own id for it; none for a new one.
    pub session: Option<v2::SessionId>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Further directories.
    pub additional_directories: Vec<PathBuf>,
    /// What the ids of messages begin with that are made up for the agent; new for each process of it.
    pub prefix: String,
    /// Its MCP servers, which may hold secrets.
    #[serde(skip)]
    pub mcp_servers: Vec<v2::McpServer>,
}

/// How an agent comes to have a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It makes it.
    New,
    /// It goes on with it.
    Resume,
    /// It goes on with it and tells all of it again.
    Load,
}

/// Something to be done about a line or a wish.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// Send this line.
    Send {
        /// Its number.
        number: u64,
        /// The line.
        line: Bytes,
    },
    /// A request of the hub was answered.
    Answered {
        /// The number that [`Link::wish`](super::Link::wish) returned.
        call: i64,
        /// The answer.
        outcome: Result<Done, Failure>,
    },
    /// The agent told something.
    Update(Box<Told>),
    /// It told again what it knows of the session's past.
    Replayed(Box<v2::SessionUpdate>),
    /// It asks something.
    Ask {
        /// The number of the question.
        request: u64,
        /// What it asks.
        question: Question,
    },
    /// It wants a file or a terminal.
    Service {
        /// The number of the request.
        request: u64,
        /// What it wants.
        service: Service,
    },
    /// It does not want the answer to a question or a request any more, or does not get it.
    Retracted {
        /// Its number.
        request: u64,
    },
    /// The user's visit to a URL is over.
    VisitOver(v2::ElicitationId),
    /// It says what goes on beside the work in the foreground, and after it.
    Background(Vec<v2::BackgroundWork>),
    /// It began to work by itself.
    Began,
    /// The work that it began by itself is over.
    Rested(End),
    /// The work on the prompt is over.
    Ended(End),
    /// It did something that it should not; in words, without anything that it sent.
    Odd(String),
}

/// How work ended: why, or with which error.
pub type End = Result<Option<v2::StopReason>, RpcError>;

/// An update, in version 2.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The update.
    pub update: v2::SessionUpdate,
    /// The whole texts of the files whose diffs it shows, where the agent told them.
    pub edits: Vec<Edit>,
}

/// What came of a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Done {
    /// The agent introduced itself.
    Greeted(Box<Hello>),
    /// It opened the session, which has this id there.
    Opened(v2::SessionId),
    /// It answered a message that the protocol does not know.
    Extended(Value),
    /// It did what was asked.
    Other,
}

/// Why a request failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The agent refused it.
    #[error("the agent refused `{method}`: {error}")]
    Refused {
        /// The method.
        method: &'static str,
        /// The agent's words.
        error: RpcError,
    },
    /// The answer cannot be read.
    #[error("the agent's answer to `{method}` is not what the protocol says: {reason}")]
    Unreadable {
        /// The method.
        method: &'static str,
        /// Where it differs.
        reason: String,
    },
    /// The agent answered version 2 and speaks version 1; it has to be started again and asked for that.
    #[error("the agent answered protocol version 2 in the shape of version 1")]
    Echoed,
    /// This is no agent, but a program that repeats what it is sent.
    #[error("the program repeats its input and is no agent")]
    Echoes,
}

impl Failure {
    /// Returns the agent's own error.
    #[must_use]
    pub fn refusal(&self) -> Option<&RpcError> {
        match self {
            Self::Refused { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// What an agent said when it was greeted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The version that the connection speaks.
    #[serde(with = "super::version")]
    pub version: Version,
    /// Its name and version.
    pub info: v2::Implementation,
    /// What it can do, in version 2.
    pub capabilities: v2::AgentCapabilities,
    /// How to log in.
    pub auth_methods: Vec<v2::AuthMethod>,
    /// Whether sessions can be closed.
    pub can_close: bool,
}

/// Something the agent wants done outside of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names of the methods say it")]
pub enum Service {
    ReadFile(v1::ReadTextFileRequest),
    WriteFile(v1::WriteTextFileRequest),
    CreateTerminal(v1::CreateTerminalRequest),
    TerminalOutput(v1::TerminalOutputRequest),
    WaitForTerminal(v1::WaitForTerminalExitRequest),
    KillTerminal(v1::KillTerminalRequest),
    ReleaseTerminal(v1::ReleaseTerminalRequest),
}
