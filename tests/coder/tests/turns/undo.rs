//! A turn is taken back: files, and what the model knows of them.

use coder_tests::{Reply, Setup, Tell as _, World, read_story};
use ply_coder::permission::Mode;
use serde_json::json;

fn full() -> Setup {
    Setup {
        mode: Mode::Full,
        ..Setup::default()
    }
}

#[tokio::test]
async fn undo_takes_back_edits_and_commands_and_tells_the_model() {
    let edit = json!({ "path": "a.txt", "edits": [{ "old": "one", "new": "two" }] });
    let command = json!({ "command": "rm b.txt && mkdir new && echo c > new/c.txt" });
    let world = World::with(
        full(),
        [
            Reply::call("read_file", json!({ "path": "a.txt" })),
            Reply::call("edit_file", edit),
            Reply::call("shell", command),
            Reply::say("Done."),
            Reply::say("I see."),
        ],
    )
    .await;
    world.write("a.txt", "one\n");
    world.write("b.txt", "b\n");
    let session = world.session().await;
    session.tell("Change things").await;
    assert_eq!(world.read("a.txt"), "two\n");
    assert_eq!(world.read("new/c.txt"), "c\n");
    let shown = session.tell("/diff").await;
    assert!(shown.text.contains("`a.txt` +1 −1"), "{}", shown.text);
    assert!(shown.text.contains("`new/c.txt` +1 −0"), "{}", shown.text);
    let story = session.tell("/undo").await;
    assert!(story.text.contains("Change things"), "{}", story.text);
    assert_eq!(world.read("a.txt"), "one\n");
    assert_eq!(world.read("b.txt"), "b\n");
    assert!(!world.path().join("new").exists());
    assert_eq!(
        session.tell("/diff").await.text,
        "This session has changed no files."
    );
    session.tell("Go on").await;
    let request = world.model.request(4).await.body.to_string();
    assert!(request.contains("Taken back"), "{request}");
    assert!(!request.contains("+1 −1"), "{request}");
}

#[tokio::test]
async fn a_reopened_session_takes_back_what_it_did_before() {
    let (store, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let setup = || {
        let checkpoints = kept.path().join("checkpoints");
        Setup {
            store: Some(store.path().join("sessions.db")),
            configure: Box::new(move |config| config.checkpoints = Some(checkpoints)),
            ..full()
        }
    };
    let write = json!({ "path": "a.txt", "content": "one\n" });
    let script = [Reply::call("write_file", write), Reply::say("Done.")];
    let first = World::with(setup(), script).await;
    let session = first.session().await;
    session.tell("Write it").await;
    assert_eq!(first.read("a.txt"), "one\n");
    let id = session.id().clone();
    session.close().await.unwrap();
    let second = World::with(setup(), []).await;
    let session = second.agent.load_session(id, first.path()).await.unwrap();
    session.tell("/undo").await;
    assert!(!first.path().join("a.txt").exists());
    session.tell("/redo").await;
    assert_eq!(first.read("a.txt"), "one\n");
}

#[tokio::test]
async fn a_look_keeps_nothing_and_leaves_nothing_to_take_back() {
    let kept = tempfile::tempdir().unwrap();
    let checkpoints = kept.path().join("checkpoints");
    let at = checkpoints.clone();
    let setup = Setup {
        configure: Box::new(move |config| config.checkpoints = Some(at)),
        ..full()
    };
    let look = Reply::call("shell", json!({ "command": "ls -la" }));
    let world = World::with(setup, [look, Reply::say("Empty.")]).await;
    let session = world.session().await;
    session.tell("What is here?").await;
    assert!(!checkpoints.exists());
    let story = session.tell("/undo").await;
    assert!(
        story.text.contains("no turn to take back"),
        "{}",
        story.text
    );
}

#[tokio::test]
async fn a_turn_that_was_cancelled_is_taken_back_like_any_other() {
    let command = json!({ "command": "echo two > a.txt; rm b.txt; touch up; sleep 1000" });
    let world = World::with(full(), [Reply::call("shell", command)]).await;
    world.write("a.txt", "one\n");
    world.write("b.txt", "b\n");
    let session = world.session().await;
    let turn = session.prompt("Change things").await.unwrap();
    world.appears("up").await;
    session.cancel().await.unwrap();
    read_story(&session, turn).await;
    assert_eq!(world.read("a.txt"), "two\n");
    let story = session.tell("/undo").await;
    assert!(story.text.contains("Change things"), "{}", story.text);
    assert_eq!(world.read("a.txt"), "one\n");
    assert_eq!(world.read("b.txt"), "b\n");
}
