//! Why turns end: each reason by its name, failures as failures.

use std::sync::Mutex;
use std::time::Duration;

use ply_agent::transcript::Entry;
use ply_agent::{Error, Stop};

use crate::script::*;
use crate::support::*;

// Also: V1-STOP-03, V1-STOP-04, V1-PROMPT-08, V2-STOP-01, V2-STOP-04, D20.
#[tokio::test(start_paused = true)]
async fn v1_stop_01_every_stop_has_its_name_on_the_wire() {
    let stops = [
        (Stop::EndTurn, "end_turn"),
        (Stop::MaxTokens, "max_tokens"),
        (Stop::MaxTurnRequests, "max_turn_requests"),
        (Stop::Refusal, "refusal"),
        (Stop::Cancelled, "cancelled"),
    ];
    for version in BOTH {
        for (stop, name) in stops {
            let mut talk = talk(
                version,
                script(move |_| Box::pin(std::future::ready(Ok(stop)))),
            )
            .await;
            let ended = talk.turn("go").await;
            assert_eq!(ended.stop, name, "{version:?}");
        }
    }
}

// Also: V2-STATE-03.
#[tokio::test(start_paused = true)]
async fn d20_a_turn_with_too_many_model_requests_ends_with_that_reason() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                for step in 0.. {
                    if step == 3 {
                        return Ok(Stop::MaxTurnRequests);
                    }
                    let call = turn.tool_call(format!("Step {step}")).await?;
                    call.finish().await?;
                }
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        assert_eq!(talk.turn("loop").await.stop, "max_turn_requests");
        assert_eq!(status(&talk.call("Step 2")), "completed");
    }
}

#[tokio::test(start_paused = true)]
async fn v1_stop_05_what_was_refused_is_not_in_the_context_of_the_next_prompt() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                if turn.prompt().text() == "bad" {
                    turn.say("I will not.").await?;
                    return Ok(Stop::Refusal);
                }
                let history = turn.history().await?;
                let messages = history.entries().filter_map(|entry| match entry {
                    Entry::Message(message) => Some(message.text()),
                    _ => None,
                });
                let messages: Vec<_> = messages.collect();
                turn.say(messages.join("|")).await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        assert_eq!(talk.turn("bad").await.stop, "refusal");
        let ended = talk.turn("good").await;
        assert_eq!(said(&ended.seen), "good");
    }
}

// Also: V2-STOP-02, V2-PROMPT-13.
#[tokio::test(start_paused = true)]
async fn v1_prompt_16_a_failure_is_an_error_and_the_session_lives() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                if turn.prompt().text() == "fail" {
                    turn.say("well").await?;
                    return Err(Error::rpc(-32050, "The model is down."));
                }
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let ended = talk.turn("fail").await;
        assert_eq!(said(&ended.seen), "well");
        assert_eq!(ended.stop, "error");
        assert_eq!(ended.error["code"], -32050);
        assert_eq!(ended.error["message"], "The model is down.");
        assert_eq!(talk.turn("go").await.stop, "end_turn");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_of_another_crate_ends_the_turn_with_its_words() {
    for version in BOTH {
        let agent = script(|_| {
            Box::pin(async move {
                let number: u8 = "many".parse()?;
                unreachable!("{number} is no number");
            })
        });
        let mut talk = talk(version, agent).await;
        let ended = talk.turn("go").await;
        assert_eq!(ended.stop, "error");
        assert_eq!(ended.error["code"], -32603);
        assert_eq!(ended.error["message"], "invalid digit found in string");
    }
}

// Also: D9.
#[tokio::test(start_paused = true)]
async fn b13_a_panic_fails_its_turn_alone() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let call = turn.tool_call("Fragile").await?;
                call.start().await?;
                assert_ne!(turn.prompt().text(), "panic", "a secret of the agent's");
                call.finish().await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let ended = talk.turn("panic").await;
        assert_eq!(ended.stop, "error");
        assert_eq!(ended.error["code"], -32603);
        assert_eq!(status(&talk.call("Fragile")), "failed");
        assert!(!format!("{:?}", talk.log).contains("secret"));
        assert_eq!(talk.turn("go").await.stop, "end_turn");
        // Nor does it cost another session.
        let other = talk.client.session().await;
        let prompt = talk.client.prompt(&other, "go").await;
        let answer = talk.client.answered(prompt).await.pop().unwrap();
        assert!(answer.get("result").is_some(), "{answer}");
    }
}

/// A panic before the first await is one in the code that makes the future.
#[tokio::test(start_paused = true)]
async fn b13_a_panic_before_the_turn_has_begun_fails_it_too() {
    for version in BOTH {
        let first = Mutex::new(true);
        let agent = script(move |_| {
            let was_first = std::mem::replace(&mut *first.lock().unwrap(), false);
            assert!(!was_first, "the first prompt fails");
            Box::pin(std::future::ready(Ok(Stop::EndTurn)))
        });
        let mut talk = talk(version, agent).await;
        assert_eq!(talk.turn("panic").await.stop, "error");
        assert_eq!(talk.turn("go").await.stop, "end_turn");
    }
}

#[tokio::test(start_paused = true)]
async fn v2_stop_03_a_time_limit_of_the_agents_own_is_no_cancel() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let model = std::future::pending::<()>();
                let limited = tokio::time::timeout(Duration::from_secs(5), model);
                turn.unless_cancelled(limited).await??;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let ended = talk.turn("go").await;
        assert_eq!(ended.stop, "error");
        assert_eq!(ended.error["message"], "deadline has elapsed");
    }
}
