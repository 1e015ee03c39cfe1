//! What people ask first about a project, and what the offline model answers: real questions about real
//! projects, through the whole agent. Each snapshot is meant to be read.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod place;

use std::fmt::Write as _;

use coder_tests::{Tell as _, User};

use self::place::Place;

/// What anybody asks about any project.
const ANYBODY: [&str; 13] = [
    "explain this repository",
    "What is this?",
    "how is the code organized?",
    "what language is this written in?",
    "How do I build and test it?",
    "what are the dependencies?",
    "where do I start reading?",
    "what license is this under?",
    "are there any tests?",
    "show me an example",
    "any TODOs left?",
    "explain src/lib.rs",
    "What changed recently?",
];

/// Asks each question in a session of its own, and writes down what was called and said.
async fn ask(place: &Place, questions: impl IntoIterator<Item = &str>) -> String {
    let mut told = String::new();
    for question in questions {
        let story = place.world.session().await.tell(question).await;
        writeln!(told, "## {question}\n").unwrap();
        for call in &story.calls {
            let title = call.title.as_deref().unwrap_or_default();
            writeln!(told, "({title})").unwrap();
        }
        writeln!(told, "\n{}\n", story.text.trim()).unwrap();
        assert!(story.error.is_none(), "{question}: {story:#?}");
    }
    place.steady(&told)
}

#[tokio::test]
async fn questions_about_a_small_library() {
    let place = Place::of("globset", User::Allows).await;
    let own = [
        "where is GlobSet defined?",
        "who uses is_match_candidate?",
        "what does src/glob.rs do?",
        "explain README.md",
        "where is the Candidate struct?",
        "fix the failing test",
    ];
    let told = ask(&place, ANYBODY.into_iter().chain(own)).await;
    insta::assert_snapshot!("small_library", told);
}

#[tokio::test]
async fn questions_about_a_library_with_examples_and_a_history() {
    let place = Place::of("similar", User::Allows).await;
    place.commit();
    std::fs::write(place.world.path().join("NOTES.txt"), "Remember the milk.\n").unwrap();
    let readme = place.world.read("README.md");
    std::fs::write(
        place.world.path().join("README.md"),
        readme.replacen("A Diffing Library", "Diffs", 1),
    )
    .unwrap();
    let own = [
        "What is TextDiff?",
        "what is in src/algorithms?",
        "where is myers implemented?",
        "how big is this project?",
        "which features does it have?",
        "show me the diff",
        "why is this slow?",
    ];
    let told = ask(&place, ANYBODY.into_iter().chain(own)).await;
    insta::assert_snapshot!("library_with_history", told);
}

#[tokio::test]
async fn questions_whose_commands_are_rejected() {
    let place = Place::of("landlock", User::Rejects).await;
    place.commit();
    let own = [
        "what is in examples/?",
        "explain sandboxer.rs",
        "where is RulesetAttr defined?",
        "run the tests",
        "does it compile?",
        "hello",
        "what can you do?",
        "read the code and tell me what is wrong",
        "run through the code with me",
        "what is love?",
    ];
    let told = ask(&place, ANYBODY.into_iter().chain(own)).await;
    insta::assert_snapshot!("rejected_commands", told);
}
