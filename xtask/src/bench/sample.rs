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

/// The median of one metric over all runs of a peer on a work.
pub(super) fn median(samples: &[Sample], work: &str, peer: &str, metric: &str) -> Option<f64> {
    let mut values: Vec<f64> = samples
        .iter()
        .filter(|sample| sample.work == work && sample.peer == peer)
        .filter_map(|sample| sample.outcome.metrics.get(metric).copied())
        .collect();
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
            .map(|&value| Sample {
                run: 1,
                work: "updates".to_owned(),
                peer: "floor".to_owned(),
                outcome: Outcome {
                    metrics: BTreeMap::from([("per_second".to_owned(), value)]),
                    note: None,
                },
            })
            .collect();
        assert_eq!(median(&samples, "updates", "floor", "per_second"), expected);
        assert_eq!(median(&samples, "updates", "ply", "per_second"), None);
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
