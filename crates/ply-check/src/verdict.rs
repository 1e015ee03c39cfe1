//! What was found about a rule, and by what evidence.

use serde::Serialize;

use crate::rule::{Level, Rule};

/// Findings of one rule that are kept beside the first; the rest is counted.
const MORE_MAX: usize = 49;

/// What was found about a rule. Ordered: of several findings the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing happened that could show it. Counts neither for nor against.
    NotExercised,
    /// What it is about is not offered.
    NotApplicable,
    /// No text says what to do. Counts neither for nor against.
    Unspecified,
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

/// One time that something was seen about a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Sight {
    /// What was seen, in one sentence; empty if there is nothing to say.
    pub saw: String,
    /// The frames that show it.
    pub evidence: Evidence,
    /// The probe that found it.
    pub probe: Option<&'static str>,
    /// Its place among everything that was found in the run.
    #[serde(skip)]
    pub(crate) order: usize,
}

/// What was found about a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The rule.
    pub rule: Rule,
    /// What was found.
    pub outcome: Outcome,
    /// What was seen first, in one sentence; empty if there is nothing to say.
    pub saw: String,
    /// The frames that show it.
    pub evidence: Evidence,
    /// The probe that found it.
    pub probe: Option<&'static str>,
    /// What else was seen to the same effect.
    pub more: Vec<Sight>,
    /// How much more was seen than is kept.
    pub uncounted: usize,
    /// The rule whose breach caused this finding: it is that one's finding, and counts once.
    pub because: Option<&'static str>,
    /// The place of the first sight among everything that was found in the run.
    pub(crate) order: usize,
}

impl Verdict {
    /// Returns the verdict on a rule about which nothing is known.
    #[must_use]
    pub fn not_exercised(rule: Rule) -> Self {
        Self::new(rule, Outcome::NotExercised, Sight::default())
    }

    /// Returns a verdict by one sight.
    pub(crate) fn new(rule: Rule, outcome: Outcome, sight: Sight) -> Self {
        Self {
            rule,
            outcome,
            saw: sight.saw,
            evidence: sight.evidence,
            probe: sight.probe,
            more: Vec::new(),
            uncounted: 0,
            because: None,
            order: sight.order,
        }
    }

    /// Takes in another finding about the same rule: the greater outcome counts, and of equal ones each different sight is kept.
    pub fn merge(&mut self, other: Self) {
        let says_more = self.saw.is_empty() && !other.saw.is_empty();
        if other.outcome > self.outcome || (other.outcome == self.outcome && says_more) {
            *self = other;
        } else if other.outcome == self.outcome && !other.saw.is_empty() {
            let is_known = self.sights().any(|(saw, _)| saw == other.saw);
            match self.more.len() < MORE_MAX {
                _ if is_known => {}
                true => self.more.push(Sight {
                    saw: other.saw,
                    evidence: other.evidence,
                    probe: other.probe,
                    order: other.order,
                }),
                false => self.uncounted += 1,
            }
        }
    }

    /// Returns everything that was seen, the first included.
    pub fn sights(&self) -> impl Iterator<Item = (&str, &Evidence)> {
        let more = self.more.iter();
        let more = more.map(|sight| (sight.saw.as_str(), &sight.evidence));
        std::iter::once((self.saw.as_str(), &self.evidence)).chain(more)
    }
}

/// Returns what a broken rule of this level amounts to.
#[must_use]
pub fn broken(level: Level) -> Outcome {
    match level {
        Level::Must => Outcome::Fail,
        Level::Should | Level::May => Outcome::Warn,
        Level::Unspecified => Outcome::Unspecified,
    }
}
