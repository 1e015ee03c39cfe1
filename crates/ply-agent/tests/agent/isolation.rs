//! A fault in one session stays there.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::actor::{Actor, hear};
use crate::support::*;

async fn both(actor: &Actor) -> [Client; 2] {
    let server = actor.serve();
    [
        v1_with(&server, json!({})).await,
        v2_with(&server, json!({})).await,
    ]
}

/// Waits for the end of a turn and returns why it ended, and with which words.
async fn ended(client: &mut Client, prompt: i64) -> Value {
    let answer = client.answered(prompt).await.pop().unwrap();
    match answer["result"].get("messageId") {
        None => answer,
        Some(_) => update(client.idle().await.last().unwrap()).clone(),
    }
}

// Also: V1-SESS-09, V1-STOP-06.
#[tokio::test(start_paused = true)]
async fn a_panic_in_one_session_does_not_touch_another() {
    let actor = Actor::new();
    let [mut old, mut new] = both(&actor).await;
    let (of_old, of_new) = (old.session().await, new.session().await);
    let running = old.prompt(&of_old, "say going\nwait\nsay done").await;
    old.until(|message| said(std::slice::from_ref(message)) == "going")
        .await;
    let broken = old.session().await;
    for (client, session) in [(&mut old, &broken), (&mut new, &of_new)] {
        let prompt = client.prompt(session, "say so far\npanic").await;
        let end = ended(client, prompt).await.to_string();
        assert!(end.contains("failed unexpectedly"), "{end}");
        assert!(
            !end.contains("as told"),
            "what a panic says is nobody's business: {end}"
        );
        // The session itself goes on as well.
        assert_eq!(hear(client, session, "say better").await, "better");
    }
    actor.gate.add_permits(1);
    let seen = old.answered(running).await;
    assert_eq!(said(&seen), "done");
    assert_eq!(seen.last().unwrap()["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_takes_for_ever_to_open_holds_up_no_other() {
    let mut actor = Actor::new();
    let gate = Arc::new(Semaphore::new(0));
    actor.open_gate = Some(Arc::clone(&gate));
    for mut client in both(&actor).await {
        gate.add_permits(1);
        let open = client.session().await;
        let new = json!({"cwd": "/work", "mcpServers": []});
        let stuck = client.ask("session/new", new).await;
        tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
        assert_eq!(hear(&mut client, &open, "say fine").await, "fine");
        client.ok("session/close", json!({"sessionId": open})).await;
        // The stuck one can be given up.
        client
            .notify("$/cancel_request", json!({"requestId": stuck}))
            .await;
        let answer = client.answered(stuck).await.pop().unwrap();
        assert_eq!(answer["error"]["code"], -32800);
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_hears_nothing_holds_up_no_other_session() {
    let actor = Actor::new();
    for mut client in both(&actor).await {
        let deaf = client.session().await;
        client.prompt(&deaf, "say going\ndeaf").await;
        client
            .until(|message| said(std::slice::from_ref(message)) == "going")
            .await;
        client.cancel(&deaf).await;
        let other = client.session().await;
        assert_eq!(
            hear(&mut client, &other, "say fine")
                .await
                .replace("going", ""),
            "fine"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn garbage_about_one_session_leaves_the_others_alone() {
    let actor = Actor::new();
    for mut client in both(&actor).await {
        let session = client.session().await;
        client.prompt(&session, "say going\nwait\nsay done").await;
        client
            .until(|message| said(std::slice::from_ref(message)) == "going")
            .await;
        for line in [
            "{",
            "[]",
            "\u{0}\u{0}",
            "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
            "\u{feff}42",
        ] {
            client.write(line).await;
        }
        let bad = json!({"sessionId": session, "prompt": [{"type": "text"}]});
        assert_eq!(client.fails("session/prompt", bad).await, -32602);
        actor.gate.add_permits(1);
        client
            .until(|message| said(std::slice::from_ref(message)) == "done")
            .await;
    }
}

// Also: C17.
#[tokio::test(start_paused = true)]
async fn c17_initialize_is_answered_before_anything_else_is_done() {
    let journal = crate::journals::Gated::closed();
    let server = Actor::new().serve().journal(journal.clone());
    for version in [1, 2] {
        let mut client = connect(&server);
        let params = json!({"protocolVersion": version, "info": {"name": "t", "version": "1"},
            "capabilities": {}});
        // The journal is not even looked at.
        client.ok("initialize", params).await;
        assert_eq!(journal.calls(), 0);
    }
}
