//! Why a command did not do what it was asked, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::program::output;
use ply_client::text::{self, Line};

/// The exit code when something failed that has no code of its own.
pub(crate) const FAILED: u8 = 1;
/// The exit code when the arguments or the environment are wrong.
pub(crate) const USAGE: u8 = 2;
/// The exit code when there is no such session.
pub(crate) const NO_SESSION: u8 = 4;
/// The exit code when somebody else uses the session.
pub(crate) const BUSY: u8 = 12;

/// Candidates that are named when an id is not unique.
const CANDIDATES_MAX: usize = 10;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// Neither the arguments nor the environment say where the store is.
    #[error(
        "there is no directory for sessions: neither HOME nor the password entry names a home directory"
    )]
    NoStore,
    /// No session has the id, or begins with it.
    #[error("no session of {} has the id `{}`", text::path(store), Line(id))]
    NoSession {
        /// What was asked for.
        id: String,
        /// Where.
        store: PathBuf,
    },
    /// Several sessions begin with the id.
    #[error("`{}` is ambiguous: {} sessions begin with it", Line(prefix), ids.len())]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// The sessions.
        ids: Vec<String>,
    },
    /// The store did not do it.
    #[error("{}", Line(&.0.to_string()))]
    Journal(#[from] ply_journal::Error),
    /// The store cannot be used at all.
    #[error("{}", Line(&source.to_string()))]
    Store {
        /// The file of the store.
        path: PathBuf,
        /// What is wrong.
        source: ply_journal::Error,
    },
    /// Standard output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[source] io::Error),
    /// A file cannot be written.
    #[error("{} cannot be written: {source}", text::path(path))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is there already.
    #[error("{} already exists", text::path(.0))]
    Exists(PathBuf),
    /// Something is there that is no file.
    #[error("{} is not a regular file", text::path(.0))]
    NotAFile(PathBuf),
    /// A directory cannot be made absolute.
    #[error("the directory {} cannot be found: {source}", text::path(path))]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The answer to a question cannot be read.
    #[error("the answer cannot be read: {0}")]
    Input(#[source] io::Error),
    /// The program cannot start.
    #[error("the program cannot start: {0}")]
    Start(#[source] io::Error),
    /// No agent has the name.
    #[error("unknown agent `{}`", Line(name))]
    NoAgent {
        /// What was asked for.
        name: String,
        /// Those that may be meant, with what they are.
        near: Vec<(String, String)>,
        /// All that there are.
        all: Vec<String>,
    },
    /// There is no such command.
    #[error("unknown command `{}`", Line(name))]
    NoCommand {
        /// What was asked for.
        name: String,
        /// The one that may be meant.
        near: Option<String>,
        /// Whether other words follow it.
        is_sentence: bool,
    },
    /// Nothing can be checked.
    #[error("{}", Line(.0))]
    Check(String),
    /// The configuration says something wrong.
    #[error("{}: {}", text::path(path), Line(what))]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// An argument says something that there is not.
    #[error("{}", Line(.0))]
    Argument(String),
    /// The terminal client has no terminal.
    #[error("the terminal client needs a terminal for input and output")]
    NoTerminal,
    /// The terminal client could not go on.
    #[error("{}", Line(&.0.to_string()))]
    Client(#[from] ply_tui::Error),
    /// An MCP server cannot be logged in at.
    #[error("{}", Line(.0))]
    Mcp(String),
    /// The hub does not do it.
    #[error("{}", Line(.0))]
    Hub(String),
    /// An agent cannot be listed, installed, checked or logged in to.
    #[error("{}", Line(what))]
    Agents {
        /// What is wrong.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// The agent cannot be served.
    #[error("the agent cannot be served: {}", Line(.0))]
    Serve(String),
}

impl Error {
    /// Returns the error with the store named, if it is about more than one session.
    pub(crate) fn of_store(self, path: &Path) -> Self {
        use ply_journal::Error::{Deleted, InUse};
        match self {
            Self::Journal(source) if !matches!(source, Deleted | InUse(_)) => Self::Store {
                path: path.to_owned(),
                source,
            },
            error => error,
        }
    }

    /// Returns an error about an agent, with what to do about it.
    pub(crate) fn agents(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Agents {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// Says what failed and what to do next.
    pub(crate) fn tell(&self) {
        let what = self.to_string();
        let (what, hint) = match self.split(&what) {
            Some((what, hint)) => (what, Some(hint.to_owned())),
            None => (what.as_str(), self.hint()),
        };
        output::tell(&format!("error: {what}"));
        if let Some(hint) = hint {
            output::tell(&format!("  hint: {hint}"));
        }
    }

    /// Returns what failed, and the command that comes next, of an error that names one at its end.
    fn split<'a>(&self, what: &'a str) -> Option<(&'a str, &'a str)> {
        let has_hint = matches!(
            self,
            Self::Argument(_) | Self::Check(_) | Self::Hub(_) | Self::Mcp(_)
        );
        let (what, hint) = what.split_once("; ").filter(|_| has_hint)?;
        hint.contains("`ply ").then_some((what, hint))
    }

    /// Returns what to do next, if the error itself does not say so.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoStore => "set HOME or PLY_STORE, or give `--store FILE`".to_owned(),
            Self::NoSession { .. } => "`ply sessions ls --limit 0` lists all of them".to_owned(),
            Self::Ambiguous { ids, .. } => {
                let shown = ids.iter().take(CANDIDATES_MAX);
                let shown = shown.map(|id| format!("\n    {}", Line(id)));
                let more = match ids.len() > CANDIDATES_MAX {
                    true => "\n    …",
                    false => "",
                };
                format!("give more of it:{}{more}", shown.collect::<String>())
            }
            Self::Store { path, .. } => {
                let path = text::path(path);
                format!("the store is {path}; `--store FILE` names another")
            }
            Self::NoTerminal => "`ply run \"PROMPT\"` works without one".to_owned(),
            Self::NoAgent { near, all, .. } if near.is_empty() => {
                let all = all.iter().map(|name| Line(name).to_string());
                let all = all.collect::<Vec<_>>().join(", ");
                format!("known agents: {all}; any other command works after `--`")
            }
            Self::NoAgent { near, .. } => {
                let near = near.iter().map(|(name, about)| {
                    format!("\n    {:12} {}", Line(name).to_string(), Line(about))
                });
                format!("did you mean one of these?{}", near.collect::<String>())
            }
            Self::NoCommand {
                near: Some(near), ..
            } => format!("did you mean `ply {near}`?"),
            Self::NoCommand {
                name, is_sentence, ..
            } => {
                let name = Line(name);
                let prompt = match is_sentence {
                    true => format!("put a prompt in quotes: `ply \"{name} …\"`"),
                    false => format!("`ply chat {name}` sends it as a prompt"),
                };
                format!("`ply --help` lists the commands; {prompt}")
            }
            Self::Exists(_) => "give `--force` to replace it, or another name".to_owned(),
            Self::Directory { .. } => {
                "give a directory that exists and that you may enter".to_owned()
            }
            Self::Config { .. } => "correct the file, or name another one".to_owned(),
            Self::File { .. } => {
                "give a path in a directory that exists and that you may write to".to_owned()
            }
            Self::Argument(_) | Self::Check(_) => "`--help` lists what is accepted".to_owned(),
            Self::Agents { hint, .. } => {
                let lines: Vec<_> = hint.lines().map(|line| Line(line).to_string()).collect();
                lines.join("\n    ")
            }
            Self::Start(_) => "too many open files or processes? see `ulimit -a`".to_owned(),
            Self::NotAFile(_) => "leave out `--output` and redirect the output".to_owned(),
            _ => return None,
        })
    }

    /// Returns the exit code of the program.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::NoSession { .. } | Self::Journal(ply_journal::Error::Deleted) => NO_SESSION,
            Self::Journal(ply_journal::Error::InUse(_)) => BUSY,
            Self::NoStore
            | Self::Check(_)
            | Self::Argument(_)
            | Self::NoAgent { .. }
            | Self::Config { .. }
            | Self::NoCommand { .. }
            | Self::NoTerminal
            | Self::Ambiguous { .. }
            | Self::Exists(_)
            | Self::NotAFile(_) => USAGE,
            _ => FAILED,
        }
    }

    /// Returns whether the output was closed by its reader.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
