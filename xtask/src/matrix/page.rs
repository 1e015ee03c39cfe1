//! The page of the matrix.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::Outcome;

/// Characters of a frame that are shown.
const FRAME_CHARS_MAX: usize = 400;
/// Rules that could not be judged for one reason, from which on the reason is a remark.
const UNJUDGED_MIN: usize = 10;
/// Frames that are shown of a finding.
const FRAMES_MAX: usize = 4;

const HEAD: &str = "# Agents and the protocol

What `ply check agent --model-server` finds about agents that can be installed from npm and PyPI, and about the examples of the official
SDKs. Written by `cargo xtask matrix`; do not edit. Each agent ran in every version that it speaks, in an empty home, on loopback alone,
with the checker's scripted model. An agent that needs a login, or a model that cannot be pointed elsewhere, cannot prompt there: rules
that need a session or a turn are then counted as not exercised, and the remark says why. A check ends after 15 minutes; what was
not tried by then is counted as not exercised too. Each finding was checked a second time; only findings seen both times are listed.

*Kept* and *broken* count MUST rules, each cause once; *warned* counts SHOULD rules; behaviour the specification does not cover is not counted. A rule that an
agent breaks is argued below, with the text it comes from and the frames that show it. `ply check agent --model-server --only RULE -- COMMAND`
shows it again. If you think a finding is wrong, please report it; without a text that supports the finding, we treat it as a bug in Ply.

";

/// Returns the ids of the rules that a report says are broken or not followed, each once.
pub(super) fn broken(report: &Value) -> Vec<String> {
    let found = runs(report).flat_map(|run| run.get("verdicts")?.as_array().map(Vec::as_slice));
    let found = found.flatten().filter(|it| is_found(it));
    let ids: BTreeSet<_> = found.map(|it| text(it, "id").to_owned()).collect();
    ids.into_iter().collect()
}

fn is_found(verdict: &Value) -> bool {
    ["fail", "warn"].contains(&text(verdict, "outcome"))
}

/// Returns a report in which only those findings count that a second look found too.
pub(super) fn confirmed(mut report: Value, again: Option<&Value>) -> Value {
    let confirmed = again.map(broken).unwrap_or_default();
    let runs = report.get_mut("runs").and_then(Value::as_array_mut);
    let verdicts = runs
        .into_iter()
        .flatten()
        .filter_map(|run| run.get_mut("verdicts")?.as_array_mut())
        .flatten();
    for verdict in verdicts.filter(|it| is_found(it)) {
        let is_confirmed = confirmed.iter().any(|id| id == text(verdict, "id"));
        if let (false, Some(verdict)) = (is_confirmed, verdict.as_object_mut()) {
            verdict.insert("outcome".to_owned(), "unconfirmed".into());
        }
    }
    report
}

/// Writes the page.
pub(super) fn write(outcomes: &[Outcome], date: &str) -> String {
    let mut page = format!("{HEAD}Checked on {date}.\n\n");
    page += "| Agent | Version | Protocol | Kept | Broken | Warned | Not exercised | Remark |\n";
    page += "|---|---|---|---|---|---|---|---|\n";
    for outcome in outcomes {
        rows(&mut page, outcome);
    }
    page += "\n## Findings\n";
    for outcome in outcomes {
        findings(&mut page, outcome);
    }
    page
}

fn runs(report: &Value) -> impl Iterator<Item = &Value> {
    let runs = report.get("runs").and_then(Value::as_array);
    runs.into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn verdicts<'a>(
    run: &'a Value,
    outcome: &'a str,
    level: &'a str,
) -> impl Iterator<Item = &'a Value> {
    let verdicts = run.get("verdicts").and_then(Value::as_array);
    let verdicts = verdicts.into_iter().flatten();
    verdicts.filter(move |it| {
        text(it, "outcome") == outcome && (level.is_empty() || text(it, "level") == level)
    })
}

fn rows(page: &mut String, outcome: &Outcome) {
    let agent = outcome.agent;
    let name = format!("[{}]({}), {}", agent.name, agent.link, agent.about);
    let version = &outcome.version;
    let report = match &outcome.report {
        Ok(report) => report,
        Err(why) => {
            let why = cell(&anywhere(why, &outcome.root));
            *page += &format!("| {name} | {version} | | | | | | {why} |\n");
            return;
        }
    };
    for run in runs(report) {
        let count = |outcome, level| verdicts(run, outcome, level).count();
        let unseen = count("not_exercised", "must") + count("inconclusive", "must");
        let number = run.get("protocolVersion").and_then(Value::as_u64);
        let _infallible = writeln!(
            page,
            "| {name} | {version} | v{} | {} | {} | {} | {unseen} | {} |",
            number.unwrap_or_default(),
            count("pass", "must"),
            count("fail", ""),
            count("warn", ""),
            cell(&anywhere(&remark(run), &outcome.root)),
        );
    }
}

/// Returns what a reader has to know first: the checker's own remark, or why most rules could not be judged.
fn remark(run: &Value) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for verdict in verdicts(run, "inconclusive", "") {
        *reasons.entry(text(verdict, "saw")).or_default() += 1;
    }
    let most = reasons.into_iter().max_by_key(|(_, count)| *count);
    let most = most.filter(|(_, count)| *count >= UNJUDGED_MIN);
    match (text(run, "remark"), most) {
        ("", Some((why, _))) => why.to_owned(),
        (remark, _) => remark.to_owned(),
    }
}

/// Returns words as they can stand in a cell of a table.
fn cell(words: &str) -> String {
    let words: String = words.chars().take(160).collect();
    words.replace('|', "\\|").replace(['\n', '\r'], " ")
}

fn findings(page: &mut String, outcome: &Outcome) {
    let Ok(report) = &outcome.report else {
        return;
    };
    for run in runs(report) {
        let broken: Vec<_> = verdicts(run, "fail", "")
            .chain(verdicts(run, "warn", ""))
            .collect();
        if broken.is_empty() {
            continue;
        }
        let number = run.get("protocolVersion").and_then(Value::as_u64);
        let number = number.unwrap_or_default();
        *page += &format!(
            "\n### {} {}, v{number}\n",
            outcome.agent.name, outcome.version
        );
        for verdict in broken {
            finding(page, verdict, &outcome.root);
        }
    }
}

/// Returns words in which the directories of this machine have the names of those that they stand for.
fn anywhere(words: &str, root: &Path) -> String {
    let mut words = words.replace(&*root.to_string_lossy(), "/installed");
    let scratch = std::env::temp_dir().join("ply-check-");
    let scratch = scratch.to_string_lossy().into_owned();
    let mut from = 0;
    while let Some(at) = words.get(from..).and_then(|rest| rest.find(&scratch)) {
        let at = from + at;
        let number = at + scratch.len();
        let rest = words.get(number..).unwrap_or_default();
        let digits = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '-')
                .len();
        let below = rest.get(digits..).unwrap_or_default();
        let (kind, name) = match below {
            below if below.starts_with("/work") => ("/work", "/project"),
            below if below.starts_with("/home") => ("/home", "/home/user"),
            _ => ("", "/tmp/check"),
        };
        words.replace_range(at..number + digits + kind.len(), name);
        from = at + name.len();
    }
    words
}

fn finding(page: &mut String, verdict: &Value, root: &Path) {
    let source = verdict.get("source").unwrap_or(&Value::Null);
    let level = text(verdict, "level").to_uppercase();
    let (id, says, saw) = (
        text(verdict, "id"),
        text(verdict, "says"),
        text(verdict, "saw"),
    );
    let (kind, link) = (text(source, "text"), text(source, "link"));
    *page += &format!(
        "\n**{id}** ({level}, [{kind}]({link})): {says}\nSeen: {}.\n",
        cell(&anywhere(saw, root))
    );
    let frames = verdict.get("frames").and_then(Value::as_array);
    // The end shows what came of it.
    let frames: Vec<_> = frames.into_iter().flatten().collect();
    let from = frames.len().saturating_sub(FRAMES_MAX - 1).max(1);
    let frames: Vec<_> = frames
        .iter()
        .take(1)
        .chain(frames.iter().skip(from))
        .collect();
    if frames.is_empty() {
        return;
    }
    *page += "\n```text\n";
    for frame in frames {
        let line = anywhere(text(frame, "line"), root);
        let mut shown: String = line.chars().take(FRAME_CHARS_MAX).collect();
        if shown.len() < line.len() {
            shown.push('…');
        }
        let _infallible = writeln!(
            page,
            "{} {}",
            text(frame, "direction"),
            shown.replace("```", "'''")
        );
    }
    *page += "```\n";
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn directories_of_this_machine_are_not_told() {
        let scratch = std::env::temp_dir().join("ply-check-12-0");
        let line = format!(
            "{0}/work/README.md {0}/home/x {0} /there/node",
            scratch.display()
        );
        let told = anywhere(&line, Path::new("/there"));
        let wanted = "/project/README.md /home/user/x /tmp/check /installed/node";
        assert_eq!(told, wanted);
    }

    #[test]
    fn what_is_seen_once_does_not_count() {
        let verdict = |id: &str, outcome: &str| json!({"id": id, "outcome": outcome});
        let report = |verdicts: Value| json!({"runs": [{"verdicts": verdicts}]});
        let first = report(json!([
            verdict("A", "fail"),
            verdict("B", "warn"),
            verdict("C", "pass")
        ]));
        let again = report(json!([verdict("A", "fail"), verdict("B", "pass")]));
        assert_eq!(broken(&first), ["A", "B"]);
        assert_eq!(broken(&confirmed(first.clone(), Some(&again))), ["A"]);
        assert!(broken(&confirmed(first, None)).is_empty());
    }
}
