//! The arguments of `ply chat`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

/// Opens the terminal client; so does `ply` alone, with the same options.
///
/// Without -a or a command, it uses the built-in agent. `?` shows the keys.
///
/// `[client]` in config.toml has settings: `theme` (dark, light, plain, or one of `[client.themes]`),
/// `diff` (unified, side-by-side), `mouse` (true, false) and `notify` (never, bell, desktop).
/// `[client.keys]` binds keys to actions.
#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:\n  \
        ply --continue\n  \
        ply -a claude \"why does the build fail?\"\n  \
        ply chat -- my-agent --acp")]
pub(crate) struct Chat {
    /// The first prompt.
    #[arg(value_name = "PROMPT", value_parser = NonEmptyStringValueParser::new())]
    pub(super) prompt: Vec<String>,

    /// The agent: `ply`, a known one such as `claude`, or one from config.toml; `ply agents` lists them.
    #[arg(short, long, value_name = "NAME")]
    pub(super) agent: Option<String>,

    /// The working directory [default: the current one].
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(super) cwd: Option<PathBuf>,

    /// Another directory of the session; may be repeated.
    #[arg(long, value_name = "DIR")]
    pub(super) add_dir: Vec<PathBuf>,

    /// MCP servers for the sessions: a JSON file of the form {"mcpServers": {…}}.
    #[arg(long, value_name = "FILE")]
    pub(super) mcp: Option<PathBuf>,

    /// Offers services to version 1 agents: files, terminals, or both separated by a comma;
    /// `--offer=` offers none [default: files,terminals].
    ///
    /// Files are confined to the session's directories, and commands start there.
    #[arg(long, value_parser = offers, value_name = "SERVICES")]
    pub(super) offer: Option<Offers>,

    /// Continues a session; accepts any unambiguous id prefix.
    #[arg(long, value_name = "ID", conflicts_with_all = ["continue_latest", "pick"])]
    pub(super) session: Option<String>,

    /// Continues the latest session of the directory.
    #[arg(long = "continue", conflicts_with = "pick")]
    pub(super) continue_latest: bool,

    /// Lists the agent's sessions to choose from.
    #[arg(long)]
    pub(super) pick: bool,

    /// The mode, such as `plan`.
    #[arg(long, value_name = "MODE")]
    pub(super) mode: Option<String>,

    /// The model; `ply models` lists those of the built-in agent.
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,

    /// Sets a session option by id or category; may be repeated.
    #[arg(long, value_name = "ID=VALUE", value_parser = setting)]
    pub(super) set: Vec<(String, String)>,

    /// Starts the agent itself, even if a hub runs.
    #[arg(long)]
    pub(super) no_hub: bool,

    /// The theme: dark, light, plain, or one from config.toml.
    #[arg(long, value_name = "NAME")]
    pub(super) theme: Option<String>,

    /// The command that starts the agent.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "agent")]
    pub(super) command: Vec<OsString>,
}

/// The services that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offers {
    pub(super) files: bool,
    pub(super) terminals: bool,
}

impl Default for Offers {
    fn default() -> Self {
        Self {
            files: true,
            terminals: true,
        }
    }
}

fn offers(text: &str) -> Result<Offers, &'static str> {
    let mut offers = Offers {
        files: false,
        terminals: false,
    };
    for name in text.split(',').filter(|name| !name.is_empty()) {
        match name {
            "files" => offers.files = true,
            "terminals" => offers.terminals = true,
            _ => return Err("there are `files` and `terminals`"),
        }
    }
    Ok(offers)
}

fn setting(text: &str) -> Result<(String, String), &'static str> {
    let parts = text.split_once('=').filter(|(id, _)| !id.is_empty());
    let (id, value) = parts.ok_or("write it as ID=VALUE")?;
    Ok((id.to_owned(), value.to_owned()))
}
