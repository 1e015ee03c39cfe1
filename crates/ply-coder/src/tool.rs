//! What a tool is: it says what a call would do, and does it once that is allowed.
//!
//! A call goes through three steps. [`Tool::prepare`] reads the arguments, and files if it must, and
//! changes nothing; what it returns says how the call is shown, what it needs permission for and how it
//! gets along with others. Then the dispatcher decides. Then [`Prepared::work`] is awaited.

pub mod apply_patch;
mod arguments;
pub mod ask_user;
pub mod delete;
pub mod edit_file;
pub mod glob;
pub mod grep;
mod lines;
pub mod list_dir;
pub mod move_file;
pub mod plan;
pub mod process;
pub mod read_file;
pub mod shell;
pub(crate) mod skill;
pub mod task;
pub mod think;
pub mod web_fetch;
pub mod write_file;

pub(crate) use self::arguments::{Arguments, object};

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_agent::{Turn, v2};
use serde_json::Value;

use crate::model::{Content, Facts, ToolSpec};
use crate::shell::Processes;
use crate::workspace::Workspace;
use crate::{BoxFuture, Config};

/// A tool.
pub trait Tool: fmt::Debug + Send + Sync {
    /// Returns what models are told about it.
    fn spec(&self) -> ToolSpec;

    /// Says what sort of tool it is, before the arguments are known. Calls of tools that read, search, fetch
    /// or think may run beside each other (see [`Tool::only_looks`]); any other call waits for those before it,
    /// and those after it wait for it.
    fn kind(&self) -> v2::ToolKind;

    /// Says whether its calls only look, so that they may run beside each other: by its kind, unless more is known.
    fn only_looks(&self) -> bool {
        use v2::ToolKind::{Fetch, Read, Search, Think};
        matches!(self.kind(), Read | Search | Fetch | Think)
    }

    /// Says whether a call with these arguments only reads, where the kind does not tell: then it may run
    /// beside others that do.
    fn only_reads(&self, arguments: &Value) -> bool {
        let _ = arguments;
        false
    }

    /// Says whether a call that is cancelled has more to do than to stop: to end processes, to tell a
    /// server, or to finish what must not be left half done. Others are dropped at once.
    fn tidies_up(&self) -> bool {
        false
    }

    /// Reads the arguments and says what the call would do. It changes nothing.
    ///
    /// # Errors
    ///
    /// The arguments make no sense; the words go to the model and say what to do instead.
    fn prepare<'t>(&'t self, arguments: Value, context: ToolContext<'t>) -> Preparing<'t>;
}

/// A call that is being prepared.
pub type Preparing<'t> = BoxFuture<'t, Result<Prepared<'t>, Outcome>>;

/// What a tool may use.
#[derive(Debug, Clone, Copy)]
pub struct ToolContext<'t> {
    /// The files.
    pub workspace: &'t Workspace,
    /// The processes that run in the background.
    pub processes: &'t Arc<Processes>,
    /// The card of the call, and the client behind it.
    pub surface: &'t dyn Surface,
}

/// A call that is ready to run.
pub struct Prepared<'t> {
    /// What the call does, in a few words for people.
    pub title: String,
    /// What sort of call it is.
    pub kind: v2::ToolKind,
    /// The files it touches, absolute, and the line, counted from 1.
    pub locations: Vec<(PathBuf, Option<u32>)>,
    /// What it would change, for the user to look at before it is allowed.
    pub changes: Vec<Change>,
    /// Everything it needs permission for.
    pub access: Vec<Access>,
    /// How it gets along with other calls.
    pub order: Order,
    /// The work. Nothing happens before it is polled.
    pub work: BoxFuture<'t, Outcome>,
}

impl<'t> Prepared<'t> {
    /// Returns a call that needs no permission, touches no file and may run beside others.
    pub fn new(
        title: impl Into<String>,
        kind: v2::ToolKind,
        work: impl Future<Output = Outcome> + Send + 't,
    ) -> Self {
        Self {
            title: title.into(),
            kind,
            locations: Vec::new(),
            changes: Vec::new(),
            access: Vec::new(),
            order: Order::Shared,
            work: Box::pin(work),
        }
    }

    /// Says that it needs permission for something.
    #[must_use]
    pub fn needs(mut self, access: Access) -> Self {
        self.access.push(access);
        self
    }

    /// Says which file it touches, and the line.
    #[must_use]
    pub fn touches(mut self, path: impl Into<PathBuf>, line: Option<u32>) -> Self {
        self.locations.push((path.into(), line));
        self
    }
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("title", &self.title)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

/// The text of a file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file, absolute.
    pub path: PathBuf,
    /// The text before; none for a new file.
    pub old: Option<String>,
    /// The text after; none for a file that goes away.
    pub new: Option<String>,
}

/// Something that a call needs permission for. Paths are absolute, without `.`, `..` and symbolic links.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Reading a file, or looking into a directory.
    Read(PathBuf),
    /// Changing or making a file.
    Write(PathBuf),
    /// Changing a file so that other programs run something else without being asked to.
    Trigger {
        /// The file.
        path: PathBuf,
        /// Which programs, and what they run.
        reason: &'static str,
    },
    /// Deleting a file, or moving it away.
    Delete(PathBuf),
    /// Running a command line with `sh -c`.
    Shell {
        /// The command line.
        command: String,
        /// Its directory.
        cwd: PathBuf,
    },
    /// Running a command line with `sh -c` outside of the sandbox.
    Outside {
        /// The command line.
        command: String,
        /// Its directory.
        cwd: PathBuf,
        /// Why, in the words of the model.
        reason: String,
    },
    /// Stopping a process in the background.
    Stop {
        /// The process's id.
        process: String,
        /// The command line that it was started with.
        command: String,
    },
    /// Writing to a process in the background, closing its input or signalling it. What comes
    /// of it depends on what the process has read before, so no text stands for itself.
    Input {
        /// The process's id.
        process: String,
        /// The command line that it was started with.
        command: String,
        /// What is written, or the signal's name; nothing if its input is closed.
        text: String,
        /// Whether the process may do more than a command could that was started now.
        beyond: bool,
    },
    /// Asking a web server.
    Fetch(String),
    /// Calling a tool of an MCP server.
    Mcp {
        /// The server's name.
        server: String,
        /// The tool's name there.
        tool: String,
        /// What it is called with, as JSON.
        arguments: String,
        /// Stands for all that the server says of the tool: another description or schema has another one.
        version: String,
    },
}

/// How a call gets along with others that may run beside it. Calls of one answer that act run in the order in
/// which they were made in any case; see [`Tool::kind`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// It may run beside anything that is not alone.
    Shared,
    /// The same, but not beside another that names one of its paths.
    Paths(Vec<PathBuf>),
    /// Nothing else may run beside it.
    Alone,
    /// It does nothing by itself, and has calls of its own that wait for their turn.
    Apart,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// What the model is told.
    pub text: String,
    /// Images for the model.
    pub images: Vec<Content>,
    /// Whether it failed.
    pub failed: bool,
    /// What was changed in the end, where that is not what was announced.
    pub changes: Option<Vec<Change>>,
    /// What the user is shown, where that is not `text`. Empty shows nothing more.
    pub shown: Option<String>,
    /// What the user is shown block by block, in place of the text and the images.
    pub content: Option<Box<[v2::ContentBlock]>>,
}

impl Outcome {
    /// Returns what worked.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Returns what did not, and what to do about it.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: true,
            ..Self::default()
        }
    }

    /// Adds something that the program has to say about the call, for the model and the user.
    pub(crate) fn add_note(&mut self, words: &str) {
        let note = crate::context::notes::note(words);
        let shown = self.shown.as_mut();
        for text in shown.into_iter().chain([&mut self.text]) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&note);
        }
        if let Some(content) = self.content.take() {
            let note = v2::ContentBlock::from(note);
            self.content = Some(content.into_iter().chain([note]).collect());
        }
    }

    /// Sets what the user is shown.
    #[must_use]
    pub fn shown(mut self, shown: impl Into<String>) -> Self {
        self.shown = Some(shown.into());
        self
    }
}

/// Says whether a file may be read without asking.
pub type Readable = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The card of a call in the client, and what the client can do for a tool.
///
/// Errors of the card mean that nobody looks any more; tools may ignore them.
pub trait Surface: fmt::Debug + Send + Sync {
    /// Shows a terminal with a command line, and what it puts out from here on.
    fn open_terminal<'t>(&'t self, command: &'t str, cwd: &'t Path) -> BoxFuture<'t, ()>;

    /// Shows more output in the terminal.
    fn terminal_output<'t>(&'t self, bytes: &'t [u8]) -> BoxFuture<'t, ()>;

    /// Shows that the command ended: its exit code, or the signal that ended it.
    fn close_terminal<'t>(
        &'t self,
        code: Option<i32>,
        signal: Option<&'t str>,
    ) -> BoxFuture<'t, ()>;

    /// Shows how far the call is, in place of what it said before.
    fn progress<'t>(&'t self, text: &'t str) -> BoxFuture<'t, ()>;

    /// Says whether the client both reads and writes text files, with what is not saved yet.
    fn has_files(&self) -> bool;

    /// Reads a whole text file through the client.
    fn read_text<'t>(&'t self, path: &'t Path) -> BoxFuture<'t, Result<String, String>>;

    /// Writes a whole text file through the client.
    fn write_text<'t>(&'t self, path: &'t Path, text: String) -> BoxFuture<'t, Result<(), String>>;

    /// Waits until the user cancels the turn. A tool that owns more than memory tidies up then and
    /// returns what it has; one second later it is dropped.
    fn cancelled(&self) -> BoxFuture<'_, ()>;

    /// Returns what says whether a walk through a folder may read a file that it comes across. Files
    /// that it may not are asked for by name.
    fn readable(&self) -> Readable {
        Arc::new(|path| !crate::permission::is_secret(path))
    }

    /// Says whether a page may come from this machine or a private network: a rule of the user's must name
    /// the host of the address.
    fn may_reach_private(&self, address: &str) -> bool {
        let _ = address;
        false
    }

    /// Tells the user something that is not about the call alone.
    fn notice<'t>(&'t self, text: &'t str) -> BoxFuture<'t, ()> {
        let _ = text;
        Box::pin(std::future::ready(()))
    }

    /// Shows the plan, all of it.
    fn plan(&self, entries: Vec<v2::PlanEntry>) -> BoxFuture<'_, ()> {
        drop(entries);
        Box::pin(std::future::ready(()))
    }

    /// Has a sub-agent do a task, and returns what it reports.
    fn delegate(&self, task: task::Delegated) -> BoxFuture<'_, Outcome> {
        drop(task);
        Box::pin(std::future::ready(Outcome::failed(
            "There are no sub-agents here; do the task yourself.",
        )))
    }

    /// Asks the user something, to be answered in words or by one of the choices. None means that
    /// they will not say.
    fn ask<'t>(
        &'t self,
        question: &'t str,
        choices: &'t [String],
    ) -> BoxFuture<'t, Result<Option<String>, String>> {
        let _ = (question, choices);
        Box::pin(std::future::ready(Err("Nobody can be asked.".to_owned())))
    }
}

/// Says whether a model gets a tool: each gets those for changing files that it is trained on.
pub(crate) fn is_for(tool: &str, facts: &Facts) -> bool {
    match facts.patches {
        true => !apply_patch::REPLACED.contains(&tool),
        false => tool != apply_patch::NAME,
    }
}

/// Returns the tools that are built in, for any model; see [`is_for`].
pub(crate) fn built_in(config: &Config, turn: &Turn) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(read_file::ReadFile),
        Arc::new(list_dir::ListDir),
        Arc::new(glob::Glob),
        Arc::new(grep::Grep),
        Arc::new(edit_file::EditFile),
        Arc::new(write_file::WriteFile),
        Arc::new(apply_patch::ApplyPatch),
        Arc::new(delete::Delete),
        Arc::new(move_file::MoveFile),
        Arc::new(shell::Shell),
        Arc::new(process::Process),
        Arc::new(plan::UpdatePlan),
        Arc::new(think::Think),
        Arc::new(task::Task),
    ];
    if turn.has_forms() {
        tools.push(Arc::new(ask_user::AskUser));
    }
    if config.web_fetch {
        tools.push(Arc::new(web_fetch::WebFetch));
    }
    tools
}
