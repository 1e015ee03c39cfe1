//! The list of rules, as checked in.
//!
//! The file is TOML, of which this reads only the few forms that the file uses, one entry per line;
//! anything else is an error. That is less than a parser for all of TOML would cost.

use std::collections::{BTreeMap, BTreeSet};

use super::id::Id;

/// How much a rule binds; the last one marks what no text says.
pub(crate) const LEVELS: [&str; 4] = ["must", "should", "may", "none"];
const SIDES: [&str; 3] = ["agent", "client", "both"];

/// One rule: whom it binds and how much, not what it says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) id: Id,
    pub(crate) level: &'static str,
    pub(crate) side: &'static str,
    /// Whether the rule has to be covered.
    pub(crate) seed: bool,
}

/// The rules in the order of the file, and what is said of some of them.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(crate) rules: Vec<Rule>,
    /// Why a rule binds no library.
    pub(crate) not_applicable: BTreeMap<Id, String>,
    /// Why the checker cannot see from outside whether a rule is kept.
    pub(crate) unseen: BTreeMap<Id, String>,
    /// Seed rules that have no test yet.
    pub(crate) open: BTreeSet<Id>,
}

/// The part of the file that a line is in.
enum Part {
    Top,
    Open,
    NotApplicable,
    Unseen,
    Rules,
}

impl Rules {
    /// Reads the file, or says which line is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut read = Self::default();
        let mut seen = BTreeSet::new();
        let mut part = Part::Top;
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            part = match (part, line) {
                (Part::Open, "]") => Part::Top,
                (Part::Open, entry) => {
                    let id = open_entry(entry)
                        .ok_or_else(|| format!("line {number} is no id in quotes and a comma"))?;
                    if !read.open.insert(id) {
                        return Err(format!("line {number} repeats an id"));
                    }
                    Part::Open
                }
                (Part::Top, "open = [") => Part::Open,
                (_, "[not_applicable]") => Part::NotApplicable,
                (_, "[unseen]") => Part::Unseen,
                (_, "[rules]") => Part::Rules,
                (part @ (Part::NotApplicable | Part::Unseen), entry) => {
                    let (id, reason) = reason(entry)
                        .ok_or_else(|| format!("line {number} is no id with a reason in quotes"))?;
                    let reasons = match part {
                        Part::Unseen => &mut read.unseen,
                        _ => &mut read.not_applicable,
                    };
                    if reasons.insert(id, reason).is_some() {
                        return Err(format!("line {number} repeats an id"));
                    }
                    part
                }
                (Part::Rules, entry) => {
                    let rule = rule(entry).ok_or_else(|| {
                        format!("line {number} is no id with level, side and seed")
                    })?;
                    if !seen.insert(rule.id.clone()) {
                        return Err(format!("line {number} repeats an id"));
                    }
                    read.rules.push(rule);
                    Part::Rules
                }
                (Part::Top, _) => return Err(format!("line {number} is in no part of the file")),
            };
        }
        Ok(read)
    }
}

/// Returns the file without the given ids in its list of open rules, all else unchanged.
pub(crate) fn without_open(text: &str, closed: &[Id]) -> String {
    text.split_inclusive('\n')
        .filter(|line| open_entry(line.trim()).is_none_or(|id| !closed.contains(&id)))
        .collect()
}

/// Reads `"ID",`, which occurs in the list of open rules only.
fn open_entry(entry: &str) -> Option<Id> {
    Id::parse(entry.strip_prefix('"')?.strip_suffix("\",")?)
}

/// Reads `ID = "reason"`.
fn reason(entry: &str) -> Option<(Id, String)> {
    let (id, reason) = entry.split_once(" = ")?;
    let reason = reason.strip_prefix('"')?.strip_suffix('"')?;
    // There is no use for escapes here, so none is understood.
    let plain = !reason.is_empty() && !reason.contains(['"', '\\', '|']);
    plain.then_some((Id::parse(id)?, reason.to_owned()))
}

/// Reads `ID = { level = "…", side = "…", seed = … }`.
fn rule(entry: &str) -> Option<Rule> {
    let (id, marks) = entry.split_once(" = { level = \"")?;
    let (level, marks) = marks.split_once("\", side = \"")?;
    let (side, marks) = marks.split_once("\", seed = ")?;
    Some(Rule {
        id: Id::parse(id)?,
        level: LEVELS.into_iter().find(|known| *known == level)?,
        side: SIDES.into_iter().find(|known| *known == side)?,
        seed: marks.strip_suffix(" }")?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Id, Rules, without_open};

    const FILE: &str = r#"# Why.
open = [
    "V1-FS-02",
    "V1-FS-03",
]

[not_applicable]
V1-FS-01 = "binds a screen: none here"

[rules]
V1-FS-01 = { level = "should", side = "client", seed = true }
V1-FS-02 = { level = "must", side = "both", seed = true }
V1-FS-03 = { level = "may", side = "agent", seed = false }
"#;

    #[test]
    fn the_file_is_read_in_order() {
        let rules = Rules::parse(FILE).unwrap();
        let read: Vec<_> = rules
            .rules
            .iter()
            .map(|rule| (rule.id.to_string(), rule.level, rule.side, rule.seed))
            .collect();
        let expected = [
            ("V1-FS-01".to_owned(), "should", "client", true),
            ("V1-FS-02".to_owned(), "must", "both", true),
            ("V1-FS-03".to_owned(), "may", "agent", false),
        ];
        assert_eq!(read, expected);
        assert_eq!(rules.open.len(), 2);
        let reasons: Vec<_> = rules.not_applicable.values().collect();
        assert_eq!(reasons, ["binds a screen: none here"]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (from, to, said) in [
            ("\"must\"", "\"shall\"", "line 12 is no id with level"),
            ("\"both\"", "\"all\"", "line 12 is no id with level"),
            ("seed = false", "seed = no", "line 13 is no id with level"),
            ("V1-FS-03 = {", "V1-FS-02 = {", "line 13 repeats"),
            ("\"V1-FS-03\",", "\"V1-FS-02\",", "line 4 repeats"),
            ("\"V1-FS-03\",", "V1-FS-03,", "line 4 is no id in quotes"),
            ("\"binds", "binds", "line 8 is no id with a reason"),
            ("[not_applicable]", "", "line 8 is in no part"),
        ] {
            let error = Rules::parse(&FILE.replacen(from, to, 1)).unwrap_err();
            assert!(error.starts_with(said), "{from} to {to}: {error}");
        }
    }

    #[test]
    fn closing_a_rule_takes_out_its_line_only() {
        let id = Id::parse("V1-FS-02").unwrap();
        let left = without_open(FILE, &[id]);
        assert_eq!(left, FILE.replace("    \"V1-FS-02\",\n", ""));
    }
}
