//! The arguments of `ply trace`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Records the messages between a client and an agent.
///
/// Use it as the agent's command: every byte passes unchanged in both directions and is recorded to a
/// file. The exit code is the agent's, or 128 plus the number of the signal that ended it; 127 if it
/// cannot be started.
///
/// Values of variables and headers, members whose names suggest secrets, and whatever looks like a key
/// are redacted. Secrets that a model splits over several messages are not recognized.
#[derive(Debug, Default, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        ply trace -o ~/traces/ -- gemini --acp   # as an editor's agent command\n  \
        ply trace view talk.ndjson"
)]
pub(crate) struct Trace {
    #[command(subcommand)]
    pub(crate) command: Option<TraceCommand>,

    /// The file to record to, or a directory for files named trace-TIME.ndjson; `DIR/` is created if it
    /// is missing [default: the current directory].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replaces the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,

    /// Records secrets too.
    #[arg(long)]
    pub(crate) no_redact: bool,

    /// The agent's command, after `--`.
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(crate) agent: Vec<OsString>,
}

/// What to do with a recording.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    View(View),
}

/// Shows a recording: one line per message, then timing and broken rules.
///
/// Exit codes: 0 shown, 1 cannot be read, 2 wrong arguments.
#[derive(Debug, Args)]
pub(crate) struct View {
    /// The recording, or `-` for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Prints one JSON object per line: the messages, then one with `"kind":"summary"`.
    #[arg(long)]
    pub(crate) json: bool,

    /// Shows only messages of this session.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Shows only messages of this method, and their responses.
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Option<String>,

    /// Shows only messages from this second on.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) from: Option<f64>,

    /// Shows only messages up to this second.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) to: Option<f64>,

    /// Shows each message in full, and chunks one by one.
    #[arg(long)]
    pub(crate) full: bool,
}
