//! A rule of the protocol, as data.

mod source;

use ply_wire::negotiate::Version;
use serde::Serialize;

pub use self::source::{Source, Text};

/// How binding a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Breaking it is a failure.
    Must,
    /// Breaking it is a warning.
    Should,
    /// A choice, with a consequence for the other side.
    May,
    /// No text says what this side has to do: what it does is told, and counts for nothing.
    Unspecified,
}

/// Who is bound by a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The agent.
    Agent,
    /// The client.
    Client,
}

impl Side {
    /// Returns the side at the other end.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Agent => Self::Client,
            Self::Client => Self::Agent,
        }
    }
}

/// One rule, for one side.
///
/// The id is that of the requirement it checks. A requirement that binds both sides is two rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// The id of the requirement, such as `V1-CANCEL-05`.
    pub id: &'static str,
    /// Who is bound.
    pub side: Side,
    /// How much.
    pub level: Level,
    /// What the side must offer for the rule to apply, such as `loadSession`; none for all.
    pub gate: Option<&'static str>,
    /// What is expected, in one sentence.
    pub says: &'static str,
    /// What users notice when it is broken.
    pub matters: &'static str,
    /// What to change.
    pub fix: &'static str,
    /// What is odd about its text, such as two pages that contradict each other; empty if nothing is.
    pub note: &'static str,
    /// Whether it holds in every version, whatever its id begins with.
    pub in_both_versions: bool,
}

impl Rule {
    /// Returns a rule that binds an agent.
    #[must_use]
    pub const fn agent(id: &'static str, says: &'static str) -> Self {
        Self::new(id, Side::Agent, says)
    }

    /// Returns a rule that binds a client.
    #[must_use]
    pub const fn client(id: &'static str, says: &'static str) -> Self {
        Self::new(id, Side::Client, says)
    }

    const fn new(id: &'static str, side: Side, says: &'static str) -> Self {
        Self {
            id,
            side,
            level: Level::Must,
            gate: None,
            says,
            matters: "",
            fix: "",
            note: "",
            in_both_versions: false,
        }
    }

    /// Makes it a recommendation.
    #[must_use]
    pub const fn should(mut self) -> Self {
        self.level = Level::Should;
        self
    }

    /// Makes it a choice.
    #[must_use]
    pub const fn may(mut self) -> Self {
        self.level = Level::May;
        self
    }

    /// Says that no text tells this side what to do.
    #[must_use]
    pub const fn unspecified(mut self) -> Self {
        self.level = Level::Unspecified;
        self
    }

    /// Says what is odd about its text.
    #[must_use]
    pub const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// Names what must be offered for it to apply.
    #[must_use]
    pub const fn gate(mut self, gate: &'static str) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Says what users notice when it is broken.
    #[must_use]
    pub const fn matters(mut self, matters: &'static str) -> Self {
        self.matters = matters;
        self
    }

    /// Says what to change.
    #[must_use]
    pub const fn fix(mut self, fix: &'static str) -> Self {
        self.fix = fix;
        self
    }

    /// Makes it hold in every version: requirements that versions share are numbered once, under version 1.
    #[must_use]
    pub const fn in_both_versions(mut self) -> Self {
        self.in_both_versions = true;
        self
    }

    /// Returns whether it holds in a version.
    #[must_use]
    pub fn holds_in(&self, version: Version) -> bool {
        self.in_both_versions || self.version() == version
    }

    /// Returns the version under which it is numbered.
    #[must_use]
    pub fn version(&self) -> Version {
        match self.id.starts_with("V2-") {
            true => Version::V2,
            false => Version::V1,
        }
    }

    /// Returns where it is written; none for an id that is in no list.
    #[must_use]
    pub fn source(&self) -> Option<Source> {
        source::of(self)
    }

    /// Returns its topic, such as `CANCEL`.
    #[must_use]
    pub fn topic(&self) -> &'static str {
        self.id.split('-').nth(1).unwrap_or_default()
    }
}
