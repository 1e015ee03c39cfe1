//! What was found about a rule, and by what evidence.

use serde::Serialize;

use crate::rule::{Level, Rule};

/// What was found about a rule. Ordered: of several findings the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing happened that could show it. Counts neither for nor against.
    NotExercised,
    /// What it is about is not offered.
    NotApplicable,
    /// It was kept.
    Pass,
    /// It could not be found out.
    Inconclusive,
    /// A recommendation was not followed.
    Warn,
    /// It was broken.
    Fail,
}

/// Frames that show something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The recording, counted from 0 over the whole run.
    pub recording: usize,
    /// The frames in it, counted from 0.
    pub frames: Vec<usize>,
}

/// What was found about a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The rule.
    pub rule: Rule,
    /// What was found.
    pub outcome: Outcome,
    /// What was seen, in one sentence; empty if there is nothing to say.
    pub saw: String,
    /// The frames that show it.
    pub evidence: Evidence,
    /// The probe that found it.
    pub probe: Option<&'static str>,
}

impl Verdict {
    /// Returns the verdict on a rule about which nothing is known.
    #[must_use]
    pub fn not_exercised(rule: Rule) -> Self {
        Self {
            rule,
            outcome: Outcome::NotExercised,
            saw: String::new(),
            evidence: Evidence::default(),
            probe: None,
        }
    }

    /// Takes in another finding about the same rule: the greater counts, and of equal ones the first.
    pub fn merge(&mut self, other: Self) {
        if other.outcome > self.outcome {
            *self = other;
        }
    }
}

/// Returns what a broken rule of this level amounts to.
#[must_use]
pub fn broken(level: Level) -> Outcome {
    match level {
        Level::Must => Outcome::Fail,
        Level::Should | Level::May => Outcome::Warn,
    }
}
