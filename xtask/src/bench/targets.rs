//! What the table shows and what each work must reach.

use serde::Serialize;

use super::sample::{Sample, median};

/// Which way is better.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Better {
    Higher,
    Lower,
    /// Lower, but some peers are cut off at a cap, so a ratio would say nothing.
    LowerCapped,
}

/// One row of the table: a metric of a work.
pub(super) struct Row {
    pub(super) work: &'static str,
    pub(super) metric: &'static str,
    pub(super) unit: &'static str,
    pub(super) better: Better,
}

const fn row(work: &'static str, metric: &'static str, unit: &'static str, better: Better) -> Row {
    Row {
        work,
        metric,
        unit,
        better,
    }
}

static UPDATES: Row = row("updates", "per_second", "updates/s", Better::Higher);
static ROUNDTRIP: Row = row("roundtrip", "p50_us", "p50 µs", Better::Lower);
static ROUNDTRIP_TAIL: Row = row("roundtrip", "p99_us", "p99 µs", Better::Lower);
static INFLIGHT: Row = row("inflight", "per_second", "requests/s", Better::Higher);
static LARGE: Row = row("large", "best_ms", "ms, best of 5", Better::Lower);
static SLOW_READER: Row = row(
    "slow_reader",
    "growth_mib",
    "MiB grown",
    Better::LowerCapped,
);

/// The table, top down.
pub(super) static ROWS: [&Row; 6] = [
    &UPDATES,
    &ROUNDTRIP,
    &ROUNDTRIP_TAIL,
    &INFLIGHT,
    &LARGE,
    &SLOW_READER,
];

/// How much better `ours` is than `theirs`: 2 means twice the rate or half the time.
pub(super) fn ratio(better: Better, ours: f64, theirs: f64) -> Option<f64> {
    match better {
        Better::Higher => Some(ours / theirs),
        Better::Lower => Some(theirs / ours),
        Better::LowerCapped => None,
    }
}

/// What ply must reach.
enum Goal {
    /// At least this many times as good as a peer.
    Against(&'static str, f64),
    /// Below this, in the row's unit.
    Below(f64),
}

struct Target {
    row: &'static Row,
    goal: Goal,
}

const fn against(row: &'static Row, peer: &'static str, least: f64) -> Target {
    Target {
        row,
        goal: Goal::Against(peer, least),
    }
}

static TARGETS: [Target; 10] = [
    against(&UPDATES, "sdk-documented", 25.0),
    against(&UPDATES, "sdk-fastest", 6.0),
    against(&UPDATES, "floor", 0.7),
    against(&ROUNDTRIP, "sdk-documented", 8.0),
    against(&ROUNDTRIP, "sdk-fastest", 8.0),
    against(&INFLIGHT, "sdk-documented", 25.0),
    against(&INFLIGHT, "sdk-fastest", 8.0),
    against(&LARGE, "sdk-documented", 2.0),
    against(&LARGE, "sdk-fastest", 2.0),
    Target {
        row: &SLOW_READER,
        goal: Goal::Below(8.0),
    },
];

/// A target beside what was measured.
#[derive(Serialize)]
pub(super) struct Verdict {
    pub(super) target: String,
    pub(super) measured: f64,
    pub(super) met: bool,
    /// What the floor reaches of the same target: one that the floor misses asks for more than the machine can do.
    pub(super) floor: Option<f64>,
}

/// Judges every target whose peers were measured.
pub(super) fn judge(samples: &[Sample]) -> Vec<Verdict> {
    let verdict = |target: &Target| {
        let row = target.row;
        let of = |peer: &str| median(samples, row.work, peer, row.metric);
        let ply = of("ply")?;
        let verdict = match target.goal {
            Goal::Against(peer, least) => {
                let theirs = of(peer)?;
                let measured = ratio(row.better, ply, theirs)?;
                let floor = of("floor").and_then(|floor| ratio(row.better, floor, theirs));
                Verdict {
                    target: format!("{} {} >= {least}x {peer}", row.work, row.unit),
                    measured,
                    met: measured >= least,
                    floor,
                }
            }
            Goal::Below(most) => Verdict {
                target: format!("{} {} < {most}", row.work, row.unit),
                measured: ply,
                met: ply < most,
                floor: of("floor"),
            },
        };
        Some(verdict)
    };
    TARGETS.iter().filter_map(verdict).collect()
}
