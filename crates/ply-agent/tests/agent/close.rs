//! `session/close`.

use serde_json::{Value, json};

use crate::actor::{Actor, Trouble, hear, run};
use crate::support::*;

async fn both(actor: &Actor) -> [Client; 2] {
    let server = actor.serve();
    [
        v1_with(&server, json!({})).await,
        v2_with(&server, json!({})).await,
    ]
}

fn of(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}

// Also: V1-CLOSE-03, V2-CLOSE-01, V2-CLOSE-02, V2-CLOSE-04, E11, V2-RPC-05.
#[tokio::test(start_paused = true)]
async fn v1_close_02_closing_cancels_the_turn_then_frees_the_session_then_answers() {
    let actor = Actor::new();
    for (version, mut client) in (1..).zip(both(&actor).await) {
        let session = client.session().await;
        let prompt = client
            .prompt(&session, "say working\nwait\nsay never")
            .await;
        client
            .until(|message| said(std::slice::from_ref(message)) == "working")
            .await;
        let close = client
            .ask("session/close", json!({"sessionId": session}))
            .await;
        let seen = client.answered(close).await;
        let ended = seen.iter().any(|message| match version {
            1 => message["id"] == prompt && message["result"]["stopReason"] == "cancelled",
            _ => update(message)["stopReason"] == "cancelled",
        });
        assert!(ended, "version {version}: {seen:#?}");
        assert_eq!(seen.last().unwrap()["result"], json!({}));
        assert_eq!(actor.closed.lock().unwrap().last(), Some(&session));
        // The session is over, but not forgotten.
        let text = json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]});
        assert_eq!(client.fails("session/prompt", text).await, -32002);
        actor.last_session().say("late").await.unwrap_err();
        client.ok("session/resume", of(&session)).await;
        assert_eq!(hear(&mut client, &session, "say back").await, "back");
        assert!(client.leave().await.is_empty());
    }
}

// Also: V2-CLOSE-05.
#[tokio::test(start_paused = true)]
async fn v1_close_04_closing_what_is_not_open_fails_on_version_1_and_is_fine_on_version_2() {
    let [mut old, mut new] = both(&Actor::new()).await;
    let session = old.session().await;
    old.ok("session/close", of(&session)).await;
    assert_eq!(old.fails("session/close", of(&session)).await, -32002);
    assert_eq!(old.fails("session/close", of("sess-nope")).await, -32002);
    let session = new.session().await;
    for id in [&session, &session, "sess-nope"] {
        assert_eq!(
            new.ok("session/close", json!({"sessionId": id})).await,
            json!({})
        );
    }
}

// Also: V2-CLOSE-04.
#[tokio::test(start_paused = true)]
async fn v2_close_03_held_prompts_are_cancelled_and_inserted_ones_have_succeeded() {
    let mut client = v2(Actor::new()).await;
    let session = client.session().await;
    let first = client.prompt(&session, "say working\nwait").await;
    client
        .until(|message| said(std::slice::from_ref(message)) == "working")
        .await;
    let held = client.prompt(&session, "say never").await;
    let close = client
        .ask("session/close", json!({"sessionId": session}))
        .await;
    let seen = client.answered(close).await;
    let log = &client.log;
    let inserted = log.iter().find(|message| message["id"] == first).unwrap();
    assert!(inserted["result"]["messageId"].is_string(), "{inserted}");
    let held = seen.iter().find(|message| message["id"] == held).unwrap();
    assert_eq!(held["error"]["code"], -32800);
    assert_eq!(client.leave().await, Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn v2_close_07_an_open_question_is_taken_back_before_the_answer() {
    let actor = Actor::new();
    for mut client in both(&actor).await {
        let session = client.session().await;
        client.prompt(&session, "ask").await;
        let question = client.method("session/request_permission").await;
        let close = client
            .ask("session/close", json!({"sessionId": session}))
            .await;
        let seen = client.answered(close).await;
        let taken_back = seen.iter().any(|message| {
            message["method"] == "$/cancel_request"
                && message["params"]["requestId"] == question["id"]
        });
        assert!(taken_back, "{seen:#?}");
        // An answer that crosses it is ignored.
        client
            .answer(
                &question,
                json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}}),
            )
            .await;
        assert!(client.leave().await.is_empty());
    }
}

// Also: V2-CLOSE-04.
#[tokio::test(start_paused = true)]
async fn v2_close_04_nothing_follows_the_answer_though_output_floods() {
    for mut client in both(&Actor::new()).await {
        let session = client.session().await;
        client.prompt(&session, "flood 100000").await;
        client
            .until(|message| !said(std::slice::from_ref(message)).is_empty())
            .await;
        let close = client
            .ask("session/close", json!({"sessionId": session}))
            .await;
        client.answered(close).await;
        assert!(client.leave().await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_closing_costs_no_answer_and_not_the_session() {
    let actor = Actor::new();
    for mut client in both(&actor).await {
        let session = client.session().await;
        run(&mut client, &session, "say kept").await;
        *actor.trouble.lock().unwrap() = Some(Trouble::ClosePanics);
        let close = client
            .ask("session/close", json!({"sessionId": session}))
            .await;
        let answer = client.answered(close).await.pop().unwrap();
        assert_eq!(answer["result"], json!({}), "{answer}");
        *actor.trouble.lock().unwrap() = None;
        client.ok("session/resume", of(&session)).await;
        assert_eq!(hear(&mut client, &session, "say back").await, "back");
    }
}
