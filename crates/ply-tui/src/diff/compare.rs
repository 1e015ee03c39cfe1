//! What differs between two texts.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::{FileDiff, Row};

/// Lines of a side up to which lines are matched; above it one block replaces the other.
const MATCHED_LINES_MAX: usize = 3_000;
/// How long matching may take before the rest is not matched.
const MATCHING_TIME_MAX: Duration = Duration::from_millis(20);
/// Lines that are shown around a change.
const CONTEXT_LINES: usize = 3;

/// Returns how one text becomes the other.
pub(super) fn compare<'a>(old: Option<&'a str>, new: &'a str, rows_max: usize) -> FileDiff<'a> {
    let old = lines(old.unwrap_or_default());
    let new = lines(new);
    let pairs = old.iter().zip(&new);
    let same_before = pairs.take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - same_before;
    let pairs = old.iter().rev().zip(new.iter().rev()).take(rest);
    let same_after = pairs.take_while(|(old, new)| old == new).count();

    let begin = same_before.saturating_sub(CONTEXT_LINES);
    let after = same_after.saturating_sub(CONTEXT_LINES);
    let old_part = old.get(begin..old.len() - after).unwrap_or_default();
    let new_part = new.get(begin..new.len() - after).unwrap_or_default();
    let mut file = FileDiff::default();
    if same_before == old.len() && same_before == new.len() {
        return file;
    }
    if old_part.len().max(new_part.len()) > MATCHED_LINES_MAX {
        let before = same_before - begin;
        let after = same_after - after;
        replaced(
            old_part, new_part, begin, before, after, &mut file, rows_max,
        );
    } else {
        matched(old_part, new_part, begin, &mut file, rows_max);
    }
    file
}

fn lines(text: &str) -> Vec<&str> {
    let lines = text.split_terminator('\n');
    lines
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect()
}

fn matched<'a>(
    old: &[&'a str],
    new: &[&'a str],
    begin: usize,
    file: &mut FileDiff<'a>,
    rows_max: usize,
) {
    let mut config = TextDiff::configure();
    let diff = config.timeout(MATCHING_TIME_MAX).diff_slices(old, new);
    for (place, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if place > 0 {
            file.push(Row::Skip, rows_max);
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (in_old, in_new) = (change.old_index(), change.new_index());
            let of = |lines: &[&'a str], place: Option<usize>| lines.get(place?).copied();
            let Some(text) = of(old, in_old).or_else(|| of(new, in_new)) else {
                continue;
            };
            let old = begin + in_old.unwrap_or(0) + 1;
            let new = begin + in_new.unwrap_or(0) + 1;
            let words = Vec::new();
            let row = match change.tag() {
                ChangeTag::Equal => Row::Same { old, new, text },
                ChangeTag::Delete => Row::Removed { old, text, words },
                ChangeTag::Insert => Row::Added { new, text, words },
            };
            file.push(row, rows_max);
        }
    }
}

/// The parts begin with `before` and end with `after` lines that are the same.
fn replaced<'a>(
    old: &[&'a str],
    new: &[&'a str],
    begin: usize,
    before: usize,
    after: usize,
    file: &mut FileDiff<'a>,
    rows_max: usize,
) {
    let same = |place: usize, text: &'a str| Row::Same {
        old: begin + place + 1,
        new: begin + place + 1,
        text,
    };
    for (place, text) in old.iter().enumerate().take(before) {
        file.push(same(place, text), rows_max);
    }
    let removed = old.len().saturating_sub(after);
    for (place, text) in old.iter().enumerate().take(removed).skip(before) {
        let old = begin + place + 1;
        let words = Vec::new();
        file.push(Row::Removed { old, text, words }, rows_max);
    }
    let added = new.len().saturating_sub(after);
    for (place, text) in new.iter().enumerate().take(added).skip(before) {
        let new = begin + place + 1;
        let words = Vec::new();
        file.push(Row::Added { new, text, words }, rows_max);
    }
    for (place, text) in new.iter().enumerate().skip(added) {
        let old = begin + place - added + removed + 1;
        let new = begin + place + 1;
        file.push(Row::Same { old, new, text }, rows_max);
    }
}
