//! The permissions of a session, and how they decide.

mod commands;
mod judge;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) use self::commands::MOVES;
use self::judge::{Finding, Judge};
use super::question::{Doubt, Question, Verdict};
use super::rule::Rule;
use super::store::{Kept, Store, StoreError, Stores};
use super::{Mode, Scope};
use crate::tool::Access;

/// How many rules a session may keep.
pub const SESSION_RULES_MAX: usize = 1000;

/// The permissions of a session.
///
/// Rules come from the configuration, from the rules file and from the session itself. The file is read
/// when something is first decided, and again whenever it has changed.
#[derive(Debug)]
pub struct Permissions {
    roots: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    config: Vec<Rule>,
    store: Store,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    session: Vec<Rule>,
    kept: Kept,
    /// All rules in one list; none when one of the others has changed since.
    all: Option<Arc<[Rule]>>,
}

impl State {
    fn keep(&mut self, kept: Kept) {
        self.all = None;
        self.kept = kept;
    }
}

impl Permissions {
    /// Returns the permissions of a session that works inside some roots. Roots are real paths.
    pub fn new(roots: Vec<PathBuf>, user_rules: Vec<Rule>, stores: Stores) -> Self {
        Self {
            roots,
            readable: Vec::new(),
            config: user_rules,
            store: Store::new(stores),
            state: Mutex::default(),
        }
    }

    /// Lets files be read in folders outside of the roots: sources of dependencies, headers, toolchains.
    /// They are real paths.
    #[must_use]
    pub fn reading(mut self, readable: Vec<PathBuf>) -> Self {
        self.readable = readable;
        self
    }

    /// Decides whether a call may do everything that it needs.
    ///
    /// It reads the rules file if that is new. While the file cannot be read, nobody knows what the
    /// user denied, and so everything that would be allowed asks.
    pub fn decide(&self, mode: Mode, access: &[Access]) -> Verdict {
        if access.is_empty() {
            return Verdict::Allow;
        }
        let (rules, trouble) = self.current_rules();
        let judge = self.judge(mode, &rules);
        let mut doubts = Vec::new();
        for one in access {
            match (judge.judge(one), &trouble) {
                (Finding::Deny(reason), _) => return Verdict::Deny(reason),
                (Finding::Ask { reason, offer }, None) => doubts.push(Doubt {
                    access: one,
                    reason,
                    offer,
                }),
                (Finding::Allow, None) => {}
                (Finding::Ask { .. } | Finding::Allow, Some(trouble)) => doubts.push(Doubt {
                    access: one,
                    reason: format!("Your rules are not known: {trouble}."),
                    offer: None,
                }),
            }
        }
        if doubts.is_empty() {
            return Verdict::Allow;
        }
        let mut scopes = vec![Scope::Session];
        if self.store.keeps_projects() {
            scopes.push(Scope::Project);
        }
        let cwd = self.roots.first().map(PathBuf::as_path);
        Verdict::Ask(Question::new(&doubts, &scopes, cwd))
    }

    /// Says whether a file may be read without asking that a walk through a folder comes across.
    ///
    /// Secrets may not, in no mode, unless a rule that allows them names them. It is cheap enough to be
    /// called for every file of a walk.
    pub fn may_read(&self, mode: Mode, path: &Path) -> bool {
        let (rules, trouble) = self.current_rules();
        trouble.is_none() && self.judge(mode, &rules).may_come_across(path)
    }

    /// Says whether a rule allows the host of an address by its name, so that it may be in a private network.
    pub fn names_host(&self, address: &str) -> bool {
        let (rules, trouble) = self.current_rules();
        trouble.is_none() && rules.iter().any(|rule| rule.names_host(address))
    }

    fn judge<'j>(&'j self, mode: Mode, rules: &'j [Rule]) -> Judge<'j> {
        Judge {
            mode,
            roots: &self.roots,
            readable: &self.readable,
            own: self.store.own(),
            rules,
        }
    }

    /// Keeps a rule. It blocks for the time of a few file operations, and for at most five seconds when
    /// other processes write the rules file.
    ///
    /// # Errors
    ///
    /// The rules file could not be read or written, or there are too many rules.
    pub fn remember(&self, scope: Scope, rule: Rule) -> Result<(), StoreError> {
        match scope {
            Scope::Once => Ok(()),
            Scope::Session => {
                let mut state = self.state();
                if state.session.contains(&rule) {
                    return Ok(());
                }
                if state.session.len() >= SESSION_RULES_MAX {
                    return Err(StoreError::Full);
                }
                state.all = None;
                state.session.push(rule);
                Ok(())
            }
            Scope::Project | Scope::User => {
                // Not under the lock, so that decisions do not wait for the disk. Whoever comes last
                // here leaves a stamp that tells whether the file is newer.
                let kept = self.store.add(scope, &rule)?;
                self.state().keep(kept);
                Ok(())
            }
        }
    }

    /// Drops a rule that was kept, and says whether there was one. Rules of the configuration stay.
    ///
    /// # Errors
    ///
    /// The rules file could not be read or written.
    pub fn forget(&self, scope: Scope, rule: &Rule) -> Result<bool, StoreError> {
        match scope {
            Scope::Once => Ok(false),
            Scope::Session => {
                let mut state = self.state();
                let before = state.session.len();
                state.all = None;
                state.session.retain(|kept| kept != rule);
                Ok(state.session.len() < before)
            }
            Scope::Project | Scope::User => {
                let (kept, found) = self.store.remove(scope, rule)?;
                self.state().keep(kept);
                Ok(found)
            }
        }
    }

    /// Returns all rules in force, those of the configuration first.
    ///
    /// # Errors
    ///
    /// The rules file could not be read.
    pub fn rules(&self) -> Result<Vec<(Scope, Rule)>, StoreError> {
        let mut state = self.state();
        self.refresh(&mut state)?;
        let with = |scope: Scope| move |rule: &Rule| (scope, rule.clone());
        Ok(self
            .config
            .iter()
            .map(with(Scope::User))
            .chain(state.kept.user.iter().map(with(Scope::User)))
            .chain(state.kept.project.iter().map(with(Scope::Project)))
            .chain(state.session.iter().map(with(Scope::Session)))
            .collect())
    }

    /// Returns the folders in which the session works.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Returns the rules that are known, and what keeps the others from being known.
    pub(super) fn current_rules(&self) -> (Arc<[Rule]>, Option<StoreError>) {
        let mut state = self.state();
        let trouble = self.refresh(&mut state).err();
        if let Some(all) = &state.all {
            return (Arc::clone(all), trouble);
        }
        let kept = state.kept.user.iter().chain(&state.kept.project);
        let rules = self.config.iter().chain(kept).chain(&state.session);
        let all: Arc<[Rule]> = rules.cloned().collect();
        state.all = Some(Arc::clone(&all));
        (all, trouble)
    }

    fn refresh(&self, state: &mut State) -> Result<(), StoreError> {
        let refreshed = self.store.refresh(&mut state.kept);
        if !matches!(refreshed, Ok(false)) {
            state.all = None;
        }
        refreshed.map(drop)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The list of all is dropped before what it was made of changes, so what a panic leaves behind
        // is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says whether a path is in one of some folders.
fn is_inside(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}
