//! Agents that do odd things which no rule forbids get no alarm.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use check_tests::faults::ODDITIES;
use ply_check::agent::{Subject, check};
use ply_check::{Findings, Outcome, Selection};
use ply_wire::negotiate::Version;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Agents that are checked at the same time. They wait most of the time.
const AT_ONCE: usize = 8;

async fn checked(oddity: &str, version: Version) -> Findings {
    let place: TempDir = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let (work, store) = (root.join("work"), root.join("store"));
    for directory in [&work, &store] {
        std::fs::create_dir(directory).unwrap();
    }
    let mut command: Vec<OsString> = vec![env!("CARGO_BIN_EXE_mutant_agent").into()];
    command.extend(["--store".into(), store.into_os_string()]);
    command.extend(["--fault".into(), oddity.into()]);
    let mut subject = Subject::new(command, work);
    (subject.patience, subject.turn_patience) = (Duration::from_secs(4), Duration::from_secs(6));
    check(&subject, version, &Selection::default(), |_| {}).await
}

fn alarms(findings: &Findings) -> Vec<String> {
    let verdicts = findings.verdicts();
    let alarms = verdicts.filter(|it| matches!(it.outcome, Outcome::Fail | Outcome::Warn));
    let told = alarms.map(|it| format!("{} {:?}: {}", it.rule.id, it.outcome, it.saw));
    told.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_odd_and_lawful_gets_no_alarm() {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut checks = JoinSet::new();
    for (oddity, versions, _) in ODDITIES {
        for version in versions.iter() {
            let version = match version {
                1 => Version::V1,
                _ => Version::V2,
            };
            let places = Arc::clone(&places);
            checks.spawn(async move {
                let _place = places.acquire_owned().await.unwrap();
                let alarms = alarms(&checked(oddity, version).await);
                let alarms = alarms.into_iter();
                let told = alarms.map(|alarm| format!("{oddity} in {version:?}: {alarm}"));
                told.collect::<Vec<_>>()
            });
        }
    }
    let mut alarms: Vec<_> = checks.join_all().await.into_iter().flatten().collect();
    alarms.sort();
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

#[tokio::test]
async fn an_agent_without_a_model_is_told_so_first_and_breaks_nothing() {
    let findings = checked("odd-without-a-model", Version::V1).await;
    let remark = findings.remark.clone().unwrap_or_default();
    assert_eq!(remark, "the agent cannot prompt: The turn failed");
    let prompt = findings.verdict("V1-PROMPT-06").unwrap();
    assert_eq!(prompt.outcome, Outcome::Inconclusive);
    assert!(prompt.saw.contains("cannot prompt"), "{}", prompt.saw);
}
