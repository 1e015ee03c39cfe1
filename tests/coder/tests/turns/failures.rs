//! Services that fail, and models that behave badly.

use coder_tests::{Api, Reply, Setup, Tell as _, World};
use ply_agent::v2::{StopReason, ToolCallStatus};
use serde_json::json;

#[tokio::test]
async fn a_wrong_key_says_what_to_set() {
    for api in [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini] {
        let setup = Setup {
            api,
            ..Setup::default()
        };
        let world = World::with(setup, [Reply::status(401)]).await;
        let story = world.turn("Hi").await;
        let error = story
            .error
            .unwrap_or_else(|| panic!("{api:?} has no error"));
        assert!(
            error.contains("key") || error.contains("KEY"),
            "{api:?}: {error}"
        );
        assert!(!error.contains("test-key"), "{api:?}: {error}");
        assert_eq!(
            world.model.requests().len(),
            1,
            "a wrong key is not tried again"
        );
    }
}

#[tokio::test]
async fn a_service_that_stays_down_ends_the_turn_with_an_error() {
    let down = (0..6).map(|_| Reply::status(503).header("retry-after-ms", "1"));
    let world = World::new(down).await;
    let session = world.session().await;
    let story = session.tell("Hi").await;
    assert!(story.error.is_some(), "{story:#?}");
    assert_eq!(story.notices.len(), 5, "{:?}", story.notices);
    world.model.push(Reply::say("Back."));
    assert_eq!(session.tell("Hi").await.text, "Back.");
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_shortened_and_sent_again() {
    for api in Api::ALL {
        let setup = Setup {
            api,
            ..Setup::default()
        };
        let script = [
            Reply::overflow(),
            Reply::say("## Goal\nGreet."),
            Reply::say("Hello."),
        ];
        let world = World::with(setup, script).await;
        let story = world.turn("Greet me").await;
        assert_eq!(story.text, "Hello.", "{api:?} {story:#?}");
        let body = world.model.request(2).await.body.to_string();
        assert!(
            body.contains("## Goal") && body.contains("Greet me"),
            "{api:?} {body}"
        );
    }
}

#[tokio::test]
async fn a_conversation_that_stays_too_long_is_an_error_and_no_loop() {
    let script = [Reply::overflow(), Reply::say("short"), Reply::overflow()];
    let world = World::new(script).await;
    let story = world.turn("Greet me").await;
    assert!(story.error.is_some(), "{story:#?}");
    assert_eq!(world.model.requests().len(), 3);
}

#[tokio::test]
async fn a_request_that_is_not_taken_is_repaired_once() {
    let script = [Reply::status(400), Reply::say("Now.")];
    let world = World::new(script).await;
    assert_eq!(world.turn("Hi").await.text, "Now.");
    let world = World::new([Reply::status(400), Reply::status(400)]).await;
    assert!(world.turn("Hi").await.error.is_some());
}

#[tokio::test]
async fn a_call_before_the_cut_is_run_once() {
    let script = [
        Reply::call("shell", json!({ "command": "echo x >> log" }))
            .and_say("and")
            .and_cut(),
        Reply::say("Done."),
    ];
    let world = World::new(script).await;
    let story = world.turn("Go").await;
    assert_eq!(world.read("log"), "x\n");
    assert!(story.text.ends_with("Done."), "{story:#?}");
}

#[tokio::test]
async fn a_tool_that_does_not_exist_and_arguments_that_make_no_sense_are_answered() {
    let script = [
        Reply::call("fly", json!({}))
            .and_call_text("read_file", "{\"path\": \"a")
            .and_call("read_file", json!({ "file": 3 })),
        Reply::say("I see."),
    ];
    let world = World::new(script).await;
    let story = world.turn("Go").await;
    assert_eq!(story.text, "I see.", "{story:#?}");
    assert!(
        story
            .calls
            .iter()
            .all(|call| call.status == ToolCallStatus::Failed)
    );
    let told = story.told();
    assert!(told[0].contains("no tool `fly`"), "{told:?}");
    assert!(told[1].contains("JSON"), "{told:?}");
    assert!(told[2].contains("path"), "{told:?}");
}

#[tokio::test]
async fn an_empty_answer_is_asked_about_once() {
    let world = World::new([Reply::empty(), Reply::say("Oh.")]).await;
    assert_eq!(world.turn("Hi").await.text, "Oh.");
    let world = World::new([Reply::empty(), Reply::empty()]).await;
    let story = world.turn("Hi").await;
    assert_eq!(story.stop, Some(StopReason::EndTurn));
    assert!(story.text.contains("no answer"), "{story:#?}");
}

#[tokio::test]
async fn a_model_that_never_stops_is_stopped() {
    let setup = Setup {
        configure: Box::new(|config| config.turn_requests_max = 4),
        ..Setup::default()
    };
    let calls = (0..9).map(|n| Reply::call("think", json!({ "thought": format!("{n}") })));
    let world = World::with(setup, calls).await;
    let story = world.turn("Go").await;
    assert_eq!(story.stop, Some(StopReason::MaxTurnRequests));
    assert_eq!(world.model.requests().len(), 4);
}

#[tokio::test]
async fn a_model_that_goes_in_circles_is_warned_and_then_stopped() {
    let calls = (0..9).map(|_| Reply::call("read_file", json!({ "path": "missing" })));
    let world = World::new(calls).await;
    let story = world.turn("Go").await;
    assert_eq!(story.stop, Some(StopReason::EndTurn));
    assert_eq!(world.model.requests().len(), 6, "{story:#?}");
    let body = world.model.request(3).await.body.to_string();
    assert!(body.contains("same calls"), "{body}");
}

#[tokio::test]
async fn the_end_of_a_background_process_is_told_though_an_answer_failed() {
    let setup = Setup {
        mode: ply_coder::permission::Mode::Full,
        ..Setup::default()
    };
    let script = [
        Reply::call(
            "shell",
            json!({ "command": "while [ ! -e go ]; do sleep 0.01; done", "background": true }),
        ),
        Reply::say("It runs."),
    ];
    let world = World::with(setup, script).await;
    let session = world.session().await;
    session.tell("Start it").await;
    world.write("go", "");
    // How long it takes from there until the agent has seen the end is not known; asking shows it.
    let mut asked = world.model.requests().len();
    loop {
        world.model.push(Reply::status(401));
        assert!(session.tell("Well?").await.error.is_some());
        let told = world.model.request(asked).await.last_user_text();
        asked += 1;
        if told.contains("has ended") {
            break;
        }
    }
    for is_told in [true, false] {
        world.model.push(Reply::say("I see."));
        session.tell("And now?").await;
        let told = world.model.request(asked).await.last_user_text();
        asked += 1;
        assert_eq!(told.contains("has ended"), is_told, "{told}");
    }
}
