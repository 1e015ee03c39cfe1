//! Changed files are checked, and the model is told.

use coder_tests::{Reply, Setup, Tell as _, User, World};
use ply_coder::diagnostics::Diagnostics;
use ply_coder::permission::Mode;
use serde_json::json;

/// A checker that complains about two files as long as they say `wrong`, and counts how often it ran.
const CHECKER: &str = "echo run >> runs; grep -n wrong a.txt b.txt";

fn checking(command: Option<&str>, mode: Mode) -> Setup {
    let mut diagnostics = Diagnostics::default();
    diagnostics.command = command.map(str::to_owned);
    Setup {
        mode,
        user: User::Allows,
        configure: Box::new(move |config| config.diagnostics = Some(diagnostics)),
        ..Setup::default()
    }
}

fn write(path: &str, content: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "content": content }))
}

#[tokio::test]
async fn the_model_is_told_what_is_wrong_with_what_it_changed_once_for_all_edits() {
    let both = write("a.txt", "wrong\n").and_call(
        "write_file",
        json!({ "path": "c.txt", "content": "fine\n" }),
    );
    let edit = json!({ "path": "a.txt", "edits": [{ "old": "wrong", "new": "right" }] });
    let script = [
        both,
        Reply::call("edit_file", edit),
        Reply::say("Done."),
        Reply::say("Yes."),
    ];
    let world = World::with(checking(Some(CHECKER), Mode::AutoEdit), script).await;
    // It was like that before.
    world.write("b.txt", "wrong\n");
    let session = world.session().await;
    let story = session.tell("Write").await;
    assert_eq!(story.text, "Done.", "{story:#?}");
    assert_eq!(world.read("runs"), "run\nrun\n");
    let told = world.model.request(1).await.last_user_text();
    assert!(told.contains("a.txt:1:wrong"), "{told}");
    assert!(!told.contains("b.txt:1"), "{told}");
    // Nothing is wrong any more, so nothing is added.
    let body = world.model.request(2).await.body.to_string();
    assert_eq!(body.matches("a.txt:1:wrong").count(), 1, "{body}");
    assert!(world.asked().is_empty(), "{:?}", world.asked());
    // The history has it as well.
    session.tell("Sure?").await;
    let body = world.model.request(3).await.body.to_string();
    assert!(body.contains("a.txt:1:wrong"), "{body}");
}

#[tokio::test]
async fn a_checker_that_was_found_runs_only_where_commands_may() {
    let manifest = "[package]\nname = \"x\"\nversion = \"0.1.0\"\n";
    for mode in [Mode::Ask, Mode::AutoEdit] {
        let script = [write("src/lib.rs", "fn x( {\n"), Reply::say("Done.")];
        let world = World::with(checking(None, mode), script).await;
        world.write("Cargo.toml", manifest);
        world.turn("Write").await;
        assert!(!world.path().join("target").exists(), "{mode:?}");
        let asked = world.asked();
        assert!(
            !asked.iter().any(|title| title.contains("cargo")),
            "{asked:?}"
        );
    }
}

#[tokio::test]
async fn in_plan_mode_nothing_is_checked() {
    let script = [write("a.txt", "wrong\n"), Reply::say("Done.")];
    let world = World::with(checking(Some(CHECKER), Mode::Plan), script).await;
    world.turn("Write").await;
    assert!(!world.path().join("runs").exists());
}

#[tokio::test]
async fn a_checker_that_cannot_be_run_is_told_once() {
    let script = [
        write("a.txt", "x\n"),
        write("b.txt", "x\n"),
        Reply::say("Done."),
    ];
    let command = "no-such-checker --all";
    let world = World::with(checking(Some(command), Mode::AutoEdit), script).await;
    let story = world.turn("Write").await;
    let told = story.notices.iter();
    let told: Vec<_> = told.filter(|told| told.contains(command)).collect();
    assert_eq!(told.len(), 1, "{:?}", story.notices);
    assert!(told[0].contains("not found"), "{told:?}");
}
