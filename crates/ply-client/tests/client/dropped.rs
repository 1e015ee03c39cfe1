//! Futures that are dropped before the agent's answer.

use std::pin::pin;

use crate::support::{
    SESSION, Script, greet, heard, open, prompt, reported, v1_session, v2_session, within, words_of,
};
use ply_client::{Agent, Client, Error, ReportKind, SessionFilter, TurnError, v2};
use serde_json::{Value, json};

/// An agent that can do everything that is asked for here.
async fn able(version: u16) -> (Agent, Script) {
    let method = match version {
        1 => json!({ "id": "key", "name": "API key" }),
        _ => json!({ "type": "agent", "methodId": "key", "name": "API key" }),
    };
    let answer = json!({
        "protocolVersion": version,
        "info": { "name": "script", "version": "0" },
        "capabilities": { "session": { "delete": {}, "archive": {} } },
        "agentCapabilities": {
            "loadSession": true,
            "sessionCapabilities": {
                "resume": {}, "list": {}, "close": {}, "delete": {}, "archive": {},
            },
            "auth": { "logout": {} },
        },
        "authMethods": [method],
    });
    let (agent, script, _) = greet(Client::new(), answer).await;
    (agent.unwrap(), script)
}

/// Drops a future once the agent has its request, which is returned.
async fn drop_when_asked<T>(work: impl Future<Output = T>, script: &mut Script) -> Value {
    tokio::select! {
        biased;
        _ = work => panic!("it was not answered"),
        request = script.next() => request,
    }
}

#[track_caller]
fn is_cancel_of(cancel: &Value, request: &Value) {
    assert_eq!(cancel["method"], "$/cancel_request", "{request}");
    assert_eq!(cancel["params"], json!({ "requestId": request["id"] }));
}

#[tokio::test]
async fn a_request_that_nobody_waits_for_is_cancelled() {
    for version in [1, 2] {
        let (agent, mut script) = able(version).await;
        let session = open(&agent, &mut script).await;
        script.update(mode_option(version)).await;
        script.silent().await;
        let requests = [
            drop_when_asked(agent.new_session("/work"), &mut script).await,
            script.next().await,
            drop_when_asked(agent.load_session("old", "/work"), &mut script).await,
            script.next().await,
            drop_when_asked(agent.resume_session("older", "/work"), &mut script).await,
            script.next().await,
            drop_when_asked(agent.list_sessions(SessionFilter::all()), &mut script).await,
            script.next().await,
            drop_when_asked(agent.login("key"), &mut script).await,
            script.next().await,
            drop_when_asked(session.set_mode("plan"), &mut script).await,
            script.next().await,
        ];
        for pair in requests.chunks(2) {
            is_cancel_of(&pair[1], &pair[0]);
        }
        script.silent().await;
    }
}

fn mode_option(version: u16) -> Value {
    let id = if version == 1 { "id" } else { "configId" };
    let group = json!([{ "value": "ask", "name": "Ask" }, { "value": "plan", "name": "Plan" }]);
    let option = json!({
        id: "mode", "name": "Mode", "category": "mode", "type": "select",
        "currentValue": "ask", "options": group,
    });
    json!({ "sessionUpdate": "config_option_update", "configOptions": [option] })
}

#[tokio::test]
async fn what_ends_something_is_not_taken_back() {
    for version in [1, 2] {
        let (agent, mut script) = able(version).await;
        let session = open(&agent, &mut script).await;
        drop_when_asked(agent.delete_session("old"), &mut script).await;
        drop_when_asked(session.close(), &mut script).await;
        drop_when_asked(agent.logout(), &mut script).await;
        script.silent().await;
    }
}

#[tokio::test]
async fn a_session_ends_here_too_although_nobody_waits_for_its_end() {
    for version in [1, 2] {
        for end in ["close", "close one that is gone", "delete", "archive"] {
            let (agent, mut script) = able(version).await;
            let session = open(&agent, &mut script).await;
            let mut events = session.events();
            let (turn, _) = prompt(&session, &mut script, "hi").await;
            let request = match end {
                "delete" => drop_when_asked(agent.delete_session(SESSION), &mut script).await,
                "archive" => drop_when_asked(session.archive(), &mut script).await,
                _ => drop_when_asked(session.close(), &mut script).await,
            };
            if end == "archive" {
                is_cancel_of(&script.next().await, &request);
            }
            if end == "close one that is gone" {
                script.refuse(&request, -32002, "no such session").await;
            } else {
                script.answer(&request, json!({})).await;
            }
            script.silent().await;
            let told = within(turn.finish()).await;
            assert!(matches!(told, Err(TurnError::SessionClosed)), "{end}");
            while heard(&mut events).await.is_some() {}
            let closed = within(session.prompt("hi")).await.map(drop);
            assert!(matches!(closed, Err(Error::SessionClosed)), "{end}");
            script.silent().await;
        }
    }
}

#[tokio::test]
async fn the_end_of_a_session_is_not_that_of_its_next_opening() {
    for version in [1, 2] {
        let (agent, mut script) = able(version).await;
        let session = open(&agent, &mut script).await;
        let close = drop_when_asked(session.close(), &mut script).await;
        drop(session);
        let answering = async {
            let load = script.next().await;
            script.answer(&close, json!({})).await;
            script.answer(&load, json!({})).await;
        };
        let (session, ()) = tokio::join!(agent.load_session(SESSION, "/work"), answering);
        let _asked = prompt(&session.unwrap(), &mut script, "hi").await;
    }
}

#[tokio::test]
async fn a_session_that_was_made_for_nobody_is_closed() {
    for version in [1, 2] {
        let (agent, mut script) = able(version).await;
        let request = drop_when_asked(agent.new_session("/work"), &mut script).await;
        is_cancel_of(&script.next().await, &request);
        script
            .answer(&request, json!({ "sessionId": SESSION }))
            .await;
        let close = script.expect("session/close").await;
        assert_eq!(close["params"], json!({ "sessionId": SESSION }));
        script.answer(&close, json!({})).await;
        // Its updates are those of a session that is known and ignored.
        script.update(words_of("m", "hello")).await;
        script.silent().await;
        assert_eq!(reported(&agent, ReportKind::UnknownSession), 0);
        // The agent is as good as before.
        open(&agent, &mut script).await;
    }
}

#[tokio::test]
async fn an_id_that_was_open_here_can_be_that_of_a_new_session() {
    let (agent, mut script) = able(1).await;
    drop(open(&agent, &mut script).await);
    let answering = async {
        let request = script.expect("session/new").await;
        // Nobody can know that this is for the new one.
        script.say("early").await;
        script
            .answer(&request, json!({ "sessionId": SESSION }))
            .await;
        script.say("then").await;
        script.silent().await;
    };
    let (session, ()) = tokio::join!(within(agent.new_session("/work")), answering);
    assert_eq!(session.unwrap().transcript().last_agent_text(), "then");
    assert_eq!(reported(&agent, ReportKind::SessionIdReused), 0);
}

#[tokio::test]
async fn nobody_closes_an_open_session_whose_id_was_given_to_nobody() {
    let (agent, mut script) = able(1).await;
    let session = open(&agent, &mut script).await;
    let request = drop_when_asked(agent.new_session("/work"), &mut script).await;
    is_cancel_of(&script.next().await, &request);
    script
        .answer(&request, json!({ "sessionId": SESSION }))
        .await;
    script.silent().await;
    assert_eq!(reported(&agent, ReportKind::SessionIdReused), 1);
    let _asked = prompt(&session, &mut script, "hi").await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_made_too_late_is_unknown() {
    let (agent, mut script) = able(1).await;
    let asking = tokio::spawn({
        let agent = agent.clone();
        async move { agent.new_session("/work").await }
    });
    let request = script.expect("session/new").await;
    let failed = asking.await.unwrap();
    assert!(matches!(failed, Err(Error::Call(_))), "{failed:?}");
    is_cancel_of(&script.next().await, &request);
    script
        .answer(&request, json!({ "sessionId": SESSION }))
        .await;
    script.say("hello").await;
    let id = script.ask_permission("c1").await;
    assert_eq!(script.answered(&id).await["error"]["code"], -32602);
    // The update, the question.
    assert_eq!(reported(&agent, ReportKind::UnknownSession), 2);
}

#[tokio::test]
async fn a_session_is_closed_whose_caller_goes_after_the_answer_came() {
    let (agent, mut script) = able(1).await;
    let request = {
        let mut opening = pin!(agent.new_session("/work"));
        let request = tokio::select! {
            biased;
            _ = &mut opening => panic!("it was not answered"),
            request = script.next() => request,
        };
        script
            .answer(&request, json!({ "sessionId": SESSION }))
            .await;
        // The answer is read before this is answered, and the future is not polled again.
        script.silent().await;
        request
    };
    assert_eq!(request["method"], "session/new");
    script.expect("session/close").await;
    script.silent().await;
}

#[tokio::test]
async fn an_agent_that_closes_no_sessions_is_not_asked_to() {
    let (agent, mut script, _) = greet(Client::new(), json!({ "protocolVersion": 1 })).await;
    let agent = agent.unwrap();
    let request = drop_when_asked(agent.new_session("/work"), &mut script).await;
    is_cancel_of(&script.next().await, &request);
    script
        .answer(&request, json!({ "sessionId": SESSION }))
        .await;
    script.silent().await;
}

#[tokio::test]
async fn an_old_session_is_left_open_for_others() {
    for version in [1, 2] {
        let (agent, mut script) = able(version).await;
        let request = drop_when_asked(agent.load_session("old", "/work"), &mut script).await;
        is_cancel_of(&script.next().await, &request);
        script.answer(&request, json!({})).await;
        script.silent().await;
        // Whoever tries again gets it.
        let answering = async {
            let request = script.next().await;
            script.answer(&request, json!({})).await;
        };
        let (session, ()) = tokio::join!(agent.load_session("old", "/work"), answering);
        assert_eq!(session.unwrap().id(), &v2::SessionId::new("old"));
    }
}

#[tokio::test]
async fn a_turn_that_is_dropped_goes_on() {
    for is_v2 in [false, true] {
        let (session, mut script) = if is_v2 {
            v2_session().await
        } else {
            v1_session().await
        };
        let (turn, _) = prompt(&session, &mut script, "hi").await;
        drop(turn);
        script.silent().await;
        session.cancel().await.unwrap();
        script.expect("session/cancel").await;
    }
}
