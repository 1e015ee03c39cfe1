//! `session/delete`. A session is forgotten for good; one that is open is closed first.

use serde_json::{Value, json};

use crate::actor::{Actor, run};
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

// Also: V1-DEL-03, V1-DEL-04, V2-DEL-01, E14, V2-RPC-05.
#[tokio::test(start_paused = true)]
async fn v1_del_02_a_deleted_session_is_gone_and_deleting_it_again_is_fine() {
    for mut client in both(&Actor::new()).await {
        let (kept, session) = (client.session().await, client.session().await);
        run(&mut client, &session, "say words").await;
        for _ in 0..2 {
            assert_eq!(client.ok("session/delete", of(&session)).await, json!({}));
        }
        assert_eq!(
            client.ok("session/delete", of("sess-nope")).await,
            json!({})
        );
        let listed = client.ok("session/list", json!({})).await;
        assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(listed["sessions"][0]["sessionId"], kept);
        assert_eq!(client.fails("session/resume", of(&session)).await, -32002);
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]});
        assert_eq!(client.fails("session/prompt", prompt).await, -32002);
        client.ok("session/delete", of(&kept)).await;
    }
}

// Also: V1-DEL-04, V2-DEL-01.
#[tokio::test(start_paused = true)]
async fn e11_a_delete_during_a_turn_cancels_it_first() {
    let actor = Actor::new();
    for (version, mut client) in (1..).zip(both(&actor).await) {
        let session = client.session().await;
        let prompt = client
            .prompt(&session, "say working\nwait\nsay never")
            .await;
        client
            .until(|message| said(std::slice::from_ref(message)) == "working")
            .await;
        let delete = client.ask("session/delete", of(&session)).await;
        let seen = client.answered(delete).await;
        let ended = match version {
            1 => seen.iter().position(|message| {
                message["id"] == prompt && message["result"]["stopReason"] == "cancelled"
            }),
            _ => seen
                .iter()
                .position(|message| update(message)["stopReason"] == "cancelled"),
        };
        assert!(ended.is_some(), "{seen:#?}");
        assert_eq!(actor.closed.lock().unwrap().last(), Some(&session));
        assert_eq!(client.fails("session/resume", of(&session)).await, -32002);
    }
}

#[tokio::test(start_paused = true)]
async fn e11_a_delete_by_another_client_ends_the_session_for_all() {
    let actor = Actor::new();
    let [mut one, mut other] = both(&actor).await;
    let session = one.session().await;
    let prompt = one.prompt(&session, "say working\nwait").await;
    one.until(|message| said(std::slice::from_ref(message)) == "working")
        .await;
    other.ok("session/delete", of(&session)).await;
    let answer = one.answered(prompt).await.pop().unwrap();
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]});
    assert_eq!(one.fails("session/prompt", prompt).await, -32002);
}
