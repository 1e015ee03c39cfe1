//! What a run has found so far.

use std::collections::BTreeMap;

use crate::recording::Recording;
use crate::rule::Rule;
use crate::verdict::{Evidence, Outcome, Verdict, broken};

/// What a run has found so far: one verdict for each of its rules, and the recordings that show them.
#[derive(Debug, Default)]
pub struct Findings {
    verdicts: BTreeMap<&'static str, Verdict>,
    /// Every connection of the run, in order.
    pub recordings: Vec<Recording>,
}

impl Findings {
    /// Returns the findings of a run that looks at these rules.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let verdicts = rules.into_iter();
        Self {
            verdicts: verdicts
                .map(|rule| (rule.id, Verdict::not_exercised(rule)))
                .collect(),
            recordings: Vec::new(),
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

    /// Takes in what was found about a rule. Rules that the run does not look at are left out.
    pub fn add(
        &mut self,
        rule: &str,
        found: Found,
        saw: impl Into<String>,
        evidence: Evidence,
        probe: Option<&'static str>,
    ) {
        let Some(verdict) = self.verdicts.get_mut(rule) else {
            return;
        };
        let outcome = match found {
            Found::Kept => Outcome::Pass,
            Found::Broken => broken(verdict.rule.level),
            Found::NotOffered => Outcome::NotApplicable,
            Found::Unclear => Outcome::Inconclusive,
        };
        verdict.merge(Verdict {
            rule: verdict.rule,
            outcome,
            saw: saw.into(),
            evidence,
            probe,
        });
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
