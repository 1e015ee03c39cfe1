//! Failures that are known, so that only new ones count.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::name;
use crate::rule::{Rule, Side};
use crate::verdict::Outcome;

/// What an earlier report found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    failed: BTreeSet<(String, &'static str)>,
    unclear: BTreeSet<(String, &'static str)>,
}

/// Why a file is no baseline.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadBaseline {
    /// It is no report.
    #[error("it is no report of `ply check --output json`: {0}")]
    NoReport(#[from] serde_json::Error),
    /// It is about the other side.
    #[error("it is a report on the other side of the protocol")]
    OtherSide,
    /// It is not about a recording.
    #[error("it is no report on a recording")]
    NoTrace,
}

#[derive(Deserialize)]
struct Stored {
    side: String,
    trace: Option<String>,
    runs: Vec<StoredRun>,
}

#[derive(Deserialize)]
struct StoredRun {
    /// Whom it is about, if not whom the report is about.
    side: Option<String>,
    verdicts: Vec<StoredVerdict>,
}

#[derive(Deserialize)]
struct StoredVerdict {
    id: String,
    outcome: String,
}

impl Baseline {
    /// Reads a report of `--output json`.
    ///
    /// # Errors
    ///
    /// It is no report, or not about this side.
    pub fn read(report: &[u8], side: Side) -> Result<Self, BadBaseline> {
        let stored: Stored = serde_json::from_slice(report)?;
        match stored.trace.is_none() && stored.side == name(side) {
            true => Ok(Self::of(stored, &[side])),
            false => Err(BadBaseline::OtherSide),
        }
    }

    /// Reads a report of `--output json` on a recording.
    ///
    /// # Errors
    ///
    /// It is no report, or not on a recording.
    pub fn read_of_trace(report: &[u8]) -> Result<Self, BadBaseline> {
        let stored: Stored = serde_json::from_slice(report)?;
        match stored.trace.is_some() {
            true => Ok(Self::of(stored, &[Side::Agent, Side::Client])),
            false => Err(BadBaseline::NoTrace),
        }
    }

    fn of(stored: Stored, sides: &[Side]) -> Self {
        let mut baseline = Self::default();
        for run in stored.runs {
            let side = run.side.as_ref().unwrap_or(&stored.side);
            let Some(side) = sides.iter().map(|side| name(*side)).find(|it| it == side) else {
                continue;
            };
            for verdict in run.verdicts {
                match verdict.outcome.as_str() {
                    "fail" => baseline.failed.insert((verdict.id, side)),
                    "inconclusive" => baseline.unclear.insert((verdict.id, side)),
                    _ => continue,
                };
            }
        }
        baseline
    }

    /// Returns whether an outcome is no worse than it was. What failed before may be unclear now.
    #[must_use]
    pub fn has(&self, rule: &Rule, outcome: Outcome) -> bool {
        let key = (rule.id.to_owned(), name(rule.side));
        let failed = self.failed.contains(&key);
        match outcome {
            Outcome::Fail => failed,
            Outcome::Inconclusive => failed || self.unclear.contains(&key),
            _ => false,
        }
    }

    /// Returns whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.failed.is_empty() && self.unclear.is_empty()
    }
}
