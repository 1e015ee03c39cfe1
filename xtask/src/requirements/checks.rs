//! Which rules the checker `ply check` looks at.

use std::collections::{BTreeMap, BTreeSet};

use super::id::Id;
use super::rules::Rules;

/// The rules that are checked, and on which side.
#[derive(Debug, Default)]
pub(crate) struct Checks(BTreeMap<Id, BTreeSet<&'static str>>);

impl Checks {
    /// Takes in the rows of a part of the checker's table: `ID => Side Level …`, and further sides below it.
    pub(crate) fn add(&mut self, source: &str) {
        let mut id = None;
        for line in source.lines() {
            let row = match line.split_once("=>") {
                Some((name, row)) => {
                    id = Id::parse(&name.trim().replace('_', "-"));
                    row
                }
                None => line,
            };
            let Some(id) = &id else { continue };
            let sides = row.split_whitespace().next().unwrap_or_default();
            for (name, side) in [("Agent", "agent"), ("Client", "client")] {
                if sides.split('|').any(|bound| bound == name) {
                    self.0.entry(id.clone()).or_default().insert(side);
                }
            }
        }
    }

    /// Returns the sides on which a rule is checked.
    pub(crate) fn sides(&self, id: &Id) -> impl Iterator<Item = &'static str> {
        self.0.get(id).into_iter().flatten().copied()
    }

    /// Returns what somebody has to put right, a sentence each: every binding rule of the stdio transport is checked, or it
    /// is said why it cannot be seen from outside.
    pub(crate) fn problems(&self, rules: &Rules) -> Vec<String> {
        let mut problems = Vec::new();
        for rule in &rules.rules {
            let id = &rule.id;
            let is_remote = id.group().starts_with("TX");
            let (is_checked, is_unseen) = (self.0.contains_key(id), rules.unseen.contains_key(id));
            if rule.level == "must" && !is_remote && !is_checked && !is_unseen {
                problems.push(format!(
                    "{id} has no check: write one, or say in `unseen` why it cannot be seen from outside"
                ));
            }
            if is_checked && is_unseen {
                problems.push(format!("{id} has a check: take it out of `unseen`"));
            }
        }
        let known = |id: &Id| rules.rules.iter().any(|rule| rule.id == *id);
        let named = self.0.keys().chain(rules.unseen.keys());
        let unknown = named.filter(|id| !known(id));
        problems.extend(unknown.map(|id| format!("{id} is checked or `unseen`, but is no rule")));
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_a_rule_of_the_checker_by_its_id_and_side() {
        let mut checks = Checks::default();
        checks.add(
            "V1_FS_01 =>\n    Agent Must Crate:\n    \"…\"\n    Client Should Crate:\nV1_FS_02 => Agent|Client May Sdk:\n",
        );
        let id = Id::parse("V1-FS-01").unwrap();
        assert_eq!(checks.sides(&id).collect::<Vec<_>>(), ["agent", "client"]);
        assert_eq!(checks.sides(&Id::parse("V1-FS-02").unwrap()).count(), 2);
    }
}
