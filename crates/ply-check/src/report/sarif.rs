//! The report as SARIF 2.1.0, which code-scanning services read.

use serde_json::{Value, json};

use super::{Report, Run, evidence};
use crate::rule::Rule;
use crate::verdict::{Outcome, Verdict};

impl Report {
    /// Returns the report as SARIF: one run for each version, a result for each rule that was broken or could not be judged.
    #[must_use]
    pub fn to_sarif(&self) -> Value {
        let runs = self.runs.iter().map(|run| self.run_sarif(run));
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": runs.collect::<Vec<_>>(),
        })
    }

    fn run_sarif(&self, run: &Run) -> Value {
        let rules = run.findings.verdicts().map(|verdict| rule(&verdict.rule));
        let results = run.findings.verdicts().enumerate();
        let results = results.filter_map(|(place, verdict)| self.result_sarif(run, place, verdict));
        let number = run.number();
        // Services keep apart what has different ids.
        let id = match run.side {
            Some(side) => format!("acp-v{number}/{}/", super::name(side)),
            None => format!("acp-v{number}/"),
        };
        json!({
            "tool": {"driver": {
                "name": "ply check",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<_>>(),
            }},
            "automationDetails": {"id": id},
            "results": results.collect::<Vec<_>>(),
        })
    }

    fn result_sarif(&self, run: &Run, place: usize, verdict: &Verdict) -> Option<Value> {
        let level = match verdict.outcome {
            Outcome::Fail => "error",
            Outcome::Warn => "warning",
            // What follows from another finding is told there.
            Outcome::Inconclusive if verdict.because.is_none() => "note",
            _ => return None,
        };
        let frames = evidence::of(&run.findings, verdict);
        let frames = frames
            .iter()
            .map(|shown| format!("{} #{} {}", shown.arrow(), shown.number, shown.line));
        let side = super::name(self.side_of(run));
        let saved = run.saved(verdict);
        let (artifact, line) = match &saved {
            Some(saved) => (uri(&saved.file), saved.line),
            None => (self.artifact(run), 1),
        };
        let mut result = json!({
            "ruleId": verdict.rule.id,
            "ruleIndex": place,
            "level": level,
            "message": {"text": format!("{} {}", verdict.rule.says, verdict.saw)},
            // Services refuse results without a file. What is checked is a program, so a name stands for it unless the talk was saved.
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": {"uri": artifact},
                    "region": {"startLine": line},
                },
                "logicalLocations": [{
                    "name": self.subject,
                    "fullyQualifiedName": format!("{} {}", self.subject, verdict.rule.id),
                    "kind": "module",
                }],
            }],
            // The same finding of a later run, whatever was seen this time.
            "partialFingerprints": {
                "plyCheckRule/v1": format!("{side}/v{}/{}", run.number(), verdict.rule.id),
            },
            "properties": {
                "frames": frames.collect::<Vec<_>>(),
                "more": verdict.more,
                "hides": run.findings.caused_by(verdict.rule.id).collect::<Vec<_>>(),
                "again": self.again(verdict),
            },
        });
        if !self.baseline.is_empty() {
            let is_known = self.baseline.has(&verdict.rule, verdict.outcome);
            let state = if is_known { "unchanged" } else { "new" };
            if let Some(members) = result.as_object_mut() {
                members.insert("baselineState".to_owned(), json!(state));
            }
        }
        Some(result)
    }

    /// Returns the file that stands for what was checked.
    fn artifact(&self, run: &Run) -> String {
        match &self.trace_file {
            Some(file) => uri(file),
            None => format!("ply-check/{}", super::name(self.side_of(run))),
        }
    }
}

fn rule(rule: &Rule) -> Value {
    let source = rule.source();
    json!({
        "helpUri": source.link,
        "id": rule.id,
        "shortDescription": {"text": rule.says},
        "fullDescription": {"text": rule.matters},
        "help": {"text": rule.fix},
        "properties": {"level": rule.level, "topic": rule.topic(), "gate": rule.gate, "side": rule.side, "source": source, "note": rule.note},
    })
}

/// Returns a path as a reference of a URI.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match is_plain(byte) {
            true => uri.push(char::from(byte)),
            false => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
