//! The report for programs: one object, stable, with everything in it.

use serde_json::{Value, json};

use super::{Report, Run, evidence};
use crate::verdict::{Outcome, Verdict};

/// The version of the format.
const FORMAT: u32 = 1;

/// Every outcome with its name in data.
const OUTCOMES: [(Outcome, &str); 7] = [
    (Outcome::Pass, "pass"),
    (Outcome::Fail, "fail"),
    (Outcome::Warn, "warn"),
    (Outcome::NotApplicable, "not_applicable"),
    (Outcome::Unspecified, "unspecified"),
    (Outcome::NotExercised, "not_exercised"),
    (Outcome::Inconclusive, "inconclusive"),
];

impl Report {
    /// Returns the report as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let runs = self.runs.iter().map(|run| self.run_json(run));
        json!({
            "ply": "check",
            "version": FORMAT,
            "checker": env!("CARGO_PKG_VERSION"),
            "side": self.side,
            "trace": self.trace,
            "subject": self.subject,
            "name": self.name,
            "result": self.result_name(),
            "runs": runs.collect::<Vec<_>>(),
        })
    }

    fn run_json(&self, run: &Run) -> Value {
        let counts = OUTCOMES.map(|(outcome, name)| (name.to_owned(), json!(run.count(outcome))));
        let verdicts = run.findings.verdicts();
        let verdicts = verdicts.map(|verdict| self.verdict_json(run, verdict));
        let probes = run.findings.took.iter().map(|(name, took)| {
            json!({"name": name, "tookMs": u64::try_from(took.as_millis()).unwrap_or(u64::MAX)})
        });
        json!({
            "side": self.side_of(run),
            "protocolVersion": run.number(),
            "tookMs": u64::try_from(run.took.as_millis()).unwrap_or(u64::MAX),
            "remark": run.findings.remark,
            "left": run.findings.left,
            "probes": probes.collect::<Vec<_>>(),
            "recordings": run.traces,
            "counts": counts.into_iter().collect::<serde_json::Map<_, _>>(),
            "verdicts": verdicts.collect::<Vec<_>>(),
        })
    }

    fn verdict_json(&self, run: &Run, verdict: &Verdict) -> Value {
        let rule = &verdict.rule;
        let frames = evidence::of(&run.findings, verdict);
        let frames = frames.iter().map(|shown| {
            json!({
                "number": shown.number,
                "direction": shown.direction(),
                "at": shown.at_s,
                "line": shown.line,
            })
        });
        json!({
            "id": rule.id,
            "level": rule.level,
            "side": rule.side,
            "source": rule.source(),
            "note": rule.note,
            "topic": rule.topic(),
            "gate": rule.gate,
            "says": rule.says,
            "outcome": verdict.outcome,
            "saw": verdict.saw,
            "more": verdict.more,
            "uncounted": verdict.uncounted,
            "because": verdict.because,
            "known": self.baseline.has(rule, verdict.outcome),
            "probe": verdict.probe,
            "recording": verdict.evidence.recording,
            "trace": run.saved(verdict).map(|saved| json!({"file": saved.file, "line": saved.line})),
            "frames": frames.collect::<Vec<_>>(),
            "again": self.again(verdict),
        })
    }
}
