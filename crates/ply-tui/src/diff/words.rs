//! Which words differ between a removed line and the one that was added for it.

use similar::{ChangeTag, TextDiff};

use super::{Row, Words};

/// Bytes of a line up to which its words are compared.
const LINE_BYTES_MAX: usize = 500;
/// Pairs of lines in a file whose words are compared.
const PAIRS_MAX: usize = 200;
/// How much of two lines must be the same for their differences to say something.
const PERCENT_SHARED_MIN: usize = 30;
const PERCENT: usize = 100;

/// Marks what differs in lines that replace each other.
pub(super) fn mark(rows: &mut [Row<'_>]) {
    let mut pairs_left = PAIRS_MAX;
    let mut place = 0;
    while place < rows.len() {
        let rest = rows.get(place..).unwrap_or_default();
        let removed = count(rest, |row| matches!(row, Row::Removed { .. }));
        let after = rest.get(removed..).unwrap_or_default();
        let added = count(after, |row| matches!(row, Row::Added { .. }));
        for pair in 0..removed.min(added).min(pairs_left) {
            mark_pair(rows, place + pair, place + removed + pair);
            pairs_left -= 1;
        }
        place += (removed + added).max(1);
    }
}

fn count(rows: &[Row<'_>], is: impl Fn(&Row<'_>) -> bool) -> usize {
    rows.iter().take_while(|row| is(row)).count()
}

fn mark_pair(rows: &mut [Row<'_>], removed: usize, added: usize) {
    let (Some(Row::Removed { text: old, .. }), Some(Row::Added { text: new, .. })) =
        (rows.get(removed), rows.get(added))
    else {
        return;
    };
    let Some((in_old, in_new)) = differences(old, new) else {
        return;
    };
    if let Some(Row::Removed { words, .. }) = rows.get_mut(removed) {
        *words = in_old;
    }
    if let Some(Row::Added { words, .. }) = rows.get_mut(added) {
        *words = in_new;
    }
}

/// Returns what is on one side only, or nothing if the lines have too little in common.
fn differences(old: &str, new: &str) -> Option<(Words, Words)> {
    if old.len().max(new.len()) > LINE_BYTES_MAX {
        return None;
    }
    let diff = TextDiff::from_words(old, new);
    let (mut in_old, mut in_new) = (Words::new(), Words::new());
    let (mut old_at, mut new_at, mut shared) = (0, 0, 0);
    for change in diff.iter_all_changes() {
        let bytes = change.value().len();
        if change.tag() != ChangeTag::Insert {
            old_at += bytes;
        }
        if change.tag() != ChangeTag::Delete {
            new_at += bytes;
        }
        match change.tag() {
            ChangeTag::Equal => shared += letters(change.value()),
            ChangeTag::Delete => extend(&mut in_old, old_at - bytes, old_at),
            ChangeTag::Insert => extend(&mut in_new, new_at - bytes, new_at),
        }
    }
    let enough = 2 * PERCENT * shared >= PERCENT_SHARED_MIN * (letters(old) + letters(new));
    enough.then_some((in_old, in_new))
}

/// Spaces are in every line, and say nothing.
fn letters(text: &str) -> usize {
    text.chars().filter(|char| !char.is_whitespace()).count()
}

fn extend(words: &mut Words, start: usize, end: usize) {
    match words.last_mut() {
        Some(last) if last.end == start => last.end = end,
        _ => words.push(start..end),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[test]
    fn only_what_differs_is_marked() {
        let (old, new) = differences("let a = old(1);", "let a = renewed(1);").unwrap();
        assert_eq!(old, vec![Range { start: 8, end: 15 }]);
        assert_eq!(new, vec![Range { start: 8, end: 19 }]);
    }

    #[test]
    fn lines_with_nothing_in_common_are_not_compared() {
        assert_eq!(differences("alpha beta gamma", "1 + 2"), None);
        assert_eq!(differences(&"a ".repeat(400), &"b ".repeat(400)), None);
    }
}
