//! Rules about permissions, from a file.
//!
//! ```toml
//! default = "deny"            # what no rule speaks of: deny or ask
//!
//! [[rule]]
//! kind = ["read", "search"]
//! action = "allow"
//!
//! [[rule]]
//! command = "cargo test"      # this command, with whatever follows it
//! action = "allow"
//!
//! [[rule]]
//! path = "**/.env"
//! action = "deny"
//! ```

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ply_client::text;
use serde::Deserialize;

use super::failure::Failure;
use super::file;
use super::subject::Subject;

/// Kinds of tools that a rule can speak of.
const KINDS: [&str; 10] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Allow,
    Deny,
    Ask,
}

/// All rules of a file.
#[derive(Debug)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    default: Action,
}

#[derive(Debug)]
struct Rule {
    action: Action,
    kinds: Option<Vec<String>>,
    title: Option<String>,
    command: Option<String>,
    path: Option<GlobMatcher>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default: Option<Action>,
    #[serde(default)]
    rule: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    action: Action,
    kind: Option<Kinds>,
    title: Option<String>,
    command: Option<String>,
    path: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Kinds {
    One(String),
    Several(Vec<String>),
}

impl Rules {
    /// Reads a file. Anything in it that is not understood is an error: a rule that is skipped could be the one
    /// that denies.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = text::path(path);
        let text = file::text(path, "policy")?;
        Self::parse(&text).map_err(|what| {
            let failure = Failure::usage(format!("{shown}: {what}"));
            failure.hint("docs/RUN.md says what rules look like")
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let default = match file.default.unwrap_or(Action::Deny) {
            Action::Allow => return Err("the default may be deny or ask, not allow".to_owned()),
            default => default,
        };
        let rules = file.rule.into_iter().enumerate();
        let rules = rules.map(|(place, entry)| {
            let read = Rule::read(entry);
            read.map_err(|what| format!("rule {}: {what}", place + 1))
        });
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
            default,
        })
    }

    /// Decides about a request: a rule that denies wins over one that asks, and that over one that allows.
    pub(super) fn decide(&self, subject: &Subject, cwd: &Path) -> Action {
        let speak = |action| {
            let mut rules = self.rules.iter().filter(|rule| rule.action == action);
            rules.any(|rule| rule.applies(subject, cwd))
        };
        [Action::Deny, Action::Ask, Action::Allow]
            .into_iter()
            .find(|action| speak(*action))
            .unwrap_or(self.default)
    }
}

impl Rule {
    fn read(entry: Entry) -> Result<Self, String> {
        let kinds = entry.kind.map(|kinds| match kinds {
            Kinds::One(kind) => vec![kind],
            Kinds::Several(kinds) => kinds,
        });
        for kind in kinds.iter().flatten() {
            if !KINDS.contains(&kind.as_str()) {
                return Err(format!(
                    "there is no kind `{kind}`; use {}",
                    KINDS.join(", ")
                ));
            }
        }
        // What is there and says nothing was meant to say something.
        let is_blank = |text: &Option<String>| text.as_ref().is_some_and(|it| it.trim().is_empty());
        for (name, is_empty) in [
            ("kind", kinds.as_ref().is_some_and(Vec::is_empty)),
            ("title", is_blank(&entry.title)),
            ("command", is_blank(&entry.command)),
            ("path", is_blank(&entry.path)),
        ] {
            if is_empty {
                return Err(format!("its `{name}` is empty; leave it out or fill it in"));
            }
        }
        let path = entry.path.map(|glob| {
            let built = GlobBuilder::new(&glob).literal_separator(true).build();
            let built = built.map(|glob| glob.compile_matcher());
            built.map_err(|error| format!("the path is no pattern: {}", error.kind()))
        });
        let rule = Self {
            action: entry.action,
            kinds,
            title: entry.title,
            command: entry.command.map(|command| words(&command)),
            path: path.transpose()?,
        };
        let says_nothing = rule.kinds.is_none()
            && rule.title.is_none()
            && rule.command.is_none()
            && rule.path.is_none();
        let has_shell = rule
            .command
            .as_ref()
            .is_some_and(|it| it.contains(is_shell));
        match rule.action {
            Action::Allow if says_nothing => {
                Err("a rule that allows has to say what; `--permit all` allows everything".into())
            }
            Action::Allow if has_shell => Err(
                "a command with characters that a shell acts on is never allowed by a rule".into(),
            ),
            _ => Ok(rule),
        }
    }

    /// Whether the rule speaks of this. In doubt it does if it denies or asks, and does not if it allows.
    fn applies(&self, subject: &Subject, cwd: &Path) -> bool {
        let kind = self.kinds.as_ref();
        let title = self.title.as_ref();
        kind.is_none_or(|kinds| kinds.contains(&subject.kind))
            && title.is_none_or(|title| subject.title.starts_with(title))
            && (self.action != Action::Allow || self.may_allow(subject))
            && self
                .command
                .as_ref()
                .is_none_or(|rule| self.is_command(rule, subject))
            && self
                .path
                .as_ref()
                .is_none_or(|glob| self.is_path(glob, subject, cwd))
    }

    /// Whether a rule that allows can mean this at all: not what cannot be read, nor more than its kind says.
    fn may_allow(&self, subject: &Subject) -> bool {
        let kind = subject.kind.as_str();
        let is_disguised = (subject.command.is_some() && self.command.is_none() && !can_run(kind))
            || (subject.changes && !can_change(kind));
        !subject.is_odd() && !is_disguised
    }

    fn is_command(&self, rule: &str, subject: &Subject) -> bool {
        let Some(command) = &subject.command else {
            // One that is not told may be any.
            return self.action != Action::Allow
                && (subject.has_odd_command || can_run(&subject.kind));
        };
        match self.action {
            // What else the shell would do was not allowed.
            Action::Allow => {
                let command_words = words(command);
                let rest = command_words.strip_prefix(rule);
                !command.contains(is_shell)
                    && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            }
            Action::Deny | Action::Ask => {
                let parts = |text: &str| text.replace(is_shell, " ");
                has_words(command, rule)
                    || (!parts(rule).trim().is_empty() && has_words(&parts(command), &parts(rule)))
            }
        }
    }

    fn is_path(&self, glob: &GlobMatcher, subject: &Subject, cwd: &Path) -> bool {
        // One that climbs, or that a shell would complete, could be anywhere.
        let is_odd = |path: &Path| {
            path.starts_with("~") || path.components().any(|part| part == Component::ParentDir)
        };
        let fits = |path: &Path| {
            // `/w//a` and `/w/./a` are the same file as `/w/a`.
            let path: PathBuf = cwd.join(path).components().collect();
            let inside = path.strip_prefix(cwd).ok();
            inside.is_some_and(|inside| glob.is_match(inside)) || glob.is_match(&path)
        };
        let mut paths = subject.paths.iter();
        if self.action == Action::Allow {
            return !subject.paths.is_empty() && paths.all(|path| !is_odd(path) && fits(path));
        }
        let command = subject.command.as_deref().unwrap_or_default();
        let parts = command.replace(is_shell, " ");
        let mut words = command.split_whitespace().chain(parts.split_whitespace());
        let is_untold = subject.paths.is_empty() && subject.command.is_none();
        subject.has_odd_paths
            || (is_untold && has_files(&subject.kind))
            || paths.any(|path| is_odd(path) || fits(path))
            || words.any(|word| fits(Path::new(word)))
    }
}

/// Whether tools of a kind may run a command; those of a kind that is not known may.
fn can_run(kind: &str) -> bool {
    matches!(kind, "execute" | "other") || !KINDS.contains(&kind)
}

/// Whether tools of a kind may change files.
fn can_change(kind: &str) -> bool {
    matches!(kind, "edit" | "delete" | "move") || can_run(kind)
}

/// Whether tools of a kind work on files.
fn has_files(kind: &str) -> bool {
    matches!(kind, "read" | "search") || can_change(kind)
}

/// Whether these words follow each other anywhere in a text; the first may have a directory before it.
fn has_words(text: &str, wanted: &str) -> bool {
    let text: Vec<&str> = text.split_whitespace().collect();
    let wanted: Vec<&str> = wanted.split_whitespace().collect();
    let is_program = |word: &str, wanted: &str| {
        word == wanted || word.rsplit('/').next().is_some_and(|name| name == wanted)
    };
    text.windows(wanted.len().max(1)).any(|words| {
        let mut pairs = words.iter().zip(&wanted).enumerate();
        pairs.all(|(place, (word, wanted))| match place {
            0 => is_program(word, wanted),
            _ => word == wanted,
        })
    })
}

/// Characters by which a shell does more than run one program with arguments as they are.
fn is_shell(char: char) -> bool {
    let acts = [
        ';', '&', '|', '`', '$', '(', ')', '{', '}', '[', ']', '<', '>', '*', '?', '~', '!', '#',
        '\n', '\r', '\\', '\'', '"',
    ];
    acts.contains(&char)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
