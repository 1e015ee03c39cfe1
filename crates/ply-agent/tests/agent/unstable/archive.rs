//! `session/archive` and `session/unarchive`: out of the default list and back.

use serde_json::{Value, json};

use super::{INVALID_PARAMS, NOT_FOUND, actor, error, hears, listed, of, replayed, stages};
use crate::actor::{hear, run};
use crate::journals::Gated;
use crate::script::Version;
use crate::support::*;

fn ids(sessions: &[Value]) -> Vec<&str> {
    let ids = sessions.iter().map(|session| &session["sessionId"]);
    ids.filter_map(Value::as_str).collect()
}

async fn list(client: &mut Client, archived: &str) -> Vec<Value> {
    listed(client, json!({"archived": archived})).await
}

#[tokio::test]
async fn an_archived_session_is_listed_on_demand_only_and_that_survives_a_restart() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let (kept, session) = (client.session().await, client.session().await);
        run(&mut client, &kept, "say kept").await;
        run(&mut client, &session, "say words").await;
        for _ in 0..2 {
            assert_eq!(client.ok("session/archive", of(&session)).await, json!({}));
        }
        let mut server = server;
        for _ in 0..2 {
            let shown = listed(&mut client, json!({})).await;
            assert_eq!(ids(&shown), [&kept]);
            assert_eq!(shown[0]["archived"], false);
            assert_eq!(ids(&list(&mut client, "exclude").await), [&kept]);
            let only = list(&mut client, "only").await;
            assert_eq!(ids(&only), [&session]);
            assert_eq!(only[0]["archived"], true);
            assert_eq!(list(&mut client, "include").await.len(), 2);
            server.shutdown().await;
            server = stage.serve();
            client = stage.connect(&server).await;
        }
        let openings = stage.openings();
        for _ in 0..2 {
            assert_eq!(
                client.ok("session/unarchive", of(&session)).await,
                json!({})
            );
        }
        assert_eq!(stage.openings(), openings, "it is not opened by that");
        assert_eq!(listed(&mut client, json!({})).await.len(), 2);
        let seen = stage.load(&mut client, &session).await;
        assert_eq!(replayed(&seen), "words");
    }
}

#[tokio::test]
async fn archiving_an_open_session_cancels_its_turn_and_closes_it_for_all() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        let prompt = client
            .prompt(&session, "say working\nwait\nsay never")
            .await;
        hears(&mut client, "working").await;
        let mut other = stage.connect(&server).await;
        other.ok("session/archive", of(&session)).await;
        match stage.version {
            Version::V1 => {
                let answer = client.answered(prompt).await.pop().unwrap();
                assert_eq!(answer["result"]["stopReason"], "cancelled");
            }
            Version::V2 => {
                let last = client.idle().await.pop().unwrap();
                assert_eq!(update(&last)["stopReason"], "cancelled");
            }
        }
        assert_eq!(*stage.actor.closed.lock().unwrap(), [session.as_str()]);
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]});
        assert_eq!(client.fails("session/prompt", prompt).await, NOT_FOUND);
        assert_eq!(ids(&list(&mut client, "only").await), [&session]);
    }
}

#[tokio::test]
async fn a_session_in_which_nothing_was_said_is_archived_too() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        client.ok("session/archive", of(&session)).await;
        assert_eq!(listed(&mut client, json!({})).await, Vec::<Value>::new());
        assert_eq!(ids(&list(&mut client, "only").await), [&session]);
    }
}

#[tokio::test]
async fn an_archived_session_can_be_used_and_taken_out_while_it_is_open() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say one").await;
        client.ok("session/archive", of(&session)).await;
        client.ok("session/resume", of(&session)).await;
        assert_eq!(hear(&mut client, &session, "say two").await, "two");
        assert_eq!(ids(&list(&mut client, "only").await), [&session]);
        client.ok("session/unarchive", of(&session)).await;
        assert_eq!(ids(&list(&mut client, "exclude").await), [&session]);
        assert_eq!(hear(&mut client, &session, "say three").await, "three");
        client.leave().await;
        server.shutdown().await;
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        assert_eq!(ids(&listed(&mut client, json!({})).await), [&session]);
    }
}

#[tokio::test]
async fn a_session_is_deleted_from_the_archive_and_one_that_is_unknown_is_not_found() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say words").await;
        client.ok("session/archive", of(&session)).await;
        assert_eq!(client.ok("session/delete", of(&session)).await, json!({}));
        assert_eq!(list(&mut client, "include").await, Vec::<Value>::new());
        for method in ["session/archive", "session/unarchive"] {
            for unknown in [session.as_str(), "sess-nope"] {
                let refused = error(&mut client, method, of(unknown)).await;
                assert_eq!(refused["code"], NOT_FOUND);
                assert_eq!(refused["data"]["sessionId"], unknown);
            }
        }
        let odd = json!({"archived": "_later"});
        assert_eq!(client.fails("session/list", odd).await, INVALID_PARAMS);
    }
}

/// It comes while the session is given back, and counts though the session was being archived.
#[tokio::test]
async fn a_session_that_ends_is_taken_out_when_it_is_over() {
    for mut stage in stages() {
        let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
        stage.actor.close_gate = Some(gate.clone());
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say words").await;
        let archive = client.ask("session/archive", of(&session)).await;
        let unarchive = client.ask("session/unarchive", of(&session)).await;
        // Whatever was sent before this has reached the session.
        client
            .ok("session/status", json!({"sessionId": session}))
            .await;
        let is_done = |message: &Value| message["id"] == archive || message["id"] == unarchive;
        assert!(!client.log.iter().any(is_done), "{:#?}", client.log);
        gate.add_permits(1);
        for _ in 0..2 {
            let seen = client.until(is_done).await;
            assert_eq!(seen.last().unwrap()["result"], json!({}));
        }
        assert_eq!(ids(&list(&mut client, "exclude").await), [&session]);
    }
}

/// Sends requests in a row, and returns their answers in that order.
async fn in_a_row(client: &mut Client, session: &str, methods: &[&str]) -> Vec<Value> {
    let mut asked = Vec::new();
    for method in methods {
        asked.push(client.ask(method, of(session)).await);
    }
    let mut answers = vec![Value::Null; asked.len()];
    while answers.iter().any(Value::is_null) {
        let message = client.next().await.unwrap();
        if let Some(at) = asked.iter().position(|id| message["id"] == *id) {
            answers[at] = message;
        }
    }
    answers
}

#[tokio::test]
async fn a_saved_session_that_is_archived_and_then_resumed_stays_open() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say one").await;
        let of_it = json!({"sessionId": session});
        client.ok("session/close", of_it).await;
        let answers = in_a_row(
            &mut client,
            &session,
            &["session/archive", "session/resume"],
        )
        .await;
        for answer in answers {
            assert!(answer["result"].is_object(), "{answer}");
        }
        assert_eq!(hear(&mut client, &session, "say two").await, "two");
        assert_eq!(stage.actor.closed.lock().unwrap().len(), 1);
        assert_eq!(ids(&list(&mut client, "only").await), [&session]);
    }
}

#[tokio::test]
async fn a_saved_session_is_changed_deleted_and_opened_in_the_order_of_the_requests() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say one").await;
        let of_it = json!({"sessionId": session});
        client.ok("session/close", of_it).await;
        let methods = [
            "session/archive",
            "session/unarchive",
            "session/delete",
            "session/archive",
            "session/resume",
        ];
        let answers = in_a_row(&mut client, &session, &methods).await;
        for answer in &answers[..3] {
            assert_eq!(answer["result"], json!({}), "{answer}");
        }
        for answer in &answers[3..] {
            assert_eq!(answer["error"]["code"], NOT_FOUND, "{answer}");
        }
    }
}

/// Another owner could have it in between, and would find it neither closed nor archived.
#[tokio::test(start_paused = true)]
async fn an_open_session_is_archived_by_its_owner_before_it_is_given_back() {
    let journal = Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say words").await;
    // Whoever opens a session from now on waits.
    journal.set_opens(false);
    client.ok("session/archive", of(&session)).await;
    assert_eq!(ids(&list(&mut client, "only").await), [&session]);
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_journal_failed_is_archived_once_that_works_again() {
    let journal = Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say words").await;
    journal.set_fails(true);
    client.prompt(&session, "say lost").await;
    let refused = error(&mut client, "session/archive", of(&session)).await;
    assert_eq!(refused["code"], -32603, "{refused}");
    journal.set_fails(false);
    client.ok("session/archive", of(&session)).await;
    assert_eq!(ids(&list(&mut client, "only").await), [&session]);
    client.ok("session/resume", of(&session)).await;
    assert_eq!(hear(&mut client, &session, "say more").await, "more");
}
