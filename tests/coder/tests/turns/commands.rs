//! Slash commands always end their prompt.

use coder_tests::{Reply, Tell as _, World};
use ply_agent::v2::StopReason;

#[tokio::test]
async fn every_command_is_answered_without_the_model() {
    let world = World::new([]).await;
    let session = world.session().await;
    let check = async |prompt: &str, expected: &str| {
        let story = session.tell(prompt).await;
        assert_eq!(story.stop, Some(StopReason::EndTurn), "{prompt}");
        assert!(story.text.contains(expected), "{prompt}: {}", story.text);
    };
    check("/help", "/compact").await;
    check("/model", "scripted/model").await;
    check("/model nothing", "There is no model `nothing`").await;
    check("/mode", "ask").await;
    check("/mode full", "full now").await;
    check("/mode nothing", "There is no mode `nothing`").await;
    check("/compact", "nothing to shorten").await;
    assert_eq!(world.model.requests().len(), 0);
}

#[tokio::test]
async fn compact_makes_a_summary_that_the_next_request_begins_with() {
    let world = World::new([
        Reply::say("Noted."),
        Reply::say("## Goal\nThe sky is green."),
        Reply::say("Green."),
    ])
    .await;
    let session = world.session().await;
    session.tell("The sky is green.").await;
    let story = session.tell("/compact the colour").await;
    assert!(story.text.contains("summary"), "{story:#?}");
    let asked = world.model.request(1).await.body.to_string();
    assert!(asked.contains("the colour"), "{asked}");
    session.tell("Which colour?").await;
    let body = world.model.request(2).await.body.to_string();
    assert!(
        body.contains("## Goal") && !body.contains("Noted."),
        "{body}"
    );
}

#[tokio::test]
async fn a_summary_is_tried_again_and_never_made_up() {
    let busy = || Reply::status(429).header("retry-after-ms", "1");
    let world = World::new([Reply::say("Noted."), busy(), Reply::say("## Goal\nTea")]).await;
    let session = world.session().await;
    session.tell("Tea, please.").await;
    let story = session.tell("/compact").await;
    assert!(story.text.contains("summary"), "{story:#?}");

    let world = World::new([Reply::say("Noted."), Reply::status(401)]).await;
    let session = world.session().await;
    session.tell("Tea, please.").await;
    let story = session.tell("/compact").await;
    assert!(story.text.contains("stays as it is"), "{story:#?}");
    world.model.push(Reply::say("Tea."));
    session.tell("What was it?").await;
    let body = world.model.request(2).await.body.to_string();
    assert!(body.contains("Noted."), "nothing was lost: {body}");
}

#[tokio::test]
async fn a_path_is_no_command() {
    let world = World::new([Reply::say("A file.")]).await;
    assert_eq!(world.turn("/etc/hosts what is it?").await.text, "A file.");
}
