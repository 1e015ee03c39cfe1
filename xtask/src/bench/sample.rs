//! One measurement as `ply-bench` printed it, and medians over several.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::binary::Binary;
use super::suite::Suite;
use crate::Result;

/// The numbers of one peer on one work in one run.
#[derive(Serialize)]
pub(super) struct Sample {
    pub(super) run: u32,
    pub(super) work: String,
    pub(super) peer: String,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) metrics: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

impl Sample {
    pub(super) fn take(
        binary: &Binary,
        suite: &Suite,
        run: u32,
        work: &str,
        peer: &str,
    ) -> Result<Self> {
        let arguments = [OsString::from(peer), OsString::from(work)];
        let printed = binary.run(&[], suite.command, &arguments, suite.limit)?;
        Ok(Sample {
            run,
            work: work.to_owned(),
            peer: peer.to_owned(),
            outcome: serde_json::from_str(&printed)?,
        })
    }
}

/// One metric of a peer on a work.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) work: &'a str,
    pub(super) peer: &'a str,
    pub(super) metric: &'a str,
}

impl At<'_> {
    /// Returns its values, each with the number of its run.
    fn values(self, samples: &[Sample]) -> impl Iterator<Item = (u32, f64)> {
        samples
            .iter()
            .filter(move |sample| sample.work == self.work && sample.peer == self.peer)
            .filter_map(move |sample| Some((sample.run, *sample.outcome.metrics.get(self.metric)?)))
    }
}

/// The median of one metric over all runs.
pub(super) fn median(samples: &[Sample], at: At<'_>) -> Option<f64> {
    middle(at.values(samples).map(|(_, value)| value).collect())
}

/// The median, over the runs in which both were measured, of what `compare` makes of two metrics.
pub(super) fn median_of_pairs(
    samples: &[Sample],
    one: At<'_>,
    other: At<'_>,
    compare: impl Fn(f64, f64) -> f64,
) -> Option<f64> {
    let pairs = one.values(samples).filter_map(|(run, value)| {
        let mut others = other.values(samples);
        let (_, beside) = others.find(|(other_run, _)| *other_run == run)?;
        Some(compare(value, beside))
    });
    middle(pairs.collect())
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], expected: Option<f64>) {
        let samples: Vec<Sample> = values
            .iter()
            .map(|&value| sample(1, "floor", value))
            .collect();
        assert_eq!(median(&samples, at("floor")), expected);
        assert_eq!(median(&samples, at("ply")), None);
    }

    fn at(peer: &str) -> At<'_> {
        At {
            work: "updates",
            peer,
            metric: "per_second",
        }
    }

    fn sample(run: u32, peer: &str, value: f64) -> Sample {
        Sample {
            run,
            work: "updates".to_owned(),
            peer: peer.to_owned(),
            outcome: Outcome {
                metrics: BTreeMap::from([("per_second".to_owned(), value)]),
                note: None,
            },
        }
    }

    #[test]
    fn a_ratio_is_taken_within_each_run_before_the_median() {
        // The machine was slow in the second run, and the peer failed in the last.
        let samples = [
            sample(1, "ply", 100.0),
            sample(1, "floor", 200.0),
            sample(2, "ply", 10.0),
            sample(2, "floor", 20.0),
            sample(3, "ply", 90.0),
            sample(3, "floor", 100.0),
            sample(4, "ply", 500.0),
        ];
        let share = median_of_pairs(&samples, at("ply"), at("floor"), |ours, theirs| {
            ours / theirs
        });
        assert_eq!(share, Some(0.5));
        let none = median_of_pairs(&samples, at("ply"), at("sdk"), |ours, theirs| ours / theirs);
        assert_eq!(none, None);
    }

    #[test]
    fn the_median_is_the_middle_or_between_the_two_middles() {
        check(&[], None);
        check(&[3.0], Some(3.0));
        check(&[9.0, 1.0], Some(5.0));
        check(&[9.0, 1.0, 2.0], Some(2.0));
        check(&[9.0, 1.0, 2.0, 4.0], Some(3.0));
    }
}
