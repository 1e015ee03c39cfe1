//! What a run has found so far.

mod causes;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use self::causes::Shown;
use crate::recording::Recording;
use crate::rule::{Level, Rule};
use crate::verdict::{Evidence, Outcome, Sight, Verdict, broken};

/// What a run has found so far: one verdict for each of its rules, and the recordings that show them.
#[derive(Debug, Default)]
pub struct Findings {
    verdicts: BTreeMap<&'static str, Verdict>,
    /// Every connection of the run, in order.
    pub recordings: Vec<Recording>,
    /// What the reader has to know before all else, such as that the agent has no model.
    pub remark: Option<String>,
    /// What the check could not clean up.
    pub left: Option<String>,
    /// How long each probe took.
    pub took: Vec<(&'static str, Duration)>,
    shown: Shown,
    /// Rules about what is not offered: whatever is seen of them counts for nothing.
    closed: BTreeSet<&'static str>,
    /// How many findings were taken in.
    taken: usize,
}

impl Findings {
    /// Returns the findings of a run that looks at these rules.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let verdicts = rules.into_iter();
        Self {
            verdicts: verdicts
                .map(|rule| (rule.id, Verdict::not_exercised(rule)))
                .collect(),
            ..Self::default()
        }
    }

    /// Returns the verdict on a rule, if the run looks at it.
    #[must_use]
    pub fn verdict(&self, rule: &str) -> Option<&Verdict> {
        self.verdicts.get(rule)
    }

    /// Returns all verdicts, by rule.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.values()
    }

    /// Closes the gates of rules about what is not offered. This comes before anything is found.
    pub(crate) fn close_gates(&mut self, is_offered: impl Fn(&str) -> bool) {
        for verdict in self.verdicts.values_mut() {
            if let Some(gate) = verdict.rule.gate.filter(|gate| !is_offered(gate)) {
                verdict.outcome = Outcome::NotApplicable;
                verdict.saw = format!("`{gate}` is not offered");
                self.closed.insert(verdict.rule.id);
            }
        }
    }

    /// Returns whether what a rule is about is not offered.
    pub(crate) fn is_closed(&self, rule: &str) -> bool {
        self.closed.contains(rule)
    }

    /// Takes in what was found about a rule. Rules that the run does not look at are left out.
    pub fn add(
        &mut self,
        rule: &str,
        found: Found,
        saw: impl Into<String>,
        evidence: Evidence,
        probe: Option<&'static str>,
    ) {
        if self.closed.contains(rule) {
            return;
        }
        let Some(verdict) = self.verdicts.get_mut(rule) else {
            return;
        };
        let outcome = match (verdict.rule.level, found) {
            (_, Found::NotOffered) => Outcome::NotApplicable,
            (Level::Unspecified, Found::Unclear) => Outcome::NotExercised,
            (Level::Unspecified, _) => Outcome::Unspecified,
            (_, Found::Kept) => Outcome::Pass,
            (level, Found::Broken) => broken(level),
            (_, Found::Unclear) => Outcome::Inconclusive,
        };
        if found == Found::Broken {
            self.shown.note(verdict.rule.id, &evidence);
        }
        self.taken += 1;
        let sight = Sight {
            saw: saw.into(),
            evidence,
            probe,
            order: self.taken,
        };
        verdict.merge(Verdict::new(verdict.rule, outcome, sight));
    }

    /// Takes in that it could not be found out about a rule, unless something is known of it already: this comes last.
    pub(crate) fn add_unclear(
        &mut self,
        rule: &str,
        why: &str,
        recording: usize,
        probe: &'static str,
    ) {
        let verdict = self.verdicts.get(rule);
        if verdict.is_some_and(|verdict| verdict.outcome == Outcome::NotExercised) {
            let evidence = Evidence {
                recording,
                frames: Vec::new(),
            };
            self.add(rule, Found::Unclear, why, evidence, Some(probe));
        }
    }

    /// Puts findings that have one cause under the rule that names it. This comes after everything else.
    pub(crate) fn settle(&mut self) {
        for (id, cause) in causes::of(&self.verdicts, &self.shown, &self.recordings) {
            if let Some(verdict) = self.verdicts.get_mut(id) {
                verdict.outcome = Outcome::Inconclusive;
                verdict.because = Some(cause);
            }
        }
    }

    /// Returns the rules whose findings are those of another rule.
    pub fn caused_by(&self, rule: &str) -> impl Iterator<Item = &'static str> {
        let caused = self.verdicts.values();
        let caused = caused.filter(move |verdict| verdict.because == Some(rule));
        caused.map(|verdict| verdict.rule.id)
    }
}

/// What a probe found about a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It was kept.
    Kept,
    /// It was broken.
    Broken,
    /// What it is about is not offered.
    NotOffered,
    /// It could not be found out.
    Unclear,
}
