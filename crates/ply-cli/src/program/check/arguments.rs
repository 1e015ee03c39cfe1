//! The arguments of `ply check`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

/// Checks whether agents and clients conform to the protocol.
///
/// Exit codes: 0 no rule is broken, 2 nothing could be checked, 20 a rule is broken, 21 no rule is broken but some could not be judged,
/// 130, 143 or 129 interrupted by SIGINT, SIGTERM or SIGHUP.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        ply check agent -- gemini --acp\n  \
        ply check agent --version 2 --only CANCEL -- ply agent\n  \
        ply check client -- ply run hello -- {agent}\n  \
        ply check trace --side agent talk.ndjson"
)]
pub(crate) struct Check {
    #[command(subcommand)]
    pub(crate) target: Target,
}

/// What is checked.
#[derive(Debug, Subcommand)]
pub(crate) enum Target {
    Agent(Agent),
    Client(Client),
    Trace(Trace),
    Rules(Rules),
    #[command(hide = true)]
    Serve(Serve),
}

/// Plays a client, well-behaved and hostile, and checks how an agent responds.
///
/// The agent is started many times, in a temporary directory with a README.md. Most probes need no model. Those that do send the prompts below;
/// rules that a turn does not exercise are not judged.
#[derive(Debug, Args)]
pub(crate) struct Agent {
    #[command(flatten)]
    pub(crate) run: Run,

    /// A prompt to send instead of the default: `short=TEXT` gets a short answer, `long=TEXT` makes it work for ten seconds or more, `look=TEXT`
    /// makes it use a tool that only looks, `change=TEXT` makes it ask for permission; also read, write, run, plan, form, visit,
    /// notice, usage, compact, refuse, tokens, requests and fail.
    #[arg(long = "prompt", value_name = "KIND=TEXT", value_parser = prompt)]
    pub(crate) prompts: Vec<(String, String)>,

    /// The id of the authentication method to log in with first.
    #[arg(long, value_name = "METHOD")]
    pub(crate) login: Option<String>,

    /// Uses your home directory, for an agent whose login is there. Otherwise the agent gets an empty home, which is removed.
    #[arg(long)]
    pub(crate) keep_home: bool,

    /// Starts a scripted model on the loopback interface and points the agent at it, by the variables that known agents document
    /// (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, `GOOGLE_GEMINI_BASE_URL` and others), so that turns need no key.
    #[arg(long)]
    pub(crate) model_server: bool,

    /// Saves each connection as a trace file in this directory, which must be new or empty; the report then names file and line.
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,

    /// Seconds that a response without a model may take.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) patience: Duration,

    /// Seconds that a turn may take.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    pub(crate) turn_patience: Duration,

    /// The agent: a name or an unambiguous prefix, as `ply agents` lists them.
    #[arg(value_name = "AGENT", required_unless_present = "command")]
    pub(crate) agent: Option<String>,

    /// A command that starts the agent, after `--`.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "agent")]
    pub(crate) command: Vec<OsString>,
}

/// Plays an agent that uses every feature and misbehaves on purpose, and checks how a client responds.
///
/// The client is started once per scene. Its command contains {agent}, which stands for the agent's command: as a word of its
/// own it expands to several words, inside a word it is quoted for a shell. The client must create a session and send one prompt.
///
/// For a client that cannot be started by a command, such as an editor, configure `ply check client --serve -o FILE` as its agent: each prompt
/// names a scene, `help` lists them, `report` says what was found.
#[derive(Debug, Args)]
pub(crate) struct Client {
    #[command(flatten)]
    pub(crate) run: Run,

    /// Serves the agent on standard input and output; the report is written to `--file` after each turn.
    #[arg(long, conflicts_with_all = ["version", "only", "skip", "baseline"], requires = "file")]
    pub(crate) serve: bool,

    /// Uses your home directory, for a client that is set up there. Otherwise the client gets an empty home, which is removed.
    #[arg(long, conflicts_with = "serve")]
    pub(crate) keep_home: bool,

    /// Saves each connection as a trace file in this directory, which must be new or empty; the report then names file and line.
    #[arg(long, value_name = "DIR", conflicts_with = "serve")]
    pub(crate) record: Option<PathBuf>,

    /// Seconds that the client may take for a scene, in addition to the scene itself.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) patience: Duration,

    /// The command that starts the client, with {agent} in it.
    #[arg(last = true, required_unless_present = "serve", value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Plays one scene as the agent of a client that is checked.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[arg(long)]
    pub(crate) scene: String,
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) version: u8,
    #[arg(long)]
    pub(crate) out: PathBuf,
}

/// Checks a recording made by `ply trace`, without starting anything.
///
/// A short recording exercises few rules; the others are not judged.
#[derive(Debug, Args)]
pub(crate) struct Trace {
    #[command(flatten)]
    pub(crate) run: Run,

    /// Which side to check.
    #[arg(long, value_enum, default_value_t = Sides::Both)]
    pub(crate) side: Sides,

    /// The recording; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) trace: PathBuf,
}

/// Which side to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sides {
    /// The agent.
    Agent,
    /// The client.
    Client,
    /// Both.
    Both,
}

/// Lists the rules that are checked.
#[derive(Debug, Args)]
pub(crate) struct Rules {
    /// Prints one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is looked at, and what becomes of it.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The protocol version [default: all that the peer supports].
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) version: Option<u8>,

    /// Only these rules: ids (V1-CANCEL-05), id prefixes (V1-CAN) or topics (CANCEL).
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Without these rules.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,

    /// An earlier report of `--output json`; its findings do not count.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// The format of the report.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,

    /// Writes the report to a file instead of standard output.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Writes another report to a file, such as `sarif=report.sarif`; may be repeated.
    #[arg(long = "report", value_name = "FORM=FILE", value_parser = report)]
    pub(crate) reports: Vec<(Form, PathBuf)>,

    /// Shows every rule, not only those that are broken.
    #[arg(long)]
    pub(crate) all: bool,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// One object with everything in it.
    Json,
    /// For build servers.
    Junit,
    /// For code-scanning services.
    Sarif,
    /// One page with nothing to fetch.
    Html,
}

/// The longest time that something may be waited for: a moment that far away can be reckoned with.
const WAIT_TIME_MAX: Duration = Duration::from_secs(86_400);

fn prompt(argument: &str) -> Result<(String, String), String> {
    let (kind, text) = argument.split_once('=').ok_or("it has no `=`")?;
    Ok((kind.to_owned(), text.to_owned()))
}

fn report(argument: &str) -> Result<(Form, PathBuf), String> {
    let (form, file) = argument
        .split_once('=')
        .ok_or("it has no `=`; say FORM=FILE")?;
    let form = Form::from_str(form, true)
        .map_err(|_| format!("unknown format `{form}`; use text, json, junit, sarif or html"))?;
    match file.is_empty() {
        true => Err("it names no file".to_owned()),
        false => Ok((form, PathBuf::from(file))),
    }
}

fn seconds(argument: &str) -> Result<Duration, String> {
    let seconds = argument.parse().ok();
    let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let seconds = seconds.ok_or_else(|| format!("`{argument}` is not a duration in seconds"))?;
    match seconds {
        Duration::ZERO => Err("must be greater than zero".to_owned()),
        seconds if seconds > WAIT_TIME_MAX => {
            Err("must be at most 86400, which is a day".to_owned())
        }
        seconds => Ok(seconds),
    }
}
