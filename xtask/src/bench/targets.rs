//! What the table shows and what each work must reach.

use serde::Serialize;

use super::sample::{Sample, median};
use super::suite::Suite;

/// Which way is better.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Better {
    Higher,
    Lower,
    /// Lower, but some peers are cut off at a cap, so a ratio would say nothing.
    LowerCapped,
    /// Higher, up to the same cap for all.
    HigherCapped,
}

/// One row of the table: a metric of a work.
pub(super) struct Row {
    pub(super) work: &'static str,
    pub(super) metric: &'static str,
    pub(super) unit: &'static str,
    pub(super) better: Better,
}

pub(super) const fn row(
    work: &'static str,
    metric: &'static str,
    unit: &'static str,
    better: Better,
) -> Row {
    Row {
        work,
        metric,
        unit,
        better,
    }
}

/// How much better `ours` is than `theirs`: 2 means twice the rate or half the time.
pub(super) fn ratio(better: Better, ours: f64, theirs: f64) -> Option<f64> {
    match better {
        Better::Higher => Some(ours / theirs),
        Better::Lower => Some(theirs / ours),
        Better::LowerCapped | Better::HigherCapped => None,
    }
}

/// What this project must reach.
enum Goal {
    /// At least this many times as good as a peer.
    Against(&'static str, f64),
    /// At most this much more than a peer, in the row's unit.
    AtMostMore(&'static str, f64),
    /// Below this, in the row's unit.
    Below(f64),
    /// At least this, in the row's unit.
    AtLeast(f64),
}

pub(super) struct Target {
    row: &'static Row,
    goal: Goal,
}

pub(super) const fn against(row: &'static Row, peer: &'static str, least: f64) -> Target {
    Target {
        row,
        goal: Goal::Against(peer, least),
    }
}

pub(super) const fn at_most_more(row: &'static Row, peer: &'static str, more: f64) -> Target {
    Target {
        row,
        goal: Goal::AtMostMore(peer, more),
    }
}

pub(super) const fn below(row: &'static Row, most: f64) -> Target {
    Target {
        row,
        goal: Goal::Below(most),
    }
}

pub(super) const fn at_least(row: &'static Row, least: f64) -> Target {
    Target {
        row,
        goal: Goal::AtLeast(least),
    }
}

/// A target beside what was measured.
#[derive(Serialize)]
pub(super) struct Verdict {
    pub(super) target: String,
    /// Which of ours was judged.
    pub(super) peer: &'static str,
    pub(super) measured: f64,
    /// What it had to be, in the same measure.
    pub(super) wanted: f64,
    pub(super) met: bool,
    /// What the floor reaches of the same target: one that the floor misses asks for more than the machine can do.
    pub(super) floor: Option<f64>,
}

impl Verdict {
    /// Says whether the target was met, or by how much it was missed.
    pub(super) fn text(&self) -> String {
        if self.met {
            return "met".to_owned();
        }
        let off = (self.measured - self.wanted).abs() / self.wanted;
        format!("missed by {:.0}%", off * 100.0)
    }
}

/// Judges every target whose peers were measured.
pub(super) fn judge(suite: &Suite, samples: &[Sample]) -> Vec<Verdict> {
    let targets = suite.targets.iter();
    targets
        .flat_map(|target| {
            let ours = suite.ours.iter();
            ours.filter_map(|peer| verdict(target, peer, samples))
        })
        .collect()
}

fn verdict(target: &Target, peer: &'static str, samples: &[Sample]) -> Option<Verdict> {
    let row = target.row;
    let of = |peer: &str| median(samples, row.work, peer, row.metric);
    let ours = of(peer)?;
    let (text, measured, wanted, met, floor) = match target.goal {
        Goal::Against(other, least) => {
            let theirs = of(other)?;
            let measured = ratio(row.better, ours, theirs)?;
            let floor = of("floor").and_then(|floor| ratio(row.better, floor, theirs));
            let text = format!(">= {least}x {other}");
            (text, measured, least, measured >= least, floor)
        }
        Goal::AtMostMore(other, more) => {
            let most = of(other)? + more;
            let text = format!("<= {other} + {more}");
            (text, ours, most, ours <= most, of("floor"))
        }
        Goal::Below(most) => (format!("< {most}"), ours, most, ours < most, of("floor")),
        Goal::AtLeast(least) => (
            format!(">= {least}"),
            ours,
            least,
            ours >= least,
            of("floor"),
        ),
    };
    Some(Verdict {
        target: format!("{} {} {text}", row.work, row.unit),
        peer,
        measured,
        wanted,
        met,
        floor,
    })
}
