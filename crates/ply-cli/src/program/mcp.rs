//! `ply mcp`: the MCP servers that the configuration and the project name, and logins at them.

use std::io::Write as _;
use std::process::ExitCode;

use ply_client::text::Line;
use ply_coder::Config;
use ply_coder::mcp::{self, Configured, NewLogin, Way};
use serde::Serialize;

use crate::program::agent::Setup;
use crate::program::arguments::{Mcp, McpCommand};
use crate::program::{Error, json, output};

/// A server as it is listed. The names are promised to scripts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    source: &'static str,
    /// `on`, `off`, or `logged in`.
    state: &'static str,
    /// The command, or the address. What goes with them may be secret.
    at: String,
}

/// Does what the arguments ask for.
pub(crate) async fn run(arguments: Mcp) -> Result<ExitCode, Error> {
    let setup = Setup::read(arguments.config.as_deref(), None).map_err(Error::Argument)?;
    let config = setup.config().map_err(Error::Argument)?;
    match arguments.command {
        McpCommand::List { json } => list(&config, json)?,
        McpCommand::Login { name } => login(&config, &name).await?,
        McpCommand::Logout { name } => log_out(&config, &name)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns all servers, with the files that name them. Those of the user come before those of the project.
fn servers(config: &Config) -> Vec<(&'static str, Configured)> {
    let own = config.mcp_servers.iter().cloned();
    let mut servers: Vec<_> = own.map(|server| ("config.toml", server)).collect();
    let Ok(cwd) = std::env::current_dir() else {
        return servers;
    };
    let (project, problems) = mcp::project_servers(&cwd);
    for problem in problems {
        output::tell(&format!("warning: {problem}"));
    }
    for server in project {
        if !servers.iter().any(|(_, known)| known.name == server.name) {
            servers.push((".mcp.json", server));
        }
    }
    servers
}

fn list(config: &Config, as_json: bool) -> Result<(), Error> {
    let listed = servers(config).into_iter().map(|(source, server)| {
        let is_in = mcp::is_logged_in(&server, &config.mcp, &config.variables);
        let at = match &server.way {
            Some(Way::Command { command, .. }) => command.clone(),
            Some(Way::Url { url, .. }) => url.clone(),
            _ => String::new(),
        };
        Listed {
            state: match server.enabled {
                false => "off",
                true if is_in => "logged in",
                true => "on",
            },
            name: server.name,
            source,
            at,
        }
    });
    let listed: Vec<_> = listed.collect();
    let mut out = output::stdout();
    let written = match as_json {
        true => json::write(&mut out, &listed),
        false => listed.iter().try_for_each(|one| {
            let (name, at) = (Line(&one.name), Line(&one.at));
            writeln!(out, "{name}\t{}\t{}\t{at}", one.state, one.source)
        }),
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    if listed.is_empty() && !as_json {
        output::tell(
            "no MCP servers: add `[mcp_servers.NAME]` to config.toml, or `.mcp.json` to the project",
        );
    }
    Ok(())
}

async fn login(config: &Config, name: &str) -> Result<(), Error> {
    let server = find(config, name)?;
    let login = NewLogin::begin(&server, &config.mcp, &config.variables).await;
    let login = login.map_err(|failed| Error::Mcp(failed.to_string()))?;
    output::tell(&format!(
        "open this address to log in at `{}`; the program waits until you have",
        Line(name)
    ));
    let mut out = output::stdout();
    let shown = writeln!(out, "{}", Line(login.url())).and_then(|()| out.flush());
    shown.map_err(Error::Output)?;
    let finished = login.finish().await;
    finished.map_err(|problem| failed(name, &problem))?;
    output::tell(&format!("logged in at `{}`", Line(name)));
    Ok(())
}

fn log_out(config: &Config, name: &str) -> Result<(), Error> {
    let server = find(config, name)?;
    let gone = mcp::log_out(&server, &config.mcp, &config.variables);
    match gone.map_err(|problem| failed(name, &problem))? {
        true => output::tell(&format!("logged out of `{}`", Line(name))),
        false => output::tell(&format!("there was no login at `{}`", Line(name))),
    }
    Ok(())
}

fn failed(name: &str, problem: &str) -> Error {
    Error::Mcp(format!("MCP server `{name}`: {problem}"))
}

fn find(config: &Config, name: &str) -> Result<Configured, Error> {
    let mut servers = servers(config).into_iter();
    let found = servers.find(|(_, server)| server.name == name);
    found.map(|(_, server)| server).ok_or_else(|| {
        Error::Argument(format!(
            "no MCP server `{name}`; `ply mcp list` lists those of config.toml and of .mcp.json"
        ))
    })
}
