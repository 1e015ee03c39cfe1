//! Ways in which a session once went wrong.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Waker};
use std::time::Duration;

use crate::support::{
    SESSION, Script, heard, open, options, permission, prompt, reported, told, user_message,
    v1_session, v1_session_of, v1_with, v2_session, v2_with, within, words, words_of,
};
use ply_client::{
    Agent, Client, Decision, Error, Event, ReportKind, Session, Supported, Terminals,
    transcript::ToolCall, v2,
};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(30);

/// Gives up a load of [`SESSION`], and returns its request.
async fn given_up(agent: &Agent, script: &mut Script) -> Value {
    let request = tokio::select! {
        _ = agent.load_session(SESSION, "/work") => panic!("nothing was answered"),
        request = script.next() => request,
    };
    script.expect("$/cancel_request").await;
    request
}

#[tokio::test]
async fn a_load_that_was_given_up_adds_nothing_to_the_next() {
    for is_v2 in [false, true] {
        for is_refused in [false, true] {
            let (agent, mut script) = match is_v2 {
                false => v1_with(Client::new(), json!({ "loadSession": true })).await,
                true => v2_with(Client::new(), json!({})).await,
            };
            let word = |text| match is_v2 {
                false => words(text),
                true => words_of("m1", text),
            };
            let first = given_up(&agent, &mut script).await;
            let answering = async {
                script.update(word("one ")).await;
                // Nothing is asked for while the agent may still tell what nobody wants.
                script.silent().await;
                script.update(word("two")).await;
                match is_refused {
                    false => script.answer(&first, json!({})).await,
                    true => script.refuse(&first, -32800, "cancelled").await,
                }
                let second = script.next().await;
                script.update(word("one ")).await;
                script.update(word("two")).await;
                script.answer(&second, json!({})).await;
            };
            let (session, ()) = tokio::join!(agent.load_session(SESSION, "/work"), answering);
            let transcript = session.unwrap().transcript();
            assert_eq!(transcript.last_agent_text(), "one two");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_load_does_not_wait_forever_for_the_end_of_one_that_was_given_up() {
    let (agent, mut script) = v1_with(Client::new(), json!({ "loadSession": true })).await;
    let first = given_up(&agent, &mut script).await;
    let again = within(agent.load_session(SESSION, "/work")).await;
    assert!(matches!(again, Err(Error::SessionOpening)), "{again:?}");
    script.silent().await;
    script.answer(&first, json!({})).await;
    let answering = async {
        let request = script.expect("session/load").await;
        script.answer(&request, json!({})).await;
    };
    let (session, ()) = tokio::join!(agent.load_session(SESSION, "/work"), answering);
    session.unwrap();
}

#[tokio::test]
async fn a_load_of_what_is_being_loaded_fails_at_once() {
    let (agent, mut script) = v1_with(Client::new(), json!({ "loadSession": true })).await;
    let answering = async {
        let request = script.expect("session/load").await;
        let beside = within(agent.load_session(SESSION, "/work")).await;
        assert!(matches!(beside, Err(Error::SessionOpen)));
        script.answer(&request, json!({})).await;
    };
    let (session, ()) = tokio::join!(agent.load_session(SESSION, "/work"), answering);
    session.unwrap();
}

#[tokio::test]
async fn a_load_that_waits_hears_of_the_end_of_its_agent() {
    let (agent, mut script) = v1_with(Client::new(), json!({ "loadSession": true })).await;
    given_up(&agent, &mut script).await;
    let dying = async {
        script.silent().await;
        script.die();
    };
    let (session, ()) = tokio::join!(within(agent.load_session(SESSION, "/work")), dying);
    assert!(matches!(session, Err(Error::Gone(_))));
}

#[tokio::test]
async fn a_turn_that_was_dropped_leaves_its_events_to_the_next() {
    let (session, mut script) = v2_session().await;
    let (first, asked) = prompt(&session, &mut script, "one").await;
    script.answer(&asked, json!({ "messageId": "u1" })).await;
    let (mut second, asked) = prompt(&session, &mut script, "two").await;
    drop(first);
    script.answer(&asked, json!({ "messageId": "u2" })).await;
    script.state("running", None).await;
    script.update(user_message("u1", "one")).await;
    script.update(user_message("u2", "two")).await;
    script.update(words_of("m1", "Hello")).await;
    let params = json!({
        "sessionId": SESSION,
        "title": "Remove everything",
        "options": options(&["allow_once"]),
    });
    let id = script.ask("session/request_permission", params).await;
    let ask = permission(&mut second).await;
    ask.allow_once().await.unwrap();
    let answer = script.answered(&id).await;
    assert_eq!(answer["result"]["outcome"]["outcome"], "selected");
    script.state("idle", Some("end_turn")).await;
    assert_eq!(told(&mut second).await, ["end: Some(EndTurn)"]);
}

#[tokio::test]
async fn a_stream_ends_with_an_agent_that_cannot_come_back() {
    let (session, mut script) = v1_session().await;
    let mut events = session.events();
    script.say("last words").await;
    script.silent().await;
    script.die();
    let ended = tokio::time::timeout(LONG, async {
        let mut words = 0;
        while let Some(event) = heard(&mut events).await {
            words += usize::from(matches!(event, Event::Message(_)));
        }
        words
    });
    assert_eq!(ended.await.unwrap(), 1);
    let mut late = session.events();
    assert!(
        tokio::time::timeout(LONG, late.next())
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn v2_state_14_the_end_of_earlier_work_does_not_end_a_prompt_that_comes_after_it() {
    let (session, mut script) = v2_session().await;
    let (mut turn, asked) = prompt(&session, &mut script, "hi").await;
    script.state("running", None).await;
    script.state("idle", Some("refusal")).await;
    script.answer(&asked, json!({ "messageId": "u1" })).await;
    script.update(user_message("u1", "hi")).await;
    script.state("running", None).await;
    script.update(words_of("m1", "Hello")).await;
    script.state("idle", Some("end_turn")).await;
    assert_eq!(told(&mut turn).await, ["says Hello", "end: Some(EndTurn)"]);
}

#[tokio::test]
async fn deleting_a_session_ends_its_commands() {
    let client = Client::new()
        .versions(Supported::V1)
        .terminals(Terminals::new());
    let capabilities = json!({ "sessionCapabilities": { "delete": {} } });
    let (agent, mut script) = v1_with(client, capabilities).await;
    let answering = async {
        let request = script.expect("session/new").await;
        let session = json!({ "sessionId": SESSION });
        script.answer(&request, session).await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/"), answering);
    let session = session.unwrap();
    let params = json!({ "sessionId": SESSION, "command": "sleep", "args": ["1000"] });
    let id = script.ask("terminal/create", params).await;
    let created = script.answered(&id).await;
    let terminal = created["result"]["terminalId"].clone();
    let params = json!({ "sessionId": SESSION, "terminalId": terminal });
    let waiting = script.ask("terminal/wait_for_exit", params).await;
    let deleting = async {
        let request = script.expect("session/delete").await;
        script.answer(&request, json!({})).await;
        tokio::time::timeout(LONG, script.answered(&waiting))
            .await
            .unwrap()
    };
    let (deleted, exit) = tokio::join!(agent.delete_session(SESSION), deleting);
    deleted.unwrap();
    assert!(exit.get("result").is_some(), "{exit}");
    let closed = session.prompt("hi").await;
    assert!(matches!(closed, Err(Error::SessionClosed)));
}

#[tokio::test]
async fn early_updates_are_kept_only_up_to_a_size() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let text = "x".repeat(3 << 20);
    let answering = async {
        let request = script.expect("session/new").await;
        for _ in 0..4 {
            script.update(words(&text)).await;
        }
        let session = json!({ "sessionId": SESSION });
        script.answer(&request, session).await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    assert_eq!(reported(&agent, ReportKind::EarlyUpdatesDropped), 2);
    let transcript = session.unwrap().transcript();
    let kept: usize = transcript.messages().map(|m| m.text().len()).sum();
    assert_eq!(kept, 2 * text.len());
}

#[tokio::test]
async fn an_id_given_twice_does_not_take_over_the_open_session() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let session = open(&agent, &mut script).await;
    let answering = async {
        let request = script.expect("session/new").await;
        let session = json!({ "sessionId": SESSION });
        script.answer(&request, session).await;
    };
    let (second, ()) = tokio::join!(agent.new_session("/work"), answering);
    assert!(matches!(second, Err(Error::SessionOpen)));
    assert_eq!(reported(&agent, ReportKind::SessionIdReused), 1);
    let (mut turn, asked) = prompt(&session, &mut script, "hi").await;
    script.say("Hello").await;
    script.stop(&asked, "end_turn").await;
    assert_eq!(told(&mut turn).await, ["says Hello", "end: Some(EndTurn)"]);
}

async fn outcome(script: &mut Script, id: &serde_json::Value) -> serde_json::Value {
    let answer = script.answered(id).await;
    answer["result"]["outcome"]["outcome"].clone()
}

#[tokio::test]
async fn a_policy_that_panics_allows_nothing_and_decides_for_nobody() {
    let client = Client::new().permissions(
        |_: &v2::RequestPermissionRequest, _: Option<&ToolCall>| -> Decision {
            panic!("on purpose")
        },
    );
    let (session, mut script) = v1_session_of(client).await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script.ask_permission("c1").await;
    assert_eq!(script.answered(&id).await["error"]["code"], -32603);
}

#[tokio::test]
async fn v1_cancel_03_nothing_is_allowed_by_a_policy_that_was_overtaken_by_the_cancellation() {
    let shared = Arc::new(OnceLock::<Session>::new());
    let known = Arc::clone(&shared);
    let client = Client::new().permissions(
        move |_: &v2::RequestPermissionRequest, _: Option<&ToolCall>| {
            // As a person would while the policy thinks.
            let cancelling = pin!(known.get().unwrap().cancel());
            let mut cx = Context::from_waker(Waker::noop());
            assert!(cancelling.poll(&mut cx).is_ready());
            Decision::Select(v2::PermissionOptionId::new("allow_once"))
        },
    );
    let (session, mut script) = v1_session_of(client).await;
    shared.set(session.clone()).unwrap();
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script.ask_permission("c1").await;
    script.expect("session/cancel").await;
    assert_eq!(outcome(&mut script, &id).await, "cancelled");
}

/// The link may read an answer before the thread that asked has put its call on the list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_is_overlooked_when_the_link_is_faster_than_the_asker() {
    let capabilities = json!({ "sessionCapabilities": { "list": {} } });
    let (agent, mut script) = crate::support::v1_with(Client::new(), capabilities).await;
    let answering = tokio::spawn(async move {
        loop {
            let request = script.next().await;
            if request["method"] != "session/list" {
                return;
            }
            script.answer(&request, json!({ "sessions": [] })).await;
        }
    });
    let asking = tokio::spawn(async move {
        for _ in 0..3_000 {
            let filter = ply_client::SessionFilter::all();
            agent.list_page(&filter, None).await.unwrap();
        }
    });
    let asked = tokio::time::timeout(Duration::from_secs(60), asking).await;
    asked.expect("an answer was overlooked").unwrap();
    answering.abort();
}
