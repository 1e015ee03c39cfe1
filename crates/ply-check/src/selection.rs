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
            let word = word.trim().to_ascii_uppercase();
            // An empty word is the beginning of everything, and a mistake.
            !word.is_empty() && (rule.topic() == word || rule.id.starts_with(&word))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::id;

    fn takes(only: &str) -> bool {
        let selection = Selection {
            only: vec![only.to_owned()],
            skip: Vec::new(),
        };
        let mut rules = crate::rule::all();
        rules.any(|rule| rule.id == id::V1_CANCEL_05 && selection.takes(&rule))
    }

    #[test]
    fn a_rule_is_named_by_its_topic_or_any_beginning_of_its_id() {
        for word in [
            "CANCEL",
            "v1-cancel-05",
            "V1-CANCEL",
            "V1-CAN",
            "V1",
            " CANCEL ",
        ] {
            assert!(takes(word), "{word}");
        }
        for word in ["CAN", "V2", "05", "", " "] {
            assert!(!takes(word), "{word}");
        }
    }
}
