//! Rules that are offered to be kept: always narrow, and only where they say what they mean.

use std::path::{Path, PathBuf};

use super::address::Host;
use super::effect::Effect;
use super::glob::PathPattern;
use super::launch;
use super::place::is_secret;
use super::rule::{Decision, Matcher, Rule};
use super::shell_rule::ShellPattern;
use crate::tool::Access;

/// How long a command may be that is offered word by word; a longer one nobody reads.
const EXACT_CHARS_MAX: usize = 120;

/// Subcommands that are offered with any further arguments, and how many words after them are part of
/// the name.
#[rustfmt::skip]
const FAMILIES: &[(&[&str], usize)] = &[
    (&["cargo", "test"], 0), (&["cargo", "build"], 0), (&["cargo", "check"], 0), (&["cargo", "clippy"], 0),
    (&["cargo", "fmt"], 0), (&["cargo", "doc"], 0), (&["cargo", "bench"], 0), (&["cargo", "tree"], 0),
    (&["cargo", "metadata"], 0), (&["cargo", "nextest", "run"], 0),
    (&["git", "status"], 0), (&["git", "diff"], 0), (&["git", "log"], 0), (&["git", "show"], 0),
    (&["git", "blame"], 0), (&["git", "ls-files"], 0), (&["git", "rev-parse"], 0), (&["git", "describe"], 0),
    (&["git", "shortlog"], 0), (&["git", "merge-base"], 0),
    (&["go", "test"], 0), (&["go", "build"], 0), (&["go", "vet"], 0), (&["go", "list"], 0),
    (&["npm", "test"], 0), (&["npm", "run"], 1), (&["pnpm", "test"], 0), (&["pnpm", "run"], 1),
    (&["yarn", "test"], 0), (&["yarn", "run"], 1),
];

/// Programs that overwrite what they are given, or put files where others look: every use of them is worth
/// a look.
const NEVER: &[&str] = &["mv", "cp", "ln", "install", "tee"];

/// Returns the rule to offer for a plain command.
pub(super) fn for_command(words: &[&str], effect: Effect) -> Option<Rule> {
    let printable = |word: &&str| {
        word.bytes()
            .all(|byte| byte == b' ' || byte.is_ascii_graphic())
    };
    let program = launch::program(words.first()?);
    if launch::words_to_name(words) > 0
        || effect == Effect::Destroys
        || NEVER.contains(&program.as_str())
        || !words.iter().all(printable)
        || words.iter().skip(1).any(|word| is_secret(Path::new(word)))
    {
        return None;
    }
    let family = FAMILIES.iter().find_map(|(family, more)| {
        let named = words.get(..family.len() + more)?;
        let (name, rest) = named.split_at(family.len());
        (name == *family && rest.iter().all(|word| !word.starts_with('-'))).then_some(named)
    });
    let pattern = ShellPattern {
        words: family
            .unwrap_or(words)
            .iter()
            .map(|word| (*word).to_owned())
            .collect(),
        rest: family.is_some(),
    };
    let rule = Rule::allow(Matcher::Shell(pattern));
    let fits = rule.to_string().chars().count() <= EXACT_CHARS_MAX;
    (fits && rule.allows_command(words, 0))
        .then_some(rule)
        .and_then(readable)
}

/// Returns the rule to offer for a file, a server or a tool.
pub(super) fn for_access(access: &Access, roots: &[PathBuf]) -> Option<Rule> {
    let plain_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let matcher = match access {
        Access::Read(path) => Matcher::Read(pattern_for(path, roots)?),
        Access::Write(path) => Matcher::Write(pattern_for(path, roots)?),
        Access::Fetch(address) => Matcher::Fetch(Host::of(address)?.name),
        Access::Mcp {
            server,
            tool,
            version,
            ..
        } if plain_name(server) && plain_name(tool) => Matcher::Mcp {
            server: server.clone(),
            tool: Some(tool.clone()),
            version: Some(version.clone()),
        },
        _ => return None,
    };
    let rule = Rule::allow(matcher);
    rule.allows(access, roots)
        .then_some(rule)
        .and_then(readable)
}

fn pattern_for(path: &Path, roots: &[PathBuf]) -> Option<PathPattern> {
    // A relative path would mean that file in each of the roots.
    let relative = match roots {
        [root] => path.strip_prefix(root).ok(),
        _ => None,
    };
    let text = relative.unwrap_or(path).to_str()?;
    let plain = |c: char| c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric();
    (!text.is_empty() && !text.contains(['*', '?']) && text.chars().all(plain))
        .then(|| PathPattern::new(text))
}

/// Returns a rule if its text says the same, so that what people see and what is kept are one.
fn readable(rule: Rule) -> Option<Rule> {
    (Rule::parse(Decision::Allow, &rule.to_string()).as_ref() == Ok(&rule)).then_some(rule)
}

/// Returns what a rule allows, in words for a choice.
pub(super) fn phrase(rule: &Rule) -> String {
    match &rule.matcher {
        Matcher::Shell(pattern) => {
            let exact = ShellPattern {
                words: pattern.words.clone(),
                rest: false,
            };
            format!("`{exact}{}`", if pattern.rest { " …" } else { "" })
        }
        Matcher::Read(pattern) => format!("reading `{}`", pattern.text()),
        Matcher::Write(pattern) => format!("changes to `{}`", pattern.text()),
        Matcher::Delete(pattern) => format!("deleting `{}`", pattern.text()),
        Matcher::Fetch(host) => format!("fetching from `{host}`"),
        Matcher::Server(pattern) => pattern.phrase(),
        Matcher::Mcp {
            server,
            tool,
            version,
        } => match tool {
            Some(tool) if version.is_some() => format!("`{tool}` of `{server}`, as it is now,"),
            Some(tool) => format!("`{tool}` of `{server}`"),
            None => format!("every tool of `{server}`"),
        },
    }
}
