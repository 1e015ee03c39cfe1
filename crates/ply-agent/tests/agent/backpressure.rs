//! A client that does not read slows its own session, and nothing else grows or waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ply_agent::{Agent, Result, Server, Stop, Turn};
use serde_json::json;

use crate::actor::{Actor, hear};
use crate::support::*;

/// Far more than all queues on the way hold.
const FLOOD_KIB: usize = 12 * 1024;
/// What may be on the way to a client that does not read: its pipe, the link's queue and buffers, and
/// the session's inbox.
const ON_THE_WAY_KIB_MAX: usize = 4 * 1024;

/// Says a lot, and counts how much of it was taken.
struct Talker(Arc<AtomicUsize>);

impl Agent for Talker {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        if turn.prompt().text() == "brief" {
            turn.say("brief").await?;
            return Ok(Stop::EndTurn);
        }
        let kibibyte = "x".repeat(1024);
        for _ in 0..FLOOD_KIB {
            turn.say(kibibyte.as_str()).await?;
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Stop::EndTurn)
    }
}

fn talker() -> (Server, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    (ply_agent::serve(Talker(Arc::clone(&taken))), taken)
}

async fn connect_as(version: i64, server: &Server) -> Client {
    match version {
        1 => v1_with(server, json!({})).await,
        _ => v2_with(server, json!({})).await,
    }
}

// Also: E3, E4.
#[tokio::test(start_paused = true)]
async fn e3_a_client_that_stops_reading_stalls_its_own_turn_and_loses_nothing() {
    for version in [1, 2] {
        let (server, taken) = talker();
        let mut slow = connect_as(version, &server).await;
        let session = slow.session().await;
        slow.prompt(&session, "flood").await;
        tokio::time::sleep(Duration::from_secs(600)).await;
        let stalled_at = taken.load(Ordering::Relaxed);
        assert!(
            stalled_at < ON_THE_WAY_KIB_MAX,
            "{stalled_at} KiB are on the way"
        );

        // Another client with a session of its own does not notice.
        let mut other = connect_as(version, &server).await;
        let its = other.session().await;
        assert_eq!(hear(&mut other, &its, "brief").await, "brief");

        // Read again, and all of it arrives.
        let mut bytes = 0;
        while bytes < FLOOD_KIB * 1024 {
            bytes += said(&[slow.next().await.unwrap()]).len();
            slow.log.clear();
        }
        assert_eq!(bytes, FLOOD_KIB * 1024);
        assert_eq!(taken.load(Ordering::Relaxed), FLOOD_KIB);
    }
}

// Also: V1-CANCEL-02, V2-CANCEL-01.
#[tokio::test(start_paused = true)]
async fn e3_a_cancel_gets_through_to_a_turn_whose_client_does_not_read() {
    for version in [1, 2] {
        let (server, taken) = talker();
        let mut slow = connect_as(version, &server).await;
        let session = slow.session().await;
        let prompt = slow.prompt(&session, "flood").await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        slow.cancel(&session).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        let stopped_at = taken.load(Ordering::Relaxed);
        assert!(stopped_at < ON_THE_WAY_KIB_MAX, "{stopped_at} KiB");
        let end = match version {
            1 => slow.answered(prompt).await.pop().unwrap()["result"].clone(),
            _ => update(&slow.idle().await.pop().unwrap()).clone(),
        };
        assert_eq!(end["stopReason"], "cancelled");
    }
}

// Also: E3.
#[tokio::test(start_paused = true)]
async fn e3_a_client_that_stops_reading_and_leaves_frees_its_session() {
    for version in [1, 2] {
        let (server, taken) = talker();
        let mut slow = connect_as(version, &server).await;
        let session = slow.session().await;
        slow.prompt(&session, "flood").await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        slow.vanish().await;
        // Nobody is slow any more, so the turn goes on to its end.
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(
            taken.load(Ordering::Relaxed),
            FLOOD_KIB,
            "version {version}"
        );
        let mut next = connect_as(version, &server).await;
        next.ok(
            "session/resume",
            json!({"sessionId": session, "cwd": "/work"}),
        )
        .await;
        assert_eq!(hear(&mut next, &session, "brief").await, "brief");
    }
}

// Also: E4.
#[tokio::test(start_paused = true)]
async fn e4_a_long_history_is_replayed_to_a_slow_reader_whole_and_in_order() {
    let server = Actor::new().serve();
    let mut first = v2_with(&server, json!({})).await;
    let session = first.session().await;
    for turn in 0..40 {
        crate::actor::run(&mut first, &session, &format!("flood 100\nsay turn {turn}")).await;
    }
    let mut slow = v1_with(&server, json!({})).await;
    let load = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    let id = slow.ask("session/load", load).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    // The other client goes on meanwhile only as far as the slow one can follow; nothing is lost.
    let prompt = first.prompt(&session, "say after all").await;
    let replay = slow.answered(id).await;
    assert_eq!(
        said(&replay).len(),
        (0..40)
            .map(|n| 100 * 1024 + format!("turn {n}").len())
            .sum::<usize>()
    );
    slow.until(|message| said(std::slice::from_ref(message)) == "after all")
        .await;
    first.answered(prompt).await;
}
