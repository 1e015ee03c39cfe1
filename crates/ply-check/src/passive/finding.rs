//! What was found, and how much of it is kept.

use std::collections::{BTreeMap, BTreeSet};

use ply_client::text::{Line, beginning};
use ply_wire::negotiate::Version;
use serde::Serialize;

use super::rules;
use crate::rule::{Level, Side};

/// Findings of one rule that are kept; the rest is counted.
const PER_RULE_MAX: usize = 50;
/// Columns of words of a peer that a finding quotes.
const QUOTE_COLUMNS: usize = 40;

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The id of the requirement.
    pub rule: &'static str,
    /// How binding it is.
    pub level: Level,
    /// Who broke it.
    pub side: Side,
    /// The frames that show it; the first frame of a recording is 1.
    pub frames: Vec<usize>,
    /// What happened. Words of the peers in it are short and harmless.
    pub what: String,
}

/// What a recording shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// The rules that were broken, in the order in which it showed.
    pub findings: Vec<Finding>,
    /// The rules about which something happened, and who had to keep them. Those without a finding were kept.
    pub looked_at: BTreeSet<(&'static str, Side)>,
}

#[derive(Debug, Default)]
pub(super) struct Report {
    findings: Vec<Finding>,
    counts: BTreeMap<(&'static str, Side), usize>,
    looked_at: BTreeSet<(&'static str, Side)>,
}

impl Report {
    pub(super) fn look(&mut self, id: &'static str, side: Side) {
        self.looked_at.insert((id, side));
    }

    pub(super) fn add(&mut self, id: &'static str, side: Side, frames: Vec<usize>, what: String) {
        self.look(id, side);
        let count = self.counts.entry((id, side)).or_default();
        *count += 1;
        if *count <= PER_RULE_MAX {
            self.findings.push(finding(id, side, frames, what));
        }
    }

    /// Names what was judged before the version was known as that version does, and leaves out what it has no rule for.
    pub(super) fn settle(&mut self, version: Version) {
        let named = |id: &'static str, side: Side| rules::named(id, side, version);
        for (id, side) in std::mem::take(&mut self.looked_at) {
            self.looked_at.extend(named(id, side).map(|id| (id, side)));
        }
        for ((id, side), count) in std::mem::take(&mut self.counts) {
            if let Some(id) = named(id, side) {
                *self.counts.entry((id, side)).or_default() += count;
            }
        }
        for old in std::mem::take(&mut self.findings) {
            if let Some(id) = named(old.rule, old.side) {
                self.findings
                    .push(finding(id, old.side, old.frames, old.what));
            }
        }
    }

    pub(super) fn finish(mut self) -> Judgement {
        for ((id, side), count) in self.counts {
            if count > PER_RULE_MAX {
                let what = format!("and {} times more", count - PER_RULE_MAX);
                self.findings.push(finding(id, side, Vec::new(), what));
            }
        }
        Judgement {
            findings: self.findings,
            looked_at: self.looked_at,
        }
    }
}

fn finding(id: &'static str, side: Side, frames: Vec<usize>, what: String) -> Finding {
    Finding {
        rule: id,
        level: rules::rule(id, side).map_or(Level::Must, |rule| rule.level),
        side,
        frames,
        what,
    }
}

/// Returns words of a peer for a finding: short, and harmless on a terminal.
pub(super) fn quote(text: &str) -> String {
    format!("`{}`", Line(&beginning(text, QUOTE_COLUMNS)))
}
