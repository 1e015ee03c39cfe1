//! What can happen to a session.

use std::path::PathBuf;
use std::sync::Arc;

use ply_wire::negotiate::Version;
use ply_wire::project::Shows;
use ply_wire::v2;

use super::response::OptionChange;
use crate::{
    Answers, Ask, AskId, Connection, Edit, Entity, Level, Outcome, QueueChange, Reply, RequestId,
    Runner, TurnId, ViewId,
};

/// Something that happened.
#[derive(Debug)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all inputs are updates, and boxing each would cost more"
)]
pub enum Input {
    /// A client wants to see the session.
    Attach(Box<Attach>),
    /// A client is gone.
    Detach {
        /// Its view.
        view: ViewId,
    },
    /// A client will send nothing more, though it may still read.
    HungUp {
        /// Its view.
        view: ViewId,
    },
    /// A client sent a prompt.
    Prompt(Prompt),
    /// A client took a request back (`$/cancel_request`).
    Withdraw {
        /// The request.
        request: RequestId,
    },
    /// A client wants everything that goes on to stop (`session/cancel`).
    Cancel {
        /// Its view; none if the host wants it.
        view: Option<ViewId>,
    },
    /// The session is to end.
    Close(Close),
    /// The host has no room any more for a session that is [unattended](super::Effect::Unattended). One that somebody sees
    /// again stays.
    Leave,
    /// A client changes an option.
    SetOption {
        /// The request.
        request: RequestId,
        /// The client's view.
        view: ViewId,
        /// What it changes.
        change: Box<OptionChange>,
    },
    /// A client wants one call or terminal to stop (`tool_call/cancel`, `terminal/cancel`).
    CancelEntity {
        /// The request.
        request: RequestId,
        /// The client's view.
        view: ViewId,
        /// What is to stop.
        entity: Entity,
    },
    /// A client names the session (`session/set_title`). It need not see it.
    SetTitle {
        /// The request.
        request: RequestId,
        /// The name.
        title: String,
    },
    /// A client wants a copy of the session (`session/fork`). It need not see it.
    Fork {
        /// The request.
        request: RequestId,
    },
    /// A client answered a question.
    Answer {
        /// The question.
        ask: AskId,
        /// The client's view.
        view: ViewId,
        /// What it answered.
        reply: Reply,
    },

    /// Somebody who sees the session through no view picks an option of a permission request.
    Decide {
        /// The request.
        request: RequestId,
        /// The question.
        ask: AskId,
        /// The option.
        option: v2::PermissionOptionId,
        /// Who it is.
        by: Option<Arc<str>>,
    },

    /// Somebody who sees the session through no view sends a prompt. It is answered when it is safe, not when its work ends.
    Post {
        /// The request.
        request: RequestId,
        /// What it says.
        content: Vec<v2::ContentBlock>,
    },
    /// Somebody who may changes the queue of prompts.
    Queue {
        /// The request.
        request: RequestId,
        /// What changes.
        change: QueueChange,
    },

    /// The runner is ready for prompts, or cannot serve the session.
    Prepared {
        /// Why it cannot.
        outcome: Result<(), v2::Error>,
    },
    /// The agent says or thinks something; the core names the message.
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
    /// A call or terminal of a turn goes on after it, in the background.
    Outlive {
        /// The turn.
        turn: TurnId,
        /// What goes on.
        entity: Entity,
    },
    /// Another program runs the turns of the session from here on.
    Runner(Runner),
    /// Something about the connection to that program is to be kept.
    Connection(Connection),
    /// Everything that the lines of that program mean was reported, up to this one. It is kept together with what was reported
    /// before, so that nothing is reported again or never.
    Lines {
        /// The number of the last one.
        upto: u64,
    },
    /// The agent asks the user something.
    Ask(Ask),
    /// The agent no longer needs an answer.
    Unask {
        /// The question.
        ask: AskId,
    },
    /// The agent wants a turn of its own, with no prompt.
    Begin {
        /// The runner's number for it, counted with the requests.
        request: RequestId,
    },
    /// The code of a turn is done, however it went.
    Ended {
        /// The turn.
        turn: TurnId,
        /// How it went.
        outcome: Outcome,
    },
    /// The agent has taken note of a changed option, or refuses it.
    OptionSet {
        /// The request that changes it.
        request: RequestId,
        /// Why it is refused.
        outcome: Result<(), v2::Error>,
    },
    /// The runner wants to know when everything it reported so far is safe and a client was sent it.
    Barrier {
        /// The runner's number for it.
        barrier: u64,
        /// The client, if one matters.
        view: Option<ViewId>,
    },
    /// A client made a terminal for the agent; it shows the output by itself.
    ClientTerminal {
        /// The client's view.
        view: ViewId,
        /// The terminal.
        terminal: v2::TerminalId,
    },

    /// The journal was created or opened.
    Opened(Opened),
    /// The journal could not be created or opened.
    NotOpened {
        /// Why.
        error: v2::Error,
    },
    /// The append under way has come to its level.
    Persisted {
        /// How far it has come, if that is further.
        reached: Level,
    },
    /// The append under way failed.
    NotPersisted {
        /// Why.
        error: v2::Error,
        /// Whether trying again may help.
        may_pass: bool,
    },
    /// Another owner has the session.
    Lost {
        /// What clients are told.
        error: v2::Error,
    },
    /// Records that a view asked for.
    Page {
        /// The view.
        view: ViewId,
        /// The number of the first record.
        from: u64,
        /// The records; empty if they cannot be read.
        records: Vec<Vec<u8>>,
        /// Where to go on.
        next: u64,
    },
    /// Everything of the session is closed.
    Released,
    /// The same, but what was to be kept, or to be deleted, may not be.
    NotReleased {
        /// Why.
        error: v2::Error,
    },
    /// A deadline has passed.
    Tick,
}

impl Input {
    /// Returns the request that it is, if it is one.
    #[must_use]
    pub fn request(&self) -> Option<RequestId> {
        match self {
            Self::Attach(attach) => Some(attach.request),
            Self::Prompt(prompt) => Some(prompt.request),
            Self::SetOption { request, .. } | Self::CancelEntity { request, .. } => Some(*request),
            Self::SetTitle { request, .. } | Self::Fork { request } => Some(*request),
            Self::Decide { request, .. }
            | Self::Post { request, .. }
            | Self::Queue { request, .. } => Some(*request),
            Self::Close(close) => close.request,
            _ => None,
        }
    }
}

/// A client that wants to see the session.
#[derive(Debug)]
pub struct Attach {
    /// The request for it.
    pub request: RequestId,
    /// The view it gets. A client that attaches again keeps its view.
    pub view: ViewId,
    /// Who it is.
    pub viewer: Viewer,
    /// What it wants to see first.
    pub how: How,
    /// What it wants the session to work with.
    pub setup: Arc<Setup>,
    /// What it has seen already, if it comes back.
    pub after: Option<After>,
}

/// What a client that comes back has seen. It must [have cursors](Viewer::cursors).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct After {
    /// The [cursor](super::Core::cursor) of the last message that it got.
    pub cursor: String,
    /// The keys of its newest prompts, which version 1 is not shown.
    pub operations: Vec<String>,
}

/// A client, as far as the core has to know it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Viewer {
    /// The version it speaks.
    pub version: Version,
    /// What it can show, if it speaks version 1.
    pub shows: Shows,
    /// What it can ask its user.
    pub answers: Answers,
    /// On whose behalf it acts, where that is known.
    pub principal: Option<Arc<str>>,
    /// What it may do.
    pub rights: Rights,
    /// Whether it is told [how far it is](super::Core::cursor), to come back there. It is shown nothing that would not survive
    /// this process.
    pub cursors: bool,
}

impl Viewer {
    /// Returns a client that may do everything.
    #[must_use]
    pub fn new(version: Version, shows: Shows, answers: Answers) -> Self {
        Self {
            version,
            shows,
            answers,
            principal: None,
            rights: Rights::default(),
            cursors: false,
        }
    }
}

/// What a client may do besides looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rights {
    /// Prompt, cancel, close and change options.
    pub prompt: bool,
    /// Answer questions.
    pub approve: bool,
}

impl Default for Rights {
    fn default() -> Self {
        Self {
            prompt: true,
            approve: true,
        }
    }
}

/// What a client that attaches is shown first, and how it asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// `session/new`.
    New,
    /// `session/load` of version 1, or `session/resume` of version 2 with a replay.
    Replay,
    /// `session/resume` without a replay.
    Resume,
    /// `session/fork`: the session is a copy, which nobody has seen.
    Fork,
}

/// What a session works with.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Setup {
    /// The working directory.
    pub cwd: PathBuf,
    /// Further directories.
    pub additional_directories: Vec<PathBuf>,
    /// The MCP servers.
    pub mcp_servers: Vec<v2::McpServer>,
}

impl Setup {
    /// Returns the setup with nothing but a working directory.
    #[must_use]
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            ..Self::default()
        }
    }
}

/// A prompt of a client.
#[derive(Debug)]
pub struct Prompt {
    /// The request.
    pub request: RequestId,
    /// The client's view.
    pub view: ViewId,
    /// What it says.
    pub content: Vec<v2::ContentBlock>,
    /// The sender's name for the request: sent again under the same, it is the same prompt.
    pub operation: Option<String>,
    /// Whether it is for the turn that runs, if one does.
    pub steers: bool,
}

/// The end of a session.
#[derive(Debug)]
pub struct Close {
    /// The request for it; none if the host wants it.
    pub request: Option<RequestId>,
    /// The client's view.
    pub view: Option<ViewId>,
    /// What becomes of the session's journal.
    pub journal: Keep,
}

/// What becomes of the journal of a session that is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The session can be opened again, also if nothing was said in it.
    All,
    /// The session can be opened again if something was said in it.
    IfUsed,
    /// As [`All`](Self::All), and default listings leave it out (`session/archive`).
    Archived,
    /// The session is deleted.
    Nothing,
}

/// A journal that was opened.
#[derive(Debug)]
pub struct Opened {
    /// The number of this owner.
    pub epoch: u64,
    /// How many records there are.
    pub records: u64,
    /// The records from the number that was asked for.
    pub tail: Vec<Vec<u8>>,
}
