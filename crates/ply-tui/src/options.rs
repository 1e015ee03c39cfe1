//! What the client is told by the program around it.

use std::path::{Path, PathBuf};

use ply_client::{Command, Recent, Transcript, v2};

use crate::diff::DiffStyle;
use crate::keymap::Keys;
use crate::theme::{ColorDepth, Theme};
use crate::tour::TourStep;

/// An agent that can be chosen.
#[derive(Debug, Clone)]
pub struct AgentChoice {
    /// What it is called.
    pub name: String,
    /// What its sessions are remembered by.
    pub key: String,
    /// What starts it.
    pub command: Command,
    /// How to get it, if it may be missing.
    pub install: Option<String>,
    /// The command line that goes on with one of its sessions, with `{}` for the id.
    pub resume: Option<String>,
}

/// What is opened first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Open {
    /// A new session.
    #[default]
    New,
    /// A session by its id.
    Session(String),
    /// The latest session of the directory, or a new one if there is none.
    Latest,
    /// A list to choose from.
    Picker,
}

/// What the terminal's background is like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Background {
    /// Dark, as most are.
    #[default]
    Dark,
    /// Light.
    Light,
    /// Nobody knows: the terminal is asked, and it is dark if there is no answer.
    Unknown,
}

/// How the user hears that something needs them while they look elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Notify {
    /// Not at all.
    Never,
    /// By the terminal's bell.
    Bell,
    /// By the bell, and by a notification where the terminal has them (OSC 9).
    #[default]
    Desktop,
}

/// A session that is to be written down.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Exported<'a> {
    /// Its title; empty if it has none.
    pub title: &'a str,
    /// Its id.
    pub id: &'a str,
    /// Its directory.
    pub cwd: &'a Path,
    /// What was said and done.
    pub transcript: &'a Transcript,
}

/// What the client is told by the program around it.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct Options {
    /// The agents to choose from; the first one is used until another is chosen.
    pub agents: Vec<AgentChoice>,
    /// The directory to work in, an absolute path.
    pub cwd: PathBuf,
    /// Further directories that belong to the work, absolute paths.
    pub roots: Vec<PathBuf>,
    /// MCP servers for new sessions.
    pub mcp_servers: Vec<v2::McpServer>,
    /// Whether agents of version 1 may read and write files of the session's directories by this client.
    pub files: bool,
    /// Whether agents of version 1 may run commands by this client.
    pub terminals: bool,
    /// What is opened first.
    pub open: Open,
    /// A theme by name; none for the one that fits the background.
    pub theme: Option<String>,
    /// Themes of the user's own, by name.
    pub themes: Vec<(String, Theme)>,
    /// Keys of the user's own.
    pub keys: Keys,
    /// The shell that runs what is written behind `!`, and what makes it take a command; empty for none.
    pub shell: Vec<String>,
    /// Writes a session as a Markdown document; none if it cannot be written.
    pub export: Option<fn(&Exported<'_>) -> Vec<u8>>,
    /// The colours of the terminal; none for no colours at all.
    pub colors: Option<ColorDepth>,
    /// The background of the terminal.
    pub background: Background,
    /// How diffs are shown.
    pub diff_style: DiffStyle,
    /// Whether the mouse scrolls and folds here. Selecting then needs Shift.
    pub mouse: bool,
    /// The file of earlier prompts.
    pub history: Option<PathBuf>,
    /// Where sessions that are run are remembered, for agents that keep no list.
    pub recent: Option<Recent>,
    /// The directory of texts that were not sent yet.
    pub drafts: Option<PathBuf>,
    /// The user's own directory, which `~` stands for in a pasted path.
    pub home: Option<PathBuf>,
    /// The editor and its arguments; empty for none.
    pub editor: Vec<String>,
    /// What is said first.
    pub prompt: Option<String>,
    /// Options to set in the first session, by id or category: `mode`, `model` and so on.
    pub set: Vec<(String, String)>,
    /// How the user is called.
    pub notify: Notify,
    /// The branch that is checked out in the directory.
    pub branch: Option<String>,
    /// Says how long ago a time (RFC 3339) was, as people do.
    pub ago: fn(&str) -> String,
    /// What the client shows by itself; nothing if it is empty.
    pub tour: Vec<TourStep>,
}

impl Options {
    /// Returns options for one or more agents and a directory.
    pub fn new(agents: Vec<AgentChoice>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            agents,
            cwd: cwd.into(),
            roots: Vec::new(),
            mcp_servers: Vec::new(),
            files: false,
            terminals: false,
            open: Open::default(),
            theme: None,
            themes: Vec::new(),
            keys: Keys::default(),
            shell: ["sh", "-c"].map(str::to_owned).into(),
            export: None,
            colors: Some(ColorDepth::Indexed),
            background: Background::default(),
            diff_style: DiffStyle::default(),
            mouse: true,
            history: None,
            recent: None,
            drafts: None,
            home: None,
            editor: Vec::new(),
            prompt: None,
            set: Vec::new(),
            notify: Notify::default(),
            branch: None,
            ago: date,
            tour: Vec::new(),
        }
    }
}

/// Returns the date and the minute of a time, for a program that has no clock.
fn date(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}
