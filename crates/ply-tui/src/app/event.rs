//! Everything that can happen to the app.

use std::path::PathBuf;

use crossterm::event::{KeyEvent, MouseEvent};
use ply_client::v2;

use super::shell::{ShellId, ShellNews};
use super::{AgentId, AskId, TabId, Tick};

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    Resize,
    Focus(bool),
    Tick(Tick),
    /// An agent answered its greeting.
    AgentStarted(AgentId, Facts),
    AgentDied(AgentId, String),
    LoggedIn(AgentId, Result<(), String>),
    Sessions(AgentId, Result<Vec<Listed>, String>),
    /// The sessions that were run last with the first agent.
    Recent(Vec<Listed>),
    Opened(TabId, Opened),
    OpenFailed(TabId, Failure),
    /// The transcript of a tab changed.
    Changed(TabId),
    Options(TabId, Vec<v2::SessionConfigOption>),
    OptionFailed(String),
    Commands(TabId, Vec<v2::AvailableCommand>),
    Title(TabId, String),
    Usage(TabId, v2::UsageUpdate),
    Notice(v2::Notice),
    State(TabId, v2::StateUpdate),
    Ask(TabId, AskId, Question),
    AskClosed(AskId),
    Quiet(TabId, u64),
    CancelOverdue(TabId),
    /// A prompt never reached the agent.
    PromptFailed(TabId, Failure),
    /// What the turn that is about to end took.
    Tally(TabId, Tally),
    TurnEnded(TabId, Ended),
    /// The session was closed, by whomever.
    SessionEnded(TabId),
    /// The files of the directory of a tab's session.
    Files(TabId, Vec<String>),
    Edited(TabId, Result<String, String>),
    /// A command of the user's printed something or ended.
    Shell(ShellId, ShellNews),
    /// Whether a pasted text is the path of an image.
    Image(TabId, String, Option<(PathBuf, &'static str)>),
}

/// What is known of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) title: String,
    pub(crate) takes_images: bool,
    pub(crate) version: u16,
}

/// A session in an agent's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) cwd: PathBuf,
    pub(crate) updated_at: String,
}

/// A session that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) session: String,
    pub(crate) how: How,
    /// What was written and not sent.
    pub(crate) draft: String,
    /// What is to be said of how it was opened.
    pub(crate) told: Option<String>,
    /// Why options of the command line are not set, a line for each.
    pub(crate) refused: Vec<String>,
}

/// How a session was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    New,
    /// With its history told again.
    Loaded,
    /// Without its history.
    Resumed,
}

/// Why an agent or a session cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// The program is not there.
    Missing(String),
    /// A login is wanted first: the ways to log in, and what the agent says about it, if anything.
    Auth(Vec<v2::AuthMethod>, Option<String>),
    /// The agent ended.
    Died(String),
    Other(String),
}

/// What a turn took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Entries of the transcript at its end.
    pub(crate) entries: usize,
    /// Tool calls of the turn.
    pub(crate) tools: usize,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ended {
    Done(Option<v2::StopReason>),
    /// It was cancelled before the agent heard of it.
    Unsent,
    Failed(Failure),
}

/// What an agent asks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Question {
    Permission(Box<v2::RequestPermissionRequest>),
    Form(Box<v2::CreateElicitationRequest>),
}
