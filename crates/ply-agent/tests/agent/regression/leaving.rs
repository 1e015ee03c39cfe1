//! Clients that are let go, and sessions that close.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ply_agent::{Agent, Result, Session, Stop, Turn};
use ply_journal::Memory;
use serde_json::json;

use super::of;
use crate::actor::{Actor, hear, run};
use crate::journals::Gated;
use crate::script::BOTH;
use crate::script::Version::{V1, V2};
use crate::support::*;

/// Longer than a session takes to close, under paused time.
const A_WHILE: Duration = Duration::from_secs(1);

/// Tries to use a session that closes, and notes whether that failed.
struct LastWords(Arc<Mutex<Vec<bool>>>);

impl Agent for LastWords {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        turn.say("words").await?;
        Ok(Stop::EndTurn)
    }

    async fn close(&self, session: &Session) {
        let begun = tokio::time::Instant::now();
        let own = session.start_turn(|_| async { Ok(Stop::EndTurn) });
        let failed = [
            session.history().await.is_err(),
            session.say("last words").await.is_err(),
            own.await.is_err(),
        ];
        self.0.lock().unwrap().extend(failed);
        assert!(begun.elapsed().is_zero(), "it had to wait");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_uses_a_session_while_it_closes_fails_at_once() {
    for version in BOTH {
        let failed = Arc::default();
        let server = ply_agent::serve(LastWords(Arc::clone(&failed)));
        let mut client = match version {
            V1 => v1_with(&server, json!({})).await,
            V2 => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        assert_eq!(hear(&mut client, &session, "go").await, "words");
        let close = client.ask("session/close", of(&session)).await;
        let seen = client.answered(close).await;
        assert!(seen.last().unwrap()["result"].is_object(), "{seen:#?}");
        assert_eq!(said(&seen), "");
        assert_eq!(*failed.lock().unwrap(), [true; 3]);
        // The session is whole.
        client.ok("session/resume", of(&session)).await;
        assert_eq!(hear(&mut client, &session, "go").await, "words");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_future_is_dropped_closes_an_idle_session() {
    for version in BOTH {
        let (actor, journal) = (Actor::new(), Memory::new());
        let server = actor.serve().journal(journal.clone());
        let mut client = match version {
            V1 => v1_with(&server, json!({})).await,
            V2 => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        run(&mut client, &session, "say words").await;
        client.give_up();
        tokio::time::sleep(A_WHILE).await;
        assert_eq!(*actor.closed.lock().unwrap(), [session.as_str()]);
        while client.next().await.is_some() {}
        let other = Actor::new().serve().journal(journal);
        let mut next = v1_with(&other, json!({})).await;
        next.ok("session/load", of(&session)).await;
        assert_eq!(said(&next.log), "words");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_future_is_dropped_lets_a_running_turn_end_first() {
    for version in BOTH {
        let (actor, journal) = (Actor::new(), Memory::new());
        let server = actor.serve().journal(journal.clone());
        let mut client = match version {
            V1 => v1_with(&server, json!({})).await,
            V2 => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        client
            .prompt(&session, "say before\nwait\nsay  after")
            .await;
        client
            .until(|message| said(std::slice::from_ref(message)) == "before")
            .await;
        client.give_up();
        tokio::time::sleep(A_WHILE).await;
        assert!(actor.closed.lock().unwrap().is_empty(), "{version:?}");
        actor.gate.add_permits(1);
        tokio::time::sleep(A_WHILE).await;
        assert_eq!(*actor.closed.lock().unwrap(), [session.as_str()]);
        let other = Actor::new().serve().journal(journal);
        let mut next = v1_with(&other, json!({})).await;
        next.ok("session/load", of(&session)).await;
        assert_eq!(said(&next.log), "before after", "{version:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_to_open_a_session_that_is_being_deleted_finds_none() {
    let mut actor = Actor::new();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    actor.close_gate = Some(Arc::clone(&gate));
    let server = actor.serve().journal(Gated::open());
    let mut owner = v2_with(&server, json!({})).await;
    let session = owner.session().await;
    let delete = owner.ask("session/delete", of(&session)).await;
    // The session stands in the agent's hook once nothing else can run.
    tokio::time::sleep(A_WHILE).await;
    let mut openers = [
        v1_with(&server, json!({})).await,
        v2_with(&server, json!({})).await,
    ];
    let mut ids = Vec::new();
    for opener in &mut openers {
        ids.push(opener.ask("session/resume", of(&session)).await);
    }
    tokio::time::sleep(A_WHILE).await;
    gate.add_permits(1);
    assert!(owner.answered(delete).await.pop().unwrap()["result"].is_object());
    for (opener, id) in openers.iter_mut().zip(ids) {
        let seen = opener.answered(id).await;
        assert_eq!(seen.len(), 1, "{seen:#?}");
        assert_eq!(seen[0]["error"]["code"], -32002, "{seen:#?}");
        let listed = opener.ok("session/list", json!({})).await;
        assert_eq!(listed["sessions"], json!([]));
    }
    // The agent was not asked to open it again, and has nothing left to close.
    assert_eq!(actor.setups.lock().unwrap().len(), 1);
    assert_eq!(*actor.closed.lock().unwrap(), [session]);
}

#[tokio::test(start_paused = true)]
async fn a_delete_behind_somebody_who_opens_leaves_nothing_half_open() {
    let mut actor = Actor::new();
    let gate = Arc::new(tokio::sync::Semaphore::new(1));
    actor.open_gate = Some(Arc::clone(&gate));
    let server = actor.serve().journal(Gated::open());
    let mut clients = [
        v2_with(&server, json!({})).await,
        v2_with(&server, json!({})).await,
        v1_with(&server, json!({})).await,
    ];
    let session = clients[0].session().await;
    clients[0].ok("session/close", of(&session)).await;
    let mut ids = Vec::new();
    for (client, method) in
        clients
            .iter_mut()
            .zip(["session/resume", "session/delete", "session/resume"])
    {
        ids.push(client.ask(method, of(&session)).await);
        // They queue in this order.
        tokio::time::sleep(A_WHILE).await;
    }
    gate.add_permits(1);
    let mut answers = Vec::new();
    for (client, id) in clients.iter_mut().zip(ids) {
        answers.push(client.answered(id).await.pop().unwrap());
    }
    // The first one may have had the session for a moment.
    let first = &answers[0];
    assert!(
        first["result"].is_object() || first["error"]["code"] == -32002,
        "{first}"
    );
    assert!(answers[1]["result"].is_object(), "{answers:#?}");
    assert_eq!(answers[2]["error"]["code"], -32002, "{answers:#?}");
    for client in &mut clients {
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]});
        assert_eq!(client.fails("session/prompt", prompt).await, -32002);
    }
    let (opened, closed) = (actor.setups.lock().unwrap(), actor.closed.lock().unwrap());
    assert_eq!(opened.len(), closed.len());
}

/// So many sessions are left that the oldest has to go, but somebody came back to that one.
#[tokio::test(start_paused = true)]
async fn a_session_that_is_used_again_does_not_make_room_for_others() {
    const LEFT: usize = 20;
    let actor = Actor::new();
    let server = actor.serve();
    let mut first = v2_with(&server, json!({})).await;
    let session = first.session().await;
    first.vanish().await;
    let mut user = v2_with(&server, json!({})).await;
    user.ok("session/resume", of(&session)).await;
    user.prompt(&session, "say going\nwait").await;
    user.until(|message| said(std::slice::from_ref(message)) == "going")
        .await;
    for _ in 0..LEFT {
        let mut other = v2_with(&server, json!({})).await;
        other.session().await;
        other.vanish().await;
        tokio::time::sleep(A_WHILE).await;
    }
    actor.gate.add_permits(1);
    let seen = user.idle().await;
    assert_eq!(update(seen.last().unwrap())["stopReason"], "end_turn");
}
