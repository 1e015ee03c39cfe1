//! The arguments of the commands about the hub.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Runs the hub: sessions go on when their editor is closed, and several clients share them.
///
/// You need not start it yourself: `ply attach` does when there is none. It listens on a socket that only you can reach, in
/// $XDG_RUNTIME_DIR/ply, else ~/.local/state/ply/run.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The store of the sessions [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else
    /// ~/.local/share/ply/sessions.db].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// Goes on by itself in the background. Says `ready`, or what is wrong, first.
    #[arg(long)]
    pub(crate) background: bool,

    /// Is in the background already.
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
}

/// Connects an editor to an agent through the hub, which is started if there is none.
///
/// This is what an editor starts in place of the agent. Close the editor, and the work goes on; open it again and load the
/// session. If the hub cannot run, the agent is served without it.
#[derive(Debug, Args)]
#[command(after_help = "Example, in Zed's settings:\n  \
        \"agent_servers\": { \"Ply\": { \"command\": \"ply\", \"args\": [\"attach\"] } }")]
pub(crate) struct Attach {
    /// The agent: a name, or the beginning of one [default: ply].
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<String>,

    /// The store of the sessions [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else
    /// ~/.local/share/ply/sessions.db].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// Starts the agent itself, without a hub.
    #[arg(long)]
    pub(crate) no_hub: bool,

    /// A command that starts an agent, after `--`.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "agent")]
    pub(crate) command: Vec<OsString>,
}

/// Tells how the hub is, or ends it.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Hub {
    /// The store of the sessions, if it is not the usual one.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: HubCommand,
}

/// What to do with the hub.
#[derive(Debug, Subcommand)]
pub(crate) enum HubCommand {
    /// Says whether a hub runs, and what goes on in it.
    Status {
        /// Prints one JSON object, or `null` if no hub runs.
        #[arg(long)]
        json: bool,
    },
    /// Lists the open sessions: id, agent, state, clients, what waits, title, directory.
    Sessions {
        /// Prints one JSON array.
        #[arg(long)]
        json: bool,
    },
    /// Ends the hub. Turns that run end first, unless told otherwise.
    Stop {
        /// Cancels what runs.
        #[arg(long)]
        now: bool,
    },
    /// Shows where the hub writes what goes wrong.
    Logs,
}

/// Lists and changes the prompts that wait for their turn in sessions of the hub.
///
/// A queue is paused after a turn that was cancelled or failed, since what waits was written before that; `ply queue resume` lets
/// it go on.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        ply queue ls\n  \
        ply queue move queued-1-4 1\n  \
        ply queue resume"
)]
pub(crate) struct Queue {
    /// The store of the sessions, if it is not the usual one.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: QueueCommand,
}

/// What to do with prompts that wait.
#[derive(Debug, Subcommand)]
pub(crate) enum QueueCommand {
    /// Lists them: session, place, whether the queue is paused, id, text.
    Ls {
        /// Prints one JSON array of the sessions that have a queue.
        #[arg(long)]
        json: bool,
    },
    /// Replaces what a prompt says.
    Edit {
        /// The prompt, or the beginning of its id.
        id: String,
        /// What it says.
        text: String,
    },
    /// Gives a prompt another place.
    Move {
        /// The prompt, or the beginning of its id.
        id: String,
        /// The place; the first is 1.
        to: usize,
    },
    /// Takes a prompt back.
    Drop {
        /// The prompt, or the beginning of its id.
        id: String,
    },
    /// Lets no prompt begin for now.
    Pause {
        /// The session, or the beginning of its id, if several have a queue.
        session: Option<String>,
    },
    /// Lets prompts begin again.
    Resume {
        /// The session, or the beginning of its id, if several have a queue.
        session: Option<String>,
    },
}

/// Sends a prompt to an open session of the hub, and does not wait for the work on it.
///
/// If the agent is busy, the prompt waits for its turn. Every client of the session sees it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ply send sess-4f1d \"and now the tests\"")]
pub(crate) struct Send {
    /// The store of the sessions, if it is not the usual one.
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// The session, or the beginning of its id.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// What to say.
    #[arg(value_name = "PROMPT", required = true)]
    pub(crate) prompt: Vec<String>,
}
