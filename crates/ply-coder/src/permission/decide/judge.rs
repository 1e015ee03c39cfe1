//! The decision about one access.

use std::path::{Path, PathBuf};

use super::is_inside;
use crate::permission::line::{self, Command};
use crate::permission::own::Own;
use crate::permission::place::Place;
use crate::permission::rule::{Concern, Decision, Rule};
use crate::permission::{Mode, harmless, launch, links, offer};
use crate::tool::Access;

/// What is found about one access.
pub(super) enum Finding {
    Allow,
    Deny(String),
    Ask { reason: String, offer: Option<Rule> },
}

impl Finding {
    fn ask(reason: impl Into<String>) -> Self {
        Self::Ask {
            reason: reason.into(),
            offer: None,
        }
    }
}

/// Commands after which the next one runs elsewhere. A rule cannot allow them, as it is not known then
/// where that is; what a leading `cd` does is looked at by itself.
const MOVES: &[&str] = &["cd", "chdir", "pushd", "popd"];

/// Everything that a decision depends on.
pub(super) struct Judge<'j> {
    pub(super) mode: Mode,
    pub(super) roots: &'j [PathBuf],
    pub(super) own: &'j [Own],
    pub(super) rules: &'j [Rule],
}

impl Judge<'_> {
    pub(super) fn judge(&self, access: &Access) -> Finding {
        if let Some(rule) = self.concerned(access, Decision::Deny, Concern::Yes) {
            return Finding::Deny(format!(
                "The user's rules deny `{rule}`. Do not look for another way to do it; say that it \
                 is not allowed."
            ));
        }
        if self.mode == Mode::Plan && !self.is_look_inside(access) {
            return Finding::Deny(
                "In plan mode nothing is changed, run or fetched, and only files of the project are \
                 read. Describe what you would do; the user can choose another mode."
                    .to_owned(),
            );
        }
        if let Some(reason) = self.reason_of_rules(access) {
            return Finding::ask(reason);
        }
        match access {
            Access::Read(path) => self.read(access, path),
            Access::Write(path) => self.write(access, path),
            Access::Delete(path) => self.delete(access, path),
            Access::Shell { command, cwd } => self.shell(command, cwd),
            Access::Outside {
                command, reason, ..
            } => self.outside(command, reason),
            Access::Input { .. } | Access::Stop { .. } => self.input(),
            Access::Fetch(_) => self.other(access, "It asks a server on the network."),
            Access::Mcp { .. } => self.other(access, "It is a tool of an MCP server."),
        }
    }

    /// Returns why the user's rules want them to be asked, the weightiest rule first. One that may deny
    /// is always named: whoever answers is to know of it.
    fn reason_of_rules(&self, access: &Access) -> Option<String> {
        let asks = self.concerned(access, Decision::Ask, Concern::Yes);
        let asks = asks.map(|rule| format!("Your rule to ask about `{rule}` applies."));
        let may_deny = self.concerned(access, Decision::Deny, Concern::Maybe);
        let may_deny = may_deny.map(|rule| format!("Your rule that denies `{rule}` may apply."));
        let may_ask = || {
            let rule = self.concerned(access, Decision::Ask, Concern::Maybe)?;
            Some(format!("Your rule to ask about `{rule}` may apply."))
        };
        match (asks, may_deny) {
            (Some(asks), Some(may_deny)) => Some(format!("{asks} {may_deny}")),
            (asks, may_deny) => asks.or(may_deny).or_else(may_ask),
        }
    }

    /// Returns the first rule with a decision that concerns an access at least so much.
    fn concerned(&self, access: &Access, decision: Decision, least: Concern) -> Option<&Rule> {
        self.rules
            .iter()
            .filter(|rule| rule.decision == decision)
            .find(|rule| rule.concerns(access, self.roots) >= least)
    }

    fn is_look_inside(&self, access: &Access) -> bool {
        matches!(access, Access::Read(path) if is_inside(path, self.roots))
    }

    /// Says whether a rule allows an access to a file, and names everything guarded about it.
    fn is_allowed(&self, access: &Access, place: &Place) -> bool {
        self.rules.iter().any(|rule| {
            rule.allows(access, self.roots)
                && place.guards.iter().all(|guard| rule.names(&guard.name))
        })
    }

    fn read(&self, access: &Access, path: &Path) -> Finding {
        let mut place = Place::of(path, self.roots, self.own);
        place.guards.retain(|guard| guard.kind.hides());
        let hidden = place.hides();
        // All of the project, and with full rights all but the secrets of others.
        let free = if hidden {
            self.mode == Mode::Full && place.inside
        } else {
            self.mode == Mode::Full || place.inside
        };
        if free || self.is_allowed(access, &place) {
            return Finding::Allow;
        }
        match place.guards.first() {
            Some(guard) => Finding::ask(guard.kind.reason()),
            None => Finding::Ask {
                reason: "It is outside of the project.".to_owned(),
                offer: offer::for_access(access, self.roots),
            },
        }
    }

    fn write(&self, access: &Access, path: &Path) -> Finding {
        let place = Place::of(path, self.roots, self.own);
        let guarded = !place.guards.is_empty() || !place.inside;
        let free = !guarded && matches!(self.mode, Mode::AutoEdit | Mode::Full);
        if free || self.is_allowed(access, &place) {
            return Finding::Allow;
        }
        match guarded {
            true => Finding::ask(guard_reason(&place)),
            false => Finding::Ask {
                reason: "It changes a file of the project.".to_owned(),
                offer: offer::for_access(access, self.roots),
            },
        }
    }

    fn delete(&self, access: &Access, path: &Path) -> Finding {
        let place = Place::of(path, self.roots, self.own);
        if place.holds_root {
            return Finding::ask("It is the project's folder itself.");
        }
        let guarded = !place.guards.is_empty() || !place.inside;
        if (!guarded && self.mode == Mode::Full) || self.is_allowed(access, &place) {
            return Finding::Allow;
        }
        match guarded {
            true => Finding::ask(guard_reason(&place)),
            false => Finding::ask("It takes a file away."),
        }
    }

    fn other(&self, access: &Access, reason: &str) -> Finding {
        let allowed = || {
            self.rules
                .iter()
                .any(|rule| rule.allows(access, self.roots))
        };
        if self.mode == Mode::Full || allowed() {
            return Finding::Allow;
        }
        Finding::Ask {
            reason: reason.to_owned(),
            offer: offer::for_access(access, self.roots),
        }
    }

    /// Decides about input for a process. Rules speak of commands, so none of them allows it.
    fn input(&self) -> Finding {
        match self.mode {
            Mode::Full => Finding::Allow,
            _ => Finding::ask("What it does depends on the program that gets it."),
        }
    }

    /// Decides about a command outside of the sandbox: it is asked about each time, in every mode, and no
    /// rule allows it.
    fn outside(&self, command: &str, reason: &str) -> Finding {
        let unclear = match line::read(command) {
            Ok(_) => String::new(),
            Err(unclear) => format!(" It cannot be checked: {unclear}."),
        };
        Finding::ask(format!(
            "It would run once outside of the sandbox, with everything that you may do.{unclear} The \
             model's reason: {}",
            crate::permission::shown(reason)
        ))
    }

    fn shell(&self, line: &str, cwd: &Path) -> Finding {
        if self.mode == Mode::Full {
            return Finding::Allow;
        }
        let commands = match line::read(line) {
            Ok(commands) => commands,
            Err(unclear) => return Finding::ask(format!("It cannot be checked: {unclear}.")),
        };
        if !is_inside(cwd, self.roots) {
            return Finding::ask("It runs outside of the project.");
        }
        let entered = harmless::enters(&commands, cwd).and_then(|path| self.looked_at(&path));
        let (here, rest) = match (&entered, commands.split_first()) {
            (Some(path), Some((_, rest))) => (path.as_path(), rest),
            _ => (cwd, commands.as_slice()),
        };
        let asked: Vec<&Command> = rest
            .iter()
            .filter(|command| !self.is_command_allowed(command, here))
            .collect();
        match asked.as_slice() {
            [] if commands.is_empty() => Finding::ask("It is no command."),
            [] => Finding::Allow,
            [command] => Finding::Ask {
                reason: "It runs a command that no rule allows.".to_owned(),
                offer: command
                    .plain_words()
                    .filter(|words| self.is_at_home(words, here))
                    .and_then(|words| offer::for_command(&words)),
            },
            several => Finding::ask(format!(
                "It runs {} commands that no rule allows.",
                several.len()
            )),
        }
    }

    fn is_command_allowed(&self, command: &Command, here: &Path) -> bool {
        let Some(words) = command.plain_words() else {
            return false;
        };
        let harmless = harmless::looks_at(&words, here)
            .is_some_and(|places| places.iter().all(|place| self.looked_at(place).is_some()));
        harmless
            || (self.is_at_home(&words, here)
                && self.rules.iter().any(|rule| rule.allows_command(&words)))
    }

    /// Says whether rules hold for a command: only in the folders that the user chose. A rule says
    /// nothing of folders, and in one below `./build.sh` is another script, `cargo test` runs another
    /// package, and `git` may obey a repository of somebody else's making.
    fn is_at_home(&self, words: &[&str], here: &Path) -> bool {
        let moves = words
            .first()
            .is_some_and(|word| MOVES.contains(&launch::program(word).as_str()));
        !moves && self.roots.iter().any(|root| root == here)
    }

    /// Returns the place that a command looks at, if it may without a question: both what the command
    /// names and where links lead from there.
    fn looked_at(&self, path: &Path) -> Option<PathBuf> {
        let may_look = |path: &Path| {
            is_inside(path, self.roots)
                && matches!(self.judge(&Access::Read(path.to_owned())), Finding::Allow)
        };
        let real = links::real_in(path, self.roots)?;
        (may_look(path) && may_look(&real)).then_some(real)
    }

    /// Says whether a file may be read that nobody named. With full rights a secret of the project may
    /// be asked for; it is not to turn up among others unless a rule names it.
    pub(super) fn may_come_across(&self, path: &Path) -> bool {
        let access = Access::Read(path.to_owned());
        if !matches!(self.judge(&access), Finding::Allow) {
            return false;
        }
        let mut place = Place::of(path, self.roots, self.own);
        place.guards.retain(|guard| guard.kind.hides());
        place.guards.is_empty() || self.is_allowed(&access, &place)
    }
}

fn guard_reason(place: &Place) -> &'static str {
    match place.guards.first() {
        Some(guard) => guard.kind.reason(),
        None => "It is outside of the project.",
    }
}
