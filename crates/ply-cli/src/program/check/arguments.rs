//! The arguments of `ply check`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

/// Checks who keeps the rules of the protocol.
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

/// Plays a client for an agent, lawful and not, and judges what comes back.
///
/// The agent is started many times, in an empty directory. Most probes need no model; those that do send the prompts below, and
/// what a turn does not bring about is not judged.
#[derive(Debug, Args)]
pub(crate) struct Agent {
    #[command(flatten)]
    pub(crate) run: Run,

    /// What is said to the agent: `short=TEXT` gets a short answer, `long=TEXT` makes it work for ten seconds or more, `look=TEXT`
    /// makes it use a tool that only looks, `change=TEXT` makes it ask for permission; also read, write, run, plan, form, visit,
    /// notice, usage, compact, refuse, tokens, requests and fail.
    #[arg(long = "prompt", value_name = "KIND=TEXT", value_parser = prompt)]
    pub(crate) prompts: Vec<(String, String)>,

    /// The way to log in first, by its id.
    #[arg(long, value_name = "METHOD")]
    pub(crate) login: Option<String>,

    /// Uses your home directory, for an agent whose login is there. Otherwise the agent gets an empty home, which is removed.
    #[arg(long)]
    pub(crate) keep_home: bool,

    /// How many seconds an answer may take that needs no model.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) patience: Duration,

    /// How many seconds a turn may take.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    pub(crate) turn_patience: Duration,

    /// The command that starts the agent.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Plays an agent for a client, one that uses everything and misbehaves on purpose, and judges what the client does.
///
/// The client is started once for each scene. Somewhere in its command stands {agent}: as a word of its own it becomes the words
/// of the agent's command, inside a word the same quoted for a shell. The client has to make a session and to send one prompt.
///
/// For a client that no command starts, such as an editor, configure `ply check client --serve -o FILE` as its agent: each prompt
/// names a scene, `help` lists them, `report` says what was found.
#[derive(Debug, Args)]
pub(crate) struct Client {
    #[command(flatten)]
    pub(crate) run: Run,

    /// Is the agent itself, on standard input and output; the report goes to the file of `--file`, after each turn.
    #[arg(long, conflicts_with_all = ["version", "only", "skip", "baseline"], requires = "file")]
    pub(crate) serve: bool,

    /// How many seconds the client may take for a scene, beyond what the scene itself takes.
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

/// Judges a recording of `ply trace`: nothing is started.
///
/// Only what a recording shows can be judged, so most rules are not exercised by a short one.
#[derive(Debug, Args)]
pub(crate) struct Trace {
    #[command(flatten)]
    pub(crate) run: Run,

    /// Whose rules are looked at.
    #[arg(long, value_enum, default_value_t = Sides::Both)]
    pub(crate) side: Sides,

    /// The recording; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) trace: PathBuf,
}

/// Whose rules are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sides {
    /// Those of the agent.
    Agent,
    /// Those of the client.
    Client,
    /// All.
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
    /// The version of the protocol; without it, each one that is spoken.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) version: Option<u8>,

    /// Only these rules: ids (V1-CANCEL-05), beginnings of ids (V1-CAN) or topics (CANCEL).
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Without these rules.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,

    /// A report of `--output json`: what it found does not count.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// The form of the report.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,

    /// Writes the report to a file in place of standard output.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Writes the report to a file in a further form, such as `sarif=report.sarif`; may be given several times.
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
        .map_err(|_| format!("there is no form `{form}`; use text, json, junit, sarif or html"))?;
    match file.is_empty() {
        true => Err("it names no file".to_owned()),
        false => Ok((form, PathBuf::from(file))),
    }
}

fn seconds(argument: &str) -> Result<Duration, String> {
    let seconds: f64 = argument.parse().map_err(|_| "it is no number")?;
    let seconds = Duration::try_from_secs_f64(seconds).map_err(|_| "it is no length of time")?;
    match seconds {
        Duration::ZERO => Err("it has to be more than none".to_owned()),
        seconds if seconds > WAIT_TIME_MAX => Err("it is more than a day".to_owned()),
        seconds => Ok(seconds),
    }
}
