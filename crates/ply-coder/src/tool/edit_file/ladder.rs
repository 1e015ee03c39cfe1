//! Finding the text that an edit replaces.
//!
//! Four rungs, each a little less strict, and each a comparison that is right or wrong: as it is
//! written; whatever the line ends; whatever space is at the ends of lines; indented by the same amount
//! more or less. A rung that finds the text once is the answer; one that finds it several times is a
//! question to the model. Nothing is ever guessed by likeness: that puts changes into wrong places.

use std::ops::Range;

use crate::workspace::{LineEnds, fold};

/// Places that are counted before it is enough to say "many".
const HITS_MAX: usize = 1000;
/// Places that one edit replaces.
const REPLACED_MAX: usize = 100_000;
/// Pairs of lines compared on one rung, for texts that repeat themselves.
const COMPARISONS_MAX: usize = 20_000_000;

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) struct Edit {
    pub(in crate::tool) old: String,
    pub(in crate::tool) new: String,
    pub(in crate::tool) replace_all: bool,
}

/// A part of the text and what comes in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) struct Splice {
    pub(in crate::tool) range: Range<usize>,
    pub(in crate::tool) new: String,
}

/// Why an edit cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) enum Miss {
    /// There is nothing to look for.
    Empty,
    /// Both texts are the same.
    Same,
    /// It is nowhere.
    Nowhere,
    /// It is in several places; where they begin.
    Several(Vec<usize>),
}

/// Returns what an edit replaces, in order and without overlaps.
pub(in crate::tool) fn find(text: &str, edit: &Edit) -> Result<Vec<Splice>, Miss> {
    if edit.old.is_empty() {
        return Err(Miss::Empty);
    }
    if edit.old == edit.new {
        return Err(Miss::Same);
    }
    type Rung = fn(&str, &Edit) -> Vec<Splice>;
    let rungs: [Rung; 4] = [exact, any_line_ends, any_trailing_space, any_indent];
    for rung in rungs {
        let splices = rung(text, edit);
        match splices.as_slice() {
            [] => {}
            [_] => return Ok(splices),
            _ if edit.replace_all => return Ok(splices),
            several => {
                let starts = several.iter().map(|splice| splice.range.start);
                return Err(Miss::Several(starts.collect()));
            }
        }
    }
    Err(Miss::Nowhere)
}

fn exact(text: &str, edit: &Edit) -> Vec<Splice> {
    let ends = match LineEnds::of(text) {
        // In a file that has no other, a bare `\n` in the new text is the model's way of writing.
        LineEnds::Crlf => LineEnds::Crlf,
        _ => LineEnds::None,
    };
    let new = ends.apply(&edit.new);
    let mut ranges = occurrences(text, &edit.old, edit.replace_all);
    ranges.retain(|range| !splits_line_end(text, range.start) && !splits_line_end(text, range.end));
    let splice = |range| Splice {
        range,
        new: new.clone(),
    };
    ranges.into_iter().map(splice).collect()
}

/// Says whether a place is between `\r` and `\n`, where a match would leave half a line end behind.
fn splits_line_end(text: &str, place: usize) -> bool {
    let (before, after) = text.split_at_checked(place).unwrap_or_default();
    before.ends_with('\r') && after.starts_with('\n')
}

fn any_line_ends(text: &str, edit: &Edit) -> Vec<Splice> {
    if !text.contains("\r\n") && !edit.old.contains("\r\n") {
        return Vec::new();
    }
    let folded = fold(text);
    // Where in the folded text a `\r` is missing, so that places in it can be carried back.
    let dropped: Vec<usize> = text
        .match_indices("\r\n")
        .enumerate()
        .map(|(before, (at, _))| at - before)
        .collect();
    let original = |place: usize| place + dropped.partition_point(|at| *at < place);
    let ranges = occurrences(&folded, &fold(&edit.old), edit.replace_all);
    let splice = |range: Range<usize>| {
        let range = original(range.start)..original(range.end);
        let new = ends_at(text, &range).apply(&edit.new);
        Splice { range, new }
    };
    ranges.into_iter().map(splice).collect()
}

fn any_trailing_space(text: &str, edit: &Edit) -> Vec<Splice> {
    by_lines(text, edit, |lines, wanted| {
        let same = lines
            .iter()
            .zip(wanted)
            .all(|(line, wanted)| line.trim_end() == wanted.trim_end());
        same.then(|| edit.new.clone())
    })
}

fn any_indent(text: &str, edit: &Edit) -> Vec<Splice> {
    by_lines(text, edit, |lines, wanted| {
        let mut shift = None;
        for (line, wanted) in lines.iter().zip(wanted) {
            if line.trim() != wanted.trim() {
                return None;
            }
            if line.trim().is_empty() {
                continue;
            }
            let this = Shift::between(indent(wanted), indent(line))?;
            if *shift.get_or_insert(this) != this {
                return None;
            }
        }
        shift?.apply(&edit.new)
    })
}

/// How much further in, or out, lines of the file are than those of the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shift<'t> {
    In(&'t str),
    Out(&'t str),
}

impl<'t> Shift<'t> {
    fn between(wanted: &'t str, found: &'t str) -> Option<Self> {
        match found.strip_suffix(wanted) {
            Some(more) => Some(Self::In(more)),
            None => wanted.strip_suffix(found).map(Self::Out),
        }
    }

    fn apply(self, new: &str) -> Option<String> {
        let mut shifted = String::new();
        for line in new.split_inclusive('\n') {
            match self {
                _ if line.trim().is_empty() => shifted.push_str(line),
                Self::In(more) => {
                    shifted.push_str(more);
                    shifted.push_str(line);
                }
                // A line that is not indented that far cannot be moved out with the others.
                Self::Out(less) => shifted.push_str(line.strip_prefix(less)?),
            }
        }
        Some(shifted)
    }
}

fn indent(line: &str) -> &str {
    let length = line.len() - line.trim_start().len();
    line.get(..length).unwrap_or_default()
}

/// Compares whole lines, and returns a splice for each run of them that `compare` accepts.
fn by_lines(
    text: &str,
    edit: &Edit,
    compare: impl Fn(&[&str], &[&str]) -> Option<String>,
) -> Vec<Splice> {
    let old = fold(&edit.old);
    if old.trim().is_empty() {
        return Vec::new();
    }
    let ended = old.ends_with('\n');
    let wanted: Vec<&str> = old.strip_suffix('\n').unwrap_or(&old).split('\n').collect();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut splices = Vec::new();
    let mut start = 0;
    let mut skip = 0;
    let mut comparisons = 0;
    for (window, line) in lines.windows(wanted.len()).zip(&lines) {
        let at = start;
        start += line.len();
        comparisons += wanted.len();
        if comparisons > COMPARISONS_MAX || splices.len() >= REPLACED_MAX {
            break;
        }
        if skip > 0 {
            skip -= 1;
            continue;
        }
        let Some(new) = compare(window, &wanted) else {
            continue;
        };
        let length: usize = window.iter().map(|line| line.len()).sum();
        let last_end = window.last().map_or("", |line| line_end(line));
        let mut range = at..at + length;
        let mut new = ends_at(text, &range).apply(&new);
        match (ended, last_end) {
            // The edit says nothing of the last line's end.
            (false, end) => range.end -= end.len(),
            // The file's last line has no end, and gets none.
            (true, "") => new.truncate(new.len() - line_end(&new).len()),
            (true, _) => {}
        }
        splices.push(Splice { range, new });
        if edit.replace_all {
            skip = wanted.len() - 1;
        }
    }
    splices
}

fn line_end(line: &str) -> &'static str {
    match line {
        line if line.ends_with("\r\n") => "\r\n",
        line if line.ends_with('\n') => "\n",
        _ => "",
    }
}

/// Returns the line ends in a part of the text, or of the line it is in, or of the text.
fn ends_at(text: &str, range: &Range<usize>) -> LineEnds {
    let part = text.get(range.clone()).unwrap_or_default();
    let rest = text.get(range.end..).unwrap_or_default();
    let line = rest.split_inclusive('\n').next().unwrap_or_default();
    let ends = [part, line, text].map(LineEnds::of);
    let known = ends.into_iter().find(|ends| *ends != LineEnds::None);
    known.unwrap_or(LineEnds::None)
}

/// Returns where `wanted` is: without overlaps to replace all, with them to know whether it is once.
fn occurrences(text: &str, wanted: &str, replace_all: bool) -> Vec<Range<usize>> {
    let step = match replace_all {
        true => wanted.len(),
        false => wanted.chars().next().map_or(1, char::len_utf8),
    };
    let count_max = match replace_all {
        true => REPLACED_MAX,
        false => HITS_MAX,
    };
    let mut found = Vec::new();
    let mut from = 0;
    while found.len() < count_max
        && let Some(at) = text.get(from..).and_then(|rest| rest.find(wanted))
    {
        let start = from + at;
        found.push(start..start + wanted.len());
        from = start + step;
    }
    found
}
