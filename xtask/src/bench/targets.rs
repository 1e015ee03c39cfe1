//! What the table shows and what each work must reach.

use serde::Serialize;

use super::sample::{At, Sample, median, median_of_pairs};
use super::suite::Suite;
use super::table::times;

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
    /// What a reader who does not know the works is told, if not their names.
    title: Option<&'static str>,
    /// The work of other peers that this one of ours is compared with, if it is another.
    others: Option<&'static str>,
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
        title: None,
        others: None,
    }
}

impl Row {
    pub(super) const fn titled(self, title: &'static str) -> Self {
        Row {
            title: Some(title),
            ..self
        }
    }

    pub(super) const fn compared_with(self, work: &'static str) -> Self {
        Row {
            others: Some(work),
            ..self
        }
    }

    /// Returns what the row is called.
    pub(super) fn label(&self) -> String {
        match self.title {
            Some(title) => format!("{title}, {}", self.unit),
            None => format!("{}, {}", self.work, self.unit),
        }
    }

    /// Returns where a peer's own number is.
    pub(super) fn of<'a>(&self, peer: &'a str) -> At<'a> {
        At {
            work: self.work,
            peer,
            metric: self.metric,
        }
    }

    /// Returns where the number of a peer is that ours is compared with.
    fn of_other<'a>(&self, suite: &Suite, peer: &'a str) -> At<'a> {
        let own = self.of(peer);
        match self.others {
            Some(work) if !suite.does(peer, self.work) => At { work, ..own },
            _ => own,
        }
    }

    /// Returns how many times better one of ours is than another peer, as the median over the runs of both.
    pub(super) fn ratio(
        &self,
        suite: &Suite,
        samples: &[Sample],
        ours: &str,
        peer: &str,
    ) -> Option<f64> {
        let (ours, theirs) = (self.of(ours), self.of_other(suite, peer));
        match self.better {
            Better::Higher => median_of_pairs(samples, ours, theirs, |ours, theirs| ours / theirs),
            Better::Lower => median_of_pairs(samples, ours, theirs, |ours, theirs| theirs / ours),
            Better::LowerCapped | Better::HigherCapped => None,
        }
    }
}

/// What this project must reach.
enum Goal {
    /// At least this many times as good as a peer.
    Against(&'static str, f64),
    /// At most this share of what a peer takes.
    AtMostOf(&'static str, f64),
    /// At least this share of what the same peer reaches in another row.
    OfRow(&'static Row, f64),
    /// At most this much more than a peer, in the row's unit.
    AtMostMore(&'static str, f64),
    /// Below this, in the row's unit.
    Below(f64),
    /// At most this, in the row's unit.
    AtMost(f64),
    /// At least this, in the row's unit.
    AtLeast(f64),
}

pub(super) struct Target {
    row: &'static Row,
    goal: Goal,
    /// Which of ours it is for, if it is not for all.
    of: Option<&'static str>,
}

impl Target {
    /// Says which of ours it is for.
    pub(super) const fn of(self, peer: &'static str) -> Self {
        Target {
            of: Some(peer),
            ..self
        }
    }
}

const fn target(row: &'static Row, goal: Goal) -> Target {
    Target {
        row,
        goal,
        of: None,
    }
}

pub(super) const fn against(row: &'static Row, peer: &'static str, least: f64) -> Target {
    target(row, Goal::Against(peer, least))
}

pub(super) const fn at_most_of(row: &'static Row, peer: &'static str, most: f64) -> Target {
    target(row, Goal::AtMostOf(peer, most))
}

pub(super) const fn of_row(row: &'static Row, other: &'static Row, least: f64) -> Target {
    target(row, Goal::OfRow(other, least))
}

pub(super) const fn at_most_more(row: &'static Row, peer: &'static str, more: f64) -> Target {
    target(row, Goal::AtMostMore(peer, more))
}

pub(super) const fn below(row: &'static Row, most: f64) -> Target {
    target(row, Goal::Below(most))
}

pub(super) const fn at_most(row: &'static Row, most: f64) -> Target {
    target(row, Goal::AtMost(most))
}

pub(super) const fn at_least(row: &'static Row, least: f64) -> Target {
    target(row, Goal::AtLeast(least))
}

/// A target beside what was measured.
#[derive(Serialize)]
pub(super) struct Verdict {
    #[serde(skip)]
    row: &'static Row,
    work: String,
    target: String,
    /// Which of ours was judged.
    peer: &'static str,
    measured: f64,
    /// What it had to be, in the same measure.
    wanted: f64,
    met: bool,
    /// What the floor reaches of the same target: one that the floor misses asks for more than the machine can do.
    floor: Option<f64>,
}

impl Verdict {
    pub(super) fn is_of(&self, row: &Row) -> bool {
        std::ptr::eq(self.row, row)
    }

    pub(super) fn is_met(&self) -> bool {
        self.met
    }

    /// Says it in a cell of the table.
    pub(super) fn short(&self, of_several: bool) -> String {
        let who = if of_several { self.peer } else { "" };
        let verdict = if self.met { "met" } else { "**missed**" };
        let measured = times(self.measured);
        let text = format!("{who} {}: {measured}, {verdict}", self.target);
        text.trim_start().to_owned()
    }

    /// Says by how much a target was missed.
    pub(super) fn missed(&self) -> String {
        let off = (self.measured - self.wanted).abs() / self.wanted * 100.0;
        let floor = self
            .floor
            .map(|floor| format!("; the floor has {}", times(floor)));
        format!(
            "{} ({}): {} where {} was wanted, missed by {off:.0} %{}",
            self.work,
            self.peer,
            times(self.measured),
            self.target,
            floor.unwrap_or_default()
        )
    }
}

/// Judges every target whose peers were measured.
pub(super) fn judge(suite: &Suite, samples: &[Sample]) -> Vec<Verdict> {
    let targets = suite.targets.iter();
    targets
        .flat_map(|target| {
            let ours = suite.ours.iter();
            let ours = ours.filter(|peer| target.of.is_none_or(|of| of == **peer));
            ours.filter_map(|peer| verdict(suite, target, peer, samples))
        })
        .collect()
}

fn verdict(
    suite: &Suite,
    target: &Target,
    peer: &'static str,
    samples: &[Sample],
) -> Option<Verdict> {
    let row = target.row;
    let of = |peer: &str| median(samples, row.of(peer));
    // What somebody reaches of the goal: us, or the floor.
    let reached = |peer: &str| match target.goal {
        Goal::Against(other, _) => row.ratio(suite, samples, peer, other),
        Goal::AtMostOf(other, _) => Some(1.0 / row.ratio(suite, samples, peer, other)?),
        Goal::OfRow(other, _) => {
            let share = |ours: f64, theirs: f64| ours / theirs;
            median_of_pairs(samples, row.of(peer), other.of(peer), share)
        }
        _ => of(peer),
    };
    let measured = reached(peer)?;
    let (text, wanted, met) = match target.goal {
        Goal::Against(other, least) => (format!("≥ {least}× {other}"), least, measured >= least),
        Goal::AtMostOf(other, most) => (format!("≤ {most} of {other}"), most, measured <= most),
        Goal::OfRow(other, least) => {
            let text = format!("≥ {least} of {}", other.work);
            (text, least, measured >= least)
        }
        Goal::AtMostMore(other, more) => {
            let most = of(other)? + more;
            (format!("≤ {other} + {more}"), most, measured <= most)
        }
        Goal::Below(most) => (format!("< {most}"), most, measured < most),
        Goal::AtMost(most) => (format!("≤ {most}"), most, measured <= most),
        Goal::AtLeast(least) => (format!("≥ {least}"), least, measured >= least),
    };
    Some(Verdict {
        row,
        work: row.label(),
        target: text,
        peer,
        measured,
        wanted,
        met,
        floor: reached("floor"),
    })
}
