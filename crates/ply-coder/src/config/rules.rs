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
            Rule::parse(decision, rule).map_err(|error| ConfigError::Rule {
                line: *line,
                rule: rule.clone(),
                what: error.to_string(),
            })
        });
        rules.collect()
    }
}
