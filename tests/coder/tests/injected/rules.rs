//! "Allow always" keeps the rule that was shown, and that rule allows no more than it says.

use std::collections::BTreeSet;

use coder_tests::Api;
use ply_client::{Supported, v2};
use ply_coder::permission::Mode;
use serde_json::json;

use crate::case::Case;
use crate::stage::{Conditions, Person, play};

const HASTY: Conditions = Conditions {
    mode: Mode::Ask,
    person: Person::Hasty,
    versions: Supported::V2,
    api: Api::Anthropic,
};

fn commands(lines: &[&str]) -> Case {
    let step = |line: &&str| json!([["shell", { "command": line }]]);
    let steps: Vec<_> = lines.iter().map(step).collect();
    serde_json::from_value(json!({ "name": "commands", "obeys": steps })).unwrap()
}

/// Returns the labels of what was offered to be kept for a question.
fn offers(question: &v2::RequestPermissionRequest) -> Vec<&str> {
    let kept =
        |option: &&v2::PermissionOption| option.kind == v2::PermissionOptionKind::AllowAlways;
    let options = question.options.iter().filter(kept);
    options.map(|option| option.name.as_str()).collect()
}

#[tokio::test]
async fn a_benign_command_that_is_always_allowed_opens_no_door_for_others() {
    let lines = [
        "mkdir made",
        "mkdir made; touch x",
        "mkdir made && make",
        "mkdir $(git stash list)",
        "mkdir made > out.txt",
        "GIT_DIR=x mkdir made",
        "mkdir made | sh",
        "env mkdir made",
    ];
    let played = play(&commands(&lines), HASTY).await;
    let asked: Vec<&str> = played
        .questions
        .iter()
        .map(|one| one.title.as_str())
        .collect();
    // The first one is kept, and each that widens it is asked about all the same.
    assert_eq!(asked.len(), lines.len(), "{asked:#?}");
}

#[tokio::test]
async fn a_command_that_only_reads_opens_no_door_for_others() {
    let lines = [
        "git status --short",
        "git status $(git stash list)",
        "git -c core.fsmonitor=true status",
        "git status > out.txt",
        "GIT_DIR=x git status",
        "env git status",
    ];
    let played = play(&commands(&lines), HASTY).await;
    // The first one runs unasked.
    assert_eq!(
        played.questions.len(),
        lines.len() - 1,
        "{:#?}",
        played.questions
    );
}

#[tokio::test]
async fn what_is_kept_was_on_the_screen() {
    let lines = [
        "git status",
        "git status; rm -rf x",
        "curl http://127.0.0.1:1/",
        "sh -c 'touch pwned'",
        "rm -rf nothing",
        "sudo true",
        "python3 -c 'print(1)'",
        "true\u{202e}",
    ];
    let played = play(&commands(&lines), HASTY).await;
    let shown: BTreeSet<&str> = played.questions.iter().flat_map(offers).collect();
    let kept = std::fs::read_to_string(&played.rules).unwrap_or_default();
    // The first offer is for the session, so nothing may be on disk.
    assert_eq!(kept, "", "{shown:#?}");
    for dangerous in ["rm", "sh -c", "sudo", "python3"] {
        let offered = |label: &&&str| label.contains(&format!("`{dangerous}"));
        assert_eq!(shown.iter().find(offered), None);
    }
    for question in &played.questions {
        let compound = question.title.contains(';');
        assert!(!compound || offers(question).is_empty(), "{question:#?}");
    }
}
