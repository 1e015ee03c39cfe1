//! Permission rules, as the file has them.

use super::ConfigError;
use crate::permission::{Decision, Rule};

/// The lines of permission rules.
#[derive(Debug, Default)]
pub(super) struct RuleLines {
    pub(super) allow: Vec<String>,
    pub(super) ask: Vec<String>,
    pub(super) deny: Vec<String>,
}

impl RuleLines {
    /// Reads the lines.
    pub(super) fn parse(&self) -> Result<Vec<Rule>, ConfigError> {
        let allow = self.allow.iter().map(|line| (Decision::Allow, line));
        let ask = self.ask.iter().map(|line| (Decision::Ask, line));
        let deny = self.deny.iter().map(|line| (Decision::Deny, line));
        let rules = allow.chain(ask).chain(deny).map(|(decision, line)| {
            Rule::parse(decision, line).map_err(|error| ConfigError::Rule {
                rule: line.clone(),
                what: error.to_string(),
            })
        });
        rules.collect()
    }
}
