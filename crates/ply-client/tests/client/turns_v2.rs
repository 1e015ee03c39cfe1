//! Turns of a version 2 agent: where they begin and where they end.

use std::time::Duration;

use crate::support::{
    Script, heard, prompt, reported, told, user_message, v2_session, v2_with, within, words_of,
};
use ply_client::{Client, Event, ReportKind, Turn, TurnError, v2};
use serde_json::json;

/// Whether the turn is still open after everything the script sent was handled.
async fn is_open(turn: &mut Turn, script: &mut Script) -> bool {
    script.silent().await;
    loop {
        match tokio::time::timeout(Duration::ZERO, turn.next()).await {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

// Also: V2-PROMPT-17, V2-PROMPT-18.
#[tokio::test]
async fn a_turn_ends_with_idle_and_not_with_the_answer() {
    let (session, mut script) = v2_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.update(user_message("u1", "hi")).await;
    script.answer(&request, json!({ "messageId": "u1" })).await;
    script.state("running", None).await;
    script.update(words_of("m1", "Hello")).await;
    assert!(is_open(&mut turn, &mut script).await);
    script.state("idle", Some("end_turn")).await;
    assert_eq!(told(&mut turn).await, ["end: Some(EndTurn)"]);
    assert_eq!(turn.message_id(), Some(v2::MessageId::new("u1")));
    let transcript = session.transcript();
    let texts: Vec<_> = transcript
        .messages()
        .map(|message| message.text())
        .collect();
    assert_eq!(texts, ["hi", "Hello"]);
}

#[tokio::test]
async fn v2_state_15_an_idle_ends_the_turn_whatever_it_says_of_usage() {
    let usages = [
        json!({ "totalTokens": 9, "inputTokens": 4, "outputTokens": 5 }),
        json!(null),
        json!("many"),
    ];
    for usage in usages {
        let (session, mut script) = v2_session().await;
        let (mut turn, request) = prompt(&session, &mut script, "hi").await;
        script.update(user_message("u1", "hi")).await;
        script.answer(&request, json!({ "messageId": "u1" })).await;
        script.state("running", None).await;
        let idle = json!({ "sessionUpdate": "state_update", "state": "idle",
            "stopReason": "end_turn", "usage": usage });
        script.update(idle).await;
        assert_eq!(told(&mut turn).await, ["end: Some(EndTurn)"]);
    }
}

#[tokio::test]
async fn v2_prompt_15_a_second_prompt_is_sent_at_once() {
    let (session, mut script) = v2_session().await;
    let (mut first, request) = prompt(&session, &mut script, "one").await;
    script.update(user_message("u1", "one")).await;
    script.answer(&request, json!({ "messageId": "u1" })).await;
    script.state("running", None).await;
    let (mut second, request) = prompt(&session, &mut script, "two").await;
    // This agent holds it, and takes it up when it is done with the first.
    script.state("idle", Some("end_turn")).await;
    assert_eq!(told(&mut first).await, ["end: Some(EndTurn)"]);
    assert!(is_open(&mut second, &mut script).await);
    script.update(user_message("u2", "two")).await;
    script.answer(&request, json!({ "messageId": "u2" })).await;
    script.state("running", None).await;
    script.update(words_of("m2", "done")).await;
    script.state("idle", Some("max_tokens")).await;
    let second = told(&mut second).await;
    assert_eq!(second, ["says done", "end: Some(MaxTokens)"]);
}

#[tokio::test]
async fn prompts_taken_into_running_work_end_with_it() {
    let (session, mut script) = v2_session().await;
    let (mut first, request) = prompt(&session, &mut script, "one").await;
    script.update(user_message("u1", "one")).await;
    script.answer(&request, json!({ "messageId": "u1" })).await;
    script.state("running", None).await;
    let (mut second, request) = prompt(&session, &mut script, "two").await;
    script.update(user_message("u2", "two")).await;
    script.answer(&request, json!({ "messageId": "u2" })).await;
    script.update(words_of("m", "both")).await;
    script.state("idle", Some("end_turn")).await;
    let first = told(&mut first).await;
    assert_eq!(
        first,
        ["says both", "end: Some(EndTurn)"],
        "told once, to the older turn"
    );
    assert_eq!(told(&mut second).await, ["end: Some(EndTurn)"]);
}

// Also: V2-STATE-07.
#[tokio::test]
async fn v2_state_08_repeated_states_complete_nothing() {
    let (session, mut script) = v2_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.state("idle", Some("end_turn")).await;
    script.state("idle", Some("end_turn")).await;
    script.update(user_message("u1", "hi")).await;
    script.answer(&request, json!({ "messageId": "u1" })).await;
    script.state("idle", None).await;
    assert!(is_open(&mut turn, &mut script).await, "it never was active");
    script.state("running", None).await;
    script.state("running", None).await;
    assert!(is_open(&mut turn, &mut script).await);
    script.state("idle", Some("end_turn")).await;
    script.state("idle", Some("end_turn")).await;
    assert_eq!(told(&mut turn).await, ["end: Some(EndTurn)"]);
}

#[tokio::test]
async fn v2_state_10_an_unknown_state_is_busy() {
    let (session, mut script) = v2_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.update(user_message("u1", "hi")).await;
    script.answer(&request, json!({ "messageId": "u1" })).await;
    script.state("_paused", None).await;
    assert!(is_open(&mut turn, &mut script).await);
    assert!(session.with_transcript(|transcript| transcript.state().is_active()));
    script.state("idle", None).await;
    assert_eq!(told(&mut turn).await, ["end: None"]);
}

#[tokio::test]
async fn v2_state_14_the_end_of_earlier_work_is_not_the_end_of_this_turn() {
    let (session, mut script) = v2_session().await;
    script.state("running", None).await;
    script.silent().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.state("idle", Some("end_turn")).await;
    assert!(is_open(&mut turn, &mut script).await);
    script.update(user_message("u1", "hi")).await;
    script.answer(&request, json!({ "messageId": "u1" })).await;
    script.state("running", None).await;
    assert!(is_open(&mut turn, &mut script).await);
    script.state("idle", Some("refusal")).await;
    assert_eq!(told(&mut turn).await, ["end: Some(Refusal)"]);
}

#[tokio::test]
async fn v2_resume_09_the_snapshot_of_a_resumed_session_completes_nothing() {
    let (agent, mut script) = v2_with(Client::new(), json!({})).await;
    let answering = async {
        let request = script.expect("session/resume").await;
        script.state("idle", Some("end_turn")).await;
        script.answer(&request, json!({})).await;
    };
    let (session, ()) = tokio::join!(agent.resume_session("s-1", "/work"), answering);
    let session = session.unwrap();
    let mut events = session.events();
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.state("idle", Some("end_turn")).await;
    assert!(is_open(&mut turn, &mut script).await);
    assert!(matches!(heard(&mut events).await, Some(Event::State(_))));
    script.answer(&request, json!({ "messageId": "u1" })).await;
    script.state("running", None).await;
    script.state("idle", Some("end_turn")).await;
    assert_eq!(told(&mut turn).await, ["end: Some(EndTurn)"]);
}

// Also: V2-PROMPT-08.
#[tokio::test]
async fn an_agent_of_an_earlier_draft_is_understood() {
    for answer in [json!({}), json!(null), json!({ "messageId": null })] {
        let (session, mut script) = v2_session().await;
        let (mut turn, request) = prompt(&session, &mut script, "hi").await;
        script.answer(&request, answer).await;
        script.update(user_message("u7", "hi")).await;
        script.state("running", None).await;
        script.state("idle", Some("end_turn")).await;
        assert_eq!(told(&mut turn).await, ["end: Some(EndTurn)"]);
        assert_eq!(turn.message_id(), Some(v2::MessageId::new("u7")));
    }
}

#[tokio::test]
async fn an_answer_that_comes_last_ends_the_turn() {
    let (session, mut script) = v2_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.update(user_message("u1", "hi")).await;
    script.state("running", None).await;
    script.state("idle", Some("end_turn")).await;
    script.answer(&request, json!({ "messageId": "u1" })).await;
    assert_eq!(told(&mut turn).await, ["end: Some(EndTurn)"]);
}

#[tokio::test]
async fn an_idle_with_an_error_fails_the_turn_and_leaves_the_session_usable() {
    let (session, mut script) = v2_session().await;
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    script.update(user_message("u1", "hi")).await;
    script.answer(&request, json!({ "messageId": "u1" })).await;
    script.state("running", None).await;
    let idle = json!({
        "sessionUpdate": "state_update",
        "state": "idle",
        "stopReason": "error",
        "error": { "code": -32603, "message": "the model is on fire" },
    });
    script.update(idle).await;
    match within(turn.finish()).await.unwrap_err() {
        TurnError::Failed { code, message, .. } => {
            assert_eq!((code, message.as_str()), (-32603, "the model is on fire"));
        }
        other => panic!("{other}"),
    }
    let (mut turn, request) = prompt(&session, &mut script, "again").await;
    script.refuse(&request, -32602, "no").await;
    assert_eq!(
        told(&mut turn).await,
        ["error: the turn failed: no (-32602)"]
    );
}

// Also: V2-EXT-05.
#[tokio::test]
async fn unknown_updates_are_kept_and_told() {
    let (session, mut script) = v2_session().await;
    let mut events = session.events();
    script
        .update(json!({ "sessionUpdate": "_weather", "sky": "blue" }))
        .await;
    match heard(&mut events).await.unwrap() {
        Event::Other(v2::SessionUpdate::Other(other)) => {
            assert_eq!(other.session_update, "_weather")
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(session.transcript().entries().len(), 1);
    assert_eq!(reported(session.agent(), ReportKind::UnknownUpdate), 1);
}
