//! Calls of one answer, in their order.

use std::time::Duration;

use coder_tests::{Api, Reply, Setup, User, World, read_story};
use ply_agent::v2::StopReason;
use ply_client::Event;
use ply_coder::permission::Mode;
use serde_json::json;

fn setup(mode: Mode, user: User) -> Setup {
    Setup {
        mode,
        user,
        ..Setup::default()
    }
}

#[tokio::test]
async fn a_script_is_written_before_it_is_run_and_a_file_before_it_is_edited() {
    // It takes some files until a race shows itself.
    for round in 0..3 {
        let text = "echo one > out\n".repeat(100);
        let edit =
            json!({ "path": "s.sh", "edits": [{ "old": "# end", "new": "echo two > out" }] });
        let script = [
            Reply::call(
                "write_file",
                json!({ "path": "s.sh", "content": format!("{text}# end\n") }),
            )
            .and_call("shell", json!({ "command": "sh s.sh; cat out" }))
            .and_call("edit_file", edit)
            .and_call("shell", json!({ "command": "sh s.sh; cat out" }))
            .and_call("read_file", json!({ "path": "out" })),
            Reply::say("Done."),
        ];
        let world = World::with(setup(Mode::Full, User::Rejects), script).await;
        let story = world.turn("Go").await;
        let told = story.told();
        assert!(told[1].contains("one"), "{round}: {told:?}");
        assert!(told[3].contains("two"), "{round}: {told:?}");
        assert!(told[4].contains("two"), "{round}: {told:?}");
    }
}

#[tokio::test]
async fn the_user_is_asked_in_the_order_of_the_calls() {
    let script = [
        Reply::call(
            "write_file",
            json!({ "path": "a", "content": "x".repeat(5_000) }),
        )
        .and_call("shell", json!({ "command": "make b" }))
        .and_call("delete", json!({ "path": "a" })),
        Reply::say("Done."),
    ];
    let world = World::with(setup(Mode::Ask, User::Allows), script).await;
    world.turn("Go").await;
    let asked = world.asked();
    let verbs: Vec<_> = asked.iter().map(|title| title.split(' ').next()).collect();
    assert_eq!(verbs, [Some("Write"), Some("Run"), Some("Delete")]);
    assert!(!world.path().join("a").exists());
}

#[tokio::test]
async fn calls_that_wait_for_others_end_with_a_cancel() {
    let script = [Reply::call("shell", json!({ "command": "make all" }))
        .and_call("write_file", json!({ "path": "a", "content": "x" }))
        .and_call("read_file", json!({ "path": "a" }))];
    let world = World::with(setup(Mode::Ask, User::Waits), script).await;
    let session = world.session().await;
    let mut turn = session.prompt("Go").await.unwrap();
    // Held: one that is dropped is answered.
    let _question = loop {
        if let Event::Permission(question) = turn.next().await.unwrap().unwrap() {
            break question;
        }
    };
    session.cancel().await.unwrap();
    let story = tokio::time::timeout(Duration::from_secs(2), read_story(&session, turn)).await;
    let story = story.expect("nobody waits for ever");
    assert_eq!(story.stop, Some(StopReason::Cancelled));
    assert!(story.calls.iter().all(|call| call.is_finished()));
    assert!(!world.path().join("a").exists());
}

#[tokio::test]
async fn a_call_that_never_becomes_complete_holds_nobody_up() {
    let piece = |index: u64, name: &str, arguments: &str| {
        let call = json!({ "index": index, "id": format!("c{index}"),
            "function": { "name": name, "arguments": arguments } });
        json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }).to_string()
    };
    let script = [
        Reply::empty()
            .and_frame(piece(0, "write_file", "{\"path\": \"b\", \"con"))
            .and_frame(piece(1, "read_file", "{\"path\": \"a\"}"))
            .and_say("So")
            .and_cut(),
        Reply::say("Done."),
    ];
    let setup = Setup {
        api: Api::Chat,
        ..setup(Mode::Full, User::Allows)
    };
    let world = World::with(setup, script).await;
    world.write("a", "some text");
    let story = world.turn("Go").await;
    assert_eq!(story.stop, Some(StopReason::EndTurn), "{story:#?}");
    assert!(story.told()[1].contains("some text"), "{:?}", story.told());
}
