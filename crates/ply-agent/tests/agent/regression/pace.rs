//! Clients of different pace: nobody is cut off, nobody waits for a slower one, and what is kept for the slow is bounded.

use std::sync::Arc;
use std::time::Duration;

use ply_agent::{Agent, Result, Server, Stop, Turn};
use serde_json::json;
use tokio::sync::Semaphore;

use super::of;
use crate::actor::Actor;
use crate::journals::Gated;
use crate::script::Version::{V1, V2};
use crate::script::*;
use crate::support::*;

/// One message, larger than all that may wait for a client.
const LARGE_BYTES: usize = 5 * 1024 * 1024;
/// More messages than a client in lock-step was once allowed.
const STEPS: usize = 12_000;
/// Far more than what is kept in memory for a client that is behind.
const FLOOD_KIB: usize = 9 * 1024;
/// Bytes read from the journal at a time.
const PAGE_KIB: usize = 64;
/// What may wait in memory for a client that does not read: the newest records, its link's queue and a page.
const KEPT_KIB_MAX: usize = 3 * 1024;
const SMALL_PIPE_BYTES: usize = 1024;
const A_WHILE: Duration = Duration::from_secs(1);

/// Says something large, or many small things, each after the one before was read.
#[derive(Clone)]
struct Talker(Arc<Semaphore>);

impl Talker {
    fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Agent for Talker {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        if turn.prompt().text() == "large" {
            turn.say("x".repeat(LARGE_BYTES)).await?;
        } else {
            for step in 0..STEPS {
                turn.say(format!("{step:05} ")).await?;
                self.0.acquire().await.unwrap().forget();
            }
        }
        turn.say("end").await?;
        Ok(Stop::EndTurn)
    }
}

/// Connects a client that sees the session and then does not read.
async fn silent(server: &Server, session: &str) -> Client {
    let mut silent = connect_over(server, SMALL_PIPE_BYTES);
    let info = json!({"name": "silent", "version": "1"});
    let hello = json!({"protocolVersion": 2, "info": info, "capabilities": {}});
    silent.ok("initialize", hello).await;
    silent.ok("session/resume", of(session)).await;
    silent.log.clear();
    silent
}

/// Reads what the agent says up to `end`.
async fn heard(client: &mut Client) -> String {
    let mut heard = String::new();
    while !heard.ends_with("end") {
        let message = client.next().await.expect("nobody is cut off");
        heard += &said(std::slice::from_ref(&message));
        client.log.clear();
    }
    heard
}

#[tokio::test(start_paused = true)]
async fn c1_one_large_message_cuts_nobody_off() {
    for version in BOTH {
        let server = ply_agent::serve(Talker::new());
        let mut owner = talk_with(version, &server, json!({})).await;
        let mut silent = silent(&server, &owner.session).await;
        let mut others = [
            join(V1, &server, &owner.session).await.client,
            join(V2, &server, &owner.session).await.client,
        ];
        owner.prompt("large").await;
        // Nobody can have read it before there is more of it than may wait.
        tokio::time::sleep(A_WHILE).await;
        for client in others.iter_mut().chain([&mut owner.client, &mut silent]) {
            let heard = heard(client).await;
            assert_eq!(heard.len(), LARGE_BYTES + "end".len(), "{version:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c1_clients_in_lock_step_are_never_cut_off() {
    let talker = Talker::new();
    let server = ply_agent::serve(talker.clone());
    let mut owner = talk_with(V1, &server, json!({})).await;
    let mut silent = silent(&server, &owner.session).await;
    let mut followers = [
        join(V1, &server, &owner.session).await.client,
        join(V2, &server, &owner.session).await.client,
    ];
    owner.prompt("steps").await;
    for step in 0..STEPS {
        let expected = format!("{step:05} ");
        for follower in &mut followers {
            follower
                .until(|message| said(std::slice::from_ref(message)) == expected)
                .await;
            follower.log.clear();
        }
        talker.0.add_permits(1);
    }
    let all: String = (0..STEPS).map(|step| format!("{step:05} ")).collect();
    for client in [&mut owner.client, &mut silent] {
        assert_eq!(heard(client).await, format!("{all}end"));
    }
}

/// What a client that does not read has not seen stays in the journal, and not in its link's queue.
#[tokio::test(start_paused = true)]
async fn c2_what_a_client_is_behind_is_read_from_the_journal_when_it_reads() {
    let journal = Gated::open();
    let server = Actor::new().serve().journal(journal.clone());
    let mut owner = talk_with(V2, &server, json!({})).await;
    let mut silent = silent(&server, &owner.session).await;
    let flood = owner.turn(&format!("flood {FLOOD_KIB}\nsay end")).await;
    assert_eq!(flood.stop, "end_turn");
    let before = journal.reads();
    // Also while the journal takes nothing more.
    journal.set_open(false);
    owner.prompt("say more").await;
    journal.waiting().await;
    assert_eq!(heard(&mut silent).await.len(), FLOOD_KIB * 1024 + 3);
    let read_kib = (journal.reads() - before) * PAGE_KIB;
    let kept_kib = FLOOD_KIB.saturating_sub(read_kib);
    assert!(kept_kib < KEPT_KIB_MAX, "{kept_kib} KiB waited in memory");
    journal.set_open(true);
    silent
        .until(|message| said(std::slice::from_ref(message)) == "more")
        .await;
}

/// The client reads nothing until its session is over, and has much to read then.
#[tokio::test(start_paused = true)]
async fn c10_nothing_follows_the_answer_to_a_close_though_it_is_read_late() {
    for fails in [false, true] {
        let journal = Gated::open();
        let server = Actor::new().serve().journal(journal.clone());
        let owner = talk_with(V2, &server, json!({})).await;
        let session = owner.session.clone();
        let mut late = silent(&server, &session).await;
        late.prompt(&session, &format!("flood {FLOOD_KIB}")).await;
        // From here on it is the only one.
        owner.client.vanish().await;
        tokio::time::sleep(A_WHILE).await;
        journal.set_fails(fails);
        late.cancel(&session).await;
        tokio::time::sleep(A_WHILE).await;
        journal.set_fails(false);
        let close = json!({"sessionId": session});
        let close = late.ask("session/close", close).await;
        tokio::time::sleep(A_WHILE).await;
        let seen = late.answered(close).await;
        assert!(seen.last().unwrap()["result"].is_object());
        let idles = updates(&seen).into_iter();
        let idles = idles.filter(|update| update["state"] == "idle");
        assert_eq!(idles.count(), 1, "fails: {fails}");
        assert!(late.leave().await.is_empty(), "fails: {fails}");
    }
}

#[tokio::test(start_paused = true)]
async fn c9_queued_prompts_are_bounded_by_their_bytes() {
    // Two of them are more than may wait, though each fits.
    const PROMPT_BYTES: usize = 33 * 1024 * 1024;
    let mut talk = talk(V2, Actor::new()).await;
    let first = talk.prompt("say going\nwait").await;
    talk.hears("going").await;
    let large = "x".repeat(PROMPT_BYTES);
    let (queued, refused) = (talk.prompt(&large).await, talk.prompt(&large).await);
    let small = talk.prompt("small").await;
    assert!(talk.answered(refused).await["error"].is_object());
    talk.is_quiet().await;
    assert_eq!(talk.answers(queued) + talk.answers(small), 0);
    talk.cancel().await;
    assert_eq!(talk.end(first).await.stop, "cancelled");
}

/// A page is on its way to a client that catches up when its session ends.
#[tokio::test(start_paused = true)]
async fn a_client_that_catches_up_is_shown_the_end_of_a_session_that_closes() {
    let journal = Gated::open();
    let server = Actor::new().serve().journal(journal.clone());
    let mut owner = talk_with(V2, &server, json!({})).await;
    let session = owner.session.clone();
    let mut late = silent(&server, &session).await;
    owner.turn(&format!("flood {FLOOD_KIB}")).await;
    journal.set_reads(false);
    let (reads, mut seen) = (journal.reads(), Vec::new());
    while journal.reads() == reads {
        seen.push(late.next().await.unwrap());
    }
    owner
        .client
        .ok("session/close", json!({"sessionId": session}))
        .await;
    journal.set_reads(true);
    seen.extend(late.idle().await);
    assert_eq!(said(&seen).len(), FLOOD_KIB * 1024);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_the_end_of_a_session_behind_a_client_that_does_not_read() {
    let server = Actor::new().serve();
    let mut owner = talk_with(V2, &server, json!({})).await;
    let session = owner.session.clone();
    let _silent = silent(&server, &session).await;
    let mut late = silent(&server, &session).await;
    owner.turn(&format!("flood {FLOOD_KIB}")).await;
    owner
        .client
        .ok("session/close", json!({"sessionId": session}))
        .await;
    let began = tokio::time::Instant::now();
    assert_eq!(said(&late.idle().await).len(), FLOOD_KIB * 1024);
    assert!(began.elapsed() < A_WHILE);
}

/// What a tool does has to be kept first, and not to be read.
#[tokio::test(start_paused = true)]
async fn a_tool_does_not_wait_for_the_sender_of_the_prompt_to_read() {
    let server = Actor::new().serve();
    let owner = talk_with(V2, &server, json!({})).await;
    let mut silent = silent(&server, &owner.session).await;
    let prompt = format!("flood {FLOOD_KIB}\nlocate main.rs\nsay end");
    silent.prompt(&owner.session, &prompt).await;
    let mut reader = owner.client;
    assert!(said(&reader.idle().await).ends_with("end"));
}
