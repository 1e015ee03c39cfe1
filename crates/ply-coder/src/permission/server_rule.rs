//! Rules about starting the MCP servers that a project names.
//!
//! `mcp_server(github#5f0c…)` is one entry of `.mcp.json`, as it was when the user decided. A rule that denies may leave the version
//! out, and `mcp_server(*)` denies every server of every project.

use std::fmt;

use super::rule::{Decision, Matcher, Rule, VERSION_BYTES};
use super::rule_text::RuleError;
use super::shell_rule::ShellPattern;
use super::{Permissions, text};

/// Which servers a rule means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerPattern {
    /// The name, or `*`.
    name: String,
    /// What stands for the entry that it must be, if it matters.
    version: Option<String>,
}

impl ServerPattern {
    /// Reads what is between the brackets.
    pub(super) fn parse(decision: Decision, body: &str) -> Result<Self, RuleError> {
        let is_version = |text: &str| {
            let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            text.len() == 2 * VERSION_BYTES && text.bytes().all(hex)
        };
        let (name, version) = match body.rsplit_once('#') {
            Some((name, version)) if is_version(version) => (name, Some(version.to_owned())),
            _ => (body, None),
        };
        // The project chooses the name, so a name alone says nothing of what would be started.
        if decision == Decision::Allow && (version.is_none() || name == "*") {
            return Err(RuleError::Server);
        }
        match name.is_empty() {
            true => Err(RuleError::Server),
            false => Ok(Self {
                name: name.to_owned(),
                version,
            }),
        }
    }

    fn means(&self, name: &str, version: &str) -> bool {
        let same = self.version.as_ref().is_none_or(|own| own == version);
        same && (self.name == "*" || self.name == name)
    }

    /// Returns what it means, in words for a choice.
    pub(super) fn phrase(&self) -> String {
        match &self.version {
            Some(_) => format!("starting the MCP server `{}`, as it is now,", self.name),
            None => format!("starting the MCP server `{}`", self.name),
        }
    }
}

impl fmt::Display for ServerPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{}#{version}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Returns the rule about one entry, if its text says the same as the rule.
pub(crate) fn about_server(decision: Decision, name: &str, version: &str) -> Option<Rule> {
    let rule = Rule {
        decision,
        matcher: Matcher::Server(ServerPattern {
            name: name.to_owned(),
            version: Some(version.to_owned()),
        }),
    };
    (Rule::parse(decision, &rule.to_string()).as_ref() == Ok(&rule)).then_some(rule)
}

impl Permissions {
    /// Says what the rules say about starting a server that the project names; nothing if the user is to be asked.
    pub(crate) fn may_start(&self, name: &str, version: &str) -> Option<bool> {
        let (rules, trouble) = self.current_rules();
        let says = |decision: Decision| {
            rules.iter().any(|rule| match &rule.matcher {
                Matcher::Server(pattern) => {
                    rule.decision == decision && pattern.means(name, version)
                }
                _ => false,
            })
        };
        if says(Decision::Deny) {
            return Some(false);
        }
        // While the rules file cannot be read, nobody knows what the user denied.
        let is_open = trouble.is_some() || says(Decision::Ask);
        (!is_open && says(Decision::Allow)).then_some(true)
    }
}

/// Returns a command as people would write it, on one line and with everything that deceives written out.
pub(crate) fn command_line(command: &str, args: &[String]) -> String {
    let words = std::iter::once(command).chain(args.iter().map(String::as_str));
    let pattern = ShellPattern {
        words: words.map(str::to_owned).collect(),
        rest: false,
    };
    text::shown(&pattern.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::{Scope, Stores};

    const VERSION: &str = "0123456789abcdef0123456789abcdef";

    fn permissions(rules: &[(Decision, &str)]) -> Permissions {
        let rules = rules
            .iter()
            .map(|(decision, text)| Rule::parse(*decision, text).unwrap());
        Permissions::new(Vec::new(), rules.collect(), Stores::default())
    }

    #[test]
    fn an_entry_is_allowed_as_it_was_and_denied_by_name_or_star() {
        let allow = format!("mcp_server(a#{VERSION})");
        let check = |rules: &[(Decision, &str)], expected: Option<bool>| {
            assert_eq!(permissions(rules).may_start("a", VERSION), expected);
        };
        check(&[], None);
        check(&[(Decision::Allow, &allow)], Some(true));
        for deny in ["mcp_server(a)", "mcp_server(*)", allow.as_str()] {
            check(
                &[(Decision::Allow, &allow), (Decision::Deny, deny)],
                Some(false),
            );
        }
        check(
            &[(Decision::Allow, &allow), (Decision::Ask, "mcp_server(a)")],
            None,
        );
        let other = VERSION.replace('0', "f");
        let permissions = permissions(&[(Decision::Allow, &allow)]);
        assert_eq!(permissions.may_start("a", &other), None);
        assert_eq!(permissions.may_start("b", VERSION), None);
    }

    #[test]
    fn a_name_alone_allows_nothing() {
        for text in ["mcp_server(a)", "mcp_server(*)", "mcp_server(#)"] {
            let parsed = Rule::parse(Decision::Allow, text);
            assert_eq!(parsed, Err(RuleError::Server), "{text}");
        }
        let star = format!("mcp_server(*#{VERSION})");
        let parsed = Rule::parse(Decision::Allow, &star);
        assert_eq!(parsed, Err(RuleError::Server));
    }

    #[test]
    fn a_decision_is_kept_in_the_rules_file() {
        let place = tempfile::tempdir().unwrap();
        let stores = || Stores {
            user: Some(place.path().join("rules.toml")),
            project: Some(place.path().to_owned()),
            ..Stores::default()
        };
        let permissions = || Permissions::new(Vec::new(), Vec::new(), stores());
        let rule = about_server(Decision::Deny, "a b", VERSION).unwrap();
        permissions().remember(Scope::Project, rule).unwrap();
        assert_eq!(permissions().may_start("a b", VERSION), Some(false));
    }

    #[test]
    fn a_command_line_shows_every_word_for_what_it_is() {
        let args = ["-c", "rm -rf x", "\u{202e}a", ""].map(str::to_owned);
        let line = command_line("sh", &args);
        assert!(line.starts_with("sh -c 'rm -rf x' "), "{line}");
        assert!(line.contains("u{202e}"), "{line}");
    }
}
