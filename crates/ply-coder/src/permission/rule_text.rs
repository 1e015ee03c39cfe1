//! The text of rules.

use super::decide::MOVES;
use super::glob::PathPattern;
use super::rule::{Decision, Matcher, Rule, VERSION_BYTES};
use super::server_rule::ServerPattern;
use super::shell_rule::ShellPattern;
use super::text::is_deceptive;
use super::{launch, line};

/// How long the text of a rule may be.
pub const RULE_BYTES_MAX: usize = 1024;

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// It is too long.
    #[error("the rule is longer than {RULE_BYTES_MAX} bytes; write a shorter one")]
    TooLong,
    /// It has characters that nobody sees.
    #[error("the rule has characters that are not seen or deceive; write them out of it")]
    Deceptive,
    /// It is not of the form `kind(what)`.
    #[error("a rule looks like `shell(cargo test *)`: a kind, and in brackets what it matches")]
    Form,
    /// There is no such kind.
    #[error(
        "there is no such kind of rule; take shell, read, write, delete, fetch, mcp or mcp_server"
    )]
    Kind,
    /// The command is no plain one.
    #[error(
        "the command of a rule is one plain command, without operators, variables and redirections; \
         quote what is meant as it stands"
    )]
    Command,
    /// A star of a command is not at its end.
    #[error("in a command `*` stands alone and last, for any further arguments; quote any other")]
    Star,
    /// The path goes up, or begins at a home directory.
    #[error("a path is written without `..` and `~`; write it out, or relative to the project")]
    Path,
    /// The path has `**` in a name.
    #[error("in a path `**` stands alone between slashes")]
    Stars,
    /// It is no host.
    #[error("a fetch rule is a host, `*.` and a domain, or `*`; without a scheme and a path")]
    Host,
    /// It is no tool.
    #[error(
        "an MCP rule is a server, `/`, and a tool or `*`; one that allows has no further slashes"
    )]
    Tool,
    /// Only a rule that allows one tool can say how the tool is described.
    #[error("only a rule that allows one tool has `#` and a version; leave them out")]
    Version,
    /// It is no server of a project, or allows one by its name alone.
    #[error(
        "a rule about MCP servers of projects is a name or `*`; one that allows is a name, `#` and the version that the \
         question saves"
    )]
    Server,
    /// It is a rule that allows what no rule can.
    #[error(
        "a rule cannot allow `cd` and the like, as it is not known then where the next command runs; a \
         `cd` inside the project needs none"
    )]
    Moves,
    /// It is a path that no file has.
    #[error(
        "a path that ends with `/` allows no file; write `/**` at its end for all that is in a folder"
    )]
    Folder,
}

impl Rule {
    /// Reads what a rule matches from its text.
    ///
    /// - `shell(cargo test *)`: a command of these words and any further ones; without the last `*`,
    ///   these words alone. `shell(*)` is any plain command that does not run others.
    /// - `read(docs/**)`, `write(/tmp/out/*)`, `delete(*)`: a path, relative to each root of the session
    ///   unless it begins with `/`; `*` and `?` stay in one name, `**` is any folders, and `*` alone is
    ///   everything.
    /// - `fetch(docs.rs)`, `fetch(*.rust-lang.org)`: a host, with its port unless it is the usual one.
    /// - `mcp(server/tool)`, `mcp(server/*)`: a tool of an MCP server. With `#` and a version, as long as the
    ///   server describes it in the same way.
    /// - `mcp_server(name)`: starting a server that the project names, or `*` for every one. One that allows has `#` and
    ///   a version.
    ///
    /// # Errors
    ///
    /// The text is no rule.
    pub fn parse(decision: Decision, text: &str) -> Result<Self, RuleError> {
        if text.len() > RULE_BYTES_MAX {
            return Err(RuleError::TooLong);
        }
        if text.chars().any(|c| is_deceptive(c) || c == '\n') {
            return Err(RuleError::Deceptive);
        }
        let (kind, body) = text
            .trim()
            .strip_suffix(')')
            .and_then(|text| text.split_once('('))
            .ok_or(RuleError::Form)?;
        if body.trim().is_empty() {
            return Err(RuleError::Form);
        }
        let matcher = match kind {
            "shell" => Matcher::Shell(command(decision, body)?),
            "read" => Matcher::Read(path(decision, body)?),
            "write" => Matcher::Write(path(decision, body)?),
            "delete" => Matcher::Delete(path(decision, body)?),
            "fetch" => Matcher::Fetch(host(body)?),
            "mcp" => tool(decision, body)?,
            "mcp_server" => Matcher::Server(ServerPattern::parse(decision, body)?),
            _ => return Err(RuleError::Kind),
        };
        Ok(Self { decision, matcher })
    }
}

fn command(decision: Decision, body: &str) -> Result<ShellPattern, RuleError> {
    // A comment would vanish without a word.
    if body.starts_with('#') || body.contains(" #") {
        return Err(RuleError::Command);
    }
    let commands = line::read(body).map_err(|_| RuleError::Command)?;
    let [command] = commands.as_slice() else {
        return Err(RuleError::Command);
    };
    if command.assigns || command.redirects || command.background {
        return Err(RuleError::Command);
    }
    let (rest, words) = match command.words.split_last() {
        Some((last, before)) if last.dynamic && last.text == "*" => (true, before),
        _ => (false, command.words.as_slice()),
    };
    if words
        .iter()
        .any(|word| word.dynamic && word.text.contains('*'))
    {
        return Err(RuleError::Star);
    }
    if words.iter().any(|word| word.dynamic) {
        return Err(RuleError::Command);
    }
    let moves = words
        .first()
        .is_some_and(|word| MOVES.contains(&launch::program(&word.text).as_str()));
    if moves && decision == Decision::Allow {
        return Err(RuleError::Moves);
    }
    let words = words.iter().map(|word| word.text.clone()).collect();
    Ok(ShellPattern { words, rest })
}

fn path(decision: Decision, body: &str) -> Result<PathPattern, RuleError> {
    let parts = || body.split('/');
    if body.starts_with('~') || parts().any(|part| part == "..") {
        return Err(RuleError::Path);
    }
    if parts().any(|part| part.contains("**") && part != "**") {
        return Err(RuleError::Stars);
    }
    if body.len() > 1 && body.ends_with('/') && decision == Decision::Allow {
        return Err(RuleError::Folder);
    }
    Ok(PathPattern::new(body))
}

fn host(body: &str) -> Result<String, RuleError> {
    let host = body.to_lowercase();
    let name = host.strip_prefix("*.").unwrap_or(&host);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    if host == "*" || (!name.is_empty() && name.chars().all(plain) && !name.starts_with('.')) {
        Ok(host)
    } else {
        Err(RuleError::Host)
    }
}

fn tool(decision: Decision, body: &str) -> Result<Matcher, RuleError> {
    let (server, tool) = match body.rsplit_once('/') {
        // Whether a server or a tool has the further slash nobody can tell. A rule that denies or asks
        // means both.
        Some((server, _)) if decision == Decision::Allow && server.contains('/') => {
            return Err(RuleError::Tool);
        }
        Some((server, tool)) => (server, tool),
        None if body == "*" => ("*", "*"),
        None => return Err(RuleError::Tool),
    };
    let is_version = |text: &str| {
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        text.len() == 2 * VERSION_BYTES && text.bytes().all(hex)
    };
    // Whoever denies or asks means the tool, whatever is said of it.
    let (tool, version) = match tool.rsplit_once('#') {
        Some((tool, version)) if is_version(version) => (tool, Some(version.to_owned())),
        _ => (tool, None),
    };
    if server.is_empty() || tool.is_empty() {
        return Err(RuleError::Tool);
    }
    if version.is_some() && (decision != Decision::Allow || tool == "*") {
        return Err(RuleError::Version);
    }
    Ok(Matcher::Mcp {
        server: server.to_owned(),
        tool: (tool != "*").then(|| tool.to_owned()),
        version,
    })
}
