//! What a model is told when its edit does not fit, so that the next one does.

use std::collections::HashMap;

use super::apply::Failed;
use super::ladder::{Edit, Miss};
use crate::tool::lines::{line_at, push_numbered};

/// Places of several that are named.
const PLACES_SHOWN: usize = 10;
/// Lines shown of the region that is nearest.
const NEAREST_LINES_MAX: usize = 20;
/// Lines of the text and of the edit that are compared to find it.
const COMPARED_LINES_MAX: usize = 50_000;
/// Places in the edit that one line of the text may stand for.
const STANDS_FOR_MAX: usize = 8;

/// Says why an edit was not done, and what to do.
pub(super) fn explain(failed: &Failed, edits: &[Edit]) -> String {
    let which = match edits.len() {
        1 => String::new(),
        count => format!("Edit {} of {count}: ", failed.edit + 1),
    };
    let none = match edits.len() {
        1 => "",
        _ => " None of the edits was done.",
    };
    let old = edits.get(failed.edit).map_or("", |edit| edit.old.as_str());
    let mut words = match &failed.miss {
        Miss::Empty => format!(
            "{which}`old` is empty, but the file is not. Give the text to replace, or use write_file.{none}"
        ),
        Miss::Same => {
            format!("{which}`old` and `new` are the same, so there is nothing to change.{none}")
        }
        Miss::Several(starts) => format!(
            "{which}`old` is in the file {} times, in lines {}. Add lines around it to `old` until it is there \
             once, or set replace_all = true to change all of them.{none}",
            starts.len(),
            places(&failed.text, starts)
        ),
        Miss::Nowhere => format!(
            "{which}`old` is not in the file. It must be the text as it is, without line numbers and with its \
             indentation.{none}"
        ),
    };
    if failed.miss == Miss::Nowhere {
        match nearest(&failed.text, old) {
            Some(region) => {
                words.push_str(" The nearest text in the file is:\n");
                words.push_str(&region);
            }
            None => words.push_str(" No line of it is in the file; read the file again."),
        }
    }
    words
}

pub(in crate::tool) fn places(text: &str, starts: &[usize]) -> String {
    let mut places = String::new();
    for (place, start) in starts.iter().take(PLACES_SHOWN).enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        places.push_str(&format!("{comma}{}", line_at(text, *start)));
    }
    if starts.len() > PLACES_SHOWN {
        places.push_str(", …");
    }
    places
}

/// Returns the lines of the text where most lines of `old` are, in the same order.
///
/// It is only shown. A line counts where it is the same but for the space around it.
pub(in crate::tool) fn nearest(text: &str, old: &str) -> Option<String> {
    let wanted: Vec<&str> = old
        .lines()
        .map(str::trim)
        .take(COMPARED_LINES_MAX)
        .collect();
    let mut stands_for: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, line) in wanted.iter().enumerate() {
        let places = stands_for.entry(line).or_default();
        if !line.is_empty() && places.len() < STANDS_FOR_MAX {
            places.push(place);
        }
    }
    // Each line votes for where the first line of `old` would be.
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (number, line) in text.lines().enumerate() {
        let places = stands_for.get(line.trim()).map_or(&[][..], Vec::as_slice);
        for place in places {
            // A closing bracket says less than a line of words.
            let weight = line.trim().len().min(20);
            *votes.entry(number.saturating_sub(*place)).or_default() += weight;
        }
    }
    let best = votes
        .into_iter()
        .max_by_key(|(first, votes)| (*votes, std::cmp::Reverse(*first)));
    let (first, _) = best?;
    let mut region = String::new();
    let shown = wanted.len().min(NEAREST_LINES_MAX);
    for (number, line) in text.lines().enumerate().skip(first).take(shown) {
        push_numbered(&mut region, number + 1, line);
    }
    Some(region)
}
