//! Servers that a configuration names: the user's `config.toml`, or a project's `.mcp.json`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ply_agent::v2;

use super::server;
use crate::model::service::Secret;

/// How long the value of a variable may be inside an entry, in bytes.
const VALUE_BYTES_MAX: usize = 64 * 1024;

/// A server that a configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Configured {
    /// Its name.
    pub name: String,
    /// How it is reached; none for one that is only named to be off.
    pub way: Option<Way>,
    /// Whether it is used. One that is not keeps others of its name from being used.
    pub enabled: bool,
    /// Who the agent is to the authorization server, where it cannot register itself.
    pub client: Option<LoginClient>,
    /// How long it may take from its start to its list of tools, where that is not the usual time.
    pub connect: Option<Duration>,
    /// How long it may say nothing during a call, where that is not the usual time.
    pub silence: Option<Duration>,
}

/// An OAuth client that the user registered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginClient {
    /// Its id.
    pub id: String,
    /// The variable that holds its secret, if it has one.
    pub secret_env: Option<String>,
}

impl LoginClient {
    /// Returns a client without a secret.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            secret_env: None,
        }
    }

    fn resolve(&self, variables: &Variables) -> Result<KnownClient, String> {
        let secret = self.secret_env.as_ref().map(|name| {
            let value = variables.get(name).filter(|value| !value.is_empty());
            value.ok_or_else(|| {
                format!(
                    "the variable `{name}` with the secret for its login is not set; set it where Ply is started"
                )
            })
        });
        Ok(KnownClient {
            id: self.id.clone(),
            secret: secret.transpose()?.map(Secret::new),
        })
    }
}

/// An OAuth client with the value of its secret.
#[derive(Debug, Clone)]
pub(crate) struct KnownClient {
    pub(crate) id: String,
    pub(crate) secret: Option<Secret>,
}

/// How a server is reached. `${NAME}` in a value stands for a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// A program that speaks MCP on standard input and output.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it gets besides the usual ones.
        env: Vec<(String, Secret)>,
    },
    /// A server behind streamable HTTP.
    Url {
        /// Its address.
        url: String,
        /// Headers that go with every request.
        headers: Vec<(String, Secret)>,
    },
}

impl Configured {
    /// Returns a server that is reached in some way, with the usual times.
    #[must_use]
    pub fn new(name: impl Into<String>, way: Way) -> Self {
        Self::of(name, Some(way))
    }

    pub(crate) fn of(name: impl Into<String>, way: Option<Way>) -> Self {
        Self {
            name: name.into(),
            way,
            enabled: true,
            client: None,
            connect: None,
            silence: None,
        }
    }

    /// Returns its name as people and rules know it.
    pub(crate) fn shown_name(&self) -> String {
        server::clean_name(&self.name)
    }

    /// Returns the server with the values of variables, to be started in a directory of its own or in the session's.
    ///
    /// Its error says what is wrong, as a sentence about the server.
    pub(crate) fn resolve(
        &self,
        variables: &Variables,
        directory: Option<PathBuf>,
    ) -> Result<Start, String> {
        let Some(way) = &self.way else {
            return Err("it has neither a command nor a URL; add one".to_owned());
        };
        let expand = |text: &str| variables.expand(text);
        let server = match way {
            Way::Command { command, args, env } => {
                let args = args.iter().map(|arg| expand(arg));
                let env = env.iter().map(|(name, value)| {
                    let value = expand(value.reveal())?;
                    Ok(v2::EnvVariable::new(name.clone(), value))
                });
                let server = v2::McpServerStdio::new(self.name.clone(), expand(command)?)
                    .args(args.collect::<Result<Vec<_>, String>>()?)
                    .env(env.collect::<Result<Vec<_>, String>>()?);
                v2::McpServer::Stdio(server)
            }
            Way::Url { url, headers } => {
                let headers = headers.iter().map(|(name, value)| {
                    let value = expand(value.reveal())?;
                    Ok(v2::HttpHeader::new(name.clone(), value))
                });
                let server = v2::McpServerHttp::new(self.name.clone(), expand(url)?)
                    .headers(headers.collect::<Result<Vec<_>, String>>()?);
                v2::McpServer::Http(server)
            }
        };
        let client = self.client.as_ref();
        let client = client.map(|client| client.resolve(variables)).transpose()?;
        Ok(Start {
            server,
            directory,
            client,
            connect: self.connect,
            silence: self.silence,
        })
    }
}

/// A server that is about to be started.
pub(crate) struct Start {
    pub(crate) server: v2::McpServer,
    /// Where its process runs, if not in the session's directory.
    pub(crate) directory: Option<PathBuf>,
    /// Who the agent is where it logs in.
    pub(crate) client: Option<KnownClient>,
    pub(crate) connect: Option<Duration>,
    pub(crate) silence: Option<Duration>,
}

impl From<v2::McpServer> for Start {
    fn from(server: v2::McpServer) -> Self {
        Self {
            server,
            directory: None,
            client: None,
            connect: None,
            silence: None,
        }
    }
}

/// The variables that a configuration may name, as the program looks them up. There are none by default.
#[derive(Clone, Default)]
pub struct Variables(Option<Arc<Lookup>>);

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Variables {
    /// Returns variables that are looked up like this.
    pub fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(lookup)))
    }

    fn get(&self, name: &str) -> Option<String> {
        self.0.as_ref().and_then(|lookup| lookup(name))
    }

    /// Puts values in the place of `${NAME}` and `${NAME:-default}`. What only looks like one of these stays.
    fn expand(&self, text: &str) -> Result<String, String> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            expanded.push_str(before);
            let named = after.split_once('}').and_then(|(inside, after)| {
                let (name, default) = match inside.split_once(":-") {
                    Some((name, default)) => (name, Some(default)),
                    None => (inside, None),
                };
                is_name(name).then_some((name, default, after))
            });
            let Some((name, default, after)) = named else {
                expanded.push_str("${");
                rest = after;
                continue;
            };
            let value = self.get(name);
            let value = value.as_deref().or(default).ok_or_else(|| {
                format!(
                    "the variable `{name}` that it needs is not set; set it where Ply is started"
                )
            })?;
            if value.len() > VALUE_BYTES_MAX {
                return Err(format!(
                    "the value of the variable `{name}` is longer than {VALUE_BYTES_MAX} bytes"
                ));
            }
            expanded.push_str(value);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Variables").finish_non_exhaustive()
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let first = bytes.next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_take_their_values_and_nothing_else_changes() {
        let variables = Variables::new(|name| (name == "HOST").then(|| "h".to_owned()));
        let check = |text: &str, expected: Result<&str, &str>| {
            let expanded = variables.expand(text);
            let expanded = expanded.as_deref().map_err(String::as_str);
            match expected {
                Ok(_) => assert_eq!(expanded, expected, "{text}"),
                Err(part) => assert!(expanded.unwrap_err().contains(part), "{text}"),
            }
        };
        check("https://${HOST}/${HOST}", Ok("https://h/h"));
        check("${PORT:-80}", Ok("80"));
        check("${PORT:-}", Ok(""));
        check("${HOST:-x}", Ok("h"));
        check("$HOST ${ HOST} ${1} ${", Ok("$HOST ${ HOST} ${1} ${"));
        check("a ${TOKEN}", Err("`TOKEN`"));
    }

    #[test]
    fn a_value_is_not_expanded_again() {
        let variables = Variables::new(|_| Some("${OTHER}".to_owned()));
        assert_eq!(variables.expand("${A}").unwrap(), "${OTHER}");
    }
}
