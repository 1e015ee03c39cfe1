//! Single calls and terminals that are cancelled, and work in the background.

use crate::support::{SESSION, Script, prompt, v1_session, v2_session};
use ply_client::{Error, Session, v2};
use serde_json::{Value, json};

async fn offer(script: &mut Script, capabilities: &Value) {
    script
        .update(
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress",
            "capabilities": capabilities }),
        )
        .await;
    script
        .update(
            json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": null,
            "capabilities": capabilities }),
        )
        .await;
    script.silent().await;
}

async fn cancel(session: &Session) -> (Result<(), Error>, Result<(), Error>) {
    (
        session.cancel_tool_call(&v2::ToolCallId::new("c")).await,
        session.cancel_terminal(&v2::TerminalId::new("t")).await,
    )
}

async fn assert_refused_here(session: &Session, script: &mut Script) {
    let (call, terminal) = cancel(session).await;
    assert!(matches!(call, Err(Error::NotOffered { .. })), "{call:?}");
    assert!(
        matches!(terminal, Err(Error::NotOffered { .. })),
        "{terminal:?}"
    );
    script.silent().await;
}

async fn assert_sent(session: &Session, script: &mut Script) {
    let answering = async {
        let request = script.expect("tool_call/cancel").await;
        assert_eq!(
            request["params"],
            json!({ "sessionId": SESSION, "toolCallId": "c" })
        );
        script.answer(&request, json!({})).await;
        let request = script.expect("terminal/cancel").await;
        assert_eq!(
            request["params"],
            json!({ "sessionId": SESSION, "terminalId": "t" })
        );
        script.answer(&request, json!({})).await;
    };
    let ((call, terminal), ()) = tokio::join!(cancel(session), answering);
    call.unwrap();
    terminal.unwrap();
}

// Also: V2-ECANCEL-06.
#[tokio::test]
async fn v2_ecancel_01_only_what_offers_it_is_cancelled_by_itself() {
    let (session, mut script) = v2_session().await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    assert_refused_here(&session, &mut script).await;
    for none in [
        Value::Null,
        json!({}),
        json!({ "cancel": null }),
        json!(1),
        json!({ "cancel": 1 }),
    ] {
        offer(&mut script, &none).await;
        assert_refused_here(&session, &mut script).await;
    }
    offer(&mut script, &json!({ "cancel": {} })).await;
    assert_sent(&session, &mut script).await;
    // It was accepted, and what it is about has not ended yet.
    let call = session.tool_call(&v2::ToolCallId::new("c")).unwrap();
    assert_eq!(call.status, v2::ToolCallStatus::InProgress);
    // Withdrawn, or ended, it is not offered any more.
    offer(&mut script, &Value::Null).await;
    assert_refused_here(&session, &mut script).await;
    offer(&mut script, &json!({ "cancel": {} })).await;
    script
        .update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "cancelled" }))
        .await;
    script
        .update(json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {} }))
        .await;
    script.silent().await;
    assert_refused_here(&session, &mut script).await;
}

#[tokio::test]
async fn what_an_agent_refuses_to_cancel_is_told() {
    let (session, mut script) = v2_session().await;
    offer(&mut script, &json!({ "cancel": {} })).await;
    let answering = async {
        let request = script.expect("tool_call/cancel").await;
        script.refuse(&request, -32602, "it has just ended").await;
    };
    let id = v2::ToolCallId::new("c");
    let (call, ()) = tokio::join!(session.cancel_tool_call(&id), answering);
    assert!(matches!(call, Err(Error::Refused(_))), "{call:?}");
}

#[tokio::test]
async fn nothing_of_a_version_1_agent_is_cancelled_by_itself() {
    let (session, mut script) = v1_session().await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    script
        .update(
            json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "T",
            "capabilities": { "cancel": {} } }),
        )
        .await;
    script.silent().await;
    assert_refused_here(&session, &mut script).await;
}

// Also: V2-BG-01.
#[tokio::test]
async fn v2_bg_05_work_in_the_background_is_what_the_last_state_says() {
    let (session, mut script) = v2_session().await;
    assert_eq!(session.background(), None);
    let lists = [
        (
            json!([{ "type": "terminal", "terminalId": "t" }, { "type": "_x" }]),
            Some(2),
        ),
        (json!([]), Some(0)),
        (json!(3), None),
        (json!([{ "type": "tool_call", "toolCallId": "c" }]), Some(1)),
        (Value::Null, None),
    ];
    for (list, expected) in lists {
        script
            .update(json!({ "sessionUpdate": "state_update", "state": "idle", "background": list }))
            .await;
        script.silent().await;
        assert_eq!(
            session.background().map(|work| work.len()),
            expected,
            "{list}"
        );
    }
}
