//! The arguments of the commands about the hub.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Runs the hub, which keeps sessions running without their editor and shares them between clients.
///
/// `ply attach` starts it on demand. It listens on a socket that only you can reach, in
/// $XDG_RUNTIME_DIR/ply, else ~/.local/state/ply/run.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The store of the sessions [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else
    /// ~/.local/share/ply/sessions.db].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// Continues in the background after printing `ready`, or what is wrong.
    #[arg(long)]
    pub(crate) background: bool,

    /// Ends the hub that runs and leaves its agents to the next one, for an upgrade.
    ///
    /// Turns of the built-in agent run in the hub itself and get a minute to end. `ply hub stop` ends agents too.
    #[arg(long, conflicts_with_all = ["background", "install"])]
    pub(crate) drain: bool,

    /// Writes a systemd user unit that starts the hub when you log in, and prints the command that enables it.
    #[arg(long, conflicts_with = "background")]
    pub(crate) install: bool,

    /// Is in the background already.
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
}

/// Connects an editor to an agent through the hub, and starts the hub if needed.
///
/// Editors start this instead of the agent. Close the editor, and the work goes on; open it again and load the
/// session. If the hub cannot start, the agent is served without it.
#[derive(Debug, Args)]
#[command(after_help = "Example, in Zed's settings:\n  \
        \"agent_servers\": { \"Ply\": { \"command\": \"ply\", \"args\": [\"attach\"] } }")]
pub(crate) struct Attach {
    /// The agent: a name or an unambiguous prefix [default: ply].
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<String>,

    /// The store of the sessions [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else
    /// ~/.local/share/ply/sessions.db].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// Starts the agent without a hub.
    #[arg(long)]
    pub(crate) no_hub: bool,

    /// A command that starts an agent, after `--`.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "agent")]
    pub(crate) command: Vec<OsString>,
}

/// Shows the state of the hub, or stops it.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Hub {
    /// The store of the sessions [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else ~/.local/share/ply/sessions.db].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: HubCommand,
}

/// What to do with the hub.
#[derive(Debug, Subcommand)]
pub(crate) enum HubCommand {
    /// Says whether the hub is running, and what it is doing.
    Status {
        /// Prints one JSON object, or `null` if the hub is not running.
        #[arg(long)]
        json: bool,
    },
    /// Lists open sessions: id, agent, state, clients, waiting questions and prompts, title, directory.
    Sessions {
        /// Prints one JSON array.
        #[arg(long)]
        json: bool,
    },
    /// Stops the hub and its agents after the current turns have ended. Run it again to stop at once.
    Stop {
        /// Cancels the current turns first.
        #[arg(long)]
        now: bool,
    },
    /// Checks what the hub needs, and says how to mend what is wrong.
    Doctor,
    /// Prints the end of the hub's log; its path goes to standard error.
    Logs,
}

/// Lists and changes queued prompts of sessions in the hub.
///
/// A queue is paused after a turn that was cancelled or failed, because its prompts were written before that;
/// `ply queue resume` continues it.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        ply queue ls\n  \
        ply queue move queued-1-4 1\n  \
        ply queue resume"
)]
pub(crate) struct Queue {
    /// The store of the sessions [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else ~/.local/share/ply/sessions.db].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: QueueCommand,
}

/// What to do with prompts that wait.
#[derive(Debug, Subcommand)]
pub(crate) enum QueueCommand {
    /// Lists queued prompts: session, position, whether the queue is paused, id, text.
    Ls {
        /// Prints one JSON array of sessions with a queue.
        #[arg(long)]
        json: bool,
    },
    /// Replaces the text of a prompt.
    Edit {
        /// The prompt: its id or an unambiguous prefix.
        id: String,
        /// The new text.
        text: String,
    },
    /// Moves a prompt to another position.
    Move {
        /// The prompt: its id or an unambiguous prefix.
        id: String,
        /// The position; the first is 1.
        to: usize,
    },
    /// Removes a prompt from the queue.
    Drop {
        /// The prompt: its id or an unambiguous prefix.
        id: String,
    },
    /// Pauses a queue.
    Pause {
        /// The session, if several have a queue: its id or an unambiguous prefix.
        session: Option<String>,
    },
    /// Continues a paused queue.
    Resume {
        /// The session, if several have a queue: its id or an unambiguous prefix.
        session: Option<String>,
    },
}

/// Sends a prompt to an open session of the hub, without waiting for the turn.
///
/// If the agent is busy, the prompt is queued. Every client of the session sees it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ply send sess-4f1d \"and now the tests\"")]
pub(crate) struct Send {
    /// The store of the sessions [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else ~/.local/share/ply/sessions.db].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// The session: its id or an unambiguous prefix.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// The prompt.
    #[arg(value_name = "PROMPT", required = true)]
    pub(crate) prompt: Vec<String>,
}

/// Shows what happens in an open session of the hub, as it happens.
///
/// First what was said before, then everything new, until Ctrl-C. Nothing can be changed: `ply send` prompts, `ply permits` answers,
/// and `ply chat --session ID` takes part.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        ply watch\n  \
        ply watch sess-4f1d --json | jq .update.sessionUpdate")]
pub(crate) struct Watch {
    /// The store of the sessions [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else ~/.local/share/ply/sessions.db].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// Prints one JSON object per line.
    ///
    /// Each has `sessionId`, and either `update`, an update of the protocol's version 2, or `question`, an object with `id`, `title`
    /// and `options`, as in `ply permits ls --json`.
    #[arg(long)]
    pub(crate) json: bool,

    /// The session, if several are open: its id or an unambiguous prefix.
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,
}
