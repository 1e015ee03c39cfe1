//! Good clients keep every rule.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]
use std::ffi::OsString;

use ply_check::client::{self, Subject};
use ply_check::{Findings, Outcome, Selection};
use ply_client::Version;

async fn check(command: &[&str], version: Version) -> Findings {
    let scratch = tempfile::tempdir().unwrap();
    let command = command.iter().map(OsString::from).collect();
    let serve = vec![OsString::from(env!("CARGO_BIN_EXE_scripted_agent"))];
    let place = scratch.path().canonicalize().unwrap();
    let subject = Subject::new(command, serve, place);
    client::check(&subject, version, &Selection::default(), |_| {}).await
}

fn wrong(findings: &Findings) -> Vec<String> {
    let is_wrong = |outcome| matches!(outcome, Outcome::Fail | Outcome::Warn);
    let verdicts = findings
        .verdicts()
        .filter(|verdict| is_wrong(verdict.outcome));
    verdicts
        .map(|verdict| {
            format!(
                "{} in {:?}: {}",
                verdict.rule.id, verdict.probe, verdict.saw
            )
        })
        .collect()
}

#[tokio::test]
async fn a_client_on_plys_sdk_keeps_every_rule_of_version_1() {
    let client = env!("CARGO_BIN_EXE_good_client");
    for versions in ["1", "both"] {
        let command = [client, "--versions", versions, "--", "{agent}"];
        let findings = check(&command, Version::V1).await;
        assert_eq!(wrong(&findings), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_client_on_plys_sdk_keeps_every_rule_of_version_2() {
    let client = env!("CARGO_BIN_EXE_good_client");
    let command = [client, "--versions", "both", "--", "{agent}"];
    let findings = check(&command, Version::V2).await;
    assert_eq!(wrong(&findings), Vec::<String>::new());
}

#[tokio::test]
async fn a_client_that_never_starts_the_agent_is_inconclusive() {
    let findings = check(
        &["/bin/sh", "-c", "echo no such agent >&2; exit 1", "{agent}"],
        Version::V1,
    )
    .await;
    let verdicts: Vec<_> = findings.verdicts().collect();
    assert!(verdicts.iter().all(|verdict| !matches!(
        verdict.outcome,
        Outcome::Pass | Outcome::Fail | Outcome::Warn
    )));
    assert!(
        verdicts[0].saw.contains("no such agent"),
        "{}",
        verdicts[0].saw
    );
}
