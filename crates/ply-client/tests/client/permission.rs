//! Permission requests: who decides, what can be chosen, what is answered.

use std::sync::{Arc, Mutex};

use crate::support::{
    heard, options, permission, prompt, reported, v1_session, v1_session_of, v2_session, within,
};
use ply_client::{
    AllowAll, Client, Decision, Error, Event, RejectAll, ReportKind, transcript::ToolCall, v2,
};
use serde_json::{Value, json};

fn selected(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

// Also: V1-PERM-05, V2-PERM-12, V1-RPC-15.
#[tokio::test]
async fn v1_perm_01_a_choice_is_answered_while_the_prompt_is_pending() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    for option in ["allow_once", "allow_always", "reject_once", "reject_always"] {
        let id = script.ask_permission("c1").await;
        let ask = permission(&mut turn).await;
        match option {
            "allow_once" => ask.allow_once().await.unwrap(),
            "allow_always" => ask.allow_always().await.unwrap(),
            "reject_once" => ask.reject_once().await.unwrap(),
            _ => ask.reject_always().await.unwrap(),
        }
        assert_eq!(script.answered(&id).await["result"], selected(option));
        // The first answer counts. Only who names an option is told so.
        ask.allow_once().await.unwrap();
        let late = ask.select(&ask.options()[0].option_id).await;
        assert!(matches!(late, Err(Error::Answered)));
    }
    let id = script.ask_permission("c1").await;
    permission(&mut turn).await.cancel().await;
    assert_eq!(script.answered(&id).await["result"], cancelled());
    script.stop(&request, "end_turn").await;
    within(turn.finish()).await.unwrap();
}

// Also: D15.
#[tokio::test]
async fn v1_perm_06_only_what_was_offered_can_be_chosen() {
    let (session, mut script) = v1_session().await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script
        .ask_permission_with("c1", options(&["allow_once"]))
        .await;
    let ask = permission(&mut turn).await;
    assert!(matches!(ask.reject_once().await, Err(Error::NoSuchOption)));
    let foreign = v2::PermissionOptionId::new("sudo");
    assert!(matches!(
        ask.select(&foreign).await,
        Err(Error::NoSuchOption)
    ));
    script.silent().await;
    let offered = ask.options()[0].option_id.clone();
    ask.select(&offered).await.unwrap();
    assert_eq!(script.answered(&id).await["result"], selected("allow_once"));
}

// Also: V2-PERM-09, V2-PERM-10.
#[tokio::test]
async fn v1_perm_07_a_policy_answers_with_what_is_there() {
    let allow = || Client::new().permissions(AllowAll);
    let reject = || Client::new().permissions(RejectAll);
    let invent = || {
        Client::new().permissions(|_: &v2::RequestPermissionRequest, _: Option<&ToolCall>| {
            Decision::Select(v2::PermissionOptionId::new("invented"))
        })
    };
    let all = &["reject_always", "allow_always", "allow_once", "reject_once"];
    for (client, kinds, answer) in [
        (allow(), &all[..], selected("allow_once")),
        (
            allow(),
            &["allow_always", "reject_once"],
            selected("allow_always"),
        ),
        (allow(), &["reject_once", "_odd"], cancelled()),
        (reject(), all, selected("reject_once")),
        (reject(), &["reject_always"], selected("reject_always")),
        (reject(), &["allow_once"], cancelled()),
        (invent(), all, cancelled()),
    ] {
        let (session, mut script) = v1_session_of(client).await;
        let (_turn, _) = prompt(&session, &mut script, "hi").await;
        let id = script.ask_permission_with("c1", options(kinds)).await;
        assert_eq!(script.answered(&id).await["result"], answer, "{kinds:?}");
    }
}

#[tokio::test]
async fn v1_perm_11_the_call_in_the_request_becomes_known() {
    let (session, mut script) = v1_session().await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    script.ask_permission("c9").await;
    let ask = permission(&mut turn).await;
    let call = session.tool_call(&v2::ToolCallId::new("c9")).unwrap();
    assert_eq!(call.title.as_deref(), Some("Remove everything"));
    assert_eq!(ask.request().title, "Allow: Remove everything");
}

// Also: V2-PERM-02, V2-PERM-12.
#[tokio::test]
async fn v2_perm_03_the_subject_is_applied_before_the_question_is_told() {
    let (session, mut script) = v2_session().await;
    let mut events = session.events();
    let call = json!({ "toolCallId": "c1", "title": "rm" });
    let params = json!({
        "sessionId": "s-1",
        "title": "May I?",
        "subject": { "type": "tool_call", "toolCall": call },
        "options": options(&["allow_once", "_later"]),
    });
    let id = script.ask("session/request_permission", params).await;
    assert!(matches!(heard(&mut events).await, Some(Event::ToolCall(_))));
    let Some(Event::Permission(ask)) = heard(&mut events).await else {
        panic!("nothing was asked");
    };
    let call = session.tool_call(&v2::ToolCallId::new("c1")).unwrap();
    assert_eq!(call.title.as_deref(), Some("rm"));
    assert_eq!(ask.options().len(), 2);
    ask.select(&v2::PermissionOptionId::new("_later"))
        .await
        .unwrap();
    assert_eq!(script.answered(&id).await["result"], selected("_later"));
}

#[tokio::test]
async fn the_first_of_two_readers_answers() {
    let (session, mut script) = v1_session().await;
    let mut events = session.events();
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script.ask_permission("c1").await;
    let here = permission(&mut turn).await;
    let there = loop {
        if let Some(Event::Permission(ask)) = heard(&mut events).await {
            break ask;
        }
    };
    drop(there.clone());
    there.allow_once().await.unwrap();
    assert!(!here.is_open());
    here.closed().await;
    here.reject_once().await.unwrap();
    here.cancel().await;
    assert_eq!(script.answered(&id).await["result"], selected("allow_once"));
    script.silent().await;
}

// Also: V1-CREQ-03.
#[tokio::test]
async fn v2_creq_04_a_question_taken_back_by_the_agent_is_answered_cancelled() {
    let (session, mut script) = v1_session().await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script.ask_permission("c1").await;
    let ask = permission(&mut turn).await;
    script
        .notify("$/cancel_request", json!({ "requestId": id }))
        .await;
    assert_eq!(script.answered(&id).await["result"], cancelled());
    ask.closed().await;
    ask.allow_once().await.unwrap();
    script.silent().await;
}

#[tokio::test]
async fn bogus_requests_are_answered_and_reported() {
    let (session, mut script) = v1_session().await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script.ask_permission_with("c1", json!([])).await;
    assert_eq!(script.answered(&id).await["result"], cancelled());
    let id = script
        .ask("session/request_permission", json!({ "sessionId": 7 }))
        .await;
    assert_eq!(script.answered(&id).await["error"]["code"], -32602);
    assert_eq!(reported(session.agent(), ReportKind::BogusPermission), 2);
    let params = json!({
        "sessionId": "unknown",
        "toolCall": { "toolCallId": "c" },
        "options": options(&["allow_once"]),
    });
    let id = script.ask("session/request_permission", params).await;
    assert_eq!(script.answered(&id).await["error"]["code"], -32602);
    assert_eq!(reported(session.agent(), ReportKind::UnknownSession), 1);
}

#[tokio::test]
async fn a_policy_sees_everything_that_is_known_of_the_call() {
    let seen = Arc::new(Mutex::new(None));
    let policy = {
        let seen = Arc::clone(&seen);
        move |_: &v2::RequestPermissionRequest, call: Option<&ToolCall>| {
            *seen.lock().unwrap() = call.cloned();
            Decision::LeaveToOthers
        }
    };
    let (session, mut script) = v1_session_of(Client::new().permissions(policy)).await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let path = "/work/a.rs";
    script
        .update(json!({
            "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Edit", "kind": "edit",
            "locations": [{ "path": path }], "rawInput": { "file": path },
            "content": [{ "type": "diff", "path": path, "oldText": "a", "newText": "b" }],
        }))
        .await;
    // The request itself says no more than a new title.
    let id = script.ask_permission("c1").await;
    let answer = script.answered(&id).await;
    assert_eq!(answer["error"]["code"], -32603, "left to others: {answer}");
    let call = seen.lock().unwrap().clone().unwrap();
    assert_eq!(call.title.as_deref(), Some("Remove everything"));
    assert_eq!(call.kind, v2::ToolKind::Edit);
    assert_eq!(call.locations.len(), 1);
    assert_eq!(call.raw_input, Some(json!({ "file": path })));
    assert!(matches!(call.content[..], [v2::ToolCallContent::Diff(_)]));
}

// Also: D16.
#[tokio::test]
async fn many_questions_are_answered_in_any_order() {
    let (session, mut script) = v1_session().await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    let mut asks = Vec::new();
    for number in 0..50 {
        let id = script.ask_permission(&format!("c{number}")).await;
        asks.push((id, permission(&mut turn).await));
    }
    while let Some((id, ask)) = asks.pop() {
        ask.allow_once().await.unwrap();
        assert_eq!(script.answered(&id).await["result"], selected("allow_once"));
    }
}
