//! Every fault of the mutant agent is found, by the rule that it breaks; without a fault nothing is.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests fail by panicking, and say what they found"
)]

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use check_tests::faults::FAULTS;
use ply_check::agent::{Subject, check, rules};
use ply_check::verdict::broken;
use ply_check::{Findings, Outcome, Rule, Selection};
use ply_wire::negotiate::Version;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Mutants that are checked at the same time. They wait most of the time.
const AT_ONCE: usize = 6;
/// How long the mutant may take; it has no model, but the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long its turns may take, which is less than its longest one takes if it is not cancelled.
const TURN_PATIENCE: Duration = Duration::from_secs(6);

/// A mutant with its directory and its store, which are there as long as this is.
struct Mutant {
    subject: Subject,
    _place: TempDir,
}

impl Mutant {
    fn new(fault: Option<&str>) -> Self {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (work, store) = (root.join("work"), root.join("store"));
        for directory in [&work, &store] {
            std::fs::create_dir(directory).unwrap();
        }
        std::fs::write(work.join("README.md"), "# A place for checks\n").unwrap();
        let mut command: Vec<OsString> = vec![env!("CARGO_BIN_EXE_mutant_agent").into()];
        command.extend(["--store".into(), store.into_os_string()]);
        if let Some(fault) = fault {
            command.extend(["--fault".into(), fault.into()]);
        }
        // Faults of logins need an agent that wants one.
        if fault.is_some_and(|fault| fault.contains("login") || fault.contains("logout")) {
            command.push("--login".into());
        }
        let mut subject = Subject::new(command, work);
        subject.login = fault
            .filter(|fault| fault.starts_with("login-") || fault.starts_with("logout-"))
            .map(|_| "key".to_owned());
        let prompts = &mut subject.prompts;
        for (kind, word) in [
            (&mut prompts.visit, "visit"),
            (&mut prompts.notice, "notice"),
            (&mut prompts.compact, "compact"),
            (&mut prompts.refuse, "refuse"),
            (&mut prompts.tokens, "tokens"),
            (&mut prompts.requests, "requests"),
            (&mut prompts.fail, "fail"),
        ] {
            *kind = Some(word.to_owned());
        }
        (subject.patience, subject.turn_patience) = (PATIENCE, TURN_PATIENCE);
        Self {
            subject,
            _place: place,
        }
    }
}

fn rule(id: &str) -> Option<Rule> {
    let mut all = rules(Version::V1).chain(rules(Version::V2));
    all.find(|rule| rule.id == id)
}

/// Returns every fault with each rule that it breaks.
fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let faults = FAULTS.iter();
    faults.flat_map(|(fault, rules, _)| rules.iter().map(|rule| (*fault, *rule)))
}

/// Tells what was found about a rule, with the frames that show it.
fn tell(findings: &Findings, id: &str) -> String {
    let Some(verdict) = findings.verdict(id) else {
        return format!("{id} is not looked at");
    };
    let mut told = format!("{id} {:?}: {}", verdict.outcome, verdict.saw);
    if let Some(recording) = findings.recordings.get(verdict.evidence.recording) {
        recording.with_frames(|frames| {
            for number in &verdict.evidence.frames {
                let line = frames.get(*number).map(|frame| frame.bytes.as_slice());
                let line = String::from_utf8_lossy(line.unwrap_or_default());
                let line: String = line.chars().take(300).collect();
                told += &format!("\n    {number}: {line}");
            }
        });
    }
    told
}

/// Checks a mutant for one rule, and tells what is wrong if the rule is not found broken.
async fn miss(fault: &'static str, rule: Rule) -> Option<String> {
    let mut selection = Selection {
        only: vec![rule.id.to_owned()],
        skip: Vec::new(),
    };
    let mutant = Mutant::new(Some(fault));
    let mut findings = check(&mutant.subject, rule.version(), &selection, |_| {}).await;
    let outcome = |findings: &Findings| findings.verdict(rule.id).map(|verdict| verdict.outcome);
    let is_seen = |findings: &Findings| {
        let verdict = findings.verdict(rule.id);
        verdict.is_some_and(|verdict| !verdict.saw.is_empty())
    };
    // Some rules are judged by what the probes of others bring about.
    if matches!(
        outcome(&findings),
        Some(Outcome::NotExercised | Outcome::Pass)
    ) {
        selection.only.clear();
        let mutant = Mutant::new(Some(fault));
        findings = check(&mutant.subject, rule.version(), &selection, |_| {}).await;
    }
    let is_found = outcome(&findings) == Some(broken(rule.level)) && is_seen(&findings);
    (!is_found).then(|| format!("{fault}: {}", tell(&findings, rule.id)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_found_by_the_rule_it_breaks() {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut checks = JoinSet::new();
    let mut without_check = Vec::new();
    for (fault, id) in cases() {
        let Some(rule) = rule(id) else {
            without_check.push(format!("{id} ({fault})"));
            continue;
        };
        let places = Arc::clone(&places);
        checks.spawn(async move {
            let _place = places.acquire_owned().await.unwrap();
            miss(fault, rule).await
        });
    }
    let checked = checks.len();
    let mut missed: Vec<_> = checks.join_all().await.into_iter().flatten().collect();
    missed.sort();
    eprintln!("{checked} faults are checked");
    assert!(
        missed.is_empty(),
        "{} faults are not as expected:\n{}",
        missed.len(),
        missed.join("\n")
    );
    assert!(
        without_check.is_empty(),
        "rules without a check: {}",
        without_check.join(", ")
    );
}

async fn spotless(version: Version) {
    let mutant = Mutant::new(None);
    let findings = check(&mutant.subject, version, &Selection::default(), |_| {}).await;
    let wrong = findings
        .verdicts()
        .filter(|verdict| verdict.outcome > Outcome::Pass)
        .map(|verdict| tell(&findings, verdict.rule.id));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn without_a_fault_no_rule_of_version_1_is_broken_or_unclear() {
    spotless(Version::V1).await;
}

#[tokio::test]
async fn without_a_fault_no_rule_of_version_2_is_broken_or_unclear() {
    spotless(Version::V2).await;
}

#[test]
fn faults_have_names_and_rules_of_their_own() {
    let mut names: Vec<_> = FAULTS.iter().map(|(name, ..)| *name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FAULTS.len(), "two faults have one name");
    for (name, rules, does) in FAULTS {
        assert!(!rules.is_empty(), "{name} breaks no rule");
        assert!(rules.is_sorted_by_key(|id| &id[..2]), "{name}");
        assert!(!does.is_empty(), "{name} does nothing");
    }
}

/// Returns what a whole check finds against a mutant: broken rules and warnings, each cause once.
async fn found(fault: &str, version: Version) -> (Findings, Vec<&'static str>) {
    let mutant = Mutant::new(Some(fault));
    let findings = check(&mutant.subject, version, &Selection::default(), |_| {}).await;
    let found = findings.verdicts();
    let found = found.filter(|verdict| matches!(verdict.outcome, Outcome::Fail | Outcome::Warn));
    let found = found.map(|verdict| verdict.rule.id).collect();
    (findings, found)
}

#[tokio::test]
async fn a_write_before_the_permission_is_seen_in_a_whole_check() {
    for (version, rule) in [(Version::V1, "V1-PERM-09"), (Version::V2, "V2-PERM-07")] {
        let (findings, found) = found("writes-before-the-answer", version).await;
        assert!(found.contains(&rule), "{}", tell(&findings, rule));
    }
}

#[tokio::test]
async fn codes_that_are_text_are_one_finding() {
    let (findings, found) = found("error-codes-are-text", Version::V1).await;
    let told: Vec<_> = found.iter().map(|id| tell(&findings, id)).collect();
    assert_eq!(found, ["V1-RPC-03"], "{}", told.join("\n"));
    assert!(findings.caused_by("V1-RPC-03").count() > 3);
}

#[tokio::test]
async fn an_array_that_is_answered_with_an_array_is_one_finding() {
    let (findings, found) = found("answers-arrays-with-arrays", Version::V2).await;
    let told: Vec<_> = found.iter().map(|id| tell(&findings, id)).collect();
    assert_eq!(found, ["V2-BATCH-01"], "{}", told.join("\n"));
}

#[tokio::test]
async fn sessions_are_deleted_after_a_check_and_those_that_cannot_be_are_told() {
    let only = Selection {
        only: vec!["V1-SESS".to_owned()],
        skip: Vec::new(),
    };
    for (fault, is_left) in [(None, false), (Some("hides-delete"), true)] {
        let mutant = Mutant::new(fault);
        let findings = check(&mutant.subject, Version::V1, &only, |_| {}).await;
        let left = findings.left.unwrap_or_default();
        assert_eq!(left.contains("session/delete"), is_left, "{left}");
        let store = mutant.subject.cwd.with_file_name("store");
        let kept = std::fs::read_dir(store).unwrap().count();
        assert_eq!(kept > 0, is_left, "{kept} sessions are kept");
    }
}

#[tokio::test]
async fn a_missing_stop_reason_is_one_finding() {
    let (findings, found) = found("no-stop-reason", Version::V1).await;
    let told: Vec<_> = found.iter().map(|id| tell(&findings, id)).collect();
    assert_eq!(found, ["V1-PROMPT-06"], "{}", told.join("\n"));
}
