//! The arguments of `ply agents`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

/// Lists, installs and checks agents.
///
/// `add` installs an agent from the ACP registry: one exact version, verified by its checksum, into
/// $XDG_DATA_HOME/ply/agents (else ~/.local/share/ply/agents). Nothing is downloaded when an agent starts.
/// Installed agents are found by name: `ply -a NAME`, `ply run -a NAME`, `ply attach NAME`.
///
/// Exit codes: 0 done, 1 failed, 2 wrong arguments.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        ply agents\n  \
        ply agents add claude\n  \
        ply agents login claude\n  \
        ply agents doctor claude")]
pub(crate) struct Agents {
    /// The address of the registry's index [default: $PLY_REGISTRY, else that of the ACP registry].
    #[arg(long, global = true, value_name = "URL")]
    pub(super) registry: Option<String>,

    #[command(subcommand)]
    pub(super) command: Option<AgentsCommand>,
}

/// What to do with agents; without one, `list`.
#[derive(Debug, Subcommand)]
pub(super) enum AgentsCommand {
    List(List),
    Add(Add),
    Update(Update),
    Remove(Remove),
    Login(Login),
    Doctor(Doctor),
}

impl Default for AgentsCommand {
    fn default() -> Self {
        Self::List(List::default())
    }
}

/// Lists the agents: which can be used, and how to get the others.
#[derive(Debug, Default, Args)]
pub(super) struct List {
    /// Also lists the agents of the registry.
    #[arg(long)]
    pub(super) all: bool,

    /// Prints one JSON array.
    ///
    /// Each agent is an object with `name`, `about`, `state` (built-in, config, installed, path, missing or
    /// registry), `version`, `command` and `install`; the last three are null where they say nothing.
    #[arg(long)]
    pub(super) json: bool,
}

/// Installs agents from the ACP registry.
///
/// Agents come as npm packages (needs node and npm; install scripts are not run), as Python packages
/// (needs uv) or as programs for your platform. They are kept in ~/.local/share/ply/agents, where `agents.lock` records versions and checksums.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// The agents: known names such as `claude`, or ids of the registry.
    #[arg(value_name = "NAME", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(super) names: Vec<String>,

    /// Accepts a program without a checksum in the registry. Its checksum is recorded, and must stay the same.
    #[arg(long)]
    pub(super) unverified: bool,

    /// Lets npm run the install scripts of the packages.
    #[arg(long)]
    pub(super) scripts: bool,
}

/// Updates installed agents to the registry's versions.
#[derive(Debug, Args)]
pub(super) struct Update {
    /// The agents [default: all that are installed].
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) names: Vec<String>,

    /// Accepts programs without a checksum in the registry.
    #[arg(long)]
    pub(super) unverified: bool,

    /// Lets npm run the install scripts of the packages.
    #[arg(long)]
    pub(super) scripts: bool,
}

/// Removes installed agents. Their own settings and logins stay.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The agents.
    #[arg(value_name = "NAME", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(super) names: Vec<String>,
}

/// Logs in to an agent, in this terminal or by its own means.
#[derive(Debug, Args)]
pub(super) struct Login {
    /// The agent.
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) name: String,

    /// The login method, if the agent offers several.
    #[arg(long, value_name = "ID")]
    pub(super) method: Option<String>,
}

/// Checks that installed agents are complete, and starts those you name.
///
/// Exit codes: 0 everything works, 1 something is wrong.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Agents to start: each is greeted and ended again.
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) names: Vec<String>,
}
