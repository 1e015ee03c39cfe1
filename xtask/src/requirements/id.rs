//! Ids of rules, and how test names and comments spell them.

use std::fmt;

/// The first parts that an id can have.
const FAMILIES: [&str; 3] = ["V1", "V2", "TX"];

/// The id of a rule: family, group and two digits, joined by hyphens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(String);

impl Id {
    /// Reads an id that is the whole of a text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let family = parts.next()?;
        let group = parts.next()?;
        let number = digits(parts.next()?)?;
        parts.next().is_none().then_some(())?;
        Self::new(family, group, number)
    }

    /// Returns family and group, which a table is made for.
    pub(crate) fn group(&self) -> &str {
        self.0.rsplit_once('-').map_or("", |(group, _)| group)
    }

    fn new(family: &str, group: &str, number: u8) -> Option<Self> {
        let named = !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_uppercase());
        (named && FAMILIES.contains(&family)).then(|| Self(format!("{family}-{group}-{number:02}")))
    }

    /// Returns the same group with another number.
    fn sibling(&self, number: u8) -> Self {
        Self(format!("{}-{number:02}", self.group()))
    }

    fn number(&self) -> u8 {
        self.0
            .rsplit_once('-')
            .and_then(|(_, number)| digits(number))
            .unwrap_or(0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Returns the ids in the name of a test.
///
/// After an id, `_and_05` adds one of the same group, and so do numbers that end the name. A number
/// before other words does not: it may as well count something.
pub(crate) fn in_name(name: &str) -> Vec<Id> {
    let parts: Vec<_> = name.split('_').collect();
    let mut ids: Vec<Id> = Vec::new();
    let mut rest = parts.as_slice();
    while let [first, after @ ..] = rest {
        rest = after;
        let [group, number, after @ ..] = rest else {
            break;
        };
        let (family, group) = (first.to_ascii_uppercase(), group.to_ascii_uppercase());
        let Some(id) = digits(number).and_then(|number| Id::new(&family, &group, number)) else {
            continue;
        };
        rest = after;
        while let ["and", number, after @ ..] = rest
            && let Some(number) = digits(number)
        {
            ids.push(id.sibling(number));
            rest = after;
        }
        let ending: Option<Vec<_>> = rest.iter().map(|part| digits(part)).collect();
        ids.extend(
            ending
                .into_iter()
                .flatten()
                .map(|number| id.sibling(number)),
        );
        ids.push(id);
    }
    ids.sort();
    ids
}

/// Returns the ids in a comment, where `..05` adds all up to a number and `/05` a single one.
pub(crate) fn in_comment(comment: &str) -> Vec<Id> {
    let mut ids = Vec::new();
    let word = |character: char| character.is_ascii_alphanumeric() || character == '-';
    let mut rest = comment;
    while let Some(start) = rest.find(word) {
        let (_, found) = rest.split_at(start);
        let (token, after) = found.split_at(found.find(|c| !word(c)).unwrap_or(found.len()));
        rest = after;
        let Some(first) = Id::parse(token) else {
            continue;
        };
        let mut last = first.number();
        ids.push(first.clone());
        loop {
            let (numbers, after) = if let Some(after) = rest.strip_prefix("..") {
                (
                    leading(after).map(|end| last.saturating_add(1)..=end),
                    after,
                )
            } else if let Some(after) = rest.strip_prefix('/') {
                (leading(after).map(|number| number..=number), after)
            } else {
                break;
            };
            let Some(numbers) = numbers else {
                break;
            };
            last = *numbers.end();
            ids.extend(numbers.map(|number| first.sibling(number)));
            rest = after.get(2..).unwrap_or_default();
        }
    }
    ids
}

/// Returns the number that a text of exactly two digits is.
fn digits(text: &str) -> Option<u8> {
    (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

/// Returns the number that a text starts with, if it has exactly two digits.
fn leading(text: &str) -> Option<u8> {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(text.len());
    digits(text.get(..end)?)
}

#[cfg(test)]
mod tests {
    use super::{in_comment, in_name};

    #[track_caller]
    fn check(found: Vec<super::Id>, expected: &[&str]) {
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_name_counts_by_the_ids_in_it() {
        check(in_name("v1_fs_03_paths_are_absolute"), &["V1-FS-03"]);
        check(in_name("tx_ws_01"), &["TX-WS-01"]);
        check(
            in_name("v2_init_09_and_20_bad_ones"),
            &["V2-INIT-09", "V2-INIT-20"],
        );
        check(
            in_name("v1_init_09_and_v2_init_06_x"),
            &["V1-INIT-09", "V2-INIT-06"],
        );
        check(in_name("v1_fs_03_and_more"), &["V1-FS-03"]);
        check(in_name("v1_fs_03_10_lines_are_read"), &["V1-FS-03"]);
        check(
            in_name("late_ones_win_v1_fs_02_08"),
            &["V1-FS-02", "V1-FS-08"],
        );
        check(in_name("b9_v1_fs_18_v2_fs_01_x"), &["V1-FS-18", "V2-FS-01"]);
        for none in [
            "d3_updates_are_kept",
            "v1_fs",
            "v1_fs_3_x",
            "v1_fs_030_x",
            "v3_fs_03",
        ] {
            check(in_name(none), &[]);
        }
    }

    #[test]
    fn a_comment_counts_by_every_id_in_it() {
        check(
            in_comment("Also: V1-FS-03, V2-FS-09."),
            &["V1-FS-03", "V2-FS-09"],
        );
        check(
            in_comment("(V1-FS-03..05)"),
            &["V1-FS-03", "V1-FS-04", "V1-FS-05"],
        );
        check(
            in_comment("V1-FS-06/07/09."),
            &["V1-FS-06", "V1-FS-07", "V1-FS-09"],
        );
        check(
            in_comment("V1-FS-01..02/05 V1-MCP-01"),
            &["V1-FS-01", "V1-FS-02", "V1-FS-05", "V1-MCP-01"],
        );
        check(
            in_comment("V1-FS-03.. and V1-FS-04/x"),
            &["V1-FS-03", "V1-FS-04"],
        );
        for none in [
            "v1-fs-03",
            "XV1-FS-03",
            "V1-FS-033",
            "V1-FS-03-x",
            "V1-FS-3",
            "V1--03",
        ] {
            check(in_comment(none), &[]);
        }
    }
}
