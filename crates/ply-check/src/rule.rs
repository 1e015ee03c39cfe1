//! A rule of the protocol, as data.

mod source;
mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

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

/// One rule, for one side: a row of the table.
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
    /// Why nothing that a peer sends or does can show that it is broken; empty if something can.
    pub hidden: &'static str,
    /// Whether it holds in every version, whatever its id begins with.
    pub in_both_versions: bool,
    /// Whether a recording can show it, without a probe.
    #[serde(skip)]
    pub is_recorded: bool,
    /// The text it comes from, and the page.
    #[serde(skip)]
    written: (Text, &'static str),
}

/// Returns every rule, of both sides and versions.
pub fn all() -> impl Iterator<Item = Rule> {
    let rows = table::PARTS.iter().copied().flatten();
    rows.flat_map(|row| row.sides.iter().map(|side| row.rule.binding(*side)))
}

/// Returns the rule of a side with an id.
pub(crate) fn find(id: &str, side: Side) -> Option<&'static Rule> {
    static BY_ID: LazyLock<HashMap<&str, Vec<Rule>>> = LazyLock::new(|| {
        let mut by_id: HashMap<_, Vec<Rule>> = HashMap::new();
        for rule in all() {
            by_id.entry(rule.id).or_default().push(rule);
        }
        by_id
    });
    BY_ID.get(id)?.iter().find(|rule| rule.side == side)
}

/// Returns the rules that bind a side in a version.
pub fn of(side: Side, version: Version) -> impl Iterator<Item = Rule> {
    all().filter(move |rule| rule.side == side && rule.holds_in(version))
}

impl Rule {
    const fn new(
        id: &'static str,
        level: Level,
        written: (Text, &'static str),
        [says, matters, fix]: [&'static str; 3],
    ) -> Self {
        Self {
            id,
            side: Side::Agent,
            level,
            gate: None,
            says,
            matters,
            fix,
            note: "",
            hidden: "",
            in_both_versions: false,
            is_recorded: false,
            written,
        }
    }

    const fn binding(mut self, side: Side) -> Self {
        self.side = side;
        self
    }

    const fn gate(mut self, gate: &'static str) -> Self {
        self.gate = Some(gate);
        self
    }

    const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// Says why nothing can show that it is broken.
    const fn hidden(mut self, why: &'static str) -> Self {
        self.hidden = why;
        self
    }

    /// Makes it hold in every version: requirements that versions share are numbered once, under version 1.
    const fn in_both_versions(mut self) -> Self {
        self.in_both_versions = true;
        self
    }

    const fn recorded(mut self) -> Self {
        self.is_recorded = true;
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

    /// Returns where it is written.
    #[must_use]
    pub fn source(&self) -> Source {
        let (text, page) = self.written;
        let version = match self.version() {
            Version::V1 => "v1",
            Version::V2 => "v2",
        };
        Source::new(text, version, page)
    }

    /// Returns its topic, such as `CANCEL`.
    #[must_use]
    pub fn topic(&self) -> &'static str {
        self.id.split('-').nth(1).unwrap_or_default()
    }
}

/// The ids of all rules, as constants.
pub(crate) mod id {
    pub(crate) use super::table::v1::content::*;
    pub(crate) use super::table::v1::hello::*;
    pub(crate) use super::table::v1::service::*;
    pub(crate) use super::table::v1::sessions::*;
    pub(crate) use super::table::v1::tool::*;
    pub(crate) use super::table::v1::turn::*;
    pub(crate) use super::table::v1::wire::*;
    pub(crate) use super::table::v2::content::*;
    pub(crate) use super::table::v2::hello::*;
    pub(crate) use super::table::v2::sessions::*;
    pub(crate) use super::table::v2::tool::*;
    pub(crate) use super::table::v2::turn::*;
    pub(crate) use super::table::v2::wire::*;
}
