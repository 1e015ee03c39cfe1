//! What clients want of the agent itself: methods that the protocol does not know, one call that is to stop, a login.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::stage::{BOTH, Cast, connect, prompt};

#[tokio::test(start_paused = true)]
async fn methods_with_an_underscore_reach_the_agent_of_the_session_that_they_name() {
    for version in [1, 2] {
        for client in BOTH {
            let cast = Cast::new(move |_, mut stage| async move {
                stage.begin(version).await;
                let told = stage.expect("_acme/told").await;
                assert_eq!(told["params"], json!({"sessionId": "d1", "n": 1}));
                assert_eq!(told["id"], Value::Null);
                stage.say("heard").await;
                let asked = stage.expect("_acme/ask").await;
                assert_eq!(asked["params"], json!({"sessionId": "d1", "n": 2}));
                stage.answer(&asked, json!({"n": 3})).await;
                let asked = stage.expect("_acme/ask").await;
                stage.refuse(&asked, -32001).await;
                stage.rest().await;
            });
            let server = ply_agent::serve(cast.hub().await);
            let agent = connect(&server, client).await;
            let session = agent.new_session("/").await.unwrap();
            let params = |n: u64| json!({"sessionId": session.id(), "n": n});
            let mut events = session.events();
            agent.notify("_acme/told", params(1)).await.unwrap();
            while session.transcript().last_agent_text() != "heard" {
                events.next().await.unwrap();
            }
            let answer: Value = agent.call("_acme/ask", params(2)).await.unwrap();
            assert_eq!(answer, json!({"n": 3}));
            let refused = agent.call::<Value>("_acme/ask", params(4)).await;
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("not here"), "{refused}");
            // Without a session there is nobody to ask, and Ply's own are not the agent's.
            for (method, params) in [("_acme/ask", json!({})), ("_ply/ask", params(5))] {
                let none = agent.call::<Value>(method, params).await;
                assert!(none.is_err(), "{method}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn steering_is_passed_on_while_a_turn_runs_and_else_refused() {
    let cast = Cast::new(|_, mut stage| async move {
        stage.begin(1).await;
        let prompt = stage.expect("session/prompt").await;
        stage.say("working").await;
        let steer = stage.expect("_session/steering").await;
        assert_eq!(steer["params"]["sessionId"], "d1");
        stage.answer(&steer, json!({"outcome": "injected"})).await;
        stage
            .answer(&prompt, json!({"stopReason": "end_turn"}))
            .await;
        stage.serve(1, "next").await;
        stage.rest().await;
    });
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    let steer = || {
        let params = json!({"sessionId": session.id(), "prompt": []});
        agent.call::<Value>("_session/steering", params)
    };
    let refused = steer().await.unwrap_err().to_string();
    assert!(refused.contains("no turn runs"), "{refused}");
    let mut turn = session.prompt("one").await.unwrap();
    while let Some(event) = turn.next().await {
        if matches!(event.unwrap(), ply_client::Event::Message(_)) {
            assert_eq!(steer().await.unwrap(), json!({"outcome": "injected"}));
        }
    }
    assert_eq!(prompt(&session, "two").await.unwrap(), "next");
    steer().await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn one_tool_call_of_a_version_2_agent_can_be_cancelled() {
    let cast = Cast::new(|_, mut stage| async move {
        let call = |more: Value| {
            let mut call =
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Build"});
            let members = call.as_object_mut().unwrap();
            members.extend(more.as_object().unwrap().clone());
            call
        };
        stage.begin(2).await;
        let prompt = stage.expect("session/prompt").await;
        stage.answer(&prompt, json!({"messageId": "u"})).await;
        stage
            .update(json!({"sessionUpdate": "state_update", "state": "running"}))
            .await;
        stage
            .update(call(
                json!({"status": "in_progress", "capabilities": {"cancel": {}}}),
            ))
            .await;
        let cancel = stage.expect("tool_call/cancel").await;
        let named = json!({"sessionId": "d1", "toolCallId": "c"});
        assert_eq!(cancel["params"], named);
        stage.answer(&cancel, json!({})).await;
        stage.update(call(json!({"status": "cancelled"}))).await;
        stage.say("without it").await;
        stage
            .update(
                json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
            )
            .await;
        stage.rest().await;
    });
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    let mut turn = session.prompt("one").await.unwrap();
    while let Some(event) = turn.next().await {
        let ply_client::Event::ToolCall(call) = event.unwrap() else {
            continue;
        };
        let id = call.id().unwrap().clone();
        let call = session.tool_call(&id);
        if call.is_some_and(|call| call.can_be_cancelled()) {
            session.cancel_tool_call(&id).await.unwrap();
        }
    }
    assert_eq!(session.transcript().last_agent_text(), "without it");
}

#[tokio::test(start_paused = true)]
async fn a_login_goes_to_the_process_that_asked_for_it() {
    let cast = Cast::new(|number, mut stage| async move {
        assert_eq!(number, 1, "no other process is needed");
        let hello = stage.expect("initialize").await;
        let method = json!({"id": "key", "name": "Key", "type": "agent", "methodId": "key"});
        let answer = json!({"protocolVersion": 2, "info": {"name": "played", "version": "7"}, "capabilities": {"session": {}}, "authMethods": [method]});
        stage.answer(&hello, answer).await;
        let new = stage.expect("session/new").await;
        stage.answer(&new, json!({"sessionId": "d1"})).await;
        let prompt = stage.expect("session/prompt").await;
        stage.refuse(&prompt, -32000).await;
        let login = stage.expect("auth/login").await;
        stage.answer(&login, json!({})).await;
        stage.serve(2, "known").await;
        stage.rest().await;
    });
    let started = cast.started();
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    prompt(&session, "one").await.unwrap_err();
    agent.login("key").await.unwrap();
    assert_eq!(prompt(&session, "two").await.unwrap(), "known");
    assert_eq!(started.load(Ordering::Relaxed), 1);
}
