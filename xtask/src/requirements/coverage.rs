//! Rules and tests brought together, and what does not fit.

use std::collections::BTreeMap;

use super::id::Id;
use super::rules::{Rule, Rules};
use super::scan::Test;

/// What is known of a rule.
pub(crate) enum State<'a> {
    /// Tests name it: those with the id in their name first, then by file and name.
    Covered(Vec<&'a Test>),
    NotApplicable(&'a str),
    NotCovered,
}

/// Every rule with its state, in the order of the list.
pub(crate) struct Coverage<'a> {
    rows: Vec<(&'a Rule, State<'a>)>,
    problems: Vec<String>,
    closed: Vec<Id>,
}

impl<'a> Coverage<'a> {
    /// Looks up the tests of every rule.
    pub(crate) fn new(rules: &'a Rules, tests: &'a [Test]) -> Self {
        let mut by_id: BTreeMap<&Id, Vec<&Test>> = BTreeMap::new();
        for test in tests {
            for id in test.named.union(&test.noted) {
                by_id.entry(id).or_default().push(test);
            }
        }
        for (id, tests) in &mut by_id {
            tests.sort_by_key(|test| (!test.named.contains(id), &test.path, &test.name));
        }
        let mut rows = Vec::with_capacity(rules.rules.len());
        let mut problems = Vec::new();
        let mut closed = Vec::new();
        for rule in &rules.rules {
            let id = &rule.id;
            let reason = rules.not_applicable.get(id);
            let open = rules.open.contains(id);
            let state = match (by_id.remove(id), reason) {
                (Some(tests), None) => State::Covered(tests),
                (Some(tests), Some(_)) => {
                    problems.push(format!("{id} has a test: take it out of `not_applicable`"));
                    State::Covered(tests)
                }
                (None, Some(reason)) => State::NotApplicable(reason),
                (None, None) => State::NotCovered,
            };
            match (&state, rule.seed, open) {
                (State::NotCovered, true, false) => problems.push(format!(
                    "{id} has no test: write one that names it, as `open` must not grow"
                )),
                (State::NotCovered, true, true) | (_, _, false) => {}
                _ => closed.push(id.clone()),
            }
            rows.push((rule, state));
        }
        for (id, tests) in by_id {
            problems.extend(
                tests.iter().map(|test| {
                    format!("{} ({}) names {id}, which is no rule", test.name, test.path)
                }),
            );
        }
        let known = |id: &Id| rules.rules.iter().any(|rule| rule.id == *id);
        problems.extend(
            rules
                .not_applicable
                .keys()
                .chain(&rules.open)
                .filter(|id| !known(id))
                .map(|id| format!("{id} is in `open` or `not_applicable`, but is no rule")),
        );
        Self {
            rows,
            problems,
            closed,
        }
    }

    /// Returns the rules and their states.
    pub(crate) fn rows(&self) -> &[(&'a Rule, State<'a>)] {
        &self.rows
    }

    /// Returns what somebody has to put right, a sentence each.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns the rules that are listed as open and are not, or need not be.
    pub(crate) fn closed(&self) -> &[Id] {
        &self.closed
    }

    /// Returns the seed rules that apply and have no test.
    pub(crate) fn uncovered_seeds(&self) -> impl Iterator<Item = &Id> {
        self.rows
            .iter()
            .filter(|(rule, state)| rule.seed && matches!(state, State::NotCovered))
            .map(|(rule, _)| &rule.id)
    }
}

#[cfg(test)]
mod tests {
    use super::{Coverage, Rules};
    use crate::requirements::id::Id;
    use crate::requirements::scan::Test;

    const LIST: &str = r#"open = [
    "V1-FS-01",
    "V1-FS-02",
]
[not_applicable]
V1-FS-03 = "binds a screen"
V1-FS-04 = "binds a screen"
[rules]
V1-FS-01 = { level = "must", side = "both", seed = true }
V1-FS-02 = { level = "must", side = "both", seed = true }
V1-FS-03 = { level = "must", side = "both", seed = true }
V1-FS-04 = { level = "must", side = "both", seed = true }
V1-FS-05 = { level = "must", side = "both", seed = true }
V1-FS-06 = { level = "must", side = "both", seed = false }
"#;

    fn test(id: &str) -> Test {
        Test {
            path: "a.rs".to_owned(),
            name: "sample".to_owned(),
            named: [Id::parse(id).unwrap()].into(),
            noted: [].into(),
        }
    }

    #[test]
    fn only_seed_rules_that_apply_have_to_be_covered() {
        let rules = Rules::parse(LIST).unwrap();
        let tests = [test("V1-FS-02"), test("V1-FS-04"), test("V1-FS-99")];
        let coverage = Coverage::new(&rules, &tests);
        let open: Vec<_> = coverage.uncovered_seeds().map(Id::to_string).collect();
        assert_eq!(open, ["V1-FS-01", "V1-FS-05"]);
        let closed: Vec<_> = coverage.closed().iter().map(Id::to_string).collect();
        assert_eq!(closed, ["V1-FS-02"]);
        assert_eq!(
            coverage.problems(),
            [
                "V1-FS-04 has a test: take it out of `not_applicable`",
                "V1-FS-05 has no test: write one that names it, as `open` must not grow",
                "sample (a.rs) names V1-FS-99, which is no rule",
            ]
        );
    }
}
