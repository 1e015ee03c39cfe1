//! Rules: what is allowed, asked about or denied.

use std::fmt;
use std::path::PathBuf;

use super::address::{Host, host_matches};
use super::glob::PathPattern;
use super::server_rule::ServerPattern;
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
/// `delete(target/**)`, `fetch(docs.rs)`, `mcp(server/tool)`, `mcp(server/*)` or `mcp_server(name)`; see
/// [`Rule::parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it says.
    pub decision: Decision,
    pub(super) matcher: Matcher,
}

/// How many bytes stand for the description of a tool. Nobody finds two descriptions with the same ones.
pub(crate) const VERSION_BYTES: usize = 16;

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
        /// What stands for the description that the tool must have, if it matters.
        version: Option<String>,
    },
    /// Starting a server that the project names.
    Server(ServerPattern),
}

/// Whether a rule that asks or denies concerns something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    /// It does not.
    No,
    /// It cannot be told; the user decides.
    Maybe,
    /// It does.
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

    /// Says whether it allows a tool however its server describes it.
    pub(super) fn is_unbound(&self) -> bool {
        let is_mcp = matches!(&self.matcher, Matcher::Mcp { version: None, .. });
        is_mcp && self.decision == Decision::Allow
    }

    /// Says whether an access to a file or a server is allowed by the rule. Commands have
    /// [`Rule::allows_command`].
    pub(super) fn allows(&self, access: &Access, roots: &[PathBuf]) -> bool {
        if self.decision != Decision::Allow {
            return false;
        }
        match (&self.matcher, access) {
            (Matcher::Read(pattern), Access::Read(path))
            | (Matcher::Write(pattern), Access::Write(path) | Access::Trigger { path, .. })
            | (Matcher::Delete(pattern), Access::Delete(path)) => pattern.allows(path, roots),
            (Matcher::Fetch(pattern), Access::Fetch(address)) => {
                let host = Host::of(address);
                host.is_some_and(|host| host.sealed && self.may_mean(&host, pattern))
            }
            (
                Matcher::Mcp {
                    server,
                    tool,
                    version,
                },
                access @ Access::Mcp { version: now, .. },
            ) => {
                let same = version.as_ref().is_none_or(|version| version == now);
                same && mcp_matches(server, tool.as_deref(), access)
            }
            _ => false,
        }
    }

    /// Says whether a rule that allows means a host. A star does not mean this machine and its network.
    fn may_mean(&self, host: &Host, pattern: &str) -> bool {
        host.is_meant_by(pattern) && (!host.private || pattern != "*")
    }

    /// Says whether the rule allows the host of an address by its name.
    pub(super) fn names_host(&self, address: &str) -> bool {
        match &self.matcher {
            Matcher::Fetch(pattern) if self.decision == Decision::Allow && pattern != "*" => {
                Host::of(address).is_some_and(|host| host.is_meant_by(pattern))
            }
            _ => false,
        }
    }

    /// Says whether a plain command is allowed by the rule, of which the first `guarded` words must be said
    /// by the rule itself.
    pub(super) fn allows_command(&self, words: &[&str], guarded: usize) -> bool {
        match &self.matcher {
            Matcher::Shell(pattern) => {
                self.decision == Decision::Allow && pattern.allows(words, guarded)
            }
            _ => false,
        }
    }

    /// Says whether the rule, as one that asks or denies, concerns a command line.
    pub fn concern(&self, line: &str) -> Concern {
        match &self.matcher {
            Matcher::Shell(pattern) => shell_rule::concerns(pattern, line),
            _ => Concern::No,
        }
    }

    /// Says whether a command line has a command that begins with the words of the rule.
    pub fn names_command(&self, line: &str) -> bool {
        match &self.matcher {
            Matcher::Shell(pattern) => pattern.begins_one_of(line),
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
            | (Matcher::Write(pattern), Access::Write(path) | Access::Trigger { path, .. }) => {
                pattern.restricts(path, roots)
            }
            // Who may not change a file may not delete it either, nor the folder that it is in.
            (Matcher::Write(pattern) | Matcher::Delete(pattern), Access::Delete(path)) => {
                if !pattern.restricts(path, roots) && pattern.may_be_below(path, roots) {
                    return Concern::Maybe;
                }
                pattern.restricts(path, roots)
            }
            (Matcher::Fetch(pattern), Access::Fetch(address)) => {
                let Some(host) = Host::of(address) else {
                    return Concern::Maybe;
                };
                host_matches(pattern, &host.name)
                    || host_matches(pattern, &host.bare)
                    || host.bare.ends_with(&format!(".{pattern}"))
            }
            (Matcher::Mcp { server, tool, .. }, access) => {
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
            Matcher::Server(pattern) => write!(f, "mcp_server({pattern})"),
            Matcher::Mcp {
                server,
                tool,
                version,
            } => {
                let tool = tool.as_deref().unwrap_or("*");
                match version {
                    Some(version) => write!(f, "mcp({server}/{tool}#{version})"),
                    None => write!(f, "mcp({server}/{tool})"),
                }
            }
        }
    }
}

fn mcp_matches(server: &str, tool: Option<&str>, access: &Access) -> bool {
    match access {
        Access::Mcp {
            server: asked,
            tool: called,
            ..
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
        ..
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
