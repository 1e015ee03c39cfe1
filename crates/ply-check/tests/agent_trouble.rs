//! Commands that are no agents are told apart from agents that break rules.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::time::Duration;

use ply_check::agent::{self, Subject};
use ply_check::{Findings, Outcome, Selection};
use ply_wire::negotiate::Version;

async fn check(command: &[&str], only: &str) -> Findings {
    let place = tempfile::tempdir().unwrap();
    let command = command.iter().map(Into::into).collect();
    let mut subject = Subject::new(command, place.path().to_path_buf());
    subject.patience = Duration::from_millis(200);
    let selection = Selection {
        only: vec![only.to_owned()],
        skip: Vec::new(),
    };
    agent::check(&subject, Version::V1, &selection, |_| {}).await
}

fn outcomes(findings: &Findings) -> Vec<(&'static str, Outcome)> {
    let verdicts = findings.verdicts();
    verdicts
        .map(|verdict| (verdict.rule.id, verdict.outcome))
        .collect()
}

#[tokio::test]
async fn a_command_that_is_not_there_leaves_everything_open() {
    let findings = check(&["/nonexistent/agent"], "LIST").await;
    for (rule, outcome) in outcomes(&findings) {
        assert_eq!(outcome, Outcome::Inconclusive, "{rule}");
    }
    let verdict = findings.verdict("V1-LIST-02").unwrap();
    assert!(verdict.saw.contains("cannot be started"), "{}", verdict.saw);
}

#[tokio::test]
async fn a_command_that_ends_at_once_leaves_everything_open() {
    let findings = check(&["true"], "CONF").await;
    for (rule, outcome) in outcomes(&findings) {
        assert_eq!(outcome, Outcome::Inconclusive, "{rule}");
    }
}

#[tokio::test]
async fn a_command_that_says_nothing_leaves_everything_open() {
    let findings = check(&["sleep", "60"], "AUTH").await;
    for (rule, outcome) in outcomes(&findings) {
        assert_eq!(outcome, Outcome::Inconclusive, "{rule}");
    }
}

/// Each probe waits for an answer, so a whole check would take minutes.
#[tokio::test]
async fn a_command_that_says_nothing_is_not_tried_for_every_rule() {
    let place = tempfile::tempdir().unwrap();
    let command = ["sleep", "60"].iter().map(Into::into).collect();
    let mut subject = Subject::new(command, place.path().to_path_buf());
    subject.patience = Duration::from_millis(50);
    let mut tried = 0;
    let findings = agent::check(&subject, Version::V1, &Selection::default(), |_| tried += 1).await;
    assert!(tried < 30, "{tried} probes");
    let verdict = findings.verdict("V1-PERM-02").unwrap();
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert!(verdict.saw.contains("not tried"), "{}", verdict.saw);
}

#[tokio::test]
async fn a_command_that_repeats_what_it_hears_is_caught() {
    let findings = check(&["cat"], "V1-INIT-10").await;
    let verdict = findings.verdict("V1-INIT-10").unwrap();
    assert_ne!(verdict.outcome, Outcome::Pass);
}
