//! The report for people: what failed, why it matters, how to fix it.

use std::fmt::{self, Write as _};
use std::time::Duration;

use ply_client::text::{self, Line};

use super::{Report, Result, Run, evidence};
use crate::verdict::{Outcome, Verdict};

/// Which verdicts are shown in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Failures, warnings and what could not be found out.
    Findings,
    /// Every rule.
    All,
}

/// Whether the report is for a terminal with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// With colours.
    Coloured,
}

/// Columns of the line with the counts.
const COLUMNS_MAX: usize = 80;
/// How long a run takes before its slowest probes are named.
const LONG_RUN: Duration = Duration::from_secs(60);
/// How many of them.
const SLOWEST: usize = 5;

const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const DIM: &str = "2";
const BOLD: &str = "1";

struct Painter(Style);

impl Painter {
    fn paint(&self, code: &str, text: &str) -> String {
        match self.0 {
            Style::Plain => text.to_owned(),
            Style::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

impl Report {
    /// Returns the report for people.
    #[must_use]
    pub fn to_text(&self, detail: Detail, style: Style) -> String {
        let mut out = String::new();
        self.write_text(&mut out, detail, &Painter(style))
            .expect("a string takes all text");
        out
    }

    fn write_text(&self, out: &mut String, detail: Detail, painter: &Painter) -> fmt::Result {
        for run in &self.runs {
            self.write_head(out, run, painter)?;
            if let Some(remark) = &run.findings.remark {
                writeln!(out, "{}", painter.paint(YELLOW, &Line(remark).to_string()))?;
            }
            let mut verdicts: Vec<_> = run.findings.verdicts().collect();
            verdicts.sort_by_key(|verdict| std::cmp::Reverse(verdict.outcome));
            for verdict in verdicts {
                let is_finding = verdict.outcome > Outcome::Pass;
                let is_odd = verdict.outcome == Outcome::Unspecified && !verdict.saw.is_empty();
                match detail {
                    // What follows from another finding is told there.
                    Detail::Findings if verdict.because.is_some() => {}
                    Detail::Findings if is_odd => self.write_finding(out, run, verdict, painter)?,
                    _ if is_finding => self.write_finding(out, run, verdict, painter)?,
                    Detail::All => write_line(out, verdict, painter)?,
                    Detail::Findings => {}
                }
            }
            if let Some(left) = &run.findings.left {
                writeln!(out, "\n{}", painter.paint(YELLOW, &Line(left).to_string()))?;
            }
            write_slowest(out, run, painter)?;
            writeln!(out)?;
        }
        let words = match self.result() {
            Result::Kept if self.baseline.is_empty() => painter.paint(GREEN, "no rule is broken"),
            Result::Kept => painter.paint(GREEN, "nothing is broken that was not before"),
            Result::Broken => {
                let broken = self.new_verdicts(Outcome::Fail).count();
                let rules = if broken == 1 { "rule is" } else { "rules are" };
                painter.paint(RED, &format!("{broken} {rules} broken"))
            }
            Result::Unclear => {
                painter.paint(YELLOW, "no rule is broken, but some could not be judged")
            }
        };
        writeln!(out, "{words}")
    }

    fn write_head(&self, out: &mut String, run: &Run, painter: &Painter) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or(&self.subject);
        // A recording says what its agent is called, and a command line may hold anything.
        let title = format!("{}, {}:", Line(name), Self::title(run));
        let counts = [
            (Outcome::Pass, "kept"),
            (Outcome::Fail, "broken"),
            (Outcome::Warn, "warnings"),
            (Outcome::Inconclusive, "inconclusive"),
            (Outcome::NotApplicable, "not applicable"),
            (Outcome::Unspecified, "unspecified"),
            (Outcome::NotExercised, "not exercised"),
        ];
        let counts = counts.map(|(outcome, words)| format!("{} {words}", run.count(outcome)));
        let took = run.took.as_secs_f64();
        let last = counts.len() - 1;
        let counts = counts.into_iter().enumerate();
        let counts = counts.map(|(place, count)| match place == last {
            true => format!("{count} ({took:.1} s)"),
            false => format!("{count},"),
        });
        // A terminal would break the line inside of a word.
        let mut columns = text::columns(&title);
        write!(out, "{}", painter.paint(BOLD, &title))?;
        for count in counts {
            let wide = text::columns(&count);
            if columns + 1 + wide > COLUMNS_MAX {
                write!(out, "\n   ")?;
                columns = 3;
            }
            write!(out, " {count}")?;
            columns += 1 + wide;
        }
        writeln!(out)
    }

    fn write_finding(
        &self,
        out: &mut String,
        run: &Run,
        verdict: &Verdict,
        painter: &Painter,
    ) -> fmt::Result {
        writeln!(out)?;
        write_line(out, verdict, painter)?;
        let mut row = |name: &str, text: &str| match text.is_empty() {
            true => Ok(()),
            false => writeln!(
                out,
                "    {}  {}",
                painter.paint(DIM, &format!("{name:<8}")),
                Line(text)
            ),
        };
        for (saw, _) in verdict.sights() {
            row("saw", saw)?;
        }
        if verdict.uncounted > 0 {
            row("saw", &format!("and {} times more", verdict.uncounted))?;
        }
        if let Some(cause) = verdict.because {
            row("because", &format!("{cause} is broken"))?;
        }
        let caused: Vec<_> = run.findings.caused_by(verdict.rule.id).collect();
        let caused = match caused.is_empty() {
            true => String::new(),
            false => format!("not judged because of this: {}", caused.join(", ")),
        };
        row("hides", &caused)?;
        row("matters", verdict.rule.matters)?;
        row("fix", verdict.rule.fix)?;
        row("level", &Self::origin(&verdict.rule))?;
        row("note", verdict.rule.note)?;
        for shown in evidence::of(&run.findings, verdict) {
            let (arrow, number, line) = (shown.arrow(), shown.number, &shown.line);
            row(&format!("{arrow} #{number}"), line)?;
        }
        if let Some(saved) = run.saved(verdict) {
            row("trace", &format!("{}:{}", saved.file, saved.line))?;
        }
        if self.baseline.has(&verdict.rule, verdict.outcome) {
            row("known", "the baseline has it, so it does not count")?;
        }
        row("again", &self.again(verdict))
    }
}

/// Names the probes that took longest, if the run took long.
fn write_slowest(out: &mut String, run: &Run, painter: &Painter) -> fmt::Result {
    if run.took < LONG_RUN {
        return Ok(());
    }
    let mut took = run.findings.took.clone();
    took.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let slowest = took.iter().take(SLOWEST);
    let slowest = slowest.map(|(name, time)| format!("{name} ({:.1} s)", time.as_secs_f64()));
    let slowest = slowest.collect::<Vec<_>>().join(", ");
    writeln!(
        out,
        "\n{}",
        painter.paint(DIM, &format!("slowest probes: {slowest}"))
    )
}

fn write_line(out: &mut String, verdict: &Verdict, painter: &Painter) -> fmt::Result {
    let (colour, word) = match verdict.outcome {
        Outcome::Fail => (RED, "broken"),
        Outcome::Warn => (YELLOW, "warning"),
        Outcome::Inconclusive => (YELLOW, "inconclusive"),
        Outcome::Pass => (GREEN, "kept"),
        Outcome::NotApplicable => (DIM, "not applicable"),
        Outcome::Unspecified => (DIM, "unspecified"),
        Outcome::NotExercised => (DIM, "not exercised"),
    };
    let id = painter.paint(BOLD, &format!("{:<14}", verdict.rule.id));
    let word = painter.paint(colour, &format!("{word:<14}"));
    writeln!(out, "{word}  {id}  {}", verdict.rule.says)
}
