//! The decision about one access.

use std::path::{Path, PathBuf};

use super::is_inside;
use crate::permission::address::Host;
use crate::permission::own::Own;
use crate::permission::place::Place;
use crate::permission::rule::{Concern, Decision, Rule};
use crate::permission::{Mode, line, offer};
use crate::tool::Access;

/// What is found about one access.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for a call, and it is not kept"
)]
pub(super) enum Finding {
    Allow,
    Deny(String),
    Ask { reason: String, offer: Option<Rule> },
}

impl Finding {
    pub(super) fn ask(reason: impl Into<String>) -> Self {
        Self::Ask {
            reason: reason.into(),
            offer: None,
        }
    }
}

/// Everything that a decision depends on.
pub(super) struct Judge<'j> {
    pub(super) mode: Mode,
    pub(super) roots: &'j [PathBuf],
    /// Folders outside of the roots that may be read.
    pub(super) readable: &'j [PathBuf],
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
            Access::Trigger { path, reason } => self.trigger(access, path, reason),
            Access::Delete(path) => self.delete(access, path),
            Access::Shell { command, cwd } => self.shell(command, cwd),
            Access::Outside {
                command, reason, ..
            } => self.outside(command, reason),
            Access::Input { beyond, .. } => self.input(*beyond),
            Access::Stop { .. } => self.input(false),
            Access::Fetch(address) => self.fetch(access, address),
            Access::Mcp { .. } => self.mcp(access),
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
        matches!(access, Access::Read(path) if is_inside(path, self.roots) || is_inside(path, self.readable))
    }

    /// Says whether a rule allows an access to a file, and names everything guarded about it.
    fn is_allowed(&self, access: &Access, place: &Place) -> bool {
        self.rules.iter().any(|rule| {
            rule.allows(access, self.roots)
                && place.guards.iter().all(|guard| rule.names(&guard.name))
        })
    }

    fn read(&self, access: &Access, path: &Path) -> Finding {
        let place = Place::to_read(path, self.roots, self.own);
        // All of the project but its secrets, sources of dependencies, and with full rights all that is no
        // secret.
        let open = place.inside || is_inside(path, self.readable) || self.mode == Mode::Full;
        let free = open && place.guards.is_empty();
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

    /// Returns why a file is not to be read unasked, if it is guarded.
    pub(super) fn hidden(&self, path: &Path) -> Option<String> {
        let access = Access::Read(path.to_owned());
        let place = Place::to_read(path, self.roots, self.own);
        let guard = place.guards.first()?;
        (!self.is_allowed(&access, &place)).then(|| guard.kind.reason().to_owned())
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

    /// Decides about a change of what other programs run: a rule that allows it must name the file.
    fn trigger(&self, access: &Access, path: &Path, reason: &str) -> Finding {
        let place = Place::of(path, self.roots, self.own);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let named = self.rules.iter().any(|rule| {
            rule.allows(access, self.roots)
                && rule.names(&name)
                && place.guards.iter().all(|guard| rule.names(&guard.name))
        });
        match named {
            true => Finding::Allow,
            false => Finding::ask(reason),
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

    /// Decides about a page. Every host is asked about in every mode: an address can carry away what the
    /// model has read.
    fn fetch(&self, access: &Access, address: &str) -> Finding {
        if self.is_ruled(access) {
            return Finding::Allow;
        }
        if let Some(host) = Host::of(address).filter(|host| host.private) {
            if self.rules.iter().any(|rule| rule.names_host(address)) {
                return Finding::Allow;
            }
            return Finding::Deny(format!(
                "`{}` is this machine or in a private network, and pages are fetched from there only if \
                 a rule of the user's names the host. Say that you cannot fetch it; the user can allow \
                 it with the rule `fetch({})`.",
                host.name, host.name
            ));
        }
        Finding::Ask {
            reason: "It asks a server on the network.".to_owned(),
            offer: offer::for_access(access, self.roots),
        }
    }

    fn mcp(&self, access: &Access) -> Finding {
        // In every mode: no sandbox holds what a server does.
        if self.is_ruled(access) {
            return Finding::Allow;
        }
        Finding::Ask {
            reason: "It is a tool of an MCP server, which does what it likes with the call."
                .to_owned(),
            offer: offer::for_access(access, self.roots),
        }
    }

    /// Says whether a rule allows an access that is about no file.
    fn is_ruled(&self, access: &Access) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.allows(access, self.roots))
    }

    /// Decides about input for a process. Rules speak of commands, so none of them allows it.
    ///
    /// One that was let out of the sandbox, or started while each command was looked at, would do for the
    /// model what it may not do any more.
    fn input(&self, beyond: bool) -> Finding {
        match self.mode {
            Mode::Full if !beyond => Finding::Allow,
            Mode::Full => Finding::ask("The process may do more than commands may in this mode."),
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

    /// Says whether a file may be read that nobody named.
    pub(super) fn may_come_across(&self, path: &Path) -> bool {
        matches!(self.judge(&Access::Read(path.to_owned())), Finding::Allow)
    }
}

fn guard_reason(place: &Place) -> &'static str {
    match place.guards.first() {
        Some(guard) => guard.kind.reason(),
        None => "It is outside of the project.",
    }
}
