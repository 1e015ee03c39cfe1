//! `[mcp_servers.NAME]`: servers that every session has.

use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use super::ConfigError;
use super::file::{headers, web_address};
use super::table::Table;
use crate::mcp::{Configured, LoginClient, Way};
use crate::model::service::Secret;

/// The most that can be said of a timeout.
const TIMEOUT_SECONDS_MAX: u64 = 24 * 60 * 60;

/// Reads the servers, in the order of the file.
pub(super) fn read(table: &mut Table<'_>) -> Result<Vec<Configured>, ConfigError> {
    let Some((text, servers)) = table.table("mcp_servers")? else {
        return Ok(Vec::new());
    };
    let mut read = Vec::new();
    for (name, server) in servers {
        let title = format!("[mcp_servers.{}]", name.get_ref());
        let DeValue::Table(lines) = server.get_ref().clone() else {
            return Err(text.error(&name, format!("write `{title}` on a line of its own")));
        };
        if name.get_ref().trim().is_empty() {
            return Err(text.error(&name, "an MCP server needs a name: `[mcp_servers.NAME]`"));
        }
        let mut lines = Table::new(text, title.clone(), lines);
        let command = lines.string("command")?;
        let args = lines.strings("args")?;
        let env = env(&mut lines)?;
        let url = lines.string("url")?;
        let headers = headers(&mut lines)?;
        let client = client(text, &mut lines)?;
        let enabled = lines.flag("enabled")?.unwrap_or(true);
        let mut seconds = |key| {
            let seconds = lines.number(key, TIMEOUT_SECONDS_MAX);
            seconds.map(|seconds| seconds.map(Duration::from_secs))
        };
        let connect = seconds("startup_timeout_seconds")?;
        let silence = seconds("tool_timeout_seconds")?;
        lines.end()?;
        let way = match (command, url) {
            (Some(_), Some(url)) => {
                let what = format!("`{title}` has a `command` and a `url`; keep one of them");
                return Err(text.error(&url, what));
            }
            (Some(command), None) if headers.is_empty() => Some(Way::Command {
                command: command.into_inner(),
                args: args.into_iter().map(|(_, arg)| arg).collect(),
                env,
            }),
            (Some(_), None) => {
                let what =
                    format!("`{title}` has a `command`, which takes no `headers`; use `env`");
                return Err(text.error(&name, what));
            }
            (None, Some(url)) if args.is_empty() && env.is_empty() => Some(Way::Url {
                url: address(text, url)?,
                headers,
            }),
            (None, Some(url)) => {
                let what = format!("`{title}` has a `url`, which takes no `args` and no `env`");
                return Err(text.error(&url, what));
            }
            (None, None) if enabled => {
                let what = format!("`{title}` needs a `command` or a `url`");
                return Err(text.error(&name, what));
            }
            (None, None) => None,
        };
        if client.is_some() && !matches!(way, Some(Way::Url { .. })) {
            let what = format!("`client_id` in `{title}` is for servers with a `url`");
            return Err(text.error(&name, what));
        }
        let line = text.line(name.span().start);
        let server = Configured {
            enabled,
            client,
            connect,
            silence,
            ..Configured::of(name.get_ref().clone().into_owned(), way)
        };
        read.push((line, server));
    }
    read.sort_by_key(|(line, _)| *line);
    Ok(read.into_iter().map(|(_, server)| server).collect())
}

/// Reads who the agent is where it logs in.
fn client(
    text: super::table::Text<'_>,
    table: &mut Table<'_>,
) -> Result<Option<LoginClient>, ConfigError> {
    let id = table.string("client_id")?;
    let secret_env = table.string("client_secret_env")?;
    match (id, secret_env) {
        (None, None) => Ok(None),
        (None, Some(secret)) => {
            let what = "`client_secret_env` needs a `client_id` beside it";
            Err(text.error(&secret, what))
        }
        (Some(id), _) if id.get_ref().trim().is_empty() => {
            Err(text.error(&id, "`client_id` is empty"))
        }
        (Some(id), secret_env) => Ok(Some(LoginClient {
            secret_env: secret_env.map(Spanned::into_inner),
            ..LoginClient::new(id.into_inner())
        })),
    }
}

/// Checks an address, unless a variable in it is still to get its value.
fn address(text: super::table::Text<'_>, url: Spanned<String>) -> Result<String, ConfigError> {
    match url.get_ref().contains("${") || web_address(url.get_ref()) {
        true => Ok(url.into_inner()),
        false => {
            let what = "`url` must be an http or https URL, such as `https://example.org/mcp`";
            Err(text.error(&url, what))
        }
    }
}

fn env(table: &mut Table<'_>) -> Result<Vec<(String, Secret)>, ConfigError> {
    let Some((text, env)) = table.table("env")? else {
        return Ok(Vec::new());
    };
    let mut read = Vec::new();
    for (name, value) in env {
        let is_name = !name.get_ref().is_empty() && !name.get_ref().contains(['=', '\0']);
        let Some(value) = value
            .get_ref()
            .as_str()
            .filter(|value| is_name && !value.contains('\0'))
        else {
            // The value may be a secret.
            let what = format!(
                "the variable `{}` in `env` must have a name without `=` and be a text in quotes",
                name.get_ref()
            );
            return Err(text.error(&name, what));
        };
        read.push((name.get_ref().clone().into_owned(), Secret::new(value)));
    }
    Ok(read)
}
