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
//!
//! Commands and guarded places are judged by `ply_coder::permission`, as the agent judges its own.

use std::path::{Component, Path, PathBuf};

use globset::GlobMatcher;
use ply_client::text;
use serde::Deserialize;

use ply_coder::permission::{self, Concern, Decision};

use super::failure::Failure;
use super::file;
use super::judge;
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
    command: Option<CommandRule>,
    path: Option<GlobMatcher>,
}

/// What a rule says of commands.
#[derive(Debug, PartialEq)]
struct CommandRule {
    /// As it is written, with one blank between words.
    text: String,
    /// As the agent's judge takes it; none of a rule that allows nothing and is no plain command.
    rule: Option<permission::Rule>,
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
        let rules: Vec<Rule> = rules.collect::<Result<_, _>>()?;
        for (place, rule) in rules.iter().enumerate() {
            if let Some(stronger) = rules.iter().position(|other| other.overrules(rule)) {
                return Err(format!(
                    "rule {} can have no effect: rule {} speaks of the same and wins; remove one of them",
                    place + 1,
                    stronger + 1
                ));
            }
        }
        Ok(Self { rules, default })
    }

    /// Decides about a request: a rule that denies wins over one that asks, and that over one that allows.
    pub(super) fn decide(&self, subject: &Subject, cwd: &Path) -> Action {
        let speak = |action| {
            let mut rules = self.rules.iter().filter(|rule| rule.action == action);
            rules.any(|rule| rule.applies(subject, cwd))
        };
        let found = [Action::Deny, Action::Ask]
            .into_iter()
            .find(|action| speak(*action));
        found.unwrap_or_else(|| match self.may_deny(subject, cwd) {
            true => Action::Ask,
            false if speak(Action::Allow) || self.allows_command(subject, cwd) => Action::Allow,
            false => self.default,
        })
    }

    /// Whether a rule that denies may speak of a command whose words hide what it does.
    fn may_deny(&self, subject: &Subject, cwd: &Path) -> bool {
        let mut rules = self
            .rules
            .iter()
            .filter(|rule| rule.action != Action::Allow);
        let line = subject.command.as_deref();
        rules.any(|rule| {
            let command = rule
                .command
                .as_ref()
                .and_then(|command| command.rule.as_ref());
            let concern = line.zip(command).map(|(line, rule)| rule.concern(line));
            concern == Some(Concern::Maybe) && rule.applies_besides(subject, cwd)
        })
    }

    /// Whether the rules that allow commands allow all of a line together.
    fn allows_command(&self, subject: &Subject, cwd: &Path) -> bool {
        let Some(line) = subject.command.as_deref() else {
            return false;
        };
        let rules = self.rules.iter().filter(|rule| {
            rule.action == Action::Allow
                && rule.may_allow(subject)
                && rule.applies_besides(subject, cwd)
        });
        let rules: Vec<&Rule> = rules.collect();
        let of_commands = rules
            .iter()
            .filter_map(|rule| rule.command.as_ref()?.rule.clone());
        let of_commands: Vec<permission::Rule> = of_commands.collect();
        let reads = self.rules.iter().any(|rule| rule.allows_reading(subject));
        let named = of_commands.iter().any(|rule| rule.names_command(line));
        let here = subject.cwd.as_deref().unwrap_or(cwd);
        match judge::reads_only(line, here, cwd) {
            true => reads || named,
            false => named && judge::allows(line, here, cwd, of_commands),
        }
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
                return Err(format!("unknown kind `{kind}`; use {}", KINDS.join(", ")));
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
            let built = judge::path_pattern(&glob);
            built.map_err(|error| format!("the path is no pattern: {}", error.kind()))
        });
        let rule = Self {
            action: entry.action,
            kinds,
            title: entry.title,
            command: match entry.command {
                Some(command) => Some(CommandRule::read(&command, entry.action)?),
                None => None,
            },
            path: path.transpose()?,
        };
        let says_nothing = rule.kinds.is_none()
            && rule.title.is_none()
            && rule.command.is_none()
            && rule.path.is_none();
        match rule.action {
            Action::Allow if says_nothing => {
                Err("a rule that allows has to say what; `--permit all` allows everything".into())
            }
            _ => Ok(rule),
        }
    }

    /// Whether the rule speaks of this. In doubt it does if it denies or asks, and does not if it allows. What rules that allow
    /// commands allow together is in [`Rules::allows_command`].
    fn applies(&self, subject: &Subject, cwd: &Path) -> bool {
        let is_command =
            |rule: &CommandRule| self.action != Action::Allow && self.is_command(rule, subject);
        (self.action != Action::Allow || self.may_allow(subject))
            && self.command.as_ref().is_none_or(is_command)
            && self.applies_besides(subject, cwd)
            && (self.action != Action::Allow || self.names_what_is_guarded(subject, cwd))
    }

    /// Whether the rule speaks of this as far as it speaks of something else than commands.
    fn applies_besides(&self, subject: &Subject, cwd: &Path) -> bool {
        let kind = self.kinds.as_ref();
        let title = self.title.as_ref();
        kind.is_none_or(|kinds| kinds.contains(&subject.kind))
            && title.is_none_or(|title| subject.title.starts_with(title))
            && self
                .path
                .as_ref()
                .is_none_or(|glob| self.is_path(glob, subject, cwd))
    }

    /// Whether the rule allows everything that only reads: by its kind, and by nothing else.
    fn allows_reading(&self, subject: &Subject) -> bool {
        let reads = |kinds: &Vec<String>| kinds.iter().any(|kind| kind == "read");
        let more = self.title.is_some() || self.command.is_some() || self.path.is_some();
        self.action == Action::Allow
            && self.kinds.as_ref().is_some_and(reads)
            && !more
            && !subject.changes
            && !subject.is_odd()
    }

    /// Whether the rule says the name of everything guarded that this would read or change: a secret is not meant by a rule for
    /// all files, nor is a hook by one for all edits.
    fn names_what_is_guarded(&self, subject: &Subject, cwd: &Path) -> bool {
        let changes = subject.changes || can_change(&subject.kind);
        let names = subject.paths.iter().flat_map(|path| match changes {
            true => judge::guarded(path, cwd),
            false => judge::hidden(path, cwd, subject.searches()),
        });
        let glob = self.path.as_ref().map(|glob| glob.glob().glob());
        (changes || !subject.names_hidden(cwd) || glob.is_some())
            && names
                .into_iter()
                .all(|name| glob.is_some_and(|glob| judge::says(glob, &name)))
    }

    /// Whether another rule can have no effect beside this one.
    fn overrules(&self, other: &Self) -> bool {
        let strength = |action| match action {
            Action::Deny => 2,
            Action::Ask => 1,
            Action::Allow => 0,
        };
        let path = |rule: &Self| rule.path.as_ref().map(|glob| glob.glob().clone());
        strength(self.action) > strength(other.action)
            && self.kinds == other.kinds
            && self.title == other.title
            && self.command.as_ref().map(|it| &it.text) == other.command.as_ref().map(|it| &it.text)
            && path(self) == path(other)
    }

    /// Whether a rule that allows can mean this at all: not what cannot be read, nor more than its kind says.
    fn may_allow(&self, subject: &Subject) -> bool {
        let kind = subject.kind.as_str();
        let is_disguised = (subject.command.is_some() && self.command.is_none() && !can_run(kind))
            || (subject.changes && !can_change(kind));
        !subject.is_odd() && !is_disguised
    }

    /// Whether a rule that denies or asks speaks of the command.
    fn is_command(&self, rule: &CommandRule, subject: &Subject) -> bool {
        let Some(command) = &subject.command else {
            // One that is not told may be any.
            return subject.has_odd_command || can_run(&subject.kind);
        };
        let parts = |text: &str| text.replace(is_shell, " ");
        let judged = rule.rule.as_ref().map(|rule| rule.concern(command));
        judged == Some(Concern::Yes)
            || has_words(command, &rule.text)
            || (!parts(&rule.text).trim().is_empty()
                && has_words(&parts(command), &parts(&rule.text)))
    }

    fn is_path(&self, glob: &GlobMatcher, subject: &Subject, cwd: &Path) -> bool {
        // One that climbs, or that a shell would complete, could be anywhere.
        let is_odd = |path: &Path| {
            path.starts_with("~") || path.components().any(|part| part == Component::ParentDir)
        };
        let fits_as = |path: &Path, cwd: &Path| {
            let inside = path.strip_prefix(cwd).ok();
            inside.is_some_and(|inside| glob.is_match(inside)) || glob.is_match(path)
        };
        let by_name = |path: &Path| fits_as(&judge::named(path, cwd), cwd);
        // Links on the way may lead elsewhere; only a pattern for whole paths means them by what it says.
        let whole = judge::led(glob);
        let by_links = |path: &Path| {
            let real = judge::real(path, cwd).zip(permission::real(cwd));
            real.is_some_and(|(path, cwd)| {
                fits_as(&path, &cwd) || whole.as_ref().is_some_and(|glob| glob.is_match(&path))
            })
        };
        let mut paths = subject.paths.iter();
        if self.action == Action::Allow {
            let fits = |path: &PathBuf| !is_odd(path) && by_name(path) && by_links(path);
            return !subject.paths.is_empty() && paths.all(fits);
        }
        let fits = |path: &Path| by_name(path) || by_links(path);
        let command = subject.command.as_deref().unwrap_or_default();
        let parts = command.replace(is_shell, " ");
        let words = command.split_whitespace().chain(parts.split_whitespace());
        let mut words = words.chain(subject.words.iter().map(String::as_str));
        let is_untold = subject.paths.is_empty() && subject.command.is_none();
        subject.has_odd_paths
            || (is_untold && has_files(&subject.kind))
            || paths.any(|path| is_odd(path) || fits(path))
            || words.any(|word| fits(Path::new(word)))
    }
}

impl CommandRule {
    fn read(command: &str, action: Action) -> Result<Self, String> {
        let decision = match action {
            Action::Allow => Decision::Allow,
            Action::Ask => Decision::Ask,
            Action::Deny => Decision::Deny,
        };
        let rule = permission::Rule::parse(decision, &format!("shell({} *)", command.trim()));
        let rule = match (rule, action) {
            (Ok(rule), _) => Some(rule),
            (Err(error), Action::Allow) => return Err(format!("its `command`: {error}")),
            (Err(_), Action::Ask | Action::Deny) => None,
        };
        let text = command.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self { text, rule })
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

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod led;
#[cfg(test)]
mod tests;
