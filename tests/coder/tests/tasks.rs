//! The coding agent solves small repositories, with a scripted model and everything else as it is.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::collections::BTreeSet;

use coder_tests::Api;
use coder_tests::tasks::{self, File, Report, Said, Task, Tree};

/// How many tasks there are at least.
const TASKS_MIN: usize = 30;

#[test]
fn every_task_leaves_the_repository_as_it_has_to_be() {
    let tasks = tasks::load(&[]).unwrap();
    assert!(tasks.len() >= TASKS_MIN, "{}", tasks.len());
    let apis: BTreeSet<_> = tasks
        .iter()
        .map(|task| format!("{:?}", task.script.api))
        .collect();
    assert_eq!(apis.len(), Api::ALL.len(), "only {apis:?} are spoken");
    let reports = tasks::run_all(&tasks, None, |report| println!("{report}"));
    assert_eq!(reports.len(), tasks.len());
    let failed: Vec<_> = reports.iter().filter(|report| !report.is_well()).collect();
    let lines: Vec<_> = failed.iter().map(ToString::to_string).collect();
    assert!(
        failed.is_empty(),
        "{} of {} tasks failed\n{}",
        failed.len(),
        reports.len(),
        lines.join("\n")
    );
}

/// What has to work whatever API the model speaks.
const FEATURES: [&str; 9] = [
    "fork",
    "hook",
    "hook-at-the-end",
    "skill",
    "slash-command",
    "steering",
    "sub-agent",
    "sub-agent-writes",
    "undo",
];

#[test]
fn every_feature_works_on_every_api() {
    let mut tasks = Vec::new();
    for api in Api::ALL {
        for mut task in tasks::load(&FEATURES.map(str::to_owned)).unwrap() {
            // Its own is tried with all the others.
            if format!("{:?}", task.script.api) != format!("{api:?}") {
                task.script.api = api;
                tasks.push(task);
            }
        }
    }
    assert_eq!(tasks.len(), FEATURES.len() * (Api::ALL.len() - 1));
    let reports = tasks::run_all(&tasks, None, |_| {});
    let failed = reports.iter().filter(|report| !report.is_well());
    let failed: Vec<_> = failed.map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_name_that_no_task_has_is_an_error() {
    let error = tasks::load(&["nothing".to_owned()]).unwrap_err();
    assert_eq!(error, "there is no task `nothing`");
}

#[test]
fn a_word_that_task_json_does_not_know_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let json = r#"{ "prompt": "x", "replies": [], "chek": "false" }"#;
    std::fs::write(directory.path().join("task.json"), json).unwrap();
    let error = Task::load(directory.path()).unwrap_err();
    assert!(error.contains("unknown field `chek`"), "{error}");
}

/// Runs a task that writes `new.txt`, with one thing about it changed.
fn run(change: impl FnOnce(&mut Task)) -> Report {
    let script = serde_json::json!({
        "prompt": "Write new.txt",
        "check": "test -e new.txt",
        "mode": "ask",
        "user": ["allow"],
        "replies": [
            { "calls": [{ "tool": "write_file", "arguments": { "path": "new.txt", "content": "new\n" } }] },
            { "expects": ["Created `new.txt`"], "sees": ["Write new.txt"], "say": "Done." },
        ],
    });
    let mut task = Task {
        name: "small".to_owned(),
        script: serde_json::from_value(script).unwrap(),
        before: Tree::default(),
        after: Tree([("new.txt".to_owned(), File::text("new\n"))].into()),
    };
    change(&mut task);
    tasks::run_all(&[task], None, |_| {}).remove(0)
}

#[track_caller]
fn check(change: impl FnOnce(&mut Task), problem: &str) {
    let report = run(change);
    assert!(
        report.problems.iter().any(|found| found.contains(problem)),
        "{report}"
    );
}

#[test]
fn a_task_that_is_done_is_well() {
    let report = run(|_| {});
    assert!(report.is_well(), "{report}");
    assert_eq!((report.requests, report.calls, report.changed), (2, 1, 1));
}

#[test]
fn another_tree_is_a_problem() {
    check(
        |task| {
            drop(
                task.after
                    .0
                    .insert("new.txt".to_owned(), File::text("old\n")),
            )
        },
        "--- wanted/new.txt\n+++ found/new.txt\n@@ -1 +1 @@\n-old\n+new\n",
    );
    check(
        |task| task.after.0.clear(),
        "new.txt: wanted nothing, found a file",
    );
}

#[test]
fn words_that_the_model_was_not_told_are_a_problem() {
    check(
        |task| task.script.replies[1].expects.push("Deleted".to_owned()),
        "request 2: no result holds \"Deleted\"; they are:\n> Created `new.txt`",
    );
    check(
        |task| task.script.replies[1].sees.push("Read it".to_owned()),
        "request 2 does not hold \"Read it\"",
    );
}

#[test]
fn a_script_of_another_length_is_a_problem() {
    check(
        |task| task.script.replies.push(Said::default()),
        "the model has 3 replies and got 2 requests",
    );
    check(|task| drop(task.script.replies.pop()), "the turn failed: ");
}

#[test]
fn another_number_of_questions_is_a_problem() {
    check(
        |task| task.script.user.clear(),
        "the user has 0 answers and was asked 1 times",
    );
    check(
        |task| task.script.mode = ply_coder::permission::Mode::Full,
        "the user has 1 answers and was asked 0 times",
    );
}

#[test]
fn a_check_that_says_nothing_is_a_problem() {
    let with = |line: &str| {
        let line = Some(line.to_owned());
        move |task: &mut Task| task.script.check = line
    };
    check(with("true"), "the check succeeds before anything is done");
    check(
        with("echo sorry; false"),
        "the check fails afterwards:\nsorry",
    );
    check(with("no-such-program-here"), "the check cannot be used: ");
}
