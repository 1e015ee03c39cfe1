//! A whole run against an agent that the environment names: `PLY_CHECK_PEER` is its command, `PLY_CHECK_WORDS` says which
//! prompts it knows (`tour`, `interop`; else the usual ones), `PLY_CHECK_VERSION` the version, `PLY_CHECK_ONLY` the rules.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests fail by panicking, and say what they found"
)]

use ply_check::agent::{Prompts, Subject, check};
use ply_check::{Outcome, Selection};
use ply_wire::negotiate::Version;

/// What to say to the example `tour` of `ply-agent`.
fn tour() -> Prompts {
    let mut prompts = Prompts::default();
    prompts.short = "say".to_owned();
    prompts.long = "wait".to_owned();
    prompts.look = "tool".to_owned();
    prompts.change = "permission".to_owned();
    prompts.read = "read README.md".to_owned();
    prompts.write = "write checked.txt checked".to_owned();
    prompts.run = "run echo checked".to_owned();
    prompts.plan = "plan".to_owned();
    prompts.form = Some("form".to_owned());
    prompts.visit = Some("visit".to_owned());
    prompts.notice = Some("notice".to_owned());
    prompts.usage = Some("usage".to_owned());
    prompts.refuse = Some("refuse".to_owned());
    prompts.tokens = Some("tokens".to_owned());
    prompts.requests = Some("requests".to_owned());
    prompts.fail = Some("fail".to_owned());
    prompts
}

/// What to say to the agents of the interoperability tests.
fn interop() -> Prompts {
    let mut prompts = Prompts::default();
    prompts.short = "hello".to_owned();
    prompts.long = "wait".to_owned();
    prompts.look = "tool".to_owned();
    prompts.change = "tool".to_owned();
    prompts.read = "read /scratch/README.md".to_owned();
    prompts.write = "tool".to_owned();
    prompts.run = "term echo".to_owned();
    prompts.plan = "plan".to_owned();
    prompts.form = None;
    prompts.refuse = Some("refuse".to_owned());
    prompts.tokens = Some("tokens".to_owned());
    prompts.requests = Some("requests".to_owned());
    prompts.fail = Some("fail".to_owned());
    prompts
}

#[tokio::test]
#[ignore = "needs an agent in PLY_CHECK_PEER"]
async fn a_good_peer_breaks_no_rule() {
    let command = std::env::var("PLY_CHECK_PEER").unwrap();
    let cwd = tempfile::tempdir().unwrap();
    std::fs::write(cwd.path().join("README.md"), "# A scratch project\n").unwrap();
    let command = command.split_whitespace().map(Into::into).collect();
    let mut subject = Subject::new(command, cwd.path().to_owned());
    subject.prompts = match std::env::var("PLY_CHECK_WORDS").as_deref() {
        Ok("tour") => tour(),
        Ok("interop") => interop(),
        _ => Prompts::default(),
    };
    let version = match std::env::var("PLY_CHECK_VERSION").as_deref() {
        Ok("2") => Version::V2,
        _ => Version::V1,
    };
    let mut selection = Selection::default();
    if let Ok(only) = std::env::var("PLY_CHECK_ONLY") {
        selection.only = only.split(',').map(str::to_owned).collect();
    }
    let findings = check(&subject, version, &selection, |probe| eprintln!("{probe}")).await;
    let mut broken = Vec::new();
    for verdict in findings.verdicts() {
        let id = verdict.rule.id;
        let outcome = verdict.outcome;
        match outcome {
            Outcome::Pass => continue,
            Outcome::Fail | Outcome::Warn | Outcome::Inconclusive => {
                eprintln!(
                    "{id} {outcome:?}: {} ({})",
                    verdict.saw,
                    verdict.probe.unwrap_or_default()
                );
                let Some(recording) = findings.recordings.get(verdict.evidence.recording) else {
                    continue;
                };
                recording.with_frames(|frames| {
                    for number in &verdict.evidence.frames {
                        let line = String::from_utf8_lossy(&frames[*number].bytes);
                        eprintln!(
                            "    {number}: {}",
                            line.chars().take(300).collect::<String>()
                        );
                    }
                });
                broken.push(id);
            }
            _ => eprintln!("{id} {outcome:?}"),
        }
    }
    let passed = findings
        .verdicts()
        .filter(|verdict| verdict.outcome == Outcome::Pass)
        .count();
    eprintln!("{passed} of {} rules passed", findings.verdicts().count());
    assert!(broken.is_empty(), "{broken:?}");
}
