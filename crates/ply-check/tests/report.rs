//! What stands in the forms of a report.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::time::Duration;

use ply_check::report::{Baseline, Detail, Run, Style};
use ply_check::{Evidence, Findings, Found, Report, Rule, Side, rule};
use ply_wire::negotiate::Version;

/// Returns a report on both versions, in which one rule that holds in both is broken.
fn broken() -> Report {
    let runs = [Version::V1, Version::V2].map(|version| {
        let is_it = |rule: &Rule| rule.id == "V1-STDIO-03" && rule.side == Side::Agent;
        let mut findings = Findings::new(rule::all().filter(is_it));
        let evidence = Evidence::default();
        findings.add(
            "V1-STDIO-03",
            Found::Broken,
            "a \x1b[2Jline",
            evidence,
            None,
        );
        Run::new(version, findings, Duration::ZERO)
    });
    Report::new(Side::Agent, "'my\x1b]0;agent'", None, runs.into())
}

#[test]
fn hostile_words_are_harmless_in_the_report_for_people() {
    let mut report = broken();
    report.name = Some("\u{202e}tnega\x1b[31m".to_owned());
    let text = report.to_text(Detail::All, Style::Plain);
    let is_harmful = |char: char| (char.is_control() && char != '\n') || char == '\u{202e}';
    assert!(!text.contains(is_harmful), "{text:?}");
    let text = broken()
        .of_trace("'a\x1bb'")
        .to_text(Detail::All, Style::Plain);
    assert!(!text.contains(is_harmful), "{text:?}");
}

#[test]
fn the_counts_fit_on_a_terminal_and_no_word_is_broken() {
    let text = broken().to_text(Detail::Findings, Style::Plain);
    let head = text.lines().take(3).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(head, @r"
    'my\u{1b}]0;agent', protocol version 1: 0 kept, 1 broken, 0 warnings,
        0 inconclusive, 0 not applicable, 0 unspecified, 0 not exercised (0.0 s)
    ");
}

#[test]
fn looking_again_takes_the_options_of_the_run() {
    let mut report = broken();
    report.options = "--version 1 --patience 9".to_owned();
    let verdict = report.runs[0].findings.verdicts().next().unwrap();
    let again = report.again(verdict);
    let expected = "ply check agent --only V1-STDIO-03 --version 1 --patience 9 -- ";
    assert!(again.starts_with(expected), "{again}");
    report.by_name = true;
    report.subject = "claude".to_owned();
    let verdict = report.runs[0].findings.verdicts().next().unwrap();
    let again = report.again(verdict);
    assert!(again.ends_with(" --patience 9 claude"), "{again}");
    let junit = report.to_junit();
    assert!(
        junit.contains("again: ply check agent --only V1-STDIO-03"),
        "{junit}"
    );
}

#[test]
fn code_scanning_gets_a_file_and_a_fingerprint_for_each_result() {
    let mut report = broken();
    let result = |report: &Report, run: usize| report.to_sarif()["runs"][run]["results"][0].clone();
    let (first, second) = (result(&report, 0), result(&report, 1));
    let place = &first["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "ply-check/agent");
    assert_eq!(place["region"]["startLine"], 1);
    let print = |result: &serde_json::Value| {
        let prints = result["partialFingerprints"].as_object().unwrap();
        prints.values().next().unwrap().clone()
    };
    assert_ne!(print(&first), print(&second));
    assert_eq!(first.get("baselineState"), None);

    report.trace_file = Some("a talk.ndjson".to_owned());
    let place = result(&report, 0)["locations"][0]["physicalLocation"].clone();
    assert_eq!(place["artifactLocation"]["uri"], "a%20talk.ndjson");
    let known = broken().to_json().to_string();
    report.baseline = Baseline::read(known.as_bytes(), Side::Agent).unwrap();
    assert_eq!(result(&report, 0)["baselineState"], "unchanged");
}

#[test]
fn a_page_names_each_verdict_once_and_says_what_it_comes_to() {
    let page = broken().to_html();
    for id in ["agent-v1-V1-STDIO-03", "agent-v2-V1-STDIO-03"] {
        assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    assert!(page.contains("Rules are broken."), "{page}");
}
