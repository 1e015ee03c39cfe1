//! Rules: what is allowed, asked about or denied.

use std::fmt;
use std::path::PathBuf;

use super::glob::{PathPattern, name_matches};
use super::shell_rule::{self, ShellPattern};
use crate::tool::Access;

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Decision {
    /// It may be done without asking.
    Allow,
    /// The user is asked.
    Ask,
    /// It is not done.
    Deny,
}

/// A rule of the user's.
///
/// People write what it matches as `shell(cargo test *)`, `write(src/**)`, `read(**/.env)`,
/// `delete(target/**)`, `fetch(docs.rs)`, `mcp(server/tool)` or `mcp(server/*)`; see [`Rule::parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it says.
    pub decision: Decision,
    pub(super) matcher: Matcher,
}

/// What a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Matcher {
    Shell(ShellPattern),
    Read(PathPattern),
    Write(PathPattern),
    Delete(PathPattern),
    /// A host, or `*.` and a domain, or `*`.
    Fetch(String),
    /// A server, and a tool unless it is every one.
    Mcp {
        server: String,
        tool: Option<String>,
    },
}

/// Whether a rule that asks or denies concerns an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Concern {
    No,
    /// It cannot be told; the user decides.
    Maybe,
    Yes,
}

impl Rule {
    /// Returns a rule that allows what a matcher matches.
    pub(super) fn allow(matcher: Matcher) -> Self {
        Self {
            decision: Decision::Allow,
            matcher,
        }
    }

    /// Says whether an access to a file or a server is allowed by the rule. Commands have
    /// [`Rule::allows_command`].
    pub(super) fn allows(&self, access: &Access, roots: &[PathBuf]) -> bool {
        if self.decision != Decision::Allow {
            return false;
        }
        match (&self.matcher, access) {
            (Matcher::Read(pattern), Access::Read(path))
            | (Matcher::Write(pattern), Access::Write(path))
            | (Matcher::Delete(pattern), Access::Delete(path)) => pattern.allows(path, roots),
            (Matcher::Fetch(pattern), Access::Fetch(address)) => {
                host(address).is_some_and(|host| host.private && host_matches(pattern, &host.name))
            }
            (Matcher::Mcp { server, tool }, access) => mcp_matches(server, tool.as_deref(), access),
            _ => false,
        }
    }

    /// Says whether a plain command is allowed by the rule.
    pub(super) fn allows_command(&self, words: &[&str]) -> bool {
        match &self.matcher {
            Matcher::Shell(pattern) => self.decision == Decision::Allow && pattern.allows(words),
            _ => false,
        }
    }

    /// Says whether a rule that allows a path says the name of something guarded.
    pub(super) fn names(&self, name: &str) -> bool {
        match &self.matcher {
            Matcher::Read(pattern) | Matcher::Write(pattern) | Matcher::Delete(pattern) => {
                pattern.names(name)
            }
            _ => false,
        }
    }

    /// Says whether a rule that asks or denies concerns an access. It is generous where
    /// [`Rule::allows`] is narrow.
    pub(super) fn concerns(&self, access: &Access, roots: &[PathBuf]) -> Concern {
        let certain = match (&self.matcher, access) {
            (
                Matcher::Shell(pattern),
                Access::Shell { command, .. } | Access::Outside { command, .. },
            ) => {
                return shell_rule::concerns(pattern, command);
            }
            // What a program makes of its input is its own affair; a shell runs it.
            (Matcher::Shell(_), Access::Input { .. }) => return Concern::Maybe,
            (Matcher::Read(pattern), Access::Read(path))
            | (Matcher::Write(pattern), Access::Write(path)) => pattern.restricts(path, roots),
            // Who may not change a file may not delete it either, nor the folder that it is in.
            (Matcher::Write(pattern) | Matcher::Delete(pattern), Access::Delete(path)) => {
                if !pattern.restricts(path, roots) && pattern.may_be_below(path, roots) {
                    return Concern::Maybe;
                }
                pattern.restricts(path, roots)
            }
            (Matcher::Fetch(pattern), Access::Fetch(address)) => {
                let Some(host) = host(address) else {
                    return Concern::Maybe;
                };
                host_matches(pattern, &host.name)
                    || host_matches(pattern, &host.bare)
                    || host.bare.ends_with(&format!(".{pattern}"))
            }
            (Matcher::Mcp { server, tool }, access) => {
                mcp_matches(server, tool.as_deref(), access)
                    || mcp_reads_as(server, tool.as_deref(), access)
            }
            _ => false,
        };
        if certain { Concern::Yes } else { Concern::No }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.matcher {
            Matcher::Shell(pattern) => write!(f, "shell({pattern})"),
            Matcher::Read(pattern) => write!(f, "read({})", pattern.text()),
            Matcher::Write(pattern) => write!(f, "write({})", pattern.text()),
            Matcher::Delete(pattern) => write!(f, "delete({})", pattern.text()),
            Matcher::Fetch(pattern) => write!(f, "fetch({pattern})"),
            Matcher::Mcp { server, tool } => {
                write!(f, "mcp({server}/{})", tool.as_deref().unwrap_or("*"))
            }
        }
    }
}

fn mcp_matches(server: &str, tool: Option<&str>, access: &Access) -> bool {
    match access {
        Access::Mcp {
            server: asked,
            tool: called,
        } => (server == "*" || server == asked) && tool.is_none_or(|tool| tool == called),
        _ => false,
    }
}

/// Says whether a rule with several slashes can be read as being about a tool, wherever they part the
/// server from the tool.
fn mcp_reads_as(server: &str, tool: Option<&str>, access: &Access) -> bool {
    let Access::Mcp {
        server: asked,
        tool: called,
    } = access
    else {
        return false;
    };
    let whole = format!("{asked}/{called}");
    server.contains('/')
        && match tool {
            Some(tool) => whole == format!("{server}/{tool}"),
            None => whole.starts_with(&format!("{server}/")),
        }
}

/// Where a request goes.
pub(super) struct Host {
    /// The name, with the port when it is not the usual one.
    pub(super) name: String,
    /// The name alone.
    pub(super) bare: String,
    /// Whether nobody on the way can read or change what is said.
    pub(super) private: bool,
}

/// Returns where a request to an address goes, as the client that sends it reads the address.
pub(super) fn host(address: &str) -> Option<Host> {
    let url = if address.contains("://") {
        reqwest::Url::parse(address).ok()?
    } else {
        let url = reqwest::Url::parse(&format!("https://{address}")).ok()?;
        // More than a host without a scheme has no one meaning.
        (url.path() == "/" && url.query().is_none() && url.fragment().is_none()).then_some(url)?
    };
    if !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    let bare = url.host_str()?.trim_end_matches('.').to_lowercase();
    let local = matches!(bare.as_str(), "localhost" | "127.0.0.1" | "[::1]");
    let private = match url.scheme() {
        "https" => true,
        "http" => local,
        _ => return None,
    };
    let name = match url.port() {
        Some(port) => format!("{bare}:{port}"),
        None => bare.clone(),
    };
    Some(Host {
        name,
        bare,
        private,
    })
}

fn host_matches(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        // No lesser name may pass for the domain: the dot belongs to it.
        Some(domain) => host
            .strip_suffix(domain)
            .is_some_and(|sub| sub.len() > 1 && sub.ends_with('.')),
        None => name_matches(pattern, host),
    }
}
