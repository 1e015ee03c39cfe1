//! The arguments, from which the help is made too.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::program::agents::Agents;
use crate::program::chat::Chat;
use crate::program::check::Check;
use crate::program::completions::Completions;
use crate::program::demo::Demo;
use crate::program::hub::arguments::{Attach, Hub, Queue, Send, Serve, Watch};
use crate::program::man::Man;
use crate::program::run::Run;
use crate::program::trace::Trace;

/// Runs coding agents in your terminal, in scripts and in your editor (Agent Client Protocol).
#[derive(Debug, Parser)]
#[command(
    name = "ply",
    version,
    after_help = "Examples:\n  \
        ply demo                         # a short tour, no API key needed\n  \
        ply                              # chat with the built-in agent\n  \
        ply -a claude --continue         # another agent, your last session\n  \
        ply run \"explain this repository\"\n  \
        ply attach                       # for your editor: sessions outlive it"
)]
pub(crate) struct Arguments {
    /// Without one, `chat`, with all of its options.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<Run>),
    Chat(Chat),
    Agent(Agent),
    Agents(Agents),
    Attach(Attach),
    Serve(Serve),
    Hub(Hub),
    Queue(Queue),
    Send(Send),
    Watch(Watch),
    Mcp(Mcp),
    Models(Models),
    Permits(Permits),
    Sessions(Sessions),
    Trace(Trace),
    Check(Check),
    Demo(Demo),
    Completions(Completions),
    Man(Man),
}

/// Serves the built-in coding agent on standard input and output, for editors.
///
/// The model comes from --model, $PLY_MODEL or config.toml; otherwise from the first provider with an API key: ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), OPENAI_API_KEY, GEMINI_API_KEY (or GOOGLE_API_KEY),
/// OPENROUTER_API_KEY, GROQ_API_KEY, MISTRAL_API_KEY, DEEPSEEK_API_KEY, XAI_API_KEY.
///
/// Gateways and servers of your own: ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GEMINI_BASE_URL and so on select their
/// provider, with or without a key. The model is then ANTHROPIC_MODEL, OPENAI_MODEL or GEMINI_MODEL if set, or the
/// provider's usual one, or else the first that the server lists.
///
/// Ollama is used only if you say so: `--model ollama/NAME`, OLLAMA_HOST, or config.toml. Without any model, the
/// built-in offline model answers questions about the project by looking things up; it needs no network.
/// `ply models` shows what there is.
#[derive(Debug, Args)]
#[command(after_help = "Example, in Zed's settings:\n  \
        \"agent_servers\": { \"Ply\": { \"command\": \"ply\", \"args\": [\"agent\"] } }")]
pub(crate) struct Agent {
    /// The store of the sessions [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else
    /// ~/.local/share/ply/sessions.db].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// The configuration [default: $PLY_CONFIG, else $XDG_CONFIG_HOME/ply/config.toml, else
    /// ~/.config/ply/config.toml].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The initial model, such as `anthropic/claude-sonnet-5`, `ollama/qwen3` or `offline`.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// The initial mode: plan, ask, auto-edit or full.
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,
}

/// Lists the MCP servers of config.toml and of the project, and logs in to them.
///
/// Servers that an editor names are not listed.
///
/// Exit codes: 0 done, 1 failed, 2 wrong arguments or no such server.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        ply mcp list\n  \
        ply mcp login github"
)]
pub(crate) struct Mcp {
    /// The configuration [default: $PLY_CONFIG, else $XDG_CONFIG_HOME/ply/config.toml, else
    /// ~/.config/ply/config.toml].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: McpCommand,
}

/// What to do with MCP servers.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Lists servers: name, state (on, off or logged in), the file that names it, command or address, separated by tabs.
    List {
        /// Prints one JSON array.
        ///
        /// Each server is an object with `name`, `source`, `state` and `at`.
        #[arg(long)]
        json: bool,
    },
    /// Logs in to a server: prints the address to open, and waits.
    Login {
        /// The server's name.
        name: String,
    },
    /// Logs out of a server: deletes its tokens from this machine.
    Logout {
        /// The server's name.
        name: String,
    },
}

/// Lists the available models, and those found on this machine.
///
/// Asks your own servers (config.toml, *_BASE_URL, OLLAMA_HOST) and Ollama on this machine for their models. A model that
/// was only found is not used until you choose it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        ply models\n  \
        ply run --model ollama/qwen3 \"explain this repository\"")]
pub(crate) struct Models {
    /// The configuration [default: $PLY_CONFIG, else $XDG_CONFIG_HOME/ply/config.toml, else
    /// ~/.config/ply/config.toml].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Prints one JSON object: `models` with `id`, `at`, `isDefault`, `isReady` and `isFound` of each, and
    /// `problems`.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Answers permission requests of sessions in the hub, and manages permission rules.
///
/// Rules come from "Always allow" and from config.toml.
///
/// Exit codes: 0 done, 1 failed, 2 wrong arguments or no such rule.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        ply permits ls\n  \
        ply permits allow\n  \
        ply permits rules --cwd .\n  \
        ply permits revoke 'shell(cargo test *)'"
)]
pub(crate) struct Permits {
    #[command(subcommand)]
    pub(crate) command: PermitsCommand,
}

/// What to do with questions and rules.
#[derive(Debug, Subcommand)]
pub(crate) enum PermitsCommand {
    /// Lists waiting questions of sessions in the hub: id, agent, subject.
    Ls {
        /// Prints one JSON array.
        ///
        /// Each question is an object with `id`, `session`, `agent`, `title` and `options`.
        #[arg(long)]
        json: bool,
    },
    /// Allows what a session in the hub asks for.
    Allow {
        /// The question, if several wait: its id or an unambiguous prefix.
        id: Option<String>,
        /// Saves a rule, so that the same is not asked again.
        #[arg(long)]
        always: bool,
    },
    /// Rejects what a session in the hub asks for.
    Deny {
        /// The question, if several wait: its id or an unambiguous prefix.
        id: Option<String>,
        /// Saves a rule, so that the same is not asked again.
        #[arg(long)]
        always: bool,
    },
    Rules(ListRules),
    Revoke(Revoke),
}

/// Lists the rules.
///
/// Each line has the decision (allow, ask or deny), the rule, and its scope: a directory, `everywhere`, or
/// `config.toml`, separated by tabs. Control characters are escaped.
#[derive(Debug, Args)]
pub(crate) struct ListRules {
    /// Only the rules that apply in this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Prints one JSON array.
    ///
    /// Each rule is an object with `decision`, `rule`, `project` (a directory, or null if it holds everywhere)
    /// and `source` (`rules` or `config`).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Revokes rules that "Always allow" made.
///
/// Running sessions notice with their next call. To change rules of config.toml, edit that file.
#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// The rules, as `ply permits rules` shows them.
    #[arg(value_name = "RULE", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) rules: Vec<String>,

    /// Only rules for this directory [default: all].
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// Lists, shows, exports and deletes the sessions on disk.
///
/// Every ID can be any unambiguous prefix.
///
/// Exit codes: 0 done, 1 failed, 2 wrong arguments, 4 no such session, 12 the session is in use.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        ply sessions ls --cwd .\n  \
        ply sessions export sess-4f1d -o talk.md"
)]
pub(crate) struct Sessions {
    /// The store [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else
    /// ~/.local/share/ply/sessions.db].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

/// What to do with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    Ls(Ls),
    Recent(Recent),
    Show(Show),
    Export(Export),
    Rm(Rm),
}

/// Lists sessions, latest first.
///
/// On a terminal, prints a table that fits. Otherwise each line has the id, the time of the last
/// activity (RFC 3339, UTC), the title and the working directory, separated by tabs and in full.
/// Control characters are escaped.
#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// Only the sessions of this working directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// The maximum number; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,

    /// Prints one JSON array.
    ///
    /// Each session is an object with `id`, `cwd`, `title` (null if it has none), `createdAt` and
    /// `updatedAt` (RFC 3339, UTC). A `cwd` that is not UTF-8 is shown escaped, and `cwdBytes` then
    /// has its bytes in hexadecimal. A session that the hub has open has `live`: its agent, state,
    /// clients, queue and questions.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the sessions that `ply run` and `ply chat` ran with any agent, latest first.
///
/// The list is kept beside the store, so that `--continue` works with agents that cannot list their
/// sessions. Off a terminal each line has the agent, the id, the time of the last use (RFC 3339, UTC),
/// the title and the working directory, separated by tabs.
#[derive(Debug, Args)]
pub(crate) struct Recent {
    /// Only the sessions of this working directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Only the sessions of this agent: a name, or all words of a command.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// The maximum number; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,

    /// Prints one JSON array.
    ///
    /// Each session is an object with `agent`, `id`, `cwd`, `title` (null if it has none) and `updatedAt`
    /// (RFC 3339, UTC).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows the messages and tool calls of a session.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session: its id or an unambiguous prefix.
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,

    /// Shows the agent's thoughts in full.
    #[arg(long)]
    pub(crate) thoughts: bool,

    /// Prints one JSON object.
    ///
    /// `session` is as in `ls --json`; `entries` are the messages, tool calls, plans and terminals as
    /// updates of the protocol's version 2; `state` says whether a turn runs and how the last one
    /// ended; `usage` is the size of the context, or null; `damagedRecords` counts what cannot be
    /// read. Thoughts are always there.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Writes a session as Markdown or NDJSON.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The session: its id or an unambiguous prefix.
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,

    /// The format.
    #[arg(long, value_enum, default_value_t = Format::Md)]
    pub(crate) format: Format,

    /// Writes to a file that only you can read, atomically.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replaces the file if it exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// What an export looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A document to read. Control characters are escaped.
    Md,
    /// One JSON object per line: `{"ply":"session","version":1,…}` with the fields of `ls --json`, then
    /// each stored event as it is. `{"ply":"damaged","from":…,"next":…}` stands for records that cannot be
    /// read.
    Ndjson,
}

/// Deletes sessions permanently.
///
/// On a terminal it asks first. Sessions that a program has open are skipped.
#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// The sessions: ids or unambiguous prefixes.
    #[arg(value_name = "ID", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) ids: Vec<String>,

    /// Does not ask.
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Prints one JSON object: `deleted` with the ids, `failed` with `id` and `error` of each.
    #[arg(long)]
    pub(crate) json: bool,
}
