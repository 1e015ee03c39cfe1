//! What a run comes to, in the forms that people and programs read.

mod baseline;
mod evidence;
mod html;
mod json;
mod junit;
mod markup;
mod sarif;
mod text;

use std::time::Duration;

use ply_wire::negotiate::Version;

pub use self::baseline::{BadBaseline, Baseline};
pub use self::text::{Detail, Style};
use crate::findings::Findings;
use crate::recording::Recording;
use crate::rule::{Level, Rule, Side};
use crate::verdict::{Outcome, Verdict};

/// What a run comes to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// Who was checked.
    pub side: Side,
    /// What was run, as it can be typed.
    pub subject: String,
    /// Whether that is the name of an agent and not a command.
    pub by_name: bool,
    /// What the subject calls itself, if it said so.
    pub name: Option<String>,
    /// What was found in each version that was spoken.
    pub runs: Vec<Run>,
    /// Failures that are known and do not count.
    pub baseline: Baseline,
    /// The recording that was judged, as it can be typed; none if something was run.
    pub trace: Option<String>,
    /// The file of that recording, if it is one.
    pub trace_file: Option<String>,
    /// The command that looks at every rule again, if there is none for each.
    pub again: Option<String>,
    /// Options that the run was given and that change what is found, as they can be typed.
    pub options: String,
}

/// What was found about one side in one version of the protocol.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run {
    /// Whom it is about, if not whom the report is about: a recording shows both sides.
    pub side: Option<Side>,
    /// The version.
    pub version: Version,
    /// What was found.
    pub findings: Findings,
    /// How long it took.
    pub took: Duration,
    /// The trace files of the recordings, in the order of the findings' recordings; empty if none were saved.
    pub traces: Vec<Option<String>>,
}

/// Where the evidence of a verdict is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Saved {
    file: String,
    /// The line of the first frame, from 1.
    line: usize,
}

impl Run {
    /// Returns what was found in one version of the protocol.
    #[must_use]
    pub fn new(version: Version, findings: Findings, took: Duration) -> Self {
        Self {
            side: None,
            version,
            findings,
            took,
            traces: Vec::new(),
        }
    }

    /// Returns where the evidence of a verdict is saved, if it is.
    fn saved(&self, verdict: &Verdict) -> Option<Saved> {
        let evidence = &verdict.evidence;
        // What is about no frame was found in no recording.
        let frame = evidence.frames.first()?;
        let file = self.traces.get(evidence.recording)?.clone()?;
        let line = Recording::trace_line(*frame);
        Some(Saved { file, line })
    }

    /// Says whom it is about.
    #[must_use]
    pub fn about(mut self, side: Side) -> Self {
        self.side = Some(side);
        self
    }

    /// Returns how often there was an outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        let verdicts = self.findings.verdicts();
        verdicts
            .filter(|verdict| verdict.outcome == outcome && verdict.because.is_none())
            .count()
    }

    /// Returns the number of the version.
    #[must_use]
    pub fn number(&self) -> u8 {
        match self.version {
            Version::V1 => 1,
            Version::V2 => 2,
        }
    }
}

/// What a run amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Result {
    /// Every rule that could be judged was kept, but for known failures.
    Kept,
    /// A rule was broken.
    Broken,
    /// No rule was broken, but it could not be found out about some.
    Unclear,
}

impl Report {
    /// Returns the report on `subject`, with no known failures.
    #[must_use]
    pub fn new(
        side: Side,
        subject: impl Into<String>,
        name: Option<String>,
        runs: Vec<Run>,
    ) -> Self {
        Self {
            side,
            subject: subject.into(),
            by_name: false,
            name,
            runs,
            baseline: Baseline::default(),
            trace: None,
            trace_file: None,
            again: None,
            options: String::new(),
        }
    }

    /// Says which recording was judged.
    #[must_use]
    pub fn of_trace(mut self, trace: impl Into<String>) -> Self {
        self.trace = Some(trace.into());
        self
    }

    /// Returns what a run is about, in words.
    fn title(run: &Run) -> String {
        let version = run.number();
        match run.side {
            Some(side) => format!("{}, protocol version {version}", name(side)),
            None => format!("protocol version {version}"),
        }
    }

    /// Returns whom a run is about.
    #[must_use]
    pub fn side_of(&self, run: &Run) -> Side {
        run.side.unwrap_or(self.side)
    }

    /// Returns what the run amounts to. Warnings, and rules about which nothing happened, do not count.
    #[must_use]
    pub fn result(&self) -> Result {
        let counts = |outcome| self.new_verdicts(outcome).next().is_some();
        match () {
            () if counts(Outcome::Fail) => Result::Broken,
            () if counts(Outcome::Inconclusive) => Result::Unclear,
            () => Result::Kept,
        }
    }

    /// Returns the verdicts of an outcome that the baseline does not have.
    pub fn new_verdicts(&self, outcome: Outcome) -> impl Iterator<Item = &Verdict> {
        let verdicts = self.runs.iter().flat_map(|run| run.findings.verdicts());
        verdicts.filter(move |verdict| {
            let is_own = verdict.outcome == outcome && verdict.because.is_none();
            is_own && !self.baseline.has(&verdict.rule, outcome)
        })
    }

    /// Returns the command that looks at one rule again.
    #[must_use]
    pub fn again(&self, verdict: &Verdict) -> String {
        let (id, subject) = (verdict.rule.id, &self.subject);
        let side = name(verdict.rule.side);
        let options = match self.options.as_str() {
            "" => String::new(),
            options => format!("{options} "),
        };
        match (&self.again, &self.trace) {
            (Some(again), _) => again.clone(),
            (None, Some(trace)) => {
                format!("ply check trace --side {side} --only {id} {options}{trace}")
            }
            (None, None) if self.by_name => {
                format!("ply check {side} --only {id} {options}{subject}")
            }
            (None, None) => format!("ply check {side} --only {id} {options}-- {subject}"),
        }
    }

    /// Returns how binding a rule is and where it is written, in words.
    fn origin(rule: &Rule) -> String {
        let level = match rule.level {
            Level::Must => "MUST",
            Level::Should => "SHOULD",
            Level::May => "MAY",
            Level::Unspecified => "unspecified",
        };
        let side = name(rule.side);
        let source = rule.source();
        format!("{level}, {side}; {} {}", source.words(), source.link)
    }

    /// Returns the result in words and data.
    fn result_name(&self) -> &'static str {
        match self.result() {
            Result::Kept => "kept",
            Result::Broken => "broken",
            Result::Unclear => "unclear",
        }
    }
}

/// Returns the name of a side in words and data.
fn name(side: Side) -> &'static str {
    match side {
        Side::Agent => "agent",
        Side::Client => "client",
    }
}
