//! Where the hunks of a patch go.
//!
//! The lines of a hunk are looked for as those of an edit are, on the same rungs. A hunk that is there once, after the one before
//! it, is the answer. What stands behind `@@` narrows the search down: the first place after it counts.

use std::ops::Range;

use super::parse::Hunk;
use crate::tool::edit_file::apply::Applied;
use crate::tool::edit_file::ladder::{self, Edit, Miss, Splice};
use crate::tool::edit_file::words;
use crate::tool::lines::line_at;

/// Does the hunks, all of them or none. Its error says which one does not fit, and why.
pub(super) fn apply(text: &str, hunks: &[Hunk]) -> Result<Applied, String> {
    let mut applied = Applied::new(text);
    // Where the next hunk may begin.
    let mut from = 0;
    for (number, hunk) in hunks.iter().enumerate() {
        let splice = find(&applied.text, from, hunk).map_err(|what| match hunks.len() {
            1 => what,
            count => format!("Change {} of {count}: {what}", number + 1),
        })?;
        from = splice.range.start + splice.new.len();
        applied.splice(vec![splice]);
    }
    Ok(applied)
}

fn find(text: &str, from: usize, hunk: &Hunk) -> Result<Splice, String> {
    let mut start = from;
    for within in &hunk.within {
        let Some(line) = line_like(text, start, within) else {
            return Err(format!(
                "the line `{}` behind `@@` is not in the rest of the file.",
                crate::permission::shown(within)
            ));
        };
        start = line.end;
    }
    if hunk.old.is_empty() {
        return Ok(insert(text, start, hunk));
    }
    let edit = Edit {
        old: hunk.old.clone(),
        new: hunk.new.clone(),
        replace_all: false,
    };
    let found = match search(text, start..text.len(), &edit) {
        // Hunks may come in any order, as long as it is clear where they go.
        Err(Miss::Nowhere) if hunk.within.is_empty() && start > 0 => {
            search(text, 0..text.len(), &edit)
        }
        found => found,
    };
    match found {
        Err(Miss::Several(starts)) if hunk.at_end => last(text, &starts, &edit),
        Err(Miss::Several(starts)) if !hunk.within.is_empty() => first(text, &starts, &edit),
        found => found,
    }
    .map_err(|miss| explain(text, &hunk.old, &miss))
}

/// Looks for an edit of whole lines in a part of the text.
fn search(text: &str, part: Range<usize>, edit: &Edit) -> Result<Splice, Miss> {
    let end = part.end;
    let starts = match find_once(text, part, edit) {
        Err(Miss::Several(starts)) => starts,
        found => return found,
    };
    // What is the end of a longer line is not the line.
    let lines = starts.iter().filter(|start| begins_line(text, **start));
    let lines: Vec<usize> = lines.copied().collect();
    match lines.as_slice() {
        [] => Err(Miss::Nowhere),
        [start] => {
            let next = starts.iter().find(|other| *other > start);
            find_once(text, *start..next.copied().unwrap_or(end), edit)
        }
        _ => Err(Miss::Several(lines)),
    }
}

fn find_once(text: &str, part: Range<usize>, edit: &Edit) -> Result<Splice, Miss> {
    let begin = part.start;
    let found = ladder::find(text.get(part).unwrap_or_default(), edit);
    let moved = |miss| match miss {
        Miss::Several(starts) => {
            Miss::Several(starts.into_iter().map(|start| start + begin).collect())
        }
        miss => miss,
    };
    let mut splice = found.map_err(moved)?.pop().ok_or(Miss::Nowhere)?;
    splice.range = splice.range.start + begin..splice.range.end + begin;
    match begins_line(text, splice.range.start) {
        true => Ok(splice),
        false => Err(Miss::Nowhere),
    }
}

/// Takes the first of several places.
fn first(text: &str, starts: &[usize], edit: &Edit) -> Result<Splice, Miss> {
    let start = starts.first().copied().ok_or(Miss::Nowhere)?;
    let end = starts.get(1).copied().unwrap_or(text.len());
    // Places that overlap are no answer.
    search(text, start..end, edit).map_err(|_| Miss::Several(starts.to_vec()))
}

/// Takes the last of several places, if that is where the text ends.
fn last(text: &str, starts: &[usize], edit: &Edit) -> Result<Splice, Miss> {
    let start = starts.last().copied().ok_or(Miss::Nowhere)?;
    let splice = search(text, start..text.len(), edit)?;
    let rest = text.get(splice.range.end..).unwrap_or_default();
    match rest.trim().is_empty() {
        true => Ok(splice),
        false => Err(Miss::Several(starts.to_vec())),
    }
}

/// Puts lines in where there are none to replace: behind what `@@` says, or at the end.
fn insert(text: &str, start: usize, hunk: &Hunk) -> Splice {
    let at = match hunk.within.is_empty() {
        true => text.len(),
        false => start,
    };
    let before = text.get(..at).unwrap_or_default();
    let ends = crate::workspace::LineEnds::of(text);
    let mut new = ends.apply(&hunk.new);
    if !before.is_empty() && !before.ends_with('\n') {
        // The last line gets the end that it does not have.
        new.insert_str(0, &ends.apply("\n"));
    }
    Splice { range: at..at, new }
}

/// Returns the first line from a place on that is the same but for the space around it.
fn line_like(text: &str, from: usize, wanted: &str) -> Option<Range<usize>> {
    let mut start = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        let range = start..start + line.len();
        if line.trim() == wanted.trim() {
            return Some(range);
        }
        start = range.end;
    }
    None
}

fn begins_line(text: &str, place: usize) -> bool {
    place == 0 || text.as_bytes().get(place - 1) == Some(&b'\n')
}

fn explain(text: &str, old: &str, miss: &Miss) -> String {
    match miss {
        Miss::Several(starts) => format!(
            "these lines are in the file {} times, in lines {}. Add lines around them, or `@@` with a line before them:\n{}",
            starts.len(),
            words::places(text, starts),
            old.lines().next().unwrap_or_default()
        ),
        _ => match words::nearest(text, old) {
            Some(region) => format!(
                "its lines are not in the file. They must be as they are in the file, with their indentation. The \
                 nearest text in the file is:\n{region}"
            ),
            None => format!(
                "its lines are not in the file, which has {} lines; read it again.",
                line_at(text, text.len())
            ),
        },
    }
}
