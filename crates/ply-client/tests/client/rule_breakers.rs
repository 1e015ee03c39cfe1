//! Agents that break the rules are survived, and reported.

use std::time::Duration;

use crate::support::{
    heard, open, prompt, reported, told, v1_session, v1_with, v2_session, within, words,
};
use ply_client::{Client, Error, Event, ReportKind, TurnError};
use serde_json::json;

// Also: D1, V1-PROMPT-11.
#[tokio::test]
async fn d2_a_late_update_is_shown_and_the_turn_stays_closed() {
    let (session, mut script) = v1_session().await;
    let mut events = session.events();
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.say("in time").await;
    script.stop(&request, "end_turn").await;
    // In one breath with the answer: the order on the wire decides, not who is woken first.
    script.say(" too late").await;
    script.silent().await;
    let told = told(&mut turn).await;
    assert_eq!(told, ["says in time", "end: Some(EndTurn)"]);
    let mut said = String::new();
    while !said.ends_with("late") {
        if let Some(Event::Message(text)) = heard(&mut events).await {
            said.push_str(&text.text());
        }
    }
    assert_eq!(said, "in time too late");
    assert_eq!(session.transcript().last_agent_text(), " too late");
    assert!(!session.with_transcript(|transcript| transcript.state().is_active()));
    assert_eq!(reported(session.agent(), ReportKind::LateUpdate), 1);
}

#[tokio::test]
async fn updates_of_unknown_sessions_and_kinds_and_shapes_are_survived() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.update_of("nobody", words("x")).await;
    script
        .update(json!({ "sessionUpdate": "hologram", "beam": 1 }))
        .await;
    script
        .update(json!({ "sessionUpdate": "_vendor", "beam": 1 }))
        .await;
    script
        .update(json!({ "sessionUpdate": "agent_message_chunk", "content": 7 }))
        .await;
    script.update(json!("what")).await;
    script.notify("session/update", json!([1, 2])).await;
    script.notify("session/whatever", json!({})).await;
    script.raw("Loading model...").await;
    script.say("fine").await;
    script.stop(&request, "end_turn").await;
    let told = told(&mut turn).await;
    assert!(told[0].contains("hologram"), "{told:?}");
    assert!(told[1].contains("_vendor"), "{told:?}");
    assert_eq!(told[2..], ["says fine", "end: Some(EndTurn)"]);
    let agent = session.agent();
    assert_eq!(reported(agent, ReportKind::UnknownSession), 1);
    assert_eq!(reported(agent, ReportKind::UnknownUpdate), 2);
    assert_eq!(reported(agent, ReportKind::MalformedUpdate), 3);
    assert_eq!(agent.noise().lines, 1);
    assert_eq!(agent.noise().first_lines, ["Loading model..."]);
}

#[tokio::test]
async fn a_missing_stop_reason_is_reported_and_is_no_end_turn() {
    for answer in [json!({}), json!(null), json!({ "stopReason": null })] {
        let (session, mut script) = v1_session().await;
        let (turn, request) = prompt(&session, &mut script, "hi").await;
        script.answer(&request, answer).await;
        assert_eq!(within(turn.finish()).await.unwrap().stop_reason, None);
        assert_eq!(reported(session.agent(), ReportKind::NoStopReason), 1);
        // What was cancelled is.
        let (turn, request) = prompt(&session, &mut script, "hi").await;
        turn.cancel().await.unwrap();
        script.expect("session/cancel").await;
        script.answer(&request, json!({})).await;
        assert!(within(turn.finish()).await.unwrap().is_cancelled());
        assert_eq!(reported(session.agent(), ReportKind::NoStopReason), 1);
    }
}

#[tokio::test]
async fn a_second_answer_changes_nothing() {
    let (session, mut script) = v1_session().await;
    let (turn, request) = prompt(&session, &mut script, "one").await;
    script.stop(&request, "end_turn").await;
    script.stop(&request, "refusal").await;
    assert!(!within(turn.finish()).await.unwrap().is_refused());
    let (turn, request) = prompt(&session, &mut script, "two").await;
    script.silent().await;
    script.stop(&request, "end_turn").await;
    within(turn.finish()).await.unwrap();
}

// Also: B14, V1-PROMPT-18.
#[tokio::test(start_paused = true)]
async fn c1_everything_pending_fails_when_the_link_breaks() {
    for is_v2 in [false, true] {
        let (session, mut script) = if is_v2 {
            v2_session().await
        } else {
            v1_session().await
        };
        let (turn, _) = prompt(&session, &mut script, "one").await;
        let held = session.prompt("two").await.unwrap();
        if is_v2 {
            script.expect("session/prompt").await;
            script.state("running", None).await;
        }
        let running = json!({
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "status": "in_progress",
        });
        script.update(running).await;
        script.silent().await;
        let agent = session.agent().clone();
        let asking = tokio::spawn(async move { agent.new_session("/work").await });
        script.expect("session/new").await;
        script.die();
        let failed = async {
            assert!(matches!(
                within(turn.finish()).await,
                Err(TurnError::Interrupted(_))
            ));
            assert!(matches!(
                within(held.finish()).await,
                Err(TurnError::Interrupted(_))
            ));
            assert!(matches!(asking.await.unwrap(), Err(Error::Gone(_))));
        };
        tokio::time::timeout(Duration::from_millis(100), failed)
            .await
            .unwrap();
        let transcript = session.transcript();
        assert!(transcript.tool_calls().all(|call| call.is_finished()));
        assert!(!transcript.state().is_active());
        assert!(matches!(session.prompt("three").await, Err(Error::Gone(_))));
        assert_eq!(reported(session.agent(), ReportKind::DiedInTurn), 1);
    }
}

#[tokio::test]
async fn b14_a_close_on_this_side_ends_everything_too() {
    let (session, mut script) = v1_session().await;
    let (turn, _) = prompt(&session, &mut script, "one").await;
    session.agent().close().await;
    within(turn.finish()).await.unwrap_err();
    script.closed().await;
    assert!(matches!(session.prompt("two").await, Err(Error::Closed)));
}

#[tokio::test]
async fn a_cancelled_turn_whose_agent_dies_is_a_cancelled_turn() {
    let (session, mut script) = v1_session().await;
    let (turn, _) = prompt(&session, &mut script, "one").await;
    turn.cancel().await.unwrap();
    script.die();
    assert!(within(turn.finish()).await.unwrap().is_cancelled());
}

#[tokio::test]
async fn a_session_that_nobody_holds_is_ignored_in_silence() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    drop(open(&agent, &mut script).await);
    script.say("hello?").await;
    let id = script.ask_permission("c1").await;
    let answer = script.answered(&id).await;
    assert_eq!(answer["error"]["code"], -32602, "it decides for nobody");
    assert_eq!(agent.reports(), []);
}

#[tokio::test]
async fn dropping_every_handle_closes_the_link() {
    let (session, mut script) = v1_session().await;
    drop(session);
    script.closed().await;
}

// Also: V1-RPC-04.
#[tokio::test]
async fn v1_rpc_15_the_agent_is_served_while_our_requests_wait() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let answering = async {
        let request = script.expect("session/new").await;
        script.silent().await;
        script.notify("_vendor/hello", json!({})).await;
        script.silent().await;
        script.answer(&request, json!({ "sessionId": "s-1" })).await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    session.unwrap();
}
