//! The model that needs no network, through the whole program.

use coder_tests::{Story, Tell as _};
use ply_agent::transcript::ToolCall;
use ply_client::v2::{PlanEntryStatus, StopReason, ToolCallStatus};

use crate::place::Place;

#[tokio::test]
async fn explain_this_repository_works_without_any_key() {
    let place = Place::new();
    place.write("README.md", "# Example\n\nIt shows how things are.\n");
    place.write("Cargo.toml", "[package]\nname = \"example\"\n");
    place.write("src/main.rs", "fn main() {}\n");
    for agent in place.agent().each_version().await {
        let session = agent.new_session(place.project()).await.unwrap();
        let story = session.tell("Explain this repository").await;
        assert_eq!(story.stop, Some(StopReason::EndTurn), "{story:#?}");
        assert_eq!(story.plan.len(), 3, "{story:#?}");
        let is_done = |(_, status): &(_, _)| *status == PlanEntryStatus::Completed;
        assert!(story.plan.iter().all(is_done), "{:?}", story.plan);
        let names: Vec<_> = story
            .calls
            .iter()
            .filter_map(|it| it.name.as_deref())
            .collect();
        assert!(names.contains(&"list_dir"), "{names:?}");
        assert!(names.contains(&"read_file"), "{names:?}");
        let is_done = |call: &ToolCall| call.status == ToolCallStatus::Completed;
        assert!(story.calls.iter().all(is_done), "{story:#?}");
        for part in [
            "**example** is a Rust program",
            "It shows how things are.",
            "`src/",
            "cargo test",
        ] {
            assert!(story.text.contains(part), "{part}: {}", story.text);
        }
    }
}

/// Says a sentence in a project with some files, and returns what came of it.
async fn say(place: &Place, sentence: &str) -> Story {
    place.write("a.txt", "one\ntwo\n");
    place.write("src/b.rs", "fn two() {}\n");
    let session = place.session().await;
    let story = session.tell(sentence).await;
    assert_eq!(
        story.stop,
        Some(StopReason::EndTurn),
        "{sentence}: {story:#?}"
    );
    story
}

/// Says a sentence that is about one tool, and returns what the model was told of it.
async fn told(place: &Place, sentence: &str, tool: &str) -> String {
    let story = say(place, sentence).await;
    let call = story.call(tool);
    assert_eq!(call.status, ToolCallStatus::Completed, "{story:#?}");
    assert!(!story.text.is_empty(), "{story:#?}");
    story.told().join("\n")
}

#[tokio::test]
async fn sentences_that_look_find_what_is_there() {
    let place = Place::new();
    let check = async |sentence: &str, tool: &str, expected: &str| {
        let told = told(&place, sentence, tool).await;
        assert!(told.contains(expected), "{sentence}: {told}");
    };
    check("read a.txt", "read_file", "two").await;
    check("list src", "list_dir", "b.rs").await;
    check("list", "list_dir", "a.txt").await;
    check("find **/*.rs", "glob", "src/b.rs").await;
    check("search for two", "grep", "src/b.rs").await;
    check("search two in a.txt", "grep", "two").await;
}

#[tokio::test]
async fn sentences_that_change_files_change_them() {
    let place = Place::new();
    told(&place, "write new.txt: first\\nsecond", "write_file").await;
    assert_eq!(place.read("new.txt"), "first\nsecond");
    told(&place, "replace two with 2 in a.txt", "edit_file").await;
    assert_eq!(place.read("a.txt"), "one\n2\n");
    told(&place, "move a.txt to c.txt", "move_file").await;
    assert_eq!(place.read("c.txt"), "one\ntwo\n");
    told(&place, "delete c.txt", "delete").await;
    assert!(!place.project().join("c.txt").exists());
}

#[tokio::test]
async fn run_runs_in_the_project() {
    let place = Place::new();
    let output = told(&place, "run `pwd; cat a.txt`", "shell").await;
    let project = place.project();
    assert!(output.contains(project.to_str().unwrap()), "{output}");
    assert!(output.contains("one\ntwo"), "{output}");
}

#[tokio::test]
async fn a_command_that_fails_is_a_call_that_failed() {
    let place = Place::new();
    let story = say(&place, "run echo no >&2; exit 3").await;
    let call = story.call("shell");
    assert_eq!(call.status, ToolCallStatus::Failed, "{story:#?}");
    assert!(story.told()[0].contains('3'), "{story:#?}");
}

#[tokio::test]
async fn plan_shows_a_plan_and_think_a_thought() {
    let place = Place::new();
    let story = say(&place, "plan look, change, test").await;
    let steps: Vec<_> = story.plan.iter().map(|(step, _)| step.as_str()).collect();
    assert_eq!(steps, ["look", "change", "test"]);
    assert_eq!(story.plan[0].1, PlanEntryStatus::InProgress);
    let story = say(&place, "think: this is odd").await;
    let shown = format!("{} {:?}", story.thoughts, story.calls);
    assert!(shown.contains("this is odd"), "{story:#?}");
}

#[tokio::test]
async fn sentences_are_done_one_after_the_other() {
    let place = Place::new();
    let story = say(
        &place,
        "write x.txt: 1, then run cat x.txt, then delete x.txt",
    )
    .await;
    let names: Vec<_> = story
        .calls
        .iter()
        .filter_map(|it| it.name.as_deref())
        .collect();
    assert_eq!(names, ["write_file", "shell", "delete"]);
    assert!(!place.project().join("x.txt").exists());
}

#[tokio::test]
async fn what_it_does_not_understand_it_says_and_what_it_could_do() {
    let place = Place::new();
    let story = say(&place, "what is love?").await;
    for part in [
        "offline model",
        "ANTHROPIC_API_KEY",
        "explain this repository",
    ] {
        assert!(story.text.contains(part), "{part}: {}", story.text);
    }
    assert!(story.calls.is_empty());
}
