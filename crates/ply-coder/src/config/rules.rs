//! Permission rules, as the file has them.

use super::ConfigError;
use crate::permission::{Decision, Rule};

/// Permission rules, each with its line.
#[derive(Debug, Default)]
pub(super) struct RuleLines {
    pub(super) allow: Vec<(usize, String)>,
    pub(super) ask: Vec<(usize, String)>,
    pub(super) deny: Vec<(usize, String)>,
}

impl RuleLines {
    /// Reads the lines.
    pub(super) fn parse(&self) -> Result<Vec<Rule>, ConfigError> {
        let allow = self.allow.iter().map(|rule| (Decision::Allow, rule));
        let ask = self.ask.iter().map(|rule| (Decision::Ask, rule));
        let deny = self.deny.iter().map(|rule| (Decision::Deny, rule));
        let rules = allow.chain(ask).chain(deny);
        let rules = rules.map(|(decision, (line, rule))| {
            let wrong = |what: String| ConfigError::Rule {
                line: *line,
                rule: rule.clone(),
                what,
            };
            match self.overruled(decision, rule) {
                Some(stronger) => Err(wrong(format!(
                    "it can have no effect, as line {stronger} has the same and wins; remove one of them"
                ))),
                None => Rule::parse(decision, rule).map_err(|error| wrong(error.to_string())),
            }
        });
        rules.collect()
    }

    /// Returns the line of a rule that matches the same and wins.
    fn overruled(&self, decision: Decision, rule: &str) -> Option<usize> {
        let stronger: &[&Vec<(usize, String)>] = match decision {
            Decision::Allow => &[&self.deny, &self.ask],
            Decision::Ask => &[&self.deny],
            Decision::Deny => &[],
        };
        let mut all = stronger.iter().flat_map(|list| list.iter());
        let same = all.find(|(_, other)| other.trim() == rule.trim());
        same.map(|(line, _)| *line)
    }
}
