//! What is told at the end: numbers, what is missing, and which rules were broken.

use std::io::{self, Write};

use ply_check::passive::Finding;
use ply_check::{Level, Side};
use ply_client::text::Line;
use serde_json::json;

use super::Style;
use super::tally::{Asked, LISTED_MAX, Tally};
use crate::program::json::Harmless;

/// Everything that is known when the recording has been read.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) version: Option<u64>,
    pub(super) findings: Vec<Finding>,
    pub(super) foreign: u64,
    pub(super) is_torn: bool,
    pub(super) tally: Tally,
}

impl Told {
    fn unanswered(&self) -> Vec<&Asked> {
        let mut open: Vec<&Asked> = self.tally.open.values().collect();
        open.sort_by_key(|asked| asked.frame);
        open
    }

    /// Writes it for a human.
    pub(super) fn text(&self, out: &mut impl Write, style: Style) -> io::Result<()> {
        let tally = &self.tally;
        let [to_agent, to_client] = tally.frames;
        let [bytes_to_agent, bytes_to_client] = tally.bytes;
        let version = self
            .version
            .map_or("unknown".to_owned(), |version| version.to_string());
        writeln!(out)?;
        writeln!(out, "version {version}, {:.3} s", tally.seconds)?;
        writeln!(out, "→ {to_agent} frames, {bytes_to_agent} bytes")?;
        writeln!(out, "← {to_client} frames, {bytes_to_client} bytes")?;
        if tally.lost > 0 {
            writeln!(
                out,
                "the recording lost {} entries; rules were judged up to there",
                tally.lost
            )?;
        }
        if self.foreign > 0 {
            writeln!(
                out,
                "{} lines of the file are no part of the recording",
                self.foreign
            )?;
        }
        if self.is_torn {
            writeln!(out, "the last line of the file is cut off")?;
        }
        self.times(out)?;
        self.missing(out)?;
        self.rules(out, style)
    }

    fn times(&self, out: &mut impl Write) -> io::Result<()> {
        if self.tally.methods.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        writeln!(
            out,
            "{:<28} {:>6} {:>9} {:>9} {:>9}",
            "seconds", "count", "p50", "p95", "max"
        )?;
        for (method, times) in &self.tally.methods {
            let (p50, p95) = (times.quantile(0.5), times.quantile(0.95));
            let method = Line(method).to_string();
            writeln!(
                out,
                "{method:<28} {:>6} {p50:>9.3} {p95:>9.3} {:>9.3}",
                times.count, times.max
            )?;
        }
        let slowest = self.tally.slowest.iter();
        let slowest =
            slowest.map(|(took, method, frame)| format!("#{frame} {} {took:.3} s", Line(method)));
        let slowest: Vec<String> = slowest.collect();
        writeln!(out, "slowest: {}", slowest.join(", "))
    }

    fn missing(&self, out: &mut impl Write) -> io::Result<()> {
        let unanswered = self.unanswered();
        if !unanswered.is_empty() {
            writeln!(out)?;
            writeln!(out, "{} requests without an answer:", unanswered.len())?;
            for asked in unanswered.iter().take(LISTED_MAX) {
                writeln!(out, "  #{} {}", asked.frame, Line(&asked.method))?;
            }
        }
        let nothing = &self.tally.answers_to_nothing;
        if nothing.count > 0 {
            let frames: Vec<String> = nothing
                .first
                .iter()
                .map(|frame| format!("#{frame}"))
                .collect();
            writeln!(out)?;
            writeln!(
                out,
                "{} answers to nothing: {}",
                nothing.count,
                frames.join(" ")
            )?;
        }
        let errors = &self.tally.errors;
        if errors.count > 0 {
            writeln!(out)?;
            writeln!(out, "{} errors:", errors.count)?;
            for (frame, method, what) in &errors.first {
                writeln!(out, "  #{frame} {} {}", Line(method), Line(what))?;
            }
        }
        Ok(())
    }

    fn rules(&self, out: &mut impl Write, style: Style) -> io::Result<()> {
        writeln!(out)?;
        if self.findings.is_empty() {
            return writeln!(out, "no rule was broken, as far as a recording shows");
        }
        writeln!(out, "{} rule violations:", self.findings.len())?;
        for finding in &self.findings {
            let level = match finding.level {
                Level::Must => "must",
                Level::Should => "should",
                Level::May => "may",
                Level::Unspecified => "none",
            };
            let side = match finding.side {
                Side::Agent => "agent",
                Side::Client => "client",
            };
            let frames: Vec<String> = finding
                .frames
                .iter()
                .map(|frame| format!("#{frame}"))
                .collect();
            let frames = frames.join(" ");
            let line = format!(
                "  {:<14} {level:<6} {side:<6} {frames:<12} {}",
                finding.rule, finding.what
            );
            match style.has_colour && finding.level == Level::Must {
                true => writeln!(out, "\x1b[31m{line}\x1b[0m")?,
                false => writeln!(out, "{line}")?,
            }
        }
        Ok(())
    }

    /// Writes it as one JSON object.
    pub(super) fn json(&self, out: &mut impl Write) -> io::Result<()> {
        let tally = &self.tally;
        let methods = tally.methods.iter().map(|(method, times)| {
            json!({ "method": method, "count": times.count, "p50": times.quantile(0.5),
                "p95": times.quantile(0.95), "max": times.max })
        });
        let slowest = tally.slowest.iter();
        let slowest = slowest
            .map(|(took, method, frame)| json!({ "method": method, "frame": frame, "took": took }));
        let unanswered = self.unanswered().into_iter().take(LISTED_MAX);
        let unanswered =
            unanswered.map(|asked| json!({ "method": asked.method, "frame": asked.frame }));
        let errors = tally.errors.first.iter();
        let errors = errors
            .map(|(frame, method, what)| json!({ "frame": frame, "method": method, "what": what }));
        let [to_agent, to_client] = tally.frames;
        let [bytes_to_agent, bytes_to_client] = tally.bytes;
        let summary = json!({
            "kind": "summary",
            "version": self.version,
            "seconds": tally.seconds,
            "toAgent": { "frames": to_agent, "bytes": bytes_to_agent },
            "toClient": { "frames": to_client, "bytes": bytes_to_client },
            "methods": methods.collect::<Vec<_>>(),
            "slowest": slowest.collect::<Vec<_>>(),
            "unansweredCount": tally.open.len(),
            "unanswered": unanswered.collect::<Vec<_>>(),
            "answersToNothingCount": tally.answers_to_nothing.count,
            "answersToNothing": tally.answers_to_nothing.first,
            "errorCount": tally.errors.count,
            "errors": errors.collect::<Vec<_>>(),
            "lost": tally.lost,
            "foreignLines": self.foreign,
            "isTorn": self.is_torn,
            "violations": self.findings,
        });
        serde_json::to_writer(Harmless(&mut *out), &summary)?;
        out.write_all(b"\n")
    }
}
