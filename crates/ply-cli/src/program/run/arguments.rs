//! The arguments of `ply run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

/// Sends one prompt to an agent and prints what happens.
///
/// Standard output carries the chosen format and nothing else; everything else goes to standard
/// error. Without -a or a command, the built-in agent answers.
///
/// Exit codes: 0 the turn ended well, 1 the agent or the protocol failed, 2 wrong arguments, 3 a time
/// limit, 4 no such session, 5 a permission was refused, 6 a login is needed, 7 the agent cannot be
/// started, 8 the agent refused, 9 a limit of the agent, 10 the agent died and the outcome is unknown,
/// 130, 143 or 129 interrupted by SIGINT, SIGTERM or SIGHUP.
#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:\n  \
        ply run \"explain this repository\"\n  \
        ply run -a claude --permit reads -f error.log \"what went wrong here?\"\n  \
        git diff | ply run --output final \"review this\"\n  \
        ply run --output json \"is there a bug in src/main.rs?\" -- my-agent --acp")]
pub(crate) struct Run {
    /// The prompt.
    ///
    /// `-` reads it from standard input. A pipe or file on standard input is added to a prompt; if it sends nothing for
    /// 2 seconds, the run continues without it.
    #[arg(value_name = "PROMPT", value_parser = NonEmptyStringValueParser::new())]
    pub(super) prompt: Vec<String>,

    /// The agent: `ply`, a known one such as `claude`, `codex` or `gemini`, or one from config.toml.
    #[arg(short, long, value_name = "NAME", help_heading = "Agent")]
    pub(super) agent: Option<String>,

    /// The protocol version to use.
    #[arg(long, value_enum, default_value_t, help_heading = "Agent")]
    pub(super) protocol: Protocol,

    /// Offers services to version 1 agents: files, terminals, or both separated by a comma.
    ///
    /// Files are confined to the session's directories, and commands start there. A request that
    /// `--permit` would deny or ask you about is refused.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "SERVICES",
        help_heading = "Agent"
    )]
    pub(super) offer: Vec<Offer>,

    /// Starts the agent itself, even if a hub runs.
    #[arg(long, help_heading = "Agent")]
    pub(super) no_hub: bool,

    /// Leaves the work to the hub, starts one if there is none, and prints the session's id.
    ///
    /// `ply chat --session ID` shows the session; `ply permits ls` lists what it asks.
    #[arg(
        long,
        conflicts_with_all = ["no_hub", "file", "image", "permit", "timeout", "idle_timeout", "offer"],
        help_heading = "Agent"
    )]
    pub(super) detach: bool,

    /// The working directory [default: the current one].
    #[arg(short = 'C', long, value_name = "DIR", help_heading = "Session")]
    pub(super) cwd: Option<PathBuf>,

    /// Another directory of the session; may be repeated.
    #[arg(long, value_name = "DIR", help_heading = "Session")]
    pub(super) add_dir: Vec<PathBuf>,

    /// Continues a session; accepts any unambiguous id prefix.
    #[arg(
        long,
        value_name = "ID",
        conflicts_with = "continue_latest",
        help_heading = "Session"
    )]
    pub(super) session: Option<String>,

    /// Continues the latest session of the directory.
    #[arg(long = "continue", help_heading = "Session")]
    pub(super) continue_latest: bool,

    /// The mode, such as `plan`.
    #[arg(long, value_name = "MODE", help_heading = "Session")]
    pub(super) mode: Option<String>,

    /// The model; `ply models` lists those of the built-in agent.
    #[arg(long, value_name = "MODEL", help_heading = "Session")]
    pub(super) model: Option<String>,

    /// Sets a session option by id or category; may be repeated.
    #[arg(long, value_name = "ID=VALUE", help_heading = "Session")]
    pub(super) set: Vec<Setting>,

    /// MCP servers for the session: a JSON file of the form {"mcpServers": {…}}.
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    pub(super) mcp: Option<PathBuf>,

    /// Reads standard input to its end, however long that takes. You cannot be asked for permission then.
    #[arg(long, help_heading = "Prompt")]
    pub(super) stdin: bool,

    /// Attaches a text file to the prompt; may be repeated.
    #[arg(short, long, value_name = "FILE", help_heading = "Prompt")]
    pub(super) file: Vec<PathBuf>,

    /// Attaches an image to the prompt: PNG, JPEG, GIF or WebP; may be repeated.
    #[arg(long, value_name = "FILE", help_heading = "Prompt")]
    pub(super) image: Vec<PathBuf>,

    /// How permission requests are answered: ask, reads, all, deny or policy:FILE
    /// [default: ask on a terminal, deny elsewhere].
    ///
    /// `ask` asks you. `reads` allows what only reads in the session's directories (files, searches, commands such as
    /// `git status`) except secrets, and asks about the rest, or denies it if you cannot be asked. `all` allows
    /// everything, once where the agent offers that. `deny` denies everything. `policy:FILE` follows the rules of a TOML
    /// file.
    #[arg(long, value_name = "WHO", help_heading = "Permissions and limits")]
    pub(super) permit: Option<PermitArgument>,

    /// Ends the run after this time, such as `90`, `90s` or `5m`, including reading the prompt.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Permissions and limits")]
    pub(super) timeout: Option<Duration>,

    /// Ends the run if the agent is silent for this long during the turn.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Permissions and limits")]
    pub(super) idle_timeout: Option<Duration>,

    /// The format of standard output.
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub(super) output: Format,

    /// Prints only errors and questions on standard error.
    #[arg(short, long, help_heading = "Output")]
    pub(super) quiet: bool,

    /// When to use colours.
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub(super) color: Color,

    /// The command that starts the agent.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "agent")]
    pub(super) command: Vec<OsString>,
}

/// The format of standard output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// What happens, as it happens, for people.
    #[default]
    Text,
    /// Only the last message of the agent.
    Final,
    /// One JSON object at the end, also for failures.
    Json,
    /// One JSON object per line for each event.
    Events,
    /// The protocol messages in both directions, unchanged.
    Acp,
    /// The session as a Markdown document, at the end.
    Md,
}

/// The version of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Protocol {
    /// Version 1 alone.
    #[value(name = "1")]
    V1,
    /// Version 2 alone.
    #[value(name = "2")]
    V2,
    /// The newest that both sides support.
    #[default]
    Auto,
}

/// A service that the client offers to version 1 agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Offer {
    /// Read and write text files in the session's directories.
    Files,
    /// Run commands in the session's directories.
    Terminals,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// An option of the session and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) option: String,
    pub(super) value: String,
}

impl FromStr for Setting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((option, value)) if !option.is_empty() && !value.is_empty() => Ok(Self {
                option: option.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err("write it as ID=VALUE, such as `mode=plan`"),
        }
    }
}

/// Who decides about permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PermitArgument {
    Ask,
    Reads,
    All,
    Deny,
    Policy(PathBuf),
}

impl FromStr for PermitArgument {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "ask" => Self::Ask,
            "reads" => Self::Reads,
            "all" => Self::All,
            "deny" => Self::Deny,
            _ => match text.strip_prefix("policy:") {
                Some(file) if !file.is_empty() => Self::Policy(PathBuf::from(file)),
                _ => return Err("use ask, reads, all, deny or policy:FILE"),
            },
        })
    }
}

/// Reads a time: a number of seconds, or one with `ms`, `s`, `m` or `h`.
fn duration(text: &str) -> Result<Duration, &'static str> {
    const WRONG: &str = "write a number with ms, s, m or h, such as `90s` or `5m`";
    let digits = text.find(|char: char| !char.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let number: u64 = number.parse().map_err(|_| WRONG)?;
    let milliseconds = match unit {
        "ms" => Some(number),
        "" | "s" => number.checked_mul(1000),
        "m" => number.checked_mul(60_000),
        "h" => number.checked_mul(3_600_000),
        _ => None,
    };
    match milliseconds.ok_or(WRONG)? {
        0 => Err("the timeout must be greater than zero"),
        milliseconds => Ok(Duration::from_millis(milliseconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_unless_they_say_otherwise() {
        for (text, expected) in [
            ("90", Some(90_000)),
            ("90s", Some(90_000)),
            ("5m", Some(300_000)),
            ("1h", Some(3_600_000)),
            ("250ms", Some(250)),
            ("0", None),
            ("", None),
            ("s", None),
            ("-5", None),
            ("1.5s", None),
            ("5 m", None),
            ("5d", None),
            ("99999999999999999999", None),
            ("18446744073709551615h", None),
        ] {
            let found = duration(text).ok();
            assert_eq!(found, expected.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn who_decides_is_one_of_five() {
        let policy = PermitArgument::Policy("rules.toml".into());
        assert_eq!("policy:rules.toml".parse(), Ok(policy));
        assert_eq!("reads".parse(), Ok(PermitArgument::Reads));
        for wrong in ["", "yes", "policy:", "Ask", "policy"] {
            assert!(wrong.parse::<PermitArgument>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_setting_is_a_name_and_a_value() {
        let setting: Setting = "model=a=b".parse().unwrap();
        assert_eq!(
            (setting.option.as_str(), setting.value.as_str()),
            ("model", "a=b")
        );
        for wrong in ["model", "=x", "model=", ""] {
            assert!(wrong.parse::<Setting>().is_err(), "{wrong}");
        }
    }
}
