//! Cancelling: what happens at once, what is still taken, what happens when the agent does not care.

use std::time::Duration;

use crate::support::{
    Script, permission, prompt, told, user_message, v1_session, v2_session, within,
};
use ply_client::limits::CANCEL_IGNORED_TIME_MAX;
use ply_client::{Event, Session, TurnError, v2};
use serde_json::{Value, json};

fn call(id: &str, status: &str) -> Value {
    json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "title": id })
}

fn status(session: &Session, id: &str) -> v2::ToolCallStatus {
    session.tool_call(&v2::ToolCallId::new(id)).unwrap().status
}

async fn assert_cancelled(script: &mut Script, ids: &[Value]) {
    let mut answered = Vec::new();
    for _ in ids {
        let answer = script.next().await;
        assert_eq!(
            answer["result"],
            json!({ "outcome": { "outcome": "cancelled" } })
        );
        answered.push(answer["id"].clone());
    }
    answered.sort_by_key(Value::to_string);
    assert_eq!(answered, ids);
}

// Also: V1-CANCEL-02, V1-CANCEL-03, V1-CANCEL-08, V1-PERM-08.
#[tokio::test]
async fn v1_cancel_01_the_agent_is_told_and_its_calls_are_shown_as_cancelled_at_once() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.update(call("c1", "in_progress")).await;
    script.update(call("c2", "completed")).await;
    let mut ids = Vec::new();
    let mut asks = Vec::new();
    for id in ["c3", "c4", "c5"] {
        ids.push(script.ask_permission(id).await);
        asks.push(permission(&mut turn).await);
    }
    session.cancel().await.unwrap();
    assert_eq!(status(&session, "c1"), v2::ToolCallStatus::Cancelled);
    assert_eq!(status(&session, "c2"), v2::ToolCallStatus::Completed);
    let cancel = script.expect("session/cancel").await;
    assert_eq!(cancel["params"], json!({ "sessionId": "s-1" }));
    assert_eq!(cancel.get("id"), None);
    assert_cancelled(&mut script, &ids).await;
    // What comes late still counts.
    script.update(call("c1", "completed")).await;
    script.say("stopping").await;
    script.stop(&request, "cancelled").await;
    let told = told(&mut turn).await;
    assert_eq!(told.last().unwrap(), "end: Some(Cancelled)");
    assert!(told.contains(&"says stopping".to_owned()));
    assert_eq!(status(&session, "c1"), v2::ToolCallStatus::Completed);
}

// Also: D16.
#[tokio::test]
async fn v1_cancel_03_pending_permissions_are_answered_cancelled() {
    let (session, mut script) = v1_session().await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let mut ids = Vec::new();
    for number in 0..3 {
        ids.push(script.ask_permission(&format!("c{number}")).await);
    }
    script.silent().await;
    session.cancel().await.unwrap();
    script.expect("session/cancel").await;
    assert_cancelled(&mut script, &ids).await;
    script.silent().await;
}

// Also: D15.
#[tokio::test]
async fn d8_a_click_after_the_cancellation_is_ignored() {
    let (session, mut script) = v1_session().await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script.ask_permission("c1").await;
    let ask = permission(&mut turn).await;
    turn.cancel().await.unwrap();
    ask.allow_once().await.unwrap();
    script.expect("session/cancel").await;
    assert_cancelled(&mut script, &[id]).await;
    script.silent().await;
}

#[tokio::test]
async fn v1_perm_08_what_is_asked_after_the_cancellation_is_not_allowed() {
    let (session, mut script) =
        crate::support::v1_session_of(ply_client::Client::new().permissions(ply_client::AllowAll))
            .await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    session.cancel().await.unwrap();
    script.expect("session/cancel").await;
    let id = script.ask_permission("c1").await;
    assert_cancelled(&mut script, &[id]).await;
}

// Also: V2-CANCEL-03, V2-CANCEL-09.
#[tokio::test]
async fn v2_cancel_02_a_version_2_agent_is_cancelled_the_same_way() {
    let (session, mut script) = v2_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.update(user_message("u1", "hi")).await;
    script.answer(&request, json!({ "messageId": "u1" })).await;
    script.state("running", None).await;
    script.update(call("c1", "in_progress")).await;
    let params = json!({
        "sessionId": "s-1",
        "title": "Remove everything?",
        "subject": { "type": "tool_call", "toolCall": { "toolCallId": "c2" } },
        "options": crate::support::options(&["allow_once"]),
    });
    let id = script.ask("session/request_permission", params).await;
    let ask = permission(&mut turn).await;
    session.cancel().await.unwrap();
    assert_eq!(status(&session, "c1"), v2::ToolCallStatus::Cancelled);
    assert_eq!(status(&session, "c2"), v2::ToolCallStatus::Cancelled);
    script.expect("session/cancel").await;
    assert_cancelled(&mut script, &[id]).await;
    assert!(!ask.is_open());
    script.update(call("c1", "failed")).await;
    script.state("idle", Some("cancelled")).await;
    assert_eq!(
        told(&mut turn).await.last().unwrap(),
        "end: Some(Cancelled)"
    );
    assert_eq!(status(&session, "c1"), v2::ToolCallStatus::Failed);
}

#[tokio::test]
async fn d6_cancelling_without_work_does_nothing() {
    let (session, mut script) = v1_session().await;
    session.cancel().await.unwrap();
    session.cancel().await.unwrap();
    script.silent().await;
}

// Also: D9.
#[tokio::test]
async fn an_error_after_the_cancellation_is_still_a_cancelled_turn() {
    let (session, mut script) = v1_session().await;
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    turn.cancel().await.unwrap();
    script.expect("session/cancel").await;
    script.refuse(&request, -32603, "aborted").await;
    assert!(within(turn.finish()).await.unwrap().is_cancelled());
}

// Also: D10.
#[tokio::test]
async fn held_prompts_are_dropped_by_the_session_and_kept_by_the_turn() {
    let (session, mut script) = v1_session().await;
    let (first, request) = prompt(&session, &mut script, "one").await;
    let second = session.prompt("two").await.unwrap();
    let third = session.prompt("three").await.unwrap();
    second.cancel().await.unwrap();
    assert!(within(second.finish()).await.unwrap().is_cancelled());
    first.cancel().await.unwrap();
    script.expect("session/cancel").await;
    script.stop(&request, "cancelled").await;
    let request = script.expect("session/prompt").await;
    assert_eq!(request["params"]["prompt"][0]["text"], "three");
    let fourth = session.prompt("four").await.unwrap();
    session.cancel().await.unwrap();
    assert!(within(fourth.finish()).await.unwrap().is_cancelled());
    script.expect("session/cancel").await;
    script.stop(&request, "cancelled").await;
    assert!(within(third.finish()).await.unwrap().is_cancelled());
    script.silent().await;
}

#[tokio::test(start_paused = true)]
async fn v1_cancel_14_a_cancellation_without_effect_is_told() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    turn.cancel().await.unwrap();
    let started = tokio::time::Instant::now();
    loop {
        match turn.next().await.unwrap().unwrap() {
            Event::CancelOverdue => break,
            Event::Quiet { .. } => panic!("too late"),
            _ => {}
        }
    }
    assert_eq!(started.elapsed().as_secs(), 5);
    script.expect("session/cancel").await;
    script.stop(&request, "cancelled").await;
    assert_eq!(told(&mut turn).await, ["end: Some(Cancelled)"]);
}

#[tokio::test(start_paused = true)]
async fn v1_cancel_14_whoever_waits_for_the_end_of_a_turn_does_not_wait_for_ever() {
    for talks in [false, true] {
        let (session, mut script) = v1_session().await;
        let (turn, _) = prompt(&session, &mut script, "hi").await;
        turn.cancel().await.unwrap();
        script.expect("session/cancel").await;
        let started = tokio::time::Instant::now();
        let talking = async {
            if !talks {
                std::future::pending::<()>().await;
            }
            loop {
                script.say("la").await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        let ignored = tokio::select! {
            ended = turn.finish() => ended.unwrap_err(),
            () = talking => continue,
        };
        let TurnError::CancelIgnored { after } = ignored else {
            panic!("{ignored}");
        };
        assert_eq!(after, CANCEL_IGNORED_TIME_MAX);
        assert_eq!(started.elapsed(), CANCEL_IGNORED_TIME_MAX);
    }
}
