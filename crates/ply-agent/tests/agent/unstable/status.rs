//! `session/status`: open or saved, and what goes on, without a trace.

use serde_json::{Value, json};

use super::{NOT_FOUND, Stage, error, hears, of, stages};
use crate::actor::run;
use crate::script::Version;
use crate::support::*;

async fn status(client: &mut Client, session: &str) -> Value {
    client
        .ok("session/status", json!({"sessionId": session}))
        .await
}

/// Checks the status of an open session. Version 1 has no place for the state.
#[track_caller]
fn check_open(stage: &Stage, status: &Value, state: &str) {
    assert_eq!(status["status"], "open", "{status}");
    match stage.version {
        Version::V1 => assert!(status.get("state").is_none(), "{status}"),
        Version::V2 => assert_eq!(status["state"]["state"], state, "{status}"),
    }
}

#[tokio::test]
async fn a_session_is_open_with_its_state_and_then_saved_and_nothing_comes_of_asking() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let mut asker = stage.connect(&server).await;
        let session = client.session().await;
        check_open(&stage, &status(&mut asker, &session).await, "idle");

        client.prompt(&session, "say working\nwait\nask").await;
        hears(&mut client, "working").await;
        check_open(&stage, &status(&mut asker, &session).await, "running");
        stage.actor.gate.add_permits(1);
        let question = client.method("session/request_permission").await;
        let waits = status(&mut asker, &session).await;
        check_open(&stage, &waits, "requires_action");
        let chosen = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
        client.answer(&question, chosen).await;
        run(&mut client, &session, "say done").await;

        // It did not attach by asking.
        let updates = kinds(&asker.log);
        assert!(updates.is_empty(), "{updates:?}");
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]});
        assert_eq!(asker.fails("session/prompt", prompt).await, NOT_FOUND);

        let openings = stage.openings();
        client
            .ok("session/close", json!({"sessionId": session}))
            .await;
        assert_eq!(
            status(&mut asker, &session).await,
            json!({"status": "saved"})
        );
        server.shutdown().await;
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        assert_eq!(
            status(&mut client, &session).await,
            json!({"status": "saved"})
        );
        assert_eq!(stage.openings(), openings, "it is not opened by asking");
        stage.load(&mut client, &session).await;
        check_open(&stage, &status(&mut client, &session).await, "idle");
    }
}

#[tokio::test]
async fn a_session_that_is_unknown_is_not_found_by_its_id() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let unknown = error(&mut client, "session/status", of("sess-nope")).await;
        assert_eq!(unknown["code"], NOT_FOUND);
        assert_eq!(unknown["data"]["sessionId"], "sess-nope");
        let session = client.session().await;
        client.ok("session/delete", of(&session)).await;
        let deleted = error(&mut client, "session/status", of(&session)).await;
        assert_eq!(deleted["code"], NOT_FOUND);
    }
}

/// It comes while the session is given back, and is answered when that is done.
#[tokio::test]
async fn a_status_behind_a_close_is_saved() {
    for mut stage in stages() {
        let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
        stage.actor.close_gate = Some(gate.clone());
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say words").await;
        let close = client
            .ask("session/close", json!({"sessionId": session}))
            .await;
        let asked = status(&mut client, &session).await;
        check_open(&stage, &asked, "idle");
        gate.add_permits(1);
        let is_closed = |message: &Value| message["id"] == close;
        if !client.log.iter().any(is_closed) {
            client.answered(close).await;
        }
        assert_eq!(
            status(&mut client, &session).await,
            json!({"status": "saved"})
        );
    }
}
