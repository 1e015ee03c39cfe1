//! A session is forked: what both share, and what is each one's own.

use coder_tests::{Reply, Setup, Tell as _, World};
use ply_client::Supported;
use ply_coder::permission::Mode;
use serde_json::json;

fn full(versions: Supported) -> Setup {
    Setup {
        versions,
        mode: Mode::Full,
        ..Setup::default()
    }
}

fn write(path: &str, text: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "content": text }))
}

#[tokio::test]
async fn a_fork_knows_the_conversation_and_takes_back_what_it_shares() {
    for versions in [Supported::V1, Supported::V2] {
        let script = [
            write("a.txt", "one\n"),
            Reply::say("Written."),
            Reply::say("I know."),
        ];
        let world = World::with(full(versions), script).await;
        let session = world.session().await;
        session.tell("Write a.txt").await;
        let fork = session.fork().await.unwrap();
        assert_ne!(fork.id(), session.id());
        fork.tell("What did you do?").await;
        let request = world.model.request(2).await;
        let asked = json!(request.messages()).to_string();
        assert!(asked.contains("Write a.txt"), "{asked}");
        let undone = fork.tell("/undo").await.text;
        assert!(undone.contains("Taken back"), "{undone}");
        assert!(!world.path().join("a.txt").exists());
        // What is as it was before is no conflict, and the other one takes it back as well.
        let undone = session.tell("/undo").await.text;
        assert!(undone.contains("Taken back"), "{undone}");
        let redone = session.tell("/redo").await.text;
        assert!(redone.contains("Done again"), "{redone}");
        // Now it is not as the fork left it.
        world.write("a.txt", "two\n");
        let redone = fork.tell("/redo").await.text;
        assert!(redone.contains("Nothing was done again"), "{redone}");
    }
}

#[tokio::test]
async fn a_fork_does_not_take_back_what_the_other_session_did_later() {
    let script = [
        write("a.txt", "one\n"),
        Reply::say("Written."),
        // The other one goes on, with this file and with another.
        Reply::call("read_file", json!({ "path": "a.txt" })),
        write("a.txt", "two\n").and_call(
            "write_file",
            json!({ "path": "b.txt", "content": "theirs\n" }),
        ),
        Reply::say("Changed."),
    ];
    let world = World::with(full(Supported::V2), script).await;
    let session = world.session().await;
    session.tell("Write a.txt").await;
    let fork = session.fork().await.unwrap();
    session.tell("Change it").await;
    assert_eq!(world.read("a.txt"), "two\n");
    let undone = fork.tell("/undo").await.text;
    assert!(undone.contains("`a.txt`"), "{undone}");
    assert!(undone.contains("Nothing was taken back"), "{undone}");
    assert_eq!(world.read("a.txt"), "two\n");
    // The user may insist, and what the other one did elsewhere stays.
    let undone = fork.tell("/undo anyway").await.text;
    assert!(undone.contains("Write a.txt"), "{undone}");
    assert!(!world.path().join("a.txt").exists());
    assert_eq!(world.read("b.txt"), "theirs\n");
    let undone = fork.tell("/undo").await.text;
    assert!(undone.contains("There is no turn"), "{undone}");
}
