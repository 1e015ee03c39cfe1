//! Requests for information.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Waker};

use crate::support::{SESSION, elicitation, heard, prompt, v1_session_of, v2_session_of, within};
use ply_client::{Client, ElicitationDecision, Elicitations, Error, Event, Session, v2};
use serde_json::{Value, json};

fn form(scope: &str, id: &str) -> Value {
    json!({
        "mode": "form",
        scope: id,
        "message": "Who are you?",
        "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
    })
}

fn asking() -> Client {
    Client::new().elicitation(Elicitations::new().forms())
}

// Also: V1-ELIC-06, V1-ELIC-16.
#[tokio::test]
async fn v1_elic_05_the_user_can_accept_decline_or_cancel() {
    for is_v2 in [false, true] {
        let (session, mut script) = if is_v2 {
            v2_session_of(asking()).await
        } else {
            v1_session_of(asking()).await
        };
        let (mut turn, _) = prompt(&session, &mut script, "hi").await;
        let id = script
            .ask("elicitation/create", form("sessionId", SESSION))
            .await;
        let ask = elicitation(&mut turn).await;
        assert_eq!(ask.request().message, "Who are you?");
        let content = [("name".to_owned(), "me".into())].into_iter().collect();
        let accept = v2::ElicitationAcceptAction::new().content(Some(content));
        ask.answer(v2::ElicitationAction::Accept(accept))
            .await
            .unwrap();
        let answer = script.answered(&id).await;
        assert_eq!(
            answer["result"],
            json!({ "action": "accept", "content": { "name": "me" } })
        );
        let late = ask.answer(v2::ElicitationAction::Decline).await;
        assert!(matches!(late, Err(Error::Answered)));
        ask.decline().await;

        let id = script
            .ask("elicitation/create", form("sessionId", SESSION))
            .await;
        elicitation(&mut turn).await.decline().await;
        assert_eq!(
            script.answered(&id).await["result"],
            json!({ "action": "decline" })
        );

        let id = script
            .ask("elicitation/create", form("sessionId", SESSION))
            .await;
        let ask = elicitation(&mut turn).await;
        ask.answer(v2::ElicitationAction::Cancel).await.unwrap();
        assert_eq!(
            script.answered(&id).await["result"],
            json!({ "action": "cancel" })
        );
        let id = script
            .ask("elicitation/create", form("sessionId", SESSION))
            .await;
        drop(elicitation(&mut turn).await);
        let answer = script.answered(&id).await;
        assert_eq!(answer["error"]["code"], -32603, "left to others");
    }
}

// Also: V1-ELIC-04, V1-ELIC-27.
#[tokio::test]
async fn a_form_is_cancelled_with_its_turn_and_takes_no_answer_afterwards() {
    for is_v2 in [false, true] {
        let (session, mut script) = if is_v2 {
            v2_session_of(asking()).await
        } else {
            v1_session_of(asking()).await
        };
        let (mut turn, _) = prompt(&session, &mut script, "hi").await;
        let mut events = session.events();
        let open = script
            .ask("elicitation/create", form("sessionId", SESSION))
            .await;
        let ask = elicitation(&mut turn).await;
        turn.cancel().await.unwrap();
        script.expect("session/cancel").await;
        assert_eq!(script.answered(&open).await["result"]["action"], "cancel");
        assert!(!ask.is_open());
        let accept = v2::ElicitationAcceptAction::new();
        let late = ask.answer(v2::ElicitationAction::Accept(accept)).await;
        assert!(matches!(late, Err(Error::Answered)));

        // What is asked after the cancellation is nobody's to answer.
        let late = script
            .ask("elicitation/create", form("sessionId", SESSION))
            .await;
        assert_eq!(script.answered(&late).await["result"]["action"], "cancel");
        script.silent().await;
        script.die();
        let mut told = 0;
        while let Some(event) = heard(&mut events).await {
            told += usize::from(matches!(event, Event::Elicitation(_)));
        }
        assert_eq!(told, 1, "the one that was open before");
    }
}

/// A service that says yes to a turn which was cancelled while it thought.
#[tokio::test]
async fn nothing_is_accepted_by_a_service_that_was_overtaken_by_the_cancellation() {
    let shared = Arc::new(OnceLock::<Session>::new());
    let known = Arc::clone(&shared);
    let service = Elicitations::new().forms().decide(move |_| {
        // As a person would while the service thinks.
        let cancelling = pin!(known.get().unwrap().cancel());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(cancelling.poll(&mut cx).is_ready());
        let accept = v2::ElicitationAcceptAction::new();
        ElicitationDecision::Answer(v2::ElicitationAction::Accept(accept))
    });
    let (session, mut script) = v1_session_of(Client::new().elicitation(service)).await;
    shared.set(session.clone()).unwrap();
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script
        .ask("elicitation/create", form("sessionId", SESSION))
        .await;
    script.expect("session/cancel").await;
    assert_eq!(script.answered(&id).await["result"]["action"], "cancel");
}

#[tokio::test]
async fn v1_elic_22_a_mode_that_was_not_offered_is_refused() {
    let (session, mut script) = v1_session_of(asking()).await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let url = json!({
        "mode": "url", "sessionId": SESSION, "message": "Log in", "elicitationId": "e1",
        "url": "https://localhost/login",
    });
    let unknown = json!({ "mode": "_x", "sessionId": SESSION, "message": "?" });
    let mut both = form("sessionId", SESSION);
    both["requestId"] = json!(1);
    for params in [url, unknown, both, json!({})] {
        let id = script.ask("elicitation/create", params.clone()).await;
        assert_eq!(
            script.answered(&id).await["error"]["code"],
            -32602,
            "{params}"
        );
    }
}

// Also: V1-ELIC-21.
#[tokio::test]
async fn a_policy_answers_also_what_belongs_to_no_session() {
    let service = Elicitations::new()
        .forms()
        .decide(|_| ElicitationDecision::Answer(v2::ElicitationAction::Decline));
    let client = Client::new().elicitation(service);
    let (_session, mut script) = v1_session_of(client).await;
    let id = script
        .ask("elicitation/create", form("requestId", "7"))
        .await;
    assert_eq!(
        script.answered(&id).await["result"],
        json!({ "action": "decline" })
    );
    script
        .notify(
            "elicitation/complete",
            json!({ "elicitationId": "unknown" }),
        )
        .await;

    let (_session, mut script) = v1_session_of(asking()).await;
    let id = script
        .ask("elicitation/create", form("requestId", "7"))
        .await;
    let answer = script.answered(&id).await;
    assert_eq!(answer["error"]["code"], -32603, "nobody can be asked");
}

#[tokio::test]
async fn c15_a_question_is_about_the_newest_call_of_its_id() {
    let (session, mut script) = v1_session_of(asking()).await;
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "T",
        "status": "completed" });
    let (turn, request) = prompt(&session, &mut script, "one").await;
    script.update(call.clone()).await;
    script.stop(&request, "end_turn").await;
    within(turn.finish()).await.unwrap();

    let (mut turn, _) = prompt(&session, &mut script, "two").await;
    script.update(call).await;
    let mut params = form("sessionId", SESSION);
    params["toolCallId"] = json!("c");
    script.ask("elicitation/create", params).await;
    let ask = elicitation(&mut turn).await;
    let asked = serde_json::to_value(ask.request()).unwrap();
    assert_eq!(asked["toolCallId"], "c~2");
}
