//! Who answers when the agent asks for permission, and what.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_client::v2;
use serde::Serialize;

use super::arguments::PermitArgument;
use super::failure::Failure;
use super::judge;
use super::rules::{Action, Rules};
use super::subject::Subject;

/// Kinds of tools that only look.
const READS: [&str; 3] = ["read", "search", "think"];

/// Kinds of tools that may run a command which only looks.
const COMMANDS: [&str; 3] = ["execute", "read", "search"];

/// Who decides.
#[derive(Debug)]
enum Who {
    Ask,
    Reads,
    All,
    Deny,
    Policy(Rules),
}

/// Who decides about permissions in a run.
#[derive(Debug, Clone)]
pub(super) struct Permit {
    who: Arc<Who>,
    /// Whether somebody is there to be asked.
    can_ask: bool,
    cwd: PathBuf,
    /// Where files may be read besides: other directories of the session, and sources of dependencies.
    readable: Vec<PathBuf>,
}

/// A permission that was asked for, and what became of it. The names are promised to scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answered {
    pub(super) title: String,
    pub(super) kind: String,
    pub(super) command: Option<String>,
    /// `allow_once`, `reject_once` and so on, or `cancelled`.
    pub(super) answer: String,
    /// The option of the agent that was chosen.
    pub(super) option_id: Option<String>,
    pub(super) by: By,
}

/// Who gave an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum By {
    /// What `--permit` says.
    Policy,
    /// Whoever sits at the terminal.
    User,
    /// Nobody could be asked.
    Nobody,
}

impl Answered {
    pub(super) fn is_allowed(&self) -> bool {
        self.answer.starts_with("allow")
    }
}

/// What is to be done about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The user is to be asked.
    Ask,
    /// This option is to be chosen, or the request cancelled if there is none.
    Answer(Option<v2::PermissionOption>, By),
}

impl Permit {
    /// Reads the argument. Without one, whoever is there is asked, and nobody means no.
    pub(super) fn new(
        argument: Option<&PermitArgument>,
        can_ask: bool,
        cwd: PathBuf,
    ) -> Result<Self, Failure> {
        let who = match argument {
            Some(PermitArgument::Ask) if !can_ask => {
                let failure = Failure::usage("`--permit ask` needs a terminal to ask on");
                return Err(failure.hint("use `--permit reads`, `all`, `deny` or `policy:FILE`"));
            }
            Some(PermitArgument::Ask) => Who::Ask,
            Some(PermitArgument::Reads) => Who::Reads,
            Some(PermitArgument::All) => Who::All,
            Some(PermitArgument::Deny) => Who::Deny,
            Some(PermitArgument::Policy(path)) => Who::Policy(Rules::read(path)?),
            None => Who::Ask,
        };
        let who = Arc::new(who);
        Ok(Self {
            who,
            can_ask,
            cwd,
            readable: Vec::new(),
        })
    }

    /// Lets files be read in more places than the working directory.
    pub(super) fn reading(mut self, places: impl IntoIterator<Item = PathBuf>) -> Self {
        self.readable.extend(places);
        self
    }

    /// Goes by the patterns of another directory from now on.
    pub(super) fn work_in(&mut self, cwd: &Path) {
        self.cwd = cwd.to_owned();
    }

    /// Whether the user may be asked for other things too.
    pub(super) fn asks(&self) -> bool {
        self.can_ask && !matches!(*self.who, Who::Deny)
    }

    /// Decides about a request.
    pub(super) fn decide(&self, subject: &Subject, options: &[v2::PermissionOption]) -> Verdict {
        use v2::PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
        let action = match &*self.who {
            Who::All => Action::Allow,
            Who::Deny => Action::Deny,
            Who::Reads if self.is_read(subject, &self.cwd) => Action::Allow,
            Who::Ask | Who::Reads => Action::Ask,
            Who::Policy(rules) => rules.decide(subject, &self.cwd),
        };
        let allowed = match *self.who {
            Who::All => first(options, &[AllowOnce, AllowAlways]),
            // A rule about one request must not become one about all that come.
            _ => first(options, &[AllowOnce]),
        };
        let rejected = first(options, &[RejectOnce, RejectAlways]);
        match action {
            Action::Allow if allowed.is_some() => Verdict::Answer(allowed, By::Policy),
            Action::Deny => Verdict::Answer(rejected, By::Policy),
            _ if self.can_ask => Verdict::Ask,
            _ => Verdict::Answer(rejected, By::Nobody),
        }
    }
}

impl Permit {
    /// Decides about something that the agent wants from this client itself, in a session that works in `cwd`; returns who refuses
    /// it. Reading is not asked about: the agent can do it by itself.
    pub(super) fn refuses(&self, subject: &Subject, cwd: &Path) -> Option<By> {
        let action = match &*self.who {
            Who::All => Action::Allow,
            Who::Deny => Action::Deny,
            Who::Ask | Who::Reads if self.is_read(subject, cwd) => Action::Allow,
            Who::Ask | Who::Reads => Action::Ask,
            Who::Policy(rules) => rules.decide(subject, cwd),
        };
        match action {
            Action::Allow => None,
            Action::Deny => Some(By::Policy),
            Action::Ask => Some(By::Nobody),
        }
    }

    /// Whether it only looks, in the session's directories and at no secret: a tool that reads files, or a command of which the
    /// judge knows that it does nothing else.
    fn is_read(&self, subject: &Subject, cwd: &Path) -> bool {
        let plain = !subject.changes && !subject.is_odd();
        let looks = || match &subject.command {
            None => READS.contains(&subject.kind.as_str()),
            Some(line) => {
                let here = subject.cwd.as_deref().unwrap_or(cwd);
                COMMANDS.contains(&subject.kind.as_str()) && judge::reads_only(line, here, cwd)
            }
        };
        let mut open = self.readable.clone();
        open.push(cwd.to_owned());
        let is_open = |path: &PathBuf| {
            judge::is_inside(path, cwd, &open)
                && judge::hidden(path, cwd, subject.searches()).is_empty()
        };
        plain && looks() && subject.paths.iter().all(is_open) && !subject.names_hidden(cwd)
    }
}

/// Returns the first option of the first kind that is offered.
fn first(
    options: &[v2::PermissionOption],
    kinds: &[v2::PermissionOptionKind],
) -> Option<v2::PermissionOption> {
    let of_kind = |kind: &v2::PermissionOptionKind| {
        let mut options = options.iter();
        options.find(|option| option.kind == *kind)
    };
    kinds.iter().find_map(of_kind).cloned()
}

#[cfg(test)]
mod tests {
    use v2::PermissionOptionKind::{AllowAlways, AllowOnce, RejectOnce};

    use super::*;

    fn subject(kind: &str) -> Subject {
        Subject {
            kind: kind.to_owned(),
            title: "It".to_owned(),
            ..Subject::default()
        }
    }

    fn options(kinds: &[v2::PermissionOptionKind]) -> Vec<v2::PermissionOption> {
        let option = |(place, kind): (usize, &v2::PermissionOptionKind)| {
            v2::PermissionOption::new(place.to_string(), "x", kind.clone())
        };
        kinds.iter().enumerate().map(option).collect()
    }

    /// Returns what is answered, `ask` if it is the user's matter.
    fn answer(
        argument: Option<PermitArgument>,
        can_ask: bool,
        subject: &Subject,
        kinds: &[v2::PermissionOptionKind],
    ) -> String {
        let permit = Permit::new(argument.as_ref(), can_ask, "/w".into()).unwrap();
        match permit.decide(subject, &options(kinds)) {
            Verdict::Ask => "ask".to_owned(),
            Verdict::Answer(Some(option), by) => format!("{:?} {by:?}", option.kind),
            Verdict::Answer(None, by) => format!("cancelled {by:?}"),
        }
    }

    #[test]
    fn nobody_there_means_no() {
        let all = [AllowAlways, AllowOnce, RejectOnce];
        let edit = subject("edit");
        assert_eq!(answer(None, true, &edit, &all), "ask");
        assert_eq!(answer(None, false, &edit, &all), "RejectOnce Nobody");
        assert_eq!(answer(None, false, &edit, &[AllowOnce]), "cancelled Nobody");
        assert!(Permit::new(Some(&PermitArgument::Ask), false, "/w".into()).is_err());
    }

    #[test]
    fn reads_are_what_only_looks() {
        let all = [AllowAlways, AllowOnce, RejectOnce];
        let reads = || Some(PermitArgument::Reads);
        assert_eq!(
            answer(reads(), false, &subject("read"), &all),
            "AllowOnce Policy"
        );
        assert_eq!(
            answer(reads(), false, &subject("edit"), &all),
            "RejectOnce Nobody"
        );
        assert_eq!(answer(reads(), true, &subject("fetch"), &all), "ask");
        let mut secret = subject("read");
        for path in ["/w/.env", "a/server.pem", "/home/me/.ssh/config"] {
            secret.paths = vec![path.into()];
            assert_eq!(answer(reads(), true, &secret, &all), "ask", "{path}");
        }
        let mut command = subject("execute");
        command.command = Some("git status".to_owned());
        assert_eq!(answer(reads(), false, &command, &all), "AllowOnce Policy");
        command.cwd = Some("/elsewhere".into());
        assert_eq!(answer(reads(), true, &command, &all), "ask");
        let mut disguised = subject("read");
        disguised.command = Some("rm -rf /".to_owned());
        assert_eq!(answer(reads(), true, &disguised, &all), "ask");
        disguised.command = None;
        disguised.has_odd_command = true;
        assert_eq!(answer(reads(), true, &disguised, &all), "ask");
        disguised.has_odd_command = false;
        disguised.changes = true;
        assert_eq!(
            answer(reads(), false, &disguised, &all),
            "RejectOnce Nobody"
        );
    }

    #[test]
    fn once_is_never_widened_to_always_but_where_everything_is_allowed() {
        let read = subject("read");
        let reads = Some(PermitArgument::Reads);
        assert_eq!(
            answer(reads, false, &read, &[AllowAlways, RejectOnce]),
            "RejectOnce Nobody"
        );
        let all = || Some(PermitArgument::All);
        assert_eq!(
            answer(all(), false, &read, &[AllowAlways]),
            "AllowAlways Policy"
        );
        assert_eq!(
            answer(all(), false, &read, &[AllowAlways, AllowOnce]),
            "AllowOnce Policy"
        );
        assert_eq!(answer(all(), true, &read, &[RejectOnce]), "ask");
        let deny = Some(PermitArgument::Deny);
        assert_eq!(
            answer(deny, true, &read, &[AllowOnce, RejectOnce]),
            "RejectOnce Policy"
        );
    }
}
