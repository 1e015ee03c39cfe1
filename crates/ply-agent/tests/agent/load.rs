//! `session/load` of version 1.

use std::sync::Arc;

use ply_agent::transcript::what_v1_can_carry;
use ply_agent::{About, Mcp};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::actor::{Actor, hear, run};
use crate::fold::{v1_fold, without_prompts};
use crate::support::*;

fn load(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}

/// Loads and returns everything up to the answer.
async fn loaded(client: &mut Client, session: &str) -> Vec<Value> {
    let id = client.ask("session/load", load(session)).await;
    let seen = client.answered(id).await;
    let answer = &seen.last().unwrap()["result"];
    assert!(answer.is_object(), "loading failed: {seen:#?}");
    seen
}

// Also: V1-LOAD-05, V1-LOAD-06, V1-LOAD-08, V1-LOAD-11, V1-LOAD-12, V1-LOAD-13, E2, E5.
#[tokio::test(start_paused = true)]
async fn v1_load_04_a_replay_folds_to_what_was_seen_live() {
    let server = Actor::new().serve();
    let mut first = v1_with(&server, json!({"session": {"notices": {}}})).await;
    let session = first.session().await;
    run(&mut first, &session, "everything").await;
    run(&mut first, &session, "say again\nthink more").await;
    let live = first.log.clone();

    let mut second = v1_with(&server, json!({"session": {"notices": {}}})).await;
    let replay = loaded(&mut second, &session).await;
    let kinds = kinds(&replay);
    let count = |kind: &str| kinds.iter().filter(|found| **found == kind).count();
    assert_eq!(count("user_message_chunk"), 2, "{kinds:?}");
    assert!(count("agent_message_chunk") >= 3, "{kinds:?}");
    assert_eq!(count("agent_thought_chunk"), 2, "{kinds:?}");
    assert!(
        count("tool_call") + count("tool_call_update") >= 2,
        "{kinds:?}"
    );
    assert_eq!(count("plan"), 1, "{kinds:?}");
    assert_eq!(count("usage_update"), 1, "{kinds:?}");
    assert_eq!(count("notice"), 0, "{kinds:?}");
    assert_eq!(kinds.first(), Some(&"user_message_chunk"), "{kinds:?}");
    let told = what_v1_can_carry(&v1_fold(&without_prompts(&replay), &session));
    assert_eq!(told, what_v1_can_carry(&v1_fold(&live, &session)));
    // Nothing more of the past comes after the answer.
    let later = hear(&mut second, &session, "say now").await;
    assert_eq!(later, "now");
}

#[tokio::test(start_paused = true)]
async fn v1_load_06_a_diff_replays_with_its_whole_texts() {
    let server = Actor::new().serve();
    let mut first = v1_with(&server, json!({})).await;
    let session = first.session().await;
    let live = run(&mut first, &session, "everything").await;
    let mut second = v1_with(&server, json!({})).await;
    let replay = loaded(&mut second, &session).await;
    for seen in [live, replay] {
        let diff = updates(&seen).into_iter().rev().find_map(|update| {
            let mut content = update["content"].as_array()?.iter();
            content.find(|item| item["type"] == "diff").cloned()
        });
        let diff = diff.unwrap();
        assert_eq!(diff["path"], "/work/a.txt");
        assert_eq!(diff["oldText"], "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        assert_eq!(diff["newText"], "1\n2\n3\n4\n5\n6\n7\n8\nX\n");
    }
}

// Also: V1-LOAD-09, V1-LOAD-10, E6.
#[tokio::test(start_paused = true)]
async fn v1_load_09_a_closed_session_goes_on_where_it_was() {
    let actor = Actor::about_itself(About::new("a", "1").mcp(Mcp {
        stdio: true,
        http: true,
    }));
    let server = actor.serve();
    let mut client = v1_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say the word is plum").await;
    for _ in 0..3 {
        client
            .ok("session/close", json!({"sessionId": session}))
            .await;
        let mut params = load(&session);
        params["mcpServers"] = json!([{"name": "s", "command": "/s", "args": [], "env": []}]);
        client.ok("session/load", params).await;
        let setup = actor.setups.lock().unwrap().last().unwrap().clone();
        assert_eq!((setup.mcp_servers.len(), setup.reopened), (1, true));
    }
    // Loading has added nothing to the history.
    let recalled = hear(&mut client, &session, "recall").await;
    assert_eq!(recalled, "say the word is plum|the word is plum|recall");
}

// Also: V1-SESS-13, E14.
#[tokio::test(start_paused = true)]
async fn v1_load_14_an_unknown_session_is_not_found() {
    let mut client = v1(Actor::new()).await;
    let session = client.session().await;
    assert_eq!(
        client.fails("session/load", load("sess-nope")).await,
        -32002
    );
    assert_eq!(client.fails("session/load", load("")).await, -32002);
    client
        .ok("session/delete", json!({"sessionId": session}))
        .await;
    assert_eq!(client.fails("session/load", load(&session)).await, -32002);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_never_opened_in_another_directory() {
    let server = Actor::new().serve();
    let mut client = v1_with(&server, json!({})).await;
    let session = client.session().await;
    let mut params = load(&session);
    params["cwd"] = json!("/elsewhere");
    assert_eq!(client.fails("session/load", params.clone()).await, -32602);
    client
        .ok("session/close", json!({"sessionId": session}))
        .await;
    assert_eq!(client.fails("session/load", params).await, -32602);
    loaded(&mut client, &session).await;
    assert_eq!(hear(&mut client, &session, "cwd").await, "/work");
}

// Also: E2.
#[tokio::test(start_paused = true)]
async fn v1_load_09_a_client_may_load_a_session_that_it_sees_already() {
    let mut client = v1(Actor::new()).await;
    let session = client.session().await;
    run(&mut client, &session, "say one").await;
    let replay = loaded(&mut client, &session).await;
    assert_eq!(said(&replay), "one");
    assert_eq!(hear(&mut client, &session, "say two").await, "two");
}

#[tokio::test(start_paused = true)]
async fn a_load_that_is_given_up_does_not_lock_the_session() {
    let mut actor = Actor::new();
    let gate = Arc::new(Semaphore::new(1));
    actor.open_gate = Some(Arc::clone(&gate));
    let mut client = v1(actor).await;
    let session = client.session().await;
    run(&mut client, &session, "say kept").await;
    client
        .ok("session/close", json!({"sessionId": session}))
        .await;
    let id = client.ask("session/load", load(&session)).await;
    client
        .notify("$/cancel_request", json!({"requestId": id}))
        .await;
    let answer = client.answered(id).await.pop().unwrap();
    assert_eq!(answer["error"]["code"], -32800);
    gate.add_permits(1);
    assert_eq!(said(&loaded(&mut client, &session).await), "kept");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_about_to_close_is_opened_again() {
    let mut actor = Actor::new();
    let gate = Arc::new(Semaphore::new(0));
    actor.close_gate = Some(Arc::clone(&gate));
    let server = actor.serve();
    let mut first = v1_with(&server, json!({})).await;
    let mut second = v1_with(&server, json!({})).await;
    let session = first.session().await;
    run(&mut first, &session, "say kept").await;
    // Closed and loaded in one breath, and loaded by another client while it closes.
    let close = first
        .ask("session/close", json!({"sessionId": session}))
        .await;
    let load_first = first.ask("session/load", load(&session)).await;
    let load_second = second.ask("session/load", load(&session)).await;
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    gate.add_permits(10);
    let answer = first.answered(close).await.pop().unwrap();
    assert_eq!(answer["result"], json!({}));
    for (client, id) in [(&mut first, load_first), (&mut second, load_second)] {
        let seen = client.answered(id).await;
        assert!(seen.last().unwrap()["result"].is_object(), "{seen:#?}");
        assert_eq!(said(&seen), "kept");
        assert!(hear(client, &session, "say on").await.ends_with("on"));
    }
}

// Also: E1.
#[tokio::test(start_paused = true)]
async fn a_client_that_reconnects_at_once_finds_its_session() {
    let mut actor = Actor::new();
    let gate = Arc::new(Semaphore::new(0));
    actor.close_gate = Some(Arc::clone(&gate));
    let server = actor.serve();
    let mut first = v1_with(&server, json!({})).await;
    let session = first.session().await;
    run(&mut first, &session, "say kept").await;
    first.vanish().await;
    let mut second = v1_with(&server, json!({})).await;
    let id = second.ask("session/load", load(&session)).await;
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    gate.add_permits(10);
    let seen = second.answered(id).await;
    assert!(seen.last().unwrap()["result"].is_object(), "{seen:#?}");
    assert_eq!(hear(&mut second, &session, "say on").await, "on");
}
