//! What `session/cancel` does to a turn, wherever the turn is.

use std::sync::Arc;
use std::time::Duration;

use ply_agent::v2::ElicitationSchema;
use ply_agent::{Agent, Error, Stop};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::script::*;
use crate::support::*;

/// How soon a turn whose code listens ends after a cancel.
const SOON: Duration = Duration::from_millis(250);

/// Does what the prompt names and waits there, unless it is told to just go.
fn waits_in_phases() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            turn.say("begun").await?;
            match turn.prompt().text().as_str() {
                "model" => {
                    let model = std::future::pending::<()>();
                    turn.unless_cancelled(model).await?;
                }
                "tool" => {
                    let call = turn.tool_call("Sleep").await?;
                    call.start().await?;
                    turn.unless_cancelled(std::future::pending::<()>()).await?;
                    call.finish().await?;
                }
                "permission" => {
                    let call = turn.tool_call("Delete").await?;
                    if call.ask_with("Delete it?").await?.is_allowed() {
                        call.finish().await?;
                    }
                    turn.say("went on").await?;
                }
                "form" => {
                    let schema = ElicitationSchema::new().string("name", true);
                    turn.elicit_form("Who are you?", schema).await?;
                    turn.say("went on").await?;
                }
                _ => {}
            }
            Ok(Stop::EndTurn)
        })
    })
}

async fn talk_to_phases(version: Version) -> Talk {
    let server = ply_agent::serve(waits_in_phases());
    talk_with(version, &server, json!({"elicitation": {"form": {}}})).await
}

// Also: V1-CANCEL-04, V1-CANCEL-10, V1-CREQ-07, V2-CANCEL-05, V2-CANCEL-06, V2-CANCEL-13, V2-TOOL-10.
#[tokio::test(start_paused = true)]
async fn v1_cancel_05_a_turn_ends_cancelled_in_whatever_phase_it_is() {
    for version in BOTH {
        for phase in ["model", "tool", "permission", "form"] {
            let mut talk = talk_to_phases(version).await;
            let prompt = talk.prompt(phase).await;
            talk.hears("begun").await;
            let asked = match phase {
                "tool" => {
                    talk.until(|message| update(message)["status"] == "in_progress")
                        .await;
                    None
                }
                "permission" => Some(talk.method("session/request_permission").await),
                "form" => Some(talk.method("elicitation/create").await),
                _ => None,
            };
            let cancelled_at = Instant::now();
            talk.cancel().await;
            let ended = talk.end(prompt).await;
            assert_eq!(ended.stop, "cancelled", "{version:?} in {phase}");
            assert!(cancelled_at.elapsed() < SOON);
            if let Some(asked) = asked {
                let told = talk.log.iter().any(|message| {
                    message["method"] == "$/cancel_request"
                        && message["params"]["requestId"] == asked["id"]
                });
                assert!(told, "the question is taken back");
            }
            assert_ne!(said(&ended.seen), "begunwent on");
            // Nothing of it is left, and the next turn is like any other.
            assert_eq!(talk.turn("go").await.stop, "end_turn");
            talk.is_quiet().await;
        }
    }
}

// Also: V1-STOP-07, V2-CANCEL-07, D9.
#[tokio::test(start_paused = true)]
async fn v1_cancel_06_what_aborting_throws_is_no_error() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                turn.say("begun").await?;
                turn.cancelled().await;
                match turn.prompt().text().as_str() {
                    "error" => Err(Error::msg("the connection was reset")),
                    "panic" => panic!("the stream was cut"),
                    "refusal" => Ok(Stop::Refusal),
                    _ => Ok(Stop::EndTurn),
                }
            })
        });
        let mut talk = talk(version, agent).await;
        for how in ["error", "panic", "refusal", "end"] {
            let prompt = talk.prompt(how).await;
            talk.hears("begun").await;
            talk.cancel().await;
            let ended = talk.end(prompt).await;
            assert_eq!(ended.stop, "cancelled", "{version:?}, {how}");
            assert!(ended.error.is_null());
        }
    }
}

// Also: V2-CANCEL-08, V1-TOOL-17.
#[tokio::test(start_paused = true)]
async fn v1_cancel_07_what_a_tool_had_done_is_reported_before_the_end() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let call = turn.tool_call("Build").await?;
                call.start().await?;
                let open = turn.tool_call("Test").await?;
                turn.cancelled().await;
                call.add("half of it").await?;
                call.cancel().await?;
                turn.say("never").await?;
                open.finish().await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let prompt = talk.prompt("go").await;
        talk.until(|message| update(message)["title"] == "Test")
            .await;
        talk.cancel().await;
        let ended = talk.end(prompt).await;
        assert_eq!(ended.stop, "cancelled");
        assert_eq!(said(&ended.seen), "");
        let build = talk.call("Build");
        assert!(format!("{build:?}").contains("half of it"));
        let stopped = match version {
            Version::V1 => "failed",
            Version::V2 => "cancelled",
        };
        assert_eq!(status(&build), stopped);
        assert_eq!(status(&talk.call("Test")), stopped);
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn v1_cancel_09_a_cancel_is_never_answered() {
    for version in BOTH {
        let mut talk = talk_to_phases(version).await;
        let prompt = talk.prompt("model").await;
        talk.hears("begun").await;
        talk.cancel().await;
        talk.end(prompt).await;
        talk.is_quiet().await;
        let answers = talk.log.iter();
        let answers = answers.filter(|message| message.get("method").is_none());
        let ids: Vec<_> = answers.map(|answer| answer["id"].clone()).collect();
        assert_eq!(ids, [json!(prompt)]);
    }
}

// Also: D6, V2-CANCEL-06, V2-CANCEL-14.
#[tokio::test(start_paused = true)]
async fn v1_cancel_11_a_cancel_that_finds_nothing_does_nothing() {
    for version in BOTH {
        let mut talk = talk_to_phases(version).await;
        talk.cancel().await;
        talk.cancel().await;
        talk.client.cancel("no-such-session").await;
        talk.client.notify("session/cancel", json!({})).await;
        talk.is_quiet().await;
        assert_eq!(talk.turn("go").await.stop, "end_turn");
        talk.cancel().await;
        talk.is_quiet().await;
        assert_eq!(talk.turn("go").await.stop, "end_turn");
        // Twice in a turn is once.
        let prompt = talk.prompt("model").await;
        talk.hears("begun").await;
        talk.cancel().await;
        talk.cancel().await;
        assert_eq!(talk.end(prompt).await.stop, "cancelled");
        talk.is_quiet().await;
        let closed = talk.session.clone();
        let close = talk
            .client
            .ask("session/close", json!({"sessionId": closed}))
            .await;
        talk.answered(close).await;
        talk.cancel().await;
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn v1_cancel_13_a_cancel_is_for_one_session() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let agent = {
            let gate = Arc::clone(&gate);
            script(move |turn| {
                let gate = Arc::clone(&gate);
                Box::pin(async move {
                    turn.say("begun").await?;
                    turn.unless_cancelled(gate.notified()).await?;
                    Ok(Stop::EndTurn)
                })
            })
        };
        let server = ply_agent::serve(agent);
        let mut one = talk_with(version, &server, json!({})).await;
        let mut two = talk_with(version, &server, json!({})).await;
        let (first, second) = (one.prompt("go").await, two.prompt("go").await);
        one.hears("begun").await;
        two.hears("begun").await;
        one.cancel().await;
        assert_eq!(one.end(first).await.stop, "cancelled");
        two.is_quiet().await;
        // A client cancels what it sees, not what others see.
        one.client.cancel(&two.session).await;
        two.is_quiet().await;
        gate.notify_waiters();
        assert_eq!(two.end(second).await.stop, "end_turn");
    }
}

#[tokio::test(start_paused = true)]
async fn d4_a_cancel_right_behind_its_prompt_finds_the_turn() {
    for version in BOTH {
        let mut talk = talk_to_phases(version).await;
        let prompt = talk.prompt("model").await;
        talk.cancel().await;
        let ended = talk.end(prompt).await;
        assert_eq!(ended.stop, "cancelled");
        assert_eq!(said(&ended.seen), "", "nothing was begun");
        assert_eq!(talk.turn("go").await.stop, "end_turn");
    }
}

#[tokio::test(start_paused = true)]
async fn d5_a_cancel_beside_the_end_gives_one_outcome() {
    for version in BOTH {
        for cancel_first in [true, false] {
            let gate = Arc::new(Notify::new());
            let agent = {
                let gate = Arc::clone(&gate);
                script(move |turn| {
                    let gate = Arc::clone(&gate);
                    Box::pin(async move {
                        turn.say("begun").await?;
                        if turn.prompt().text() == "race" {
                            gate.notified().await;
                        }
                        Ok(Stop::EndTurn)
                    })
                })
            };
            let mut talk = talk(version, agent).await;
            let prompt = talk.prompt("race").await;
            talk.hears("begun").await;
            // Neither side runs before both are done, as there is one thread and room in the pipe.
            if cancel_first {
                talk.cancel().await;
            }
            gate.notify_one();
            if !cancel_first {
                talk.cancel().await;
            }
            let ended = talk.end(prompt).await;
            assert!(["cancelled", "end_turn"].contains(&ended.stop.as_str()));
            talk.is_quiet().await;
            assert_eq!(talk.answers(prompt), 1);
            assert_eq!(talk.turn("go").await.stop, "end_turn");
        }
    }
}

// Also: V2-STATE-13, V2-CANCEL-04, V2-CANCEL-12, V1-PERM-09.
#[tokio::test(start_paused = true)]
async fn d8_an_answer_that_comes_with_or_after_the_cancel_allows_nothing() {
    for version in BOTH {
        for click_first in [true, false] {
            let mut talk = talk_to_phases(version).await;
            let prompt = talk.prompt("permission").await;
            let ask = talk.method("session/request_permission").await;
            talk.cancel().await;
            if click_first {
                talk.choose(&ask, "allow_once").await;
            }
            let ended = talk.end(prompt).await;
            assert_eq!(ended.stop, "cancelled");
            assert_ne!(status(&talk.call("Delete")), "completed");
            if !click_first {
                talk.choose(&ask, "allow_once").await;
            }
            talk.is_quiet().await;
            assert_eq!(talk.turn("go").await.stop, "end_turn");
        }
    }
}

// Also: V2-PERM-08.
#[tokio::test(start_paused = true)]
async fn v1_cancel_12_a_question_answered_as_cancelled_cancels_a_version_1_turn() {
    let mut talk = talk_to_phases(Version::V1).await;
    let prompt = talk.prompt("permission").await;
    let ask = talk.method("session/request_permission").await;
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    talk.answer(&ask, cancelled).await;
    let ended = talk.end(prompt).await;
    assert_eq!(ended.stop, "cancelled");
    assert_eq!(said(&ended.seen), "begun");
    assert_eq!(status(&talk.call("Delete")), "failed");
    assert_eq!(talk.turn("go").await.stop, "end_turn");
}
