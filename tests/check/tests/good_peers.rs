//! Agents that keep the rules are told so: no failure, and no warning without a reason.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests fail by panicking, and say what they found"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use check_tests::peers;
use ply_check::agent::{Prompts, Subject, check};
use ply_check::{Findings, Outcome, Selection};
use ply_wire::negotiate::Version;

/// The programs of other packages, built when the first test needs one.
static PROGRAMS: LazyLock<BTreeMap<String, PathBuf>> = LazyLock::new(|| peers::build().unwrap());

/// What is said to an agent.
struct Words {
    /// For each kind of prompt that every agent has, in the order of [`Prompts`].
    usual: [&'static str; 8],
    /// Kinds that few agents have; the word is that of the kind.
    more: &'static [&'static str],
}

/// The words of the example `tour`.
const TOUR: Words = Words {
    usual: [
        "say",
        "wait",
        "tool",
        "permission",
        "read README.md",
        "write checked.txt checked",
        "run echo checked",
        "plan",
    ],
    more: &[
        "form", "visit", "notice", "usage", "refuse", "tokens", "requests", "fail",
    ],
};
/// The words of the agents that are made with the official SDK. None of their tools only looks.
const SDK: Words = Words {
    usual: [
        "hello",
        "wait",
        "tool",
        "tool",
        "read /scratch/README.md",
        "tool",
        "term echo",
        "plan",
    ],
    more: &["refuse", "tokens", "requests", "fail"],
};

/// Warnings that are as they should be: peer, rule, and why.
const EXPECTED: &[(&str, &str, &str)] = &[
    (
        "sdk_agent",
        "V1-CREQ-07",
        "the SDK does not withdraw a question that is not waited for any more",
    ),
    (
        "sdk_agent",
        "V1-MODE-05",
        "this agent tells a new mode in its answer only",
    ),
    (
        "sdk_agent",
        "V1-RPC-09",
        "the SDK ends the connection at bytes that are no UTF-8",
    ),
    (
        "sdk_agent",
        "V1-SESS-07",
        "this agent connects to no MCP servers",
    ),
    (
        "tour",
        "V1-SESS-07",
        "this agent connects to no MCP servers",
    ),
    (
        "echo",
        "V1-SESS-07",
        "this agent connects to no MCP servers",
    ),
    (
        "sdk_agent",
        "V2-INIT-08",
        "this agent is started for one version",
    ),
];

fn prompts(words: &Words) -> Prompts {
    let mut prompts = Prompts::default();
    let [short, long, look, change, read, write, run, plan] = words.usual.map(str::to_owned);
    (prompts.short, prompts.long) = (short, long);
    (prompts.look, prompts.change) = (look, change);
    (prompts.read, prompts.write) = (read, write);
    (prompts.run, prompts.plan) = (run, plan);
    for (kind, word) in [
        (&mut prompts.form, "form"),
        (&mut prompts.visit, "visit"),
        (&mut prompts.notice, "notice"),
        (&mut prompts.usage, "usage"),
        (&mut prompts.compact, "compact"),
        (&mut prompts.refuse, "refuse"),
        (&mut prompts.tokens, "tokens"),
        (&mut prompts.requests, "requests"),
        (&mut prompts.fail, "fail"),
    ] {
        *kind = words.more.contains(&word).then(|| word.to_owned());
    }
    prompts
}

/// Checks a peer in a place of its own. `{}` in an argument is that place.
async fn assert_good(program: &Path, arguments: &[&str], words: Option<&Words>, version: Version) {
    let name = program.file_name().unwrap().to_str().unwrap();
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for directory in ["work", "home", "store"] {
        std::fs::create_dir(root.join(directory)).unwrap();
    }
    std::fs::write(root.join("work/README.md"), "# A place for checks\n").unwrap();
    let mut command: Vec<OsString> = vec![program.into()];
    let path = root.to_str().unwrap();
    command.extend(arguments.iter().map(|word| word.replace("{}", path).into()));
    let mut subject = Subject::new(command, root.join("work"));
    // Nothing of whoever runs the tests is read or written.
    let home = root.join("home").into_os_string();
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
        subject.env.push((variable.into(), home.clone()));
    }
    if let Some(words) = words {
        subject.prompts = prompts(words);
    }
    let findings = check(&subject, version, &Selection::default(), |_| {}).await;
    let wrong = wrong(&findings, name);
    report(&findings, name, version);
    assert!(
        wrong.is_empty(),
        "{name} in {version:?}:\n{}",
        wrong.join("\n")
    );
}

/// Returns what was found against a peer and is not expected.
fn wrong(findings: &Findings, name: &str) -> Vec<String> {
    let is_expected = |rule: &str| {
        let mut expected = EXPECTED.iter();
        expected.any(|(peer, known, _)| *peer == name && *known == rule)
    };
    let verdicts = findings.verdicts().filter(|verdict| {
        let is_bad = matches!(verdict.outcome, Outcome::Fail | Outcome::Warn);
        is_bad && (verdict.outcome == Outcome::Fail || !is_expected(verdict.rule.id))
    });
    let lines = verdicts.map(|verdict| {
        let mut told = format!("{} {:?}: {}", verdict.rule.id, verdict.outcome, verdict.saw);
        let recording = findings.recordings.get(verdict.evidence.recording);
        let frames = recording.map(|recording| recording.with_frames(<[_]>::to_vec));
        for number in &verdict.evidence.frames {
            let frame = frames.as_ref().and_then(|frames| frames.get(*number));
            let line = frame.map(|frame| String::from_utf8_lossy(&frame.bytes).into_owned());
            let line: String = line.unwrap_or_default().chars().take(300).collect();
            told += &format!("\n    {number}: {line}");
        }
        told
    });
    lines.collect()
}

/// Says how much was found out, and what was not.
fn report(findings: &Findings, name: &str, version: Version) {
    let count = |outcome: Outcome| {
        let verdicts = findings.verdicts();
        verdicts
            .filter(|verdict| verdict.outcome == outcome)
            .count()
    };
    eprintln!(
        "{name} in {version:?}: {} kept, {} not offered, {} not exercised",
        count(Outcome::Pass),
        count(Outcome::NotApplicable),
        count(Outcome::NotExercised)
    );
    for verdict in findings.verdicts() {
        if verdict.outcome == Outcome::Inconclusive {
            eprintln!("    {} is unclear: {}", verdict.rule.id, verdict.saw);
        }
    }
}

#[tokio::test]
async fn the_example_echo_keeps_version_1() {
    assert_good(&PROGRAMS["echo"], &[], None, Version::V1).await;
}

#[tokio::test]
async fn the_example_echo_keeps_version_2() {
    assert_good(&PROGRAMS["echo"], &[], None, Version::V2).await;
}

#[tokio::test]
async fn the_example_tour_keeps_version_1() {
    assert_good(&PROGRAMS["tour"], &[], Some(&TOUR), Version::V1).await;
}

#[tokio::test]
async fn the_example_tour_keeps_version_2() {
    assert_good(&PROGRAMS["tour"], &[], Some(&TOUR), Version::V2).await;
}

#[tokio::test]
async fn the_coding_agent_keeps_version_1() {
    let arguments = ["agent", "--store", "{}/store/sessions.db"];
    assert_good(&PROGRAMS["ply"], &arguments, None, Version::V1).await;
}

#[tokio::test]
async fn the_coding_agent_keeps_version_2() {
    let arguments = ["agent", "--store", "{}/store/sessions.db"];
    assert_good(&PROGRAMS["ply"], &arguments, None, Version::V2).await;
}

#[tokio::test]
async fn an_agent_of_the_official_sdk_keeps_version_1() {
    assert_good(&PROGRAMS["sdk_agent"], &["v1"], Some(&SDK), Version::V1).await;
}

#[tokio::test]
async fn an_agent_of_the_official_sdk_keeps_version_2() {
    assert_good(&PROGRAMS["sdk_agent"], &["v2"], Some(&SDK), Version::V2).await;
}

#[tokio::test]
async fn the_mutant_without_a_fault_keeps_version_1() {
    let mutant = Path::new(env!("CARGO_BIN_EXE_mutant_agent"));
    assert_good(mutant, &["--store", "{}/store"], None, Version::V1).await;
}

#[tokio::test]
async fn the_mutant_without_a_fault_keeps_version_2() {
    let mutant = Path::new(env!("CARGO_BIN_EXE_mutant_agent"));
    assert_good(mutant, &["--store", "{}/store"], None, Version::V2).await;
}
