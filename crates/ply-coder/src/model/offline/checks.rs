//! Running the tests or the build of a project.

use serde_json::json;

use super::intent::Check;
use super::script::Reply;
use super::turn::{Done, Rounds};
use super::{survey, words};

/// How long it may take.
const TIME_MS_MAX: u64 = 600_000;
/// Lines that sum up, which are repeated when it worked.
const SUMMARIES_MAX: usize = 12;

/// Returns what comes after so many rounds.
pub(super) fn next(check: Check, rounds: &Rounds<'_>) -> Reply {
    if let Some(ran) = rounds.calls("shell").last() {
        return Reply::say(words::signed(&report(check, ran)));
    }
    if rounds.count() == 0 {
        return Reply::calls(vec![survey::list(1)]);
    }
    let survey = survey::read(rounds);
    let calls = survey.manifest_calls();
    if rounds.count() == 1 && !calls.is_empty() {
        return Reply::calls(calls);
    }
    let project = survey.project.as_ref();
    let (command, what) = match check {
        Check::Tests => (project.and_then(|it| it.test.clone()), "tests"),
        Check::Build => (project.and_then(|it| it.build.clone()), "build"),
    };
    match command {
        Some(command) => Reply::call(
            "shell",
            json!({ "command": command, "timeout_ms": TIME_MS_MAX }),
        ),
        None => Reply::say(words::signed(&format!(
            "I found no manifest here that says how to run the {what}. If you know the command, say \
             `run COMMAND`."
        ))),
    }
}

fn report(check: Check, ran: Done<'_>) -> String {
    let command = ran.argument("command");
    match (ran.failed, ran.was_run()) {
        (false, _) => {
            let what = match check {
                Check::Tests => "The tests pass",
                Check::Build => "It builds",
            };
            let summary = summary(ran.text);
            match summary.is_empty() {
                true => format!("{what}: `{command}` succeeded."),
                false => format!("{what}: `{command}` succeeded.\n\n```\n{summary}\n```"),
            }
        }
        (true, true) => words::failed(command, ran.text),
        (true, false) => words::not_run(command, ran.text),
    }
}

/// Returns the lines in which test programs sum up.
fn summary(output: &str) -> String {
    let marks = [
        "test result:",
        " passed",
        "Tests:",
        "OK (",
        "ok  \t",
        "Finished ",
    ];
    let is_summary = |line: &&str| marks.iter().any(|mark| line.contains(mark));
    let lines = output.lines().filter(is_summary).take(SUMMARIES_MAX);
    lines.map(str::trim).collect::<Vec<_>>().join("\n")
}
