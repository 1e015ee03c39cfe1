//! The report as one page, with nothing to fetch and nothing to run.

use std::fmt::{self, Write as _};

use super::markup::escape;
use super::{Report, Result, Run, evidence};
use crate::verdict::{Outcome, Verdict};

const STYLE: &str = include_str!("page.css");

impl Report {
    /// Returns the report as one HTML page.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut out = String::new();
        self.write_html(&mut out).expect("a string takes all text");
        out
    }

    fn write_html(&self, out: &mut String) -> fmt::Result {
        let name = escape(self.name.as_deref().unwrap_or(&self.subject));
        // What was recorded is hostile: it is text here, and no script may run at all.
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{name}: Agent Client Protocol</title>\n<style>\n{STYLE}</style></head>\n<body>\n\
             <h1>{name}</h1>\n<p><code>{}</code></p>\n",
            escape(&self.subject)
        )?;
        let (class, words) = match self.result() {
            Result::Kept => ("pass", "No rule is broken."),
            Result::Broken => ("fail", "Rules are broken."),
            Result::Unclear => ("warn", "No rule is broken, but some could not be judged."),
        };
        writeln!(out, "<p class=\"{class}\"><b>{words}</b></p>")?;
        for run in &self.runs {
            self.write_run(out, run)?;
        }
        writeln!(out, "</body></html>")
    }

    fn write_run(&self, out: &mut String, run: &Run) -> fmt::Result {
        writeln!(out, "<h2>{}</h2>", Self::title(run))?;
        if let Some(remark) = &run.findings.remark {
            writeln!(out, "<p class=\"warn\"><b>{}</b></p>", escape(remark))?;
        }
        writeln!(out, "<ul class=\"counts\">")?;
        for (outcome, class, words) in OUTCOMES {
            let count = run.count(outcome);
            writeln!(out, "<li class=\"{class}\"><b>{count}</b> {words}</li>")?;
        }
        writeln!(out, "</ul>")?;
        for (outcome, class, words) in OUTCOMES {
            let verdicts = run.findings.verdicts();
            let mut verdicts = verdicts
                .filter(|verdict| verdict.outcome == outcome)
                .peekable();
            if verdicts.peek().is_none() {
                continue;
            }
            let open = if outcome > Outcome::Pass { " open" } else { "" };
            writeln!(
                out,
                "<details{open}><summary class=\"{class}\">{words}</summary>"
            )?;
            for verdict in verdicts {
                self.write_verdict(out, run, verdict)?;
            }
            writeln!(out, "</details>")?;
        }
        Ok(())
    }

    fn write_verdict(&self, out: &mut String, run: &Run, verdict: &Verdict) -> fmt::Result {
        let rule = &verdict.rule;
        // Some rules hold in both versions, and some for both sides.
        let (side, version) = (super::name(self.side_of(run)), run.number());
        writeln!(
            out,
            "<section id=\"{side}-v{version}-{}\"><h3>{} <small>{:?}</small></h3>\n<p>{}</p>",
            rule.id,
            rule.id,
            rule.level,
            escape(rule.says)
        )?;
        if verdict.outcome > Outcome::Pass || !verdict.saw.is_empty() {
            let saw: Vec<_> = verdict.sights().map(|(saw, _)| saw).collect();
            let hidden: Vec<_> = run.findings.caused_by(rule.id).collect();
            let saved = run.saved(verdict);
            let saved = saved.map(|saved| format!("{}:{}", saved.file, saved.line));
            let rows = [
                ("Seen", &*saw.join("; ")),
                ("Because", verdict.because.unwrap_or_default()),
                ("Hides", &*hidden.join(", ")),
                ("Matters", rule.matters),
                ("Fix", rule.fix),
                ("Level", &*Self::origin(rule)),
                ("Note", rule.note),
                ("Trace", saved.as_deref().unwrap_or_default()),
            ];
            writeln!(out, "<dl>")?;
            for (name, text) in rows.iter().filter(|(_, text)| !text.is_empty()) {
                writeln!(out, "<dt>{name}</dt><dd>{}</dd>", escape(text))?;
            }
            let again = escape(&self.again(verdict));
            writeln!(out, "<dt>Again</dt><dd><code>{again}</code></dd></dl>")?;
            let frames = evidence::of(&run.findings, verdict);
            if !frames.is_empty() {
                writeln!(out, "<pre>")?;
                for shown in frames {
                    let (arrow, number) = (shown.arrow(), shown.number);
                    writeln!(out, "{arrow} #{number} {}", escape(&shown.line))?;
                }
                writeln!(out, "</pre>")?;
            }
        }
        writeln!(out, "</section>")
    }
}

const OUTCOMES: [(Outcome, &str, &str); 7] = [
    (Outcome::Fail, "fail", "broken"),
    (Outcome::Warn, "warn", "warnings"),
    (Outcome::Inconclusive, "warn", "inconclusive"),
    (Outcome::Pass, "pass", "kept"),
    (Outcome::NotApplicable, "none", "not applicable"),
    (Outcome::Unspecified, "none", "unspecified"),
    (Outcome::NotExercised, "none", "not exercised"),
];
