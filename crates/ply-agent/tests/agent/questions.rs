//! Many questions at once, questions nobody waits for, and where a question stands on the wire.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ply_agent::{Agent, Permission, Stop};
use serde_json::Value;

use crate::script::*;
use crate::support::*;

/// Asks fifty questions at once, and says what came of each.
fn asks_many(allowed: &Arc<AtomicUsize>) -> impl Agent + use<> {
    let allowed = Arc::clone(allowed);
    script(move |turn| {
        let allowed = Arc::clone(&allowed);
        Box::pin(async move {
            let mut asking = tokio::task::JoinSet::new();
            for number in 0..50 {
                let call = turn.tool_call(format!("Call {number}")).await?;
                asking.spawn(async move {
                    let decision = call.ask_with(format!("Allow {number}?")).await?;
                    if decision.is_allowed() {
                        call.finish_with("ran").await?;
                        return Ok::<_, ply_agent::Error>(1);
                    }
                    call.fail("not allowed").await?;
                    Ok(0)
                });
            }
            while let Some(done) = asking.join_next().await {
                allowed.fetch_add(done??, Ordering::SeqCst);
            }
            Ok(Stop::EndTurn)
        })
    })
}

#[tokio::test(start_paused = true)]
async fn d16_fifty_questions_at_once_are_each_answered_by_their_own_id() {
    for version in BOTH {
        let allowed = Arc::new(AtomicUsize::new(0));
        let mut talk = talk(version, asks_many(&allowed)).await;
        let prompt = talk.prompt("go").await;
        let mut asks = Vec::new();
        for _ in 0..50 {
            asks.push(talk.method("session/request_permission").await);
        }
        // Answered in another order; every third is allowed.
        let mut expected = Vec::new();
        for number in (0..50).rev().step_by(2).chain((0..50).step_by(2)) {
            let ask = &asks[number];
            let id = match version {
                Version::V1 => &ask["params"]["toolCall"]["toolCallId"],
                Version::V2 => &ask["params"]["subject"]["toolCall"]["toolCallId"],
            };
            let allow = number % 3 == 0;
            expected.push((id.clone(), if allow { "completed" } else { "failed" }));
            let option = if allow { "allow_once" } else { "reject_once" };
            talk.choose(ask, option).await;
        }
        let ended = talk.end(prompt).await;
        assert_eq!(ended.stop, "end_turn");
        assert_eq!(allowed.load(Ordering::SeqCst), 17);
        assert_eq!(expected.len(), 50);
        for (id, expected) in expected {
            let all = updates(&talk.log).into_iter();
            let call: Vec<_> = all
                .filter(|update| update["toolCallId"] == id)
                .cloned()
                .collect();
            assert_eq!(status(&call), expected);
        }
    }
}

// Also: V2-CANCEL-04, D8.
#[tokio::test(start_paused = true)]
async fn d16_fifty_open_questions_are_all_taken_back_by_a_cancel() {
    for version in BOTH {
        let allowed = Arc::new(AtomicUsize::new(0));
        let mut talk = talk(version, asks_many(&allowed)).await;
        let prompt = talk.prompt("go").await;
        let mut asks = HashSet::new();
        for _ in 0..50 {
            let ask = talk.method("session/request_permission").await;
            asks.insert(ask["id"].to_string());
        }
        talk.cancel().await;
        assert_eq!(talk.end(prompt).await.stop, "cancelled");
        talk.is_quiet_but("nothing").await;
        let taken_back = talk
            .log
            .iter()
            .filter(|message| message["method"] == "$/cancel_request");
        let taken_back: HashSet<_> = taken_back
            .map(|message| message["params"]["requestId"].to_string())
            .collect();
        assert_eq!(taken_back, asks);
        assert_eq!(allowed.load(Ordering::SeqCst), 0);
    }
}

/// A question that nobody waits for any more is taken back, and the turn goes on.
#[tokio::test(start_paused = true)]
async fn a_dropped_question_is_taken_back() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let call = turn.tool_call("Slow").await?;
                let wait = std::time::Duration::from_secs(30);
                let asked = tokio::time::timeout(wait, call.ask_with("Well?")).await;
                call.fail("nobody answered").await?;
                turn.say(format!("{}", asked.is_err())).await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let prompt = talk.prompt("go").await;
        let ask = talk.method("session/request_permission").await;
        let ended = talk.end(prompt).await;
        assert_eq!(said(&ended.seen), "true");
        assert_eq!(ended.stop, "end_turn");
        let taken_back = |message: &Value| {
            message["method"] == "$/cancel_request" && message["params"]["requestId"] == ask["id"]
        };
        if !talk.log.iter().any(taken_back) {
            talk.until(taken_back).await;
        }
        // A click that was on its way changes nothing.
        talk.choose(&ask, "allow_once").await;
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_keeps_its_place_among_the_updates() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                turn.say("before").await?;
                let (decision, said) =
                    tokio::join!(turn.ask(Permission::new("Well?")), turn.say("after"));
                said?;
                decision?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let prompt = talk.prompt("go").await;
        let ask = talk.method("session/request_permission").await;
        assert_eq!(said(&talk.log), "before");
        talk.choose(&ask, "allow_once").await;
        assert_eq!(said(&talk.end(prompt).await.seen), "beforeafter");
    }
}
