//! Commands that are no agents are told apart from agents that break rules.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::time::Duration;

use ply_check::agent::{self, Subject};
use ply_check::{Findings, Frame, Level, Outcome, Selection};
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

/// Returns the outcomes of all rules but those that no text decides, which are not counted.
fn outcomes(findings: &Findings) -> Vec<(&'static str, Outcome)> {
    let verdicts = findings.verdicts();
    verdicts
        .filter(|verdict| verdict.rule.level != Level::Unspecified)
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

/// Returns a command that greets, and then does what else it is told.
fn greets_then(rest: &str) -> [String; 3] {
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#;
    let script = format!("read line; echo '{hello}'; {rest}");
    ["/bin/sh".to_owned(), "-c".to_owned(), script]
}

#[tokio::test]
async fn an_agent_that_repeats_any_version_speaks_the_one_whose_words_it_uses() {
    let place = tempfile::tempdir().unwrap();
    for (members, expected) in [
        (r#""agentCapabilities":{}"#, vec![Version::V1]),
        (
            r#""info":{"name":"a","version":"1"},"capabilities":{}"#,
            vec![Version::V1, Version::V2],
        ),
    ] {
        let script = format!(
            r#"read line; version=1; case "$line" in *'"protocolVersion":2'*) version=2;; esac
            echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":'$version',{members}}}}}'; read line"#
        );
        let command = ["/bin/sh", "-c", &script].map(Into::into).to_vec();
        let subject = Subject::new(command, place.path().to_path_buf());
        assert_eq!(agent::versions(&subject).await, Ok(expected), "{members}");
    }
}

#[tokio::test]
async fn an_agent_that_greets_and_then_says_nothing_is_not_asked_for_sessions_again_and_again() {
    let place = tempfile::tempdir().unwrap();
    let command = greets_then("while read line; do :; done");
    let command = command.map(Into::into).to_vec();
    let mut subject = Subject::new(command, place.path().to_path_buf());
    subject.patience = Duration::from_millis(50);
    let findings = agent::check(&subject, Version::V1, &Selection::default(), |_| {}).await;
    let asked = findings.recordings.iter().filter(|recording| {
        let is_asked = |frame: &Frame| frame.method() == Some("session/new");
        recording.with_frames(|frames| frames.iter().any(is_asked))
    });
    // Some probes are about `session/new` itself, and ask in any case.
    let asked = asked.count();
    assert!(asked < 30, "asked {asked} times");
    let verdict = findings.verdict("V1-PERM-02").unwrap();
    assert!(
        verdict.saw.contains("no `session/new` is answered"),
        "{}",
        verdict.saw
    );
    // A probe that stopped leaves open what others have seen to be kept.
    let verdict = findings.verdict("V1-STDIO-03").unwrap();
    assert_eq!(verdict.outcome, Outcome::Pass, "{}", verdict.saw);
}

#[tokio::test]
async fn an_agent_that_ends_is_told_with_its_exit_and_its_last_words() {
    let place = tempfile::tempdir().unwrap();
    let command = greets_then("read line; printf 'no\\033[31m key\\n' >&2; exit 3");
    let command = command.map(Into::into).to_vec();
    let mut subject = Subject::new(command, place.path().to_path_buf());
    subject.patience = Duration::from_secs(5);
    let selection = Selection {
        only: vec!["V1-PERM-02".to_owned()],
        skip: Vec::new(),
    };
    let findings = agent::check(&subject, Version::V1, &selection, |_| {}).await;
    let saw = &findings.verdict("V1-PERM-02").unwrap().saw;
    assert!(saw.contains("exit status: 3"), "{saw}");
    assert!(
        saw.ends_with("its standard error ends: no\\u{1b}[31m key"),
        "{saw}"
    );
}
