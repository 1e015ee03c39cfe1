//! Doing a list of edits to a text, all of them or none.

use std::ops::Range;

use super::ladder::{self, Edit, Miss, Splice};

/// A text with all edits done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) struct Applied {
    pub(in crate::tool) text: String,
    /// What was taken out and what was put in, in the order of the edits: what a user agreed to.
    pub(in crate::tool) replaced: Vec<(String, String)>,
    /// Where the new text is, in order.
    pub(in crate::tool) regions: Vec<Range<usize>>,
}

/// An edit that could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) struct Failed {
    /// Which one, counted from 0.
    pub(in crate::tool) edit: usize,
    pub(in crate::tool) miss: Miss,
    /// The text it was tried on, with the edits before it done.
    pub(in crate::tool) text: String,
}

/// Does the edits, each to what the one before it left.
pub(in crate::tool) fn apply(text: &str, edits: &[Edit]) -> Result<Applied, Failed> {
    let mut applied = Applied::new(text);
    for (place, edit) in edits.iter().enumerate() {
        let found = match applied.text.is_empty() && edit.old.is_empty() {
            // An empty file, or none yet, is filled.
            true => Ok(vec![Splice {
                range: 0..0,
                new: edit.new.clone(),
            }]),
            false => ladder::find(&applied.text, edit),
        };
        match found {
            Ok(splices) => applied.splice(splices),
            Err(miss) => {
                return Err(Failed {
                    edit: place,
                    miss,
                    text: applied.text,
                });
            }
        }
    }
    Ok(applied)
}

impl Applied {
    /// Returns a text to which nothing was done yet.
    pub(in crate::tool) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            replaced: Vec::new(),
            regions: Vec::new(),
        }
    }

    pub(in crate::tool) fn splice(&mut self, splices: Vec<Splice>) {
        let mut text = String::with_capacity(self.text.len());
        let mut regions = Vec::new();
        let mut earlier = std::mem::take(&mut self.regions).into_iter().peekable();
        let mut taken = 0;
        for splice in splices {
            let range = splice.range;
            // Earlier regions keep their place relative to the text around them; those that this one
            // touches become part of it.
            let mut start = range.start;
            let mut tail = 0;
            while let Some(region) = earlier.next_if(|region| region.start <= range.end) {
                if region.end < range.start {
                    regions.push(moved(&region, taken, text.len()));
                } else {
                    start = start.min(region.start);
                    tail = region.end.saturating_sub(range.end);
                }
            }
            let before = range.start - start;
            text.push_str(self.text.get(taken..range.start).unwrap_or_default());
            let begin = text.len().saturating_sub(before);
            text.push_str(&splice.new);
            regions.push(begin..text.len() + tail);
            self.replaced.push((
                self.text.get(range.clone()).unwrap_or_default().to_owned(),
                splice.new,
            ));
            taken = range.end;
        }
        let rest = earlier.map(|region| moved(&region, taken, text.len()));
        regions.extend(rest);
        text.push_str(self.text.get(taken..).unwrap_or_default());
        self.text = text;
        self.regions = joined(regions);
    }
}

/// Carries a region over that lies after `from` in the old text, which is at `to` in the new one.
fn moved(region: &Range<usize>, from: usize, to: usize) -> Range<usize> {
    let shift = |place: usize| place.saturating_sub(from) + to;
    shift(region.start)..shift(region.end)
}

fn joined(mut regions: Vec<Range<usize>>) -> Vec<Range<usize>> {
    regions.sort_by_key(|region| region.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for region in regions {
        match joined.last_mut() {
            Some(before) if region.start <= before.end => before.end = before.end.max(region.end),
            _ => joined.push(region),
        }
    }
    joined
}
