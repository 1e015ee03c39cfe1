//! Slow readers, silent agents and floods.

use std::time::Duration;

use crate::support::{SESSION, heard, permission, prompt, v1_session, words};
use ply_client::Event;
use ply_client::limits::{JOINED_TEXT_BYTES_MAX, QUEUED_EVENTS_MAX};
use serde_json::json;

// Also: E4.
#[tokio::test]
async fn a_flood_loses_nothing_and_is_joined_for_a_slow_reader() {
    const COUNT: usize = 20_000;
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    let flood = tokio::spawn(async move {
        for number in 0..COUNT {
            script.say(&format!("{number:08}")).await;
        }
        script.stop(&request, "end_turn").await;
        script
    });
    let mut said = String::new();
    let mut events = 0;
    while let Some(event) = turn.next().await {
        if let Event::Message(text) = event.unwrap() {
            assert!(text.text().len() <= JOINED_TEXT_BYTES_MAX);
            said.push_str(&text.text());
            events += 1;
        }
    }
    let expected: String = (0..COUNT).map(|number| format!("{number:08}")).collect();
    assert_eq!(said, expected);
    assert!(events <= COUNT);
    assert_eq!(session.transcript().last_agent_text(), expected);
    flood.await.unwrap();
}

/// Updates that cannot be joined.
fn call(number: usize) -> serde_json::Value {
    json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": format!("c{}", number % 7),
        "status": "in_progress",
    })
}

#[tokio::test]
async fn a_turn_that_is_dropped_slows_nobody_down() {
    let (session, mut script) = v1_session().await;
    let (turn, _) = prompt(&session, &mut script, "hi").await;
    for number in 0..QUEUED_EVENTS_MAX {
        script.update(call(number)).await;
    }
    drop(turn);
    for number in 0..(10 * QUEUED_EVENTS_MAX) {
        script.update(call(number)).await;
    }
    script.silent().await;
    assert_eq!(session.transcript().tool_calls().count(), 7);
}

async fn next_quiet(turn: &mut ply_client::Turn) -> u64 {
    loop {
        if let Event::Quiet { for_s } = turn.next().await.unwrap().unwrap() {
            return for_s;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c3_a_silent_agent_is_told_once_per_silence_and_nothing_is_killed() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    let started = tokio::time::Instant::now();
    assert_eq!(next_quiet(&mut turn).await, 30);
    assert_eq!(started.elapsed().as_secs(), 30);
    let again = tokio::time::timeout(Duration::from_secs(600), turn.next()).await;
    assert!(again.is_err(), "told twice: {again:?}");
    script.say("still here").await;
    assert_eq!(next_quiet(&mut turn).await, 30);
    script.stop(&request, "end_turn").await;
    assert!(
        turn.next().await.transpose().unwrap().is_some(),
        "the idle state"
    );
    assert!(turn.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn c3_while_the_user_is_asked_silence_means_nothing() {
    let (session, mut script) = v1_session().await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    script.ask_permission("c1").await;
    let ask = permission(&mut turn).await;
    let quiet = tokio::time::timeout(Duration::from_secs(600), next_quiet(&mut turn)).await;
    assert!(quiet.is_err());
    ask.allow_once().await.unwrap();
    assert_eq!(next_quiet(&mut turn).await, 30);
}

#[tokio::test]
async fn a_stream_hears_what_happens_outside_of_turns() {
    let (session, mut script) = v1_session().await;
    script
        .update_of(SESSION, words("before anybody listens"))
        .await;
    script.silent().await;
    let mut events = session.events();
    script.say("hello").await;
    let Some(Event::Message(text)) = heard(&mut events).await else {
        panic!("nothing was told");
    };
    assert_eq!(text.to_string(), "hello");
    assert!(text.id().is_some());
    drop(events);
    script.say("nobody").await;
    script.silent().await;
}
