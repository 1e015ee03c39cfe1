//! An agent's own methods and notifications, in both directions, and what it keeps for its sessions.

use std::sync::Mutex;

use ply_agent::{
    Agent, Error, Extension, Result, Session, SessionSetup, Stop, Turn, Value, serde_json, v2,
};
use serde_json::json;

use crate::support::*;

/// Keeps notes for each session: a client adds some by notification and reads them by request.
struct Notes;

#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl Kept {
    fn add(&self, note: String) {
        self.0.lock().unwrap().push(note);
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Add {
    note: String,
}

#[derive(serde::Serialize)]
struct Notebook {
    notes: Vec<String>,
}

impl Agent for Notes {
    async fn open(&self, session: &Session, _: &SessionSetup) -> Result<()> {
        session.set_state(Kept::default());
        Ok(())
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let kept: &Kept = turn.session().state();
        kept.add(turn.prompt().text());
        turn.say("Noted.").await?;
        turn.notify_client("_notes/count", json!({"count": 1}))
            .await?;
        let seen: Result<Value> = turn.call_client("_notes/show", json!([1, 2])).await;
        match seen {
            Ok(seen) => turn.say(seen.to_string()).await?,
            Err(error) => {
                let code = error.as_rpc().map(|error| error.code);
                turn.say(format!("{code:?}")).await?;
            }
        }
        Ok(Stop::EndTurn)
    }

    async fn extension(&self, request: &Extension) -> Result<Value> {
        match request.method() {
            "_notes/read" => {
                let session = request.session()?;
                let notes = session.state::<Kept>().0.lock().unwrap().clone();
                Ok(serde_json::to_value(Notebook { notes })?)
            }
            "_notes/echo" => {
                request
                    .client()
                    .call("_notes/show", &request.raw_params())
                    .await
            }
            _ => Err(Error::method_not_found()),
        }
    }

    async fn extension_notification(&self, notification: &Extension) {
        if let (Ok(session), Ok(Add { note })) = (notification.session(), notification.params()) {
            session.state::<Kept>().add(note);
        }
    }
}

async fn both() -> [Client; 2] {
    [v1(Notes).await, v2(Notes).await]
}

#[tokio::test(start_paused = true)]
async fn own_requests_and_notifications_find_the_state_of_their_session() {
    for mut client in both().await {
        let (one, two) = (client.session().await, client.session().await);
        for number in 0..100 {
            let session = if number % 10 == 0 { &two } else { &one };
            let note = json!({"sessionId": session, "note": number.to_string()});
            client.notify("_notes/add", note).await;
        }
        // Served one after the other beside the requests, so they may be a moment late.
        let notes = loop {
            let read = json!({"sessionId": two});
            let notes = client.ok("_notes/read", read).await["notes"].clone();
            if notes.as_array().unwrap().len() == 10 {
                break notes;
            }
        };
        let expected: Vec<_> = (0..10).map(|ten| (ten * 10).to_string()).collect();
        assert_eq!(notes, json!(expected), "in their order");
        assert_eq!(client.fails("_notes/read", json!({})).await, -32602);
        let unknown = json!({"sessionId": "nope"});
        assert_eq!(client.fails("_notes/read", unknown).await, -32002);
    }
}

#[tokio::test(start_paused = true)]
async fn another_client_cannot_reach_a_session_that_it_has_not_opened() {
    let server = ply_agent::serve(Notes);
    let mut owner = v1_with(&server, json!({})).await;
    let session = owner.session().await;
    let mut other = v2_with(&server, json!({})).await;
    let read = json!({"sessionId": session});
    assert_eq!(other.fails("_notes/read", read.clone()).await, -32002);
    owner.ok("_notes/read", read).await;
}

#[tokio::test(start_paused = true)]
async fn v1_ext_03_a_turn_calls_own_methods_of_its_client_after_what_it_said() {
    for mut client in both().await {
        let session = client.session().await;
        client.prompt(&session, "milk").await;
        let seen = client
            .until(|message| message["method"] == "_notes/show")
            .await;
        assert_eq!(said(&seen), "Noted.");
        let count = seen.iter().find(|it| it["method"] == "_notes/count");
        assert_eq!(count.unwrap()["params"], json!({"count": 1}));
        let show = seen.last().unwrap();
        assert_eq!(show["params"], json!([1, 2]));
        client.answer(show, json!({"shown": true})).await;
        let told = client
            .until(|message| !said(std::slice::from_ref(message)).is_empty())
            .await;
        assert_eq!(said(&told), r#"{"shown":true}"#);
        client.prompt(&session, "eggs").await;
        let show = client.method("_notes/show").await;
        client.answer_error(&show, -32601).await;
        let told = client
            .until(|message| !said(std::slice::from_ref(message)).is_empty())
            .await;
        assert_eq!(said(&told), "Some(-32601)");
    }
}

#[tokio::test(start_paused = true)]
async fn an_own_request_may_call_the_client_that_sent_it_and_wait() {
    for mut client in both().await {
        let echo = client.ask("_notes/echo", json!({"a": 1})).await;
        let show = client.method("_notes/show").await;
        assert_eq!(show["params"], json!({"a": 1}));
        client.answer(&show, json!("seen")).await;
        let answer = client.answered(echo).await.pop().unwrap();
        assert_eq!(answer["result"], "seen");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_about_a_tool_call_needs_no_second_title() {
    struct Asks;

    impl Agent for Asks {
        async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
            let call = turn.tool_call("Remove it").await?;
            call.set_title("Remove all of it").await?;
            call.ask().await?;
            call.finish().await?;
            Ok(Stop::EndTurn)
        }
    }

    let mut client = v2(Asks).await;
    let session = client.session().await;
    client.prompt(&session, "go").await;
    let ask = client.method("session/request_permission").await;
    assert_eq!(ask["params"]["title"], "Remove all of it");
    let kind = v2::PermissionOptionKind::AllowOnce;
    let kind = serde_json::to_value(kind).unwrap();
    assert_eq!(ask["params"]["options"][0]["kind"], kind);
}

#[tokio::test(start_paused = true)]
async fn the_metadata_of_a_prompt_waits_with_it_and_is_bounded() {
    struct Reads;

    impl Agent for Reads {
        async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
            let meta = turn.prompt().meta().and_then(|meta| meta.get("number"));
            let meta = meta.map_or("none".to_owned(), Value::to_string);
            turn.say(meta).await?;
            Ok(Stop::EndTurn)
        }
    }

    for mut client in [v1(Reads).await, v2(Reads).await] {
        let session = client.session().await;
        let prompt = |meta: Value| {
            let text = json!([{"type": "text", "text": "go"}]);
            json!({"sessionId": session, "prompt": text, "_meta": meta})
        };
        let mut last = 0;
        for number in [json!(1), json!(2), json!(3)] {
            let prompt = prompt(json!({"number": number}));
            last = client.ask("session/prompt", prompt).await;
        }
        let plain = client.ask("session/prompt", prompt(json!(7))).await;
        let mut seen = client.answered(last).await;
        seen.extend(client.answered(plain).await);
        while !said(&seen).ends_with("none") {
            seen.extend(client.next().await);
        }
        assert_eq!(said(&seen), "123none");
        let large = prompt(json!({"number": "x".repeat(64 * 1024)}));
        assert_eq!(client.fails("session/prompt", large).await, -32602);
    }
}
