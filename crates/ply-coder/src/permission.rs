//! Who may do what: modes, rules and their scopes. No input and output but the rules file.
//!
//! [`Permissions::decide`] takes what a call needs and answers with a [`Verdict`]. These hold always:
//!
//! - A rule that denies wins over one that asks, and that over one that allows, whatever their scopes.
//! - [`Mode::Plan`] looks inside the roots and does nothing else, whatever the rules allow.
//! - Some places are guarded: secrets, repositories' insides, settings that make other programs run code,
//!   and the agent's own settings. Changing them asks in every mode, unless an allow rule names the
//!   place itself; `write(**)` does not.
//! - A command line is taken apart into simple commands, and each of them must be allowed. What cannot be
//!   taken apart for certain asks. Rules allow commands in the roots themselves, not in folders below.
//! - Input for a process that runs is asked about like a command that no rule allows.
//! - Any doubt asks.
//!
//! Rules for files hold for the tools that work on files. What a command does with files once it may run
//! is for the sandbox to confine.

mod address;
mod decide;
mod effect;
mod expand;
mod glob;
mod launch;
pub mod line;
mod links;
mod look;
mod named;
mod offer;
mod own;
mod place;
mod question;
mod repository;
mod rule;
mod rule_text;
mod server_rule;
mod shell_rule;
mod store;
mod sweep;
pub(crate) mod text;
mod trigger;

pub(crate) use self::address::is_private;
pub use self::decide::{Permissions, SESSION_RULES_MAX};
pub use self::effect::Effect;
pub use self::links::real;
pub(crate) use self::named::names_secret;
pub(crate) use self::place::{git_attributes, is_environment};
pub use self::place::{guarded_names, hidden_names, is_secret};
pub use self::question::{Question, Remember, Verdict};
pub(crate) use self::repository::{is_armed, is_bare, without_credentials};
pub(crate) use self::rule::VERSION_BYTES;
pub use self::rule::{Concern, Decision, Rule};
pub use self::rule_text::{RULE_BYTES_MAX, RuleError};
pub(crate) use self::server_rule::{about_server, command_line};
pub use self::store::{KeptRule, RULES_FILE_BYTES_MAX, StoreError, Stores, kept_rules, revoke};
pub(crate) use self::text::shown;
pub(crate) use self::trigger::trigger;

/// How much the agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Look, change nothing.
    Plan,
    /// Ask before anything is changed or run.
    #[default]
    Ask,
    /// Change files, ask before commands are run.
    AutoEdit,
    /// Do everything that no rule denies.
    Full,
}

impl Mode {
    /// All modes, the most careful first.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::AutoEdit, Self::Full];

    /// Returns its name in the protocol and in configuration.
    pub fn id(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Full => "full",
        }
    }

    /// Returns the mode with a name, if there is one.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.id() == id)
    }

    /// Returns its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "Plan",
            Self::Ask => "Ask",
            Self::AutoEdit => "Auto edit",
            Self::Full => "Full",
        }
    }

    /// Returns what it does, in a sentence for people.
    pub fn description(self) -> &'static str {
        match self {
            Self::Plan => "Looks at the project and changes nothing.",
            Self::Ask => "Asks before files are changed and commands are run.",
            Self::AutoEdit => "Changes files of the project, asks before commands are run.",
            Self::Full => "Does everything but what a rule denies; asks at guarded places.",
        }
    }
}

/// How long an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// For one call.
    Once,
    /// Until the session ends.
    Session,
    /// For every session in the project's directory.
    Project,
    /// For every session of the user.
    User,
}
