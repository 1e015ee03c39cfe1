//! The report as JUnit XML, which most build servers show.

use std::fmt::{self, Write as _};

use super::markup::escape;
use super::{Report, Run, evidence};
use crate::verdict::{Outcome, Verdict};

impl Report {
    /// Returns the report as JUnit XML: a suite for each version, a case for each rule. Known failures are skipped cases.
    #[must_use]
    pub fn to_junit(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.write_junit(&mut out).expect("a string takes all text");
        out
    }

    fn write_junit(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "<testsuites name=\"ply check\">")?;
        for run in &self.runs {
            let verdicts = || run.findings.verdicts();
            let failures = verdicts().filter(|verdict| self.fails(verdict)).count();
            let errors = verdicts()
                .filter(|verdict| self.is_unclear(verdict))
                .count();
            let skipped = verdicts()
                .filter(|verdict| self.is_skipped(verdict))
                .count();
            writeln!(
                out,
                "  <testsuite name=\"{} ({})\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{:.3}\">",
                escape(&self.subject),
                Self::title(run),
                verdicts().count(),
                run.took.as_secs_f64(),
            )?;
            for verdict in verdicts() {
                self.write_case(out, run, verdict)?;
            }
            writeln!(out, "  </testsuite>")?;
        }
        writeln!(out, "</testsuites>")
    }

    fn write_case(&self, out: &mut String, run: &Run, verdict: &Verdict) -> fmt::Result {
        let rule = &verdict.rule;
        let (class, name) = (rule.topic(), escape(&format!("{} {}", rule.id, rule.says)));
        write!(out, "    <testcase classname=\"{class}\" name=\"{name}\"")?;
        let saw = escape(&verdict.saw);
        let frames = evidence::of(&run.findings, verdict);
        let frames = frames.iter().map(|shown| {
            let line = format!("{} #{} {}", shown.arrow(), shown.number, shown.line);
            escape(&line)
        });
        let frames = frames.collect::<Vec<_>>().join("\n");
        let again = match run.saved(verdict) {
            Some(saved) => format!(
                "{}\ntrace: {}:{}",
                self.again(verdict),
                saved.file,
                saved.line
            ),
            None => self.again(verdict),
        };
        let again = escape(&again);
        match verdict.outcome {
            _ if self.fails(verdict) => writeln!(
                out,
                "><failure message=\"{saw}\">{}\n{}\n{frames}\nagain: {again}</failure></testcase>",
                escape(rule.fix),
                escape(&Self::origin(rule))
            ),
            _ if self.is_unclear(verdict) => {
                writeln!(
                    out,
                    "><error message=\"{saw}\">{frames}\nagain: {again}</error></testcase>"
                )
            }
            Outcome::Pass => writeln!(out, "/>"),
            Outcome::Warn => writeln!(
                out,
                "><system-out>warning: {saw}\n{frames}</system-out></testcase>"
            ),
            _ => {
                let why = match verdict.outcome {
                    Outcome::NotExercised => "not exercised".to_owned(),
                    Outcome::NotApplicable => saw,
                    Outcome::Unspecified => format!("unspecified: {saw}"),
                    Outcome::Inconclusive if verdict.because.is_some() => {
                        format!("follows from {}", verdict.because.unwrap_or_default())
                    }
                    _ => format!("known: {saw}"),
                };
                writeln!(out, "><skipped message=\"{why}\"/></testcase>")
            }
        }
    }

    fn fails(&self, verdict: &Verdict) -> bool {
        verdict.outcome == Outcome::Fail && !self.is_known(verdict)
    }

    fn is_unclear(&self, verdict: &Verdict) -> bool {
        let is_own = verdict.outcome == Outcome::Inconclusive && verdict.because.is_none();
        is_own && !self.is_known(verdict)
    }

    fn is_skipped(&self, verdict: &Verdict) -> bool {
        let has_no_part = verdict.outcome < Outcome::Pass;
        has_no_part || verdict.because.is_some() || self.is_known(verdict)
    }

    fn is_known(&self, verdict: &Verdict) -> bool {
        self.baseline.has(&verdict.rule, verdict.outcome)
    }
}
