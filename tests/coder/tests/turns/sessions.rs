//! Sessions that outlive their process.

use coder_tests::{Api, Gate, Reply, Setup, Tell as _, World};
use ply_agent::v2::StopReason;
use serde_json::json;
use tempfile::TempDir;

fn stored(place: &TempDir, api: Api) -> Setup {
    Setup {
        api,
        store: Some(place.path().join("sessions.db")),
        ..Setup::default()
    }
}

#[tokio::test]
async fn a_loaded_session_tells_the_model_the_same_story() {
    for api in Api::ALL {
        let place = TempDir::new().unwrap();
        let script = [
            Reply::say("I look.").and_call("list_dir", json!({ "path": "." })),
            Reply::say("Empty."),
        ];
        let first = World::with(stored(&place, api), script).await;
        let cwd = first.path();
        let session = first.session().await;
        session.tell("Look").await;
        let id = session.id().clone();
        session.close().await.unwrap();

        let second = World::with(stored(&place, api), [Reply::say("As I said.")]).await;
        let session = second
            .agent
            .load_session(id.0.to_string(), cwd)
            .await
            .unwrap();
        let story = session.tell("Again?").await;
        assert_eq!(story.text, "As I said.", "{api:?} {story:#?}");
        let seen = second.model.request(0).await;
        assert_eq!(seen.tool_results().len(), 1, "{api:?}");
        let body = seen.body.to_string();
        for said in ["Look", "I look.", "Empty.", "Again?"] {
            assert!(body.contains(said), "{api:?} {said}: {body}");
        }
    }
}

#[tokio::test]
async fn an_interrupted_turn_leaves_a_conversation_that_services_take() {
    let place = TempDir::new().unwrap();
    let gate = Gate::new();
    let reply = Reply::call("shell", json!({ "command": "echo $$ > pid; sleep 1000" }));
    let first = World::with(stored(&place, Api::Anthropic), [reply, Reply::hang(&gate)]).await;
    let cwd = first.path();
    let session = first.session().await;
    let turn = session.prompt("Run").await.unwrap();
    first.appears("pid").await;
    let id = session.id().clone();
    // The client goes away in the middle; the agent closes its sessions.
    drop(turn);
    session.close().await.unwrap();

    let second = World::with(stored(&place, Api::Anthropic), [Reply::say("On we go.")]).await;
    let session = second
        .agent
        .load_session(id.0.to_string(), cwd)
        .await
        .unwrap();
    let story = session.tell("Go on").await;
    assert_eq!(story.stop, Some(StopReason::EndTurn), "{story:#?}");
    assert_eq!(second.model.request(0).await.tool_results().len(), 1);
}

#[tokio::test]
async fn what_was_chosen_is_still_chosen() {
    let place = TempDir::new().unwrap();
    let first = World::with(stored(&place, Api::Chat), []).await;
    let cwd = first.path();
    let session = first.session().await;
    session.tell("/mode full").await;
    let id = session.id().clone();
    session.close().await.unwrap();

    let second = World::with(stored(&place, Api::Chat), []).await;
    let session = second
        .agent
        .load_session(id.0.to_string(), cwd)
        .await
        .unwrap();
    let story = session.tell("/mode").await;
    assert!(story.text.contains("full"), "{}", story.text);
}
