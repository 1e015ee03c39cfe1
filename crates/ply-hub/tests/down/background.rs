//! What agents do outside the turns of prompts.

use ply_client::{Event, v2};
use serde_json::json;

use crate::stage::{BOTH, Cast, Stage, connect, prompt};

#[tokio::test(start_paused = true)]
async fn work_that_an_agent_begins_by_itself_is_a_turn_of_its_own() {
    for client in BOTH {
        let cast = Cast::new(|_, mut stage: Stage| async move {
            let state = |state: &str| json!({"sessionUpdate": "state_update", "state": state});
            stage.begin(2).await;
            stage.serve(2, "first").await;
            stage.update(state("running")).await;
            stage.say("by itself").await;
            stage.update(state("idle")).await;
            stage.serve(2, "second").await;
            stage.rest().await;
        });
        let server = ply_agent::serve(cast.hub().await);
        let agent = connect(&server, client).await;
        let session = agent.new_session("/").await.unwrap();
        let mut events = session.events();
        prompt(&session, "one").await.unwrap();
        while session.transcript().last_agent_text() != "by itself" {
            events.next().await.unwrap();
        }
        assert_eq!(prompt(&session, "two").await.unwrap(), "second");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_agent_lists_as_background_work_goes_on_after_its_turn() {
    let cast = Cast::new(|_, mut stage: Stage| async move {
        let call = |status: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Serve", "status": status});
        stage.begin(2).await;
        let prompt = stage.expect("session/prompt").await;
        stage.answer(&prompt, json!({"messageId": "u"})).await;
        stage
            .update(json!({"sessionUpdate": "state_update", "state": "running"}))
            .await;
        stage.update(call("in_progress")).await;
        let work = json!([{"type": "tool_call", "toolCallId": "c"}]);
        stage.update(json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn", "background": work})).await;
        stage.serve(2, "second").await;
        stage.update(call("completed")).await;
        stage.say("served").await;
        stage.rest().await;
    });
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    let mut events = session.events();
    prompt(&session, "one").await.unwrap();
    let status = || {
        session
            .transcript()
            .tool_calls()
            .next()
            .unwrap()
            .status
            .clone()
    };
    assert_eq!(status(), v2::ToolCallStatus::InProgress);
    prompt(&session, "two").await.unwrap();
    while session.transcript().last_agent_text() != "served" {
        events.next().await.unwrap();
    }
    assert_eq!(status(), v2::ToolCallStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_question_after_the_turn_reaches_the_user_and_its_answer_the_agent() {
    for client in BOTH {
        let cast = Cast::new(|_, mut stage: Stage| async move {
            stage.begin(1).await;
            stage.serve(1, "first").await;
            let options = json!([{"optionId": "sure", "name": "Sure", "kind": "allow_once"}]);
            let call = json!({"toolCallId": "c", "title": "Water the plums"});
            let params = json!({"sessionId": "d1", "toolCall": call, "options": options});
            let ask = json!({"id": "q", "method": "session/request_permission", "params": params});
            stage.send(ask).await;
            let answer = stage.next().await.unwrap();
            assert_eq!(answer["result"]["outcome"]["optionId"], "sure", "{answer}");
            stage.say("watered").await;
            stage.rest().await;
        });
        let server = ply_agent::serve(cast.hub().await);
        let agent = connect(&server, client).await;
        let session = agent.new_session("/").await.unwrap();
        let mut events = session.events();
        prompt(&session, "one").await.unwrap();
        while session.transcript().last_agent_text() != "watered" {
            if let Event::Permission(ask) = events.next().await.unwrap().event {
                assert_eq!(ask.options().len(), 1);
                ask.allow_once().await.unwrap();
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_tells_of_its_session_is_shown() {
    let cast = Cast::new(|_, mut stage: Stage| async move {
        stage.greet(1).await;
        let new = stage.expect("session/new").await;
        // Many tell this before they answer.
        let command = json!({"name": "web", "description": "Search"});
        stage.update(json!({"sessionUpdate": "available_commands_update", "availableCommands": [command]})).await;
        let modes = json!([{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]);
        let modes = json!({"currentModeId": "ask", "availableModes": modes});
        stage
            .answer(&new, json!({"sessionId": "d1", "modes": modes}))
            .await;
        let mode = stage.expect("session/set_mode").await;
        assert_eq!(mode["params"]["modeId"], "code");
        stage.answer(&mode, json!({})).await;
        let prompt = stage.expect("session/prompt").await;
        stage
            .update(json!({"sessionUpdate": "session_info_update", "title": "Plums"}))
            .await;
        stage
            .update(json!({"sessionUpdate": "usage_update", "used": 5, "size": 10}))
            .await;
        stage
            .answer(&prompt, json!({"stopReason": "end_turn"}))
            .await;
        stage.rest().await;
    });
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    session.set_mode("code").await.unwrap();
    prompt(&session, "one").await.unwrap();
    let transcript = session.transcript();
    assert_eq!(transcript.info().title.as_deref(), Some("Plums"));
    assert_eq!(transcript.usage().map(|usage| usage.used), Some(5));
    assert_eq!(session.commands()[0].name(), "web");
    let modes = ply_wire::convert::config::modes_down(&session.config_options()).unwrap();
    assert_eq!(&*modes.current_mode_id.0, "code");
}
