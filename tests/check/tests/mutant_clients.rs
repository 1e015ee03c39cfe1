//! Every fault of a client is found, and a client without a fault keeps every rule.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use ply_check::client::{self, Subject};
use ply_check::{Findings, Outcome, Selection};
use ply_client::Version;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

#[path = "../src/bin/mutant_client/faults.rs"]
mod faults;

use faults::FAULTS;

/// Clients that are checked at a time.
const AT_A_TIME: usize = 4;

async fn check(fault: Option<&str>, version: Version, only: &[&str], scratch: PathBuf) -> Findings {
    let number = match version {
        Version::V1 => "1",
        Version::V2 => "2",
    };
    let mut command = vec![env!("CARGO_BIN_EXE_mutant_client"), "--version", number];
    if let Some(fault) = fault {
        command.extend(["--fault", fault]);
    }
    command.extend(["--", "{agent}"]);
    let command = command.iter().map(OsString::from).collect();
    let serve = vec![OsString::from(env!("CARGO_BIN_EXE_scripted_agent"))];
    let subject = Subject::new(command, serve, scratch);
    let selection = Selection {
        only: only.iter().map(|&word| word.to_owned()).collect(),
        skip: Vec::new(),
    };
    client::check(&subject, version, &selection, |_| {}).await
}

async fn unfound(version: Version) -> Vec<String> {
    let mut runs = JoinSet::new();
    let permits = Arc::new(Semaphore::new(AT_A_TIME));
    let prefix = match version {
        Version::V1 => "V1-",
        Version::V2 => "V2-",
    };
    let cases = FAULTS
        .iter()
        .flat_map(|&(fault, rules)| rules.iter().map(move |&rule| (fault, rule)));
    for (fault, rule) in cases.filter(|(_, rule)| rule.starts_with(prefix)) {
        let permits = Arc::clone(&permits);
        runs.spawn(async move {
            let _permit = permits.acquire().await.unwrap();
            let scratch = tempfile::tempdir().unwrap();
            let place = scratch.path().canonicalize().unwrap();
            let findings = check(Some(fault), version, &[rule], place).await;
            let verdict = findings
                .verdict(rule)
                .unwrap_or_else(|| panic!("{rule} is no rule"));
            // What no text demands is told all the same.
            let is_found = matches!(
                verdict.outcome,
                Outcome::Fail | Outcome::Warn | Outcome::Unspecified
            );
            (!is_found)
                .then(|| format!("{fault}: {rule} is {:?}: {}", verdict.outcome, verdict.saw))
        });
    }
    let mut unfound: Vec<_> = runs.join_all().await.into_iter().flatten().collect();
    unfound.sort();
    unfound
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_a_version_1_client_is_found() {
    let unfound = unfound(Version::V1).await;
    assert!(unfound.is_empty(), "not found:\n{}", unfound.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_a_version_2_client_is_found() {
    let unfound = unfound(Version::V2).await;
    assert!(unfound.is_empty(), "not found:\n{}", unfound.join("\n"));
}

#[tokio::test]
async fn a_client_without_a_fault_keeps_every_rule() {
    for version in [Version::V1, Version::V2] {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().canonicalize().unwrap();
        let findings = check(None, version, &[], place).await;
        let is_wrong = |outcome| {
            matches!(
                outcome,
                Outcome::Fail | Outcome::Warn | Outcome::Inconclusive
            )
        };
        let wrong: Vec<_> = findings
            .verdicts()
            .filter(|verdict| is_wrong(verdict.outcome))
            .map(|verdict| {
                format!(
                    "{} in {:?}: {}",
                    verdict.rule.id, verdict.probe, verdict.saw
                )
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
