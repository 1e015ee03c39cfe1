//! Requests behind a load that fails: each is served or refused on its own.

use serde_json::{Value, json};

use super::{NOT_FOUND, actor, listed, of};
use crate::actor::run;
use crate::journals::Gated;
use crate::support::*;

/// Has a load of a stored session fail, and returns what a request right behind it is told.
async fn behind_a_load(method: &str) -> (Client, String, Value) {
    let journal = Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say kept").await;
    let of_it = json!({"sessionId": session});
    client.ok("session/close", of_it).await;
    journal.set_opens(false);
    journal.set_reads_fail(true);
    let load = client.ask("session/resume", of(&session)).await;
    journal.waiting().await;
    let mut params = of(&session);
    params["title"] = json!("Plums");
    params["prompt"] = json!([{"type": "text", "text": "say never"}]);
    let behind = client.ask(method, params).await;
    // Until it is in the session's inbox.
    tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    journal.set_opens(true);
    let answer = client.answered(load).await.pop().unwrap();
    let reason = answer["error"]["message"].as_str().unwrap();
    assert!(reason.contains("the disk is full"), "{answer}");
    let is_it = |message: &Value| message["id"] == behind;
    let answer = match client.log.iter().find(|message| is_it(message)) {
        Some(answer) => answer.clone(),
        None => client.answered(behind).await.pop().unwrap(),
    };
    (client, session, answer)
}

#[tokio::test(start_paused = true)]
async fn what_needs_no_open_session_is_served_behind_a_load_that_fails() {
    let methods = [
        ("session/set_title", json!({"title": "Plums"})),
        ("session/archive", json!({})),
        ("session/unarchive", json!({})),
        ("session/status", json!({"status": "saved"})),
        ("session/delete", json!({})),
    ];
    for (method, result) in methods {
        let (mut client, session, answer) = behind_a_load(method).await;
        assert_eq!(answer["result"], result, "{method} {answer}");
        let sessions = listed(&mut client, json!({"archived": "include"})).await;
        match method {
            "session/set_title" => assert_eq!(sessions[0]["title"], "Plums"),
            "session/archive" => assert_eq!(sessions[0]["archived"], true),
            "session/delete" => assert_eq!(sessions.len(), 0, "{session}"),
            _ => assert_eq!(sessions[0]["archived"], false),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_needs_the_session_is_refused_for_want_of_it() {
    let (_, session, answer) = behind_a_load("session/prompt").await;
    assert_eq!(answer["error"]["code"], NOT_FOUND, "{answer}");
    assert_eq!(answer["error"]["data"]["sessionId"], session);
}
