//! Cancels against code that does not listen, clients that do not read, and in great numbers.

use std::sync::Arc;
use std::time::Duration;

use ply_agent::{Error, Stop};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::script::*;
use crate::support::*;

/// When a cancelled turn is over, whatever its code does.
const HARD_LIMIT: Duration = Duration::from_secs(2);

// Also: V1-CANCEL-05, V1-CANCEL-10, V2-CANCEL-06.
#[tokio::test(start_paused = true)]
async fn d10_a_turn_that_ignores_its_cancel_is_over_after_two_seconds() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                if turn.prompt().text() == "go" {
                    return Ok(Stop::EndTurn);
                }
                let call = turn.tool_call("Stubborn").await?;
                call.start().await?;
                let mut beats = 0;
                loop {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    beats += 1;
                    // What it reports until then is still shown.
                    call.add(format!("beat {beats}")).await?;
                }
            })
        });
        let mut talk = talk(version, agent).await;
        let stubborn = talk.prompt("stubborn").await;
        talk.until(|message| update(message)["status"] == "in_progress")
            .await;
        let cancelled_at = Instant::now();
        talk.cancel().await;
        // This one waits for the clean-up and is not touched by the cancel.
        let next = talk.prompt("go").await;
        let ended = talk.end(stubborn).await;
        assert_eq!(ended.stop, "cancelled");
        assert_eq!(cancelled_at.elapsed().as_secs(), HARD_LIMIT.as_secs());
        assert!(["failed", "cancelled"].contains(&status(&talk.call("Stubborn"))));
        assert_eq!(talk.end(next).await.stop, "end_turn");
        // The code was dropped where it stood: it reports nothing more.
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn d10_a_thousand_pairs_of_cancel_and_prompt_end_as_they_should() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                if turn.prompt().text() == "wait" {
                    turn.cancelled().await;
                    return Err(Error::msg("aborted"));
                }
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        for _ in 0..1000 {
            let waits = talk.prompt("wait").await;
            talk.cancel().await;
            let goes_on = talk.prompt("go").await;
            assert_eq!(talk.end(waits).await.stop, "cancelled");
            assert_eq!(talk.end(goes_on).await.stop, "end_turn");
            talk.forget();
        }
        talk.is_quiet().await;
    }
}

/// A spawned task outlives the turn that the session gave up; nothing it reports is shown.
#[tokio::test(start_paused = true)]
async fn d1_an_abandoned_turn_reports_nothing_from_its_grave() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let agent = {
            let gate = Arc::clone(&gate);
            script(move |turn| {
                let gate = Arc::clone(&gate);
                Box::pin(async move {
                    let call = turn.tool_call("Zombie").await?;
                    let zombie = tokio::spawn(async move {
                        gate.notified().await;
                        drop(call.add("boo").await);
                        drop(call.finish().await);
                    });
                    zombie.await?;
                    Ok(Stop::EndTurn)
                })
            })
        };
        let mut talk = talk(version, agent).await;
        let prompt = talk.prompt("go").await;
        talk.until(|message| update(message)["title"] == "Zombie")
            .await;
        talk.cancel().await;
        assert_eq!(talk.end(prompt).await.stop, "cancelled");
        gate.notify_one();
        talk.is_quiet().await;
    }
}

// Also: V1-PROMPT-10, V1-CANCEL-07.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_can_still_cancel_and_misses_nothing() {
    const CHUNKS: usize = 10_000;
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                if turn.prompt().text() == "go" {
                    return Ok(Stop::EndTurn);
                }
                for number in 0..CHUNKS {
                    // Far more than fits the pipe and what may wait before it.
                    turn.say(format!("{number:01000}")).await?;
                }
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let prompt = talk.prompt("flood").await;
        // Until everything stands still.
        tokio::time::sleep(Duration::from_secs(60)).await;
        talk.cancel().await;
        let next = talk.prompt("go").await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        let ended = talk.end(prompt).await;
        assert_eq!(ended.stop, "cancelled", "{version:?}");
        let said = said(&ended.seen);
        assert!(said.len() < CHUNKS * 1000, "it was stopped on the way");
        let all: String = (0..said.len() / 1000)
            .map(|number| format!("{number:01000}"))
            .collect();
        assert!(said == all, "what was said is whole and in order");
        assert_eq!(talk.end(next).await.stop, "end_turn");
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_late_gets_everything_of_an_uncancelled_turn() {
    const CHUNKS: usize = 3000;
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                for number in 0..CHUNKS {
                    turn.say(format!("{number:01000}")).await?;
                }
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let prompt = talk.prompt("flood").await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        let ended = talk.end(prompt).await;
        assert_eq!(ended.stop, "end_turn");
        assert_eq!(said(&ended.seen).len(), CHUNKS * 1000);
        talk.is_quiet().await;
    }
}

/// A slow client slows its own session and no other.
#[tokio::test(start_paused = true)]
async fn a_flooded_client_does_not_hold_up_another_session() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let words = turn.prompt().text();
                if words == "flood" {
                    for _ in 0..5000 {
                        turn.say("x".repeat(1000)).await?;
                    }
                }
                turn.say(words).await?;
                Ok(Stop::EndTurn)
            })
        });
        let server = ply_agent::serve(agent);
        let mut slow = talk_with(version, &server, json!({})).await;
        let mut fast = talk_with(version, &server, json!({})).await;
        slow.prompt("flood").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let ended = fast.turn("hello").await;
        assert_eq!(said(&ended.seen), "hello");
        assert_eq!(ended.stop, "end_turn");
    }
}
