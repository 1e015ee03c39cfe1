//! What is decided, and what the user is asked.

use std::path::Path;

use super::rule::Rule;
use super::{Scope, text};
use crate::text::short;
use crate::tool::Access;

/// What is decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// It may not; the words go to the model.
    Deny(String),
    /// The user is to be asked.
    Ask(Question),
}

/// What the user is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the call would do, in a few words.
    pub title: String,
    /// All of what it would do, and why that is asked.
    pub description: String,
    /// How the answer may be kept; empty where no rule is safe enough to be offered.
    pub remember: Vec<Remember>,
}

/// A way to keep a yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remember {
    /// How long.
    pub scope: Scope,
    /// The rule that is kept, for [`Permissions::remember`](super::Permissions::remember).
    pub rule: Rule,
    /// What the choice is called: "Always allow `cargo test …` in this project".
    pub label: String,
}

/// Something in a call that the user is to be asked about.
pub(super) struct Doubt<'a> {
    pub(super) access: &'a Access,
    /// Why, in whole sentences.
    pub(super) reason: String,
    /// The rule that would have spared the question.
    pub(super) offer: Option<Rule>,
}

/// How much of a command or path is in a title.
const TITLE_CHARS_MAX: usize = 100;

impl Question {
    /// Puts the doubts about a call into one question. There is at least one doubt.
    ///
    /// What the title says is not said again.
    pub(super) fn new(doubts: &[Doubt<'_>], scopes: &[Scope], cwd: Option<&Path>) -> Self {
        let title = match doubts {
            [doubt] => headline(doubt.access),
            [first, others @ ..] => {
                format!("{}, and {} more", headline(first.access), others.len())
            }
            [] => String::new(),
        };
        let description = match doubts {
            [doubt] => {
                let cut = text::shown(&parts(doubt.access).1).chars().count() > TITLE_CHARS_MAX;
                let whole = cut.then(|| format!("{}.", whole(doubt.access)));
                let more = more(doubt.access, cwd);
                let all = [whole, more, Some(doubt.reason.clone())];
                all.into_iter().flatten().collect::<Vec<_>>().join("\n")
            }
            doubts => listed(doubts, cwd),
        };
        let offer = match doubts {
            [doubt] => doubt.offer.as_ref(),
            // One answer must not keep several rules.
            _ => None,
        };
        let remember = offer
            .into_iter()
            .flat_map(|rule| {
                scopes
                    .iter()
                    .map(|scope| Remember::new(*scope, rule.clone()))
            })
            .collect();
        Self {
            title,
            description,
            remember,
        }
    }
}

impl Remember {
    fn new(scope: Scope, rule: Rule) -> Self {
        let place = match scope {
            Scope::Once => "once",
            Scope::Session => "in this session",
            Scope::Project => "in this project",
            Scope::User => "everywhere",
        };
        let label = format!("Always allow {} {place}", super::offer::phrase(&rule));
        Self { scope, rule, label }
    }
}

fn headline(access: &Access) -> String {
    let (verb, what) = parts(access);
    let what = short(&text::shown(&what), TITLE_CHARS_MAX);
    let rest = match access {
        Access::Input { process, .. } => format!(" to {}", code(process)),
        Access::Stop { process, .. } => format!(" ({process})"),
        Access::Outside { .. } => " outside of the sandbox".to_owned(),
        _ => String::new(),
    };
    format!("{verb} {}{rest}", text::code(&what))
}

/// Returns all doubts, one after the other; a reason that several have is said once.
fn listed(doubts: &[Doubt<'_>], cwd: Option<&Path>) -> String {
    let same = |one: &Doubt<'_>, next: &Doubt<'_>| one.reason == next.reason;
    let groups = doubts.chunk_by(same).map(|group| {
        let mut lines: Vec<String> = Vec::new();
        for doubt in group {
            lines.push(format!("{}.", whole(doubt.access)));
            lines.extend(more(doubt.access, cwd));
        }
        lines.extend(group.first().map(|doubt| doubt.reason.clone()));
        lines.join("\n")
    });
    groups.collect::<Vec<_>>().join("\n\n")
}

fn whole(access: &Access) -> String {
    let (verb, what) = parts(access);
    let rest = match access {
        Access::Outside { cwd, .. } => {
            let cwd = code(&cwd.to_string_lossy());
            format!(" outside of the sandbox, in {cwd}")
        }
        Access::Stop { process, .. } => format!(", the background process {}", code(process)),
        Access::Input { process, .. } => format!(" to {}", code(process)),
        _ => String::new(),
    };
    format!("{verb} {}{rest}", code(&what))
}

/// Returns what else there is to know of an access.
fn more(access: &Access, cwd: Option<&Path>) -> Option<String> {
    match access {
        Access::Shell { cwd: here, .. } if Some(here.as_path()) != cwd => {
            Some(format!("In {}.", code(&here.to_string_lossy())))
        }
        Access::Input {
            process, command, ..
        } => Some(format!("{} runs {}.", code(process), code(command))),
        Access::Mcp { arguments, .. } => Some(format!("With:\n{}", block(arguments))),
        _ => None,
    }
}

/// Returns a text of several lines as a block of code, whole.
fn block(text: &str) -> String {
    let lines = text.lines().map(text::shown);
    let shown = lines.collect::<Vec<_>>().join("\n");
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{shown}\n{fence}")
}

fn code(text: &str) -> String {
    text::code(&text::shown(text))
}

fn parts(access: &Access) -> (&'static str, String) {
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    match access {
        Access::Read(at) => ("Read", path(at)),
        Access::Write(at) | Access::Trigger { path: at, .. } => ("Write", path(at)),
        Access::Delete(at) => ("Delete", path(at)),
        Access::Shell { command, .. } | Access::Outside { command, .. } => ("Run", command.clone()),
        Access::Stop { command, .. } => ("Stop", command.clone()),
        Access::Input { text, .. } => ("Send", text.clone()),
        Access::Fetch(address) => ("Fetch", address.clone()),
        Access::Mcp { server, tool, .. } => ("Call", format!("{server}/{tool}")),
    }
}
