//! Clients that come back to what they see, and clients that keep others waiting.

use serde_json::json;

use super::of;
use crate::actor::{Actor, hear};
use crate::support::*;

const INVALID_REQUEST: i64 = -32600;
/// More than one client may be behind another.
const FLOOD_KIB: usize = 9 * 1024;
const SMALL_PIPE_BYTES: usize = 1024;

#[tokio::test(start_paused = true)]
async fn a_version_1_client_that_opens_again_what_it_sees_keeps_its_prompt() {
    for method in ["session/load", "session/resume"] {
        let actor = Actor::new();
        let server = actor.serve();
        let mut client = v1_with(&server, json!({})).await;
        let session = client.session().await;
        let prompt = client
            .prompt(&session, "say before\nwait\nsay  after")
            .await;
        client
            .until(|message| said(std::slice::from_ref(message)) == "before")
            .await;
        assert_eq!(client.fails(method, of(&session)).await, INVALID_REQUEST);
        actor.gate.add_permits(1);
        let seen = client.answered(prompt).await;
        assert_eq!(said(&seen), " after", "{method}");
        let answer = seen.last().unwrap();
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
        assert_eq!(said(&client.log), "before after");
        // It works as soon as nothing is open.
        client.ok(method, of(&session)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_2_client_that_opens_again_what_it_sees_keeps_its_held_prompt() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    let first = client.prompt(&session, "say first\nwait").await;
    client.answered(first).await;
    let held = client.prompt(&session, "say second").await;
    let refused = client.fails("session/resume", of(&session)).await;
    assert_eq!(refused, INVALID_REQUEST);
    actor.gate.add_permits(1);
    let answer = client.answered(held).await.pop().unwrap();
    assert!(answer["result"]["messageId"].is_string(), "{answer}");
    client.idle().await;
    assert_eq!(said(&client.log), "firstsecond");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_opens_again_what_it_sees_is_shown_each_update_once() {
    for (version, method) in [
        (1, "session/load"),
        (1, "session/resume"),
        (2, "session/resume"),
    ] {
        let actor = Actor::new();
        let server = actor.serve();
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        assert_eq!(hear(&mut client, &session, "say old").await, "old");
        for _ in 0..3 {
            let id = client.ask(method, of(&session)).await;
            let seen = client.answered(id).await;
            let replayed = if method == "session/load" { "old" } else { "" };
            assert_eq!(said(&seen), replayed, "{method} of version {version}");
        }
        let new = hear(&mut client, &session, "say new").await;
        assert_eq!(new, "new", "{method} of version {version}");
        // It was never without a client.
        assert!(actor.closed.lock().unwrap().is_empty());
        assert_eq!(actor.setups.lock().unwrap().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_2_client_that_opens_again_during_its_turn_misses_and_repeats_nothing() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    let prompt = client
        .prompt(&session, "say before\nwait\nsay  after")
        .await;
    client.answered(prompt).await;
    client
        .until(|message| said(std::slice::from_ref(message)) == "before")
        .await;
    let mut replay = of(&session);
    replay["replayFrom"] = json!({"type": "start"});
    let id = client.ask("session/resume", replay).await;
    let seen = client.answered(id).await;
    assert!(seen.last().unwrap()["result"].is_object(), "{seen:#?}");
    actor.gate.add_permits(1);
    let rest = client.idle().await;
    assert_eq!(said(&rest), " after");
}

#[tokio::test(start_paused = true)]
async fn c1_a_client_that_does_not_read_holds_up_nobody_and_misses_nothing() {
    for version in [1, 2] {
        let server = Actor::new().serve();
        let mut reader = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = reader.session().await;
        let mut silent = connect_over(&server, SMALL_PIPE_BYTES);
        let info = json!({"name": "silent", "version": "1"});
        let hello = json!({"protocolVersion": version, "info": info, "capabilities": {}});
        silent.ok("initialize", hello).await;
        silent.ok("session/resume", of(&session)).await;
        silent.log.clear();

        reader.log.clear();
        let prompt = reader.prompt(&session, &format!("flood {FLOOD_KIB}")).await;
        let (mut bytes, mut ended) = (0, false);
        while !ended {
            let message = reader.next().await.expect("the reader is not cut off");
            reader.log.clear();
            bytes += said(std::slice::from_ref(&message)).len();
            ended = match version {
                1 => message["id"] == prompt,
                _ => update(&message)["state"] == "idle",
            };
        }
        assert_eq!(bytes, FLOOD_KIB * 1024, "version {version}");

        // It is never cut off, and misses nothing once it reads.
        let (mut late, mut ended) = (0, false);
        while !ended {
            let message = silent.next().await.expect("nobody is cut off");
            late += said(std::slice::from_ref(&message)).len();
            ended = late == FLOOD_KIB * 1024;
            silent.log.clear();
        }
        silent.vanish().await;

        // It can come back, and the other one goes on.
        assert_eq!(hear(&mut reader, &session, "say next").await, "next");
        let mut again = v2_with(&server, json!({})).await;
        again.ok("session/resume", of(&session)).await;
        assert_eq!(hear(&mut again, &session, "say back").await, "back");
    }
}
