//! Which rules a run looks at.

use crate::rule::Rule;

/// Which rules a run looks at: all, or only some, without others. A word is an id, the beginning of one, or a topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these; all if it is empty.
    pub only: Vec<String>,
    /// Without these.
    pub skip: Vec<String>,
}

impl Selection {
    /// Returns whether the run looks at a rule.
    #[must_use]
    pub fn takes(&self, rule: &Rule) -> bool {
        let names = |word: &String| {
            let word = word.to_ascii_uppercase();
            rule.id == word
                || rule.topic() == word
                || rule
                    .id
                    .strip_prefix(word.as_str())
                    .is_some_and(|rest| rest.starts_with('-'))
        };
        let is_wanted = self.only.is_empty() || self.only.iter().any(names);
        is_wanted && !self.skip.iter().any(names)
    }

    /// Returns the words that name none of these rules, which are mistakes.
    #[must_use]
    pub fn unknown<'a>(&'a self, rules: &[Rule]) -> Vec<&'a str> {
        let words = self.only.iter().chain(&self.skip);
        let is_known = |word: &&String| {
            let only = Self {
                only: vec![(*word).clone()],
                skip: Vec::new(),
            };
            rules.iter().any(|rule| only.takes(rule))
        };
        words
            .filter(|word| !is_known(word))
            .map(String::as_str)
            .collect()
    }
}
