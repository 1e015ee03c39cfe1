//! Prompts that come while a turn runs: held in order, and answered each in its own way.

use std::sync::Arc;

use ply_agent::{Agent, Stop};
use serde_json::json;
use tokio::sync::Notify;

use crate::script::*;
use crate::support::*;

/// Waits for the gate in a turn whose prompt says so; says the prompt at the end.
fn gated(gate: &Arc<Notify>) -> impl Agent + use<> {
    let gate = Arc::clone(gate);
    script(move |turn| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            turn.say("begun ").await?;
            if turn.prompt().text().starts_with("wait") {
                turn.unless_cancelled(gate.notified()).await?;
            }
            turn.say(turn.prompt().text()).await?;
            Ok(Stop::EndTurn)
        })
    })
}

// Also: D11, V2-PROMPT-06, V2-PROMPT-14, V2-PROMPT-15, V2-STATE-12.
#[tokio::test(start_paused = true)]
async fn v1_prompt_13_prompts_during_a_turn_wait_and_run_in_order() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let mut talk = talk(version, gated(&gate)).await;
        let first = talk.prompt("wait").await;
        talk.hears("begun ").await;
        let held = [
            talk.prompt("a").await,
            talk.prompt("b").await,
            talk.prompt("c").await,
        ];
        talk.is_quiet().await;
        // A held prompt is not answered, and nothing is shown of it.
        assert!(held.iter().all(|prompt| talk.answers(*prompt) == 0));
        gate.notify_one();
        let ended = talk.end(first).await;
        assert_eq!(ended.stop, "end_turn");
        assert_eq!(said(&ended.seen), "begun wait");
        let before = ended.seen.len();
        for prompt in held {
            assert_eq!(talk.end(prompt).await.stop, "end_turn");
        }
        assert_eq!(said(&talk.log[before..]), "begun abegun bbegun c");
        talk.is_quiet().await;
        assert!(held.iter().all(|prompt| talk.answers(*prompt) == 1));
    }
}

#[tokio::test(start_paused = true)]
async fn d11_the_first_turn_can_be_cancelled_though_another_prompt_waits() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let mut talk = talk(version, gated(&gate)).await;
        let first = talk.prompt("wait").await;
        talk.hears("begun ").await;
        let held = talk.prompt("held").await;
        talk.is_quiet().await;
        talk.cancel().await;
        let after = talk.prompt("after").await;
        assert_eq!(talk.end(first).await.stop, "cancelled");
        let answer = talk.answered(held).await;
        match version {
            Version::V1 => assert_eq!(answer["result"]["stopReason"], "cancelled"),
            Version::V2 => assert_eq!(answer["error"]["code"], -32800),
        }
        assert_eq!(talk.end(after).await.stop, "end_turn");
        let log = format!("{:?}", talk.log);
        assert!(!log.contains("held"), "it left no trace");
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn v2_cancel_10_held_prompts_are_dropped_inserted_and_later_ones_are_not() {
    let gate = Arc::new(Notify::new());
    let mut talk = talk(Version::V2, gated(&gate)).await;
    let inserted = talk.prompt("wait").await;
    talk.hears("begun ").await;
    let held = [talk.prompt("x").await, talk.prompt("y").await];
    talk.cancel().await;
    let after = talk.prompt("after").await;
    assert!(talk.answered(inserted).await.get("result").is_some());
    for held in held {
        assert_eq!(talk.answered(held).await["error"]["code"], -32800);
    }
    assert!(talk.answered(after).await.get("result").is_some());
    assert_eq!(talk.end(inserted).await.stop, "cancelled");
    assert_eq!(talk.end(after).await.stop, "end_turn");
    let users = updates(&talk.log).into_iter();
    let users = users.filter(|update| update["sessionUpdate"] == "user_message");
    assert_eq!(users.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn v2_prompt_16_a_prompt_is_withdrawn_while_it_waits_and_not_later() {
    let gate = Arc::new(Notify::new());
    let mut talk = talk(Version::V2, gated(&gate)).await;
    let inserted = talk.prompt("wait").await;
    talk.hears("begun ").await;
    let held = talk.prompt("held").await;
    let last = talk.prompt("last").await;
    for prompt in [held, inserted] {
        let params = json!({"requestId": prompt});
        talk.client.notify("$/cancel_request", params).await;
    }
    let answer = talk.answered(held).await;
    assert_eq!(answer["error"]["code"], -32800);
    talk.is_quiet().await;
    gate.notify_one();
    assert_eq!(talk.end(inserted).await.stop, "end_turn");
    assert_eq!(talk.end(last).await.stop, "end_turn");
    assert!(!format!("{:?}", updates(&talk.log)).contains("held"));
}

/// On version 1 the request is the turn, so taking it back ends the turn and nothing else.
#[tokio::test(start_paused = true)]
async fn a_version_1_prompt_that_is_taken_back_ends_cancelled_alone() {
    let gate = Arc::new(Notify::new());
    let mut talk = talk(Version::V1, gated(&gate)).await;
    let runs = talk.prompt("wait").await;
    talk.hears("begun ").await;
    let held = talk.prompt("held").await;
    let last = talk.prompt("last").await;
    for prompt in [held, runs] {
        let params = json!({"requestId": prompt});
        talk.client.notify("$/cancel_request", params).await;
    }
    for prompt in [held, runs] {
        let answer = talk.answered(prompt).await;
        let cancelled =
            answer["result"]["stopReason"] == "cancelled" || answer["error"]["code"] == -32800;
        assert!(cancelled, "{answer}");
    }
    assert_eq!(talk.end(last).await.stop, "end_turn");
    talk.is_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_full_refuses_more_and_keeps_what_it_has() {
    const HELD_MAX: usize = 256;
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let mut talk = talk(version, gated(&gate)).await;
        let first = talk.prompt("wait").await;
        talk.hears("begun ").await;
        let mut held = Vec::new();
        for _ in 0..HELD_MAX {
            held.push(talk.prompt("held").await);
        }
        let refused = talk.prompt("one more").await;
        let answer = talk.answered(refused).await;
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        gate.notify_one();
        assert_eq!(talk.end(first).await.stop, "end_turn");
        let last = *held.last().unwrap();
        assert_eq!(talk.end(last).await.stop, "end_turn");
        assert!(held.iter().all(|prompt| talk.answers(*prompt) == 1));
    }
}

/// A client that leaves takes its waiting prompts with it; the turn that runs goes on.
#[tokio::test(start_paused = true)]
async fn prompts_of_a_client_that_left_are_not_run() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let server = ply_agent::serve(gated(&gate));
        let mut stays = talk_with(version, &server, json!({})).await;
        let mut leaves = match version {
            Version::V1 => v1_with(&server, json!({})).await,
            Version::V2 => v2_with(&server, json!({})).await,
        };
        let params = json!({"sessionId": stays.session, "cwd": "/work", "mcpServers": []});
        leaves.ok("session/resume", params).await;
        let runs = stays.prompt("wait").await;
        stays.hears("begun ").await;
        leaves.prompt(&stays.session, "gone").await;
        stays.is_quiet().await;
        drop(leaves);
        stays.is_quiet().await;
        gate.notify_one();
        assert_eq!(stays.end(runs).await.stop, "end_turn");
        stays.is_quiet().await;
        assert!(!format!("{:?}", stays.log).contains("gone"));
    }
}
