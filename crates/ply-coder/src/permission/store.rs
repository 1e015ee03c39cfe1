//! The file with the rules that the user keeps.
//!
//! It is the user's, and never the project's: a project must not bring rules of its own that allow
//! something. What is allowed for a project is kept here under the project's directory. Writers take a
//! lock, read the file again, and put a new one in its place.

mod file;
mod format;
mod listing;

use std::path::PathBuf;

pub use self::listing::{KeptRule, kept_rules, revoke};

use self::file::{Locked, Stamp};
use self::format::{Document, Section};
use super::Scope;
use super::own::Own;
use super::rule::{Decision, Rule};
use super::rule_text::RuleError;

/// How long the rules file may be.
pub const RULES_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Where rules are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stores {
    /// The user's rules file, absolute; none keeps nothing beyond the session.
    pub user: Option<PathBuf>,
    /// The directory of the project, under which its rules are kept in the user's file.
    pub project: Option<PathBuf>,
    /// Further files and folders of the agent itself, guarded like the rules file: its configuration,
    /// its sessions, its logs. Absolute paths; links on the way are followed, and where they lead is
    /// guarded too.
    pub own: Vec<PathBuf>,
}

/// Why rules could not be read or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no file, or no project, to keep the rule for.
    #[error(
        "there is no place to keep a rule of this scope; set a rules file, or keep it for the session"
    )]
    Nowhere,
    /// There are too many rules.
    #[error("there are too many rules; forget some")]
    Full,
    /// The file cannot be read.
    #[error("the rules file cannot be read; check that it is a file of yours")]
    Read(#[source] std::io::Error),
    /// The file cannot be written.
    #[error("the rules file cannot be written; check its folder")]
    Write(#[source] std::io::Error),
    /// Somebody else may have written the file.
    #[error(
        "others than you can write the rules file; look through it, then run `chmod 600` on it"
    )]
    Exposed,
    /// The file is too long.
    #[error("the rules file is longer than {RULES_FILE_BYTES_MAX} bytes; shorten it")]
    TooLong,
    /// The file is not what this version writes.
    #[error("the rules file is damaged, or from another version; repair it or move it away")]
    Format,
    /// A rule in the file makes no sense.
    #[error("a rule in the rules file makes no sense; repair it")]
    Rule(#[from] RuleError),
    /// Others keep the file locked.
    #[error("another process holds the rules file; try again")]
    Locked,
}

/// The rules of the file that concern a session.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) user: Vec<Rule>,
    pub(super) project: Vec<Rule>,
    stamp: Option<Stamp>,
}

#[derive(Debug)]
pub(super) struct Store {
    file: Option<PathBuf>,
    project: Option<String>,
    own: Vec<Own>,
}

impl Store {
    pub(super) fn new(stores: Stores) -> Self {
        let rules_file = stores.user.clone().into_iter().flat_map(Own::rules);
        let own = rules_file
            .chain(stores.own.into_iter().flat_map(Own::other))
            .collect();
        Self {
            own,
            file: stores.user,
            // A name that is no text cannot be a key; such a project keeps nothing.
            project: stores
                .project
                .and_then(|path| path.to_str().map(str::to_owned)),
        }
    }

    /// Returns what the agent must not change by itself.
    pub(super) fn own(&self) -> &[Own] {
        &self.own
    }

    pub(super) fn keeps_projects(&self) -> bool {
        self.file.is_some() && self.project.is_some()
    }

    /// Reads the file if it has changed, and says whether it has.
    pub(super) fn refresh(&self, kept: &mut Kept) -> Result<bool, StoreError> {
        let Some(path) = &self.file else {
            return Ok(false);
        };
        let now = file::stamp(path)?;
        let nothing = kept.user.is_empty() && kept.project.is_empty();
        if now == kept.stamp && (now.is_some() || nothing) {
            return Ok(false);
        }
        // Whatever happens below, what the file said before holds no more.
        *kept = Kept::default();
        let (text, stamp) = file::read(path)?;
        *kept = self.kept(&Document::parse(&text)?, stamp)?;
        Ok(true)
    }

    pub(super) fn add(&self, scope: Scope, rule: &Rule) -> Result<Kept, StoreError> {
        let (kept, ()) = self.change(scope, |section| section.add(rule))?;
        Ok(kept)
    }

    pub(super) fn remove(&self, scope: Scope, rule: &Rule) -> Result<(Kept, bool), StoreError> {
        self.change(scope, |section| Ok(section.remove(rule)))
    }

    fn change<T>(
        &self,
        scope: Scope,
        change: impl FnOnce(&mut Section) -> Result<T, StoreError>,
    ) -> Result<(Kept, T), StoreError> {
        let path = self.file.as_deref().ok_or(StoreError::Nowhere)?;
        let project = match scope {
            Scope::Project => Some(self.project.as_deref().ok_or(StoreError::Nowhere)?),
            _ => None,
        };
        let locked = Locked::take(path)?;
        let (text, _) = file::read(path)?;
        let mut document = Document::parse(&text)?;
        let section = match project {
            Some(directory) => document.project(directory)?,
            None => &mut document.user,
        };
        let changed = change(section)?;
        // A broken rule that was there before must not be written as if it were fine.
        let mut kept = self.kept(&document, None)?;
        kept.stamp = locked.replace(&document.to_string())?;
        Ok((kept, changed))
    }

    fn kept(&self, document: &Document, stamp: Option<Stamp>) -> Result<Kept, StoreError> {
        let mut projects = document.projects.iter();
        let project = projects.find(|one| self.project.is_some() && one.directory == self.project);
        Ok(Kept {
            user: document.user.rules()?,
            project: project.map(Section::rules).transpose()?.unwrap_or_default(),
            stamp,
        })
    }
}

impl Section {
    fn rules(&self) -> Result<Vec<Rule>, StoreError> {
        let lists = [
            (Decision::Deny, &self.deny),
            (Decision::Ask, &self.ask),
            (Decision::Allow, &self.allow),
        ];
        let mut rules = Vec::new();
        for (decision, texts) in lists {
            for text in texts {
                let rule = Rule::parse(decision, text)?;
                // Answers from before they were bound to the tool's description; nobody knows what was
                // allowed. Only the user's own configuration allows a tool whatever becomes of it.
                if !rule.is_unbound() {
                    rules.push(rule);
                }
            }
        }
        Ok(rules)
    }
}
