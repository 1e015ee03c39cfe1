//! States and messages of version 2: what is running, what waits for the user, what was inserted.

use std::sync::Arc;

use ply_agent::{Agent, Stop};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::script::*;
use crate::support::*;

fn states(talk: &Talk) -> Vec<&str> {
    let updates = updates(&talk.log).into_iter();
    updates
        .filter_map(|update| update["state"].as_str())
        .collect()
}

fn waits(gate: &Arc<Notify>) -> impl Agent + use<> {
    let gate = Arc::clone(gate);
    script(move |turn| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            turn.unless_cancelled(gate.notified()).await?;
            turn.think("hm").await?;
            turn.say("yes").await?;
            Ok(Stop::EndTurn)
        })
    })
}

// Also: V2-PROMPT-07, V2-PROMPT-09, V2-PROMPT-11, V2-STATE-01.
#[tokio::test(start_paused = true)]
async fn v2_prompt_05_a_prompt_is_answered_when_it_is_inserted_not_when_it_is_done() {
    let gate = Arc::new(Notify::new());
    let mut talk = talk(Version::V2, waits(&gate)).await;
    let prompt = talk.prompt("go").await;
    let answer = talk.answered(prompt).await;
    let id = answer["result"]["messageId"].clone();
    assert!(id.is_string());
    talk.is_quiet_but("state_update").await;
    assert_eq!(states(&talk), ["running"]);
    let users = updates(&talk.log).into_iter();
    let users: Vec<_> = users
        .filter(|update| update["sessionUpdate"] == "user_message")
        .collect();
    assert_eq!(users.len(), 1);
    assert_eq!(users[0]["messageId"], id);
    assert_eq!(users[0]["content"], json!([{"type": "text", "text": "go"}]));
    gate.notify_one();
    talk.end(prompt).await;
    assert_eq!(states(&talk), ["running", "idle"]);
    // Another prompt is another message.
    gate.notify_one();
    let next = talk.prompt("go").await;
    talk.end(next).await;
    assert_ne!(talk.answered(next).await["result"]["messageId"], id);
}

#[tokio::test(start_paused = true)]
async fn v2_msg_01_every_message_and_chunk_has_an_id() {
    let gate = Arc::new(Notify::new());
    gate.notify_one();
    let mut talk = talk(Version::V2, waits(&gate)).await;
    let ended = talk.turn("go").await;
    let messages = updates(&ended.seen).into_iter().filter(|update| {
        let kind = update["sessionUpdate"].as_str().unwrap();
        kind.contains("message") || kind.contains("thought")
    });
    let ids: Vec<_> = messages
        .map(|update| update["messageId"].as_str())
        .collect();
    assert_eq!(ids.len(), 3, "the prompt, a thought and an answer");
    assert!(ids.iter().all(Option::is_some));
}

// Also: V2-STATE-03.
#[tokio::test(start_paused = true)]
async fn v2_state_02_every_running_is_followed_by_an_idle_that_says_why() {
    let agent = script(|turn| {
        Box::pin(async move {
            match turn.prompt().text().as_str() {
                "fail" => Err(ply_agent::Error::msg("no")),
                "panic" => panic!("no"),
                _ => Ok(Stop::EndTurn),
            }
        })
    });
    let mut talk = talk(Version::V2, agent).await;
    for how in ["go", "fail", "panic", "go"] {
        let ended = talk.turn(how).await;
        let idle = update(ended.seen.last().unwrap());
        assert!(idle["stopReason"].is_string());
    }
    let pairs = ["running", "idle"].repeat(4);
    assert_eq!(states(&talk), pairs);
}

/// Asks about one call, and says what came of it.
fn asks() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Delete").await?;
            let decision = call.ask_with("Delete it?").await?;
            call.finish_with(format!("{}", decision.is_allowed()))
                .await?;
            Ok(Stop::EndTurn)
        })
    })
}

// Also: V2-STATE-05.
#[tokio::test(start_paused = true)]
async fn v2_state_04_a_turn_that_waits_for_the_user_requires_action() {
    for how in ["allow_once", "reject_once", "cancel"] {
        let mut talk = talk(Version::V2, asks()).await;
        let prompt = talk.prompt("go").await;
        let ask = talk.method("session/request_permission").await;
        talk.is_quiet_but("state_update").await;
        assert_eq!(states(&talk), ["running", "requires_action"]);
        match how {
            "cancel" => talk.cancel().await,
            option => talk.choose(&ask, option).await,
        }
        let ended = talk.end(prompt).await;
        let after = &states(&talk)[2..];
        match how {
            "cancel" => assert_eq!(after.last(), Some(&"idle")),
            _ => assert_eq!(after, ["running", "idle"]),
        }
        assert_eq!(ended.stop == "cancelled", how == "cancel");
    }
}

/// Waits for the gate in one call while it asks about two others.
fn asks_beside(gate: &Arc<Notify>) -> impl Agent + use<> {
    let gate = Arc::clone(gate);
    script(move |turn| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            let work = turn.tool_call("Build").await?;
            work.start().await?;
            let (one, two) = (turn.tool_call("One").await?, turn.tool_call("Two").await?);
            let asking = async {
                let asked = tokio::join!(one.ask_with("One?"), two.ask_with("Two?"));
                asked.0?;
                asked.1
            };
            let working = async {
                gate.notified().await;
                work.finish().await
            };
            let (asked, worked) = tokio::join!(asking, working);
            asked?;
            worked?;
            one.finish().await?;
            two.finish().await?;
            Ok(Stop::EndTurn)
        })
    })
}

#[tokio::test(start_paused = true)]
async fn v2_state_06_a_turn_requires_action_only_when_all_of_it_waits() {
    let gate = Arc::new(Notify::new());
    let mut talk = talk(Version::V2, asks_beside(&gate)).await;
    let prompt = talk.prompt("go").await;
    let one = talk.method("session/request_permission").await;
    let two = talk.method("session/request_permission").await;
    talk.is_quiet_but("state_update").await;
    assert_eq!(states(&talk), ["running"], "the build goes on");
    gate.notify_one();
    talk.until(|message| update(message)["state"] == "requires_action")
        .await;
    // One answer of two: the other is still waited for.
    talk.choose(&one, "allow_once").await;
    talk.is_quiet().await;
    talk.choose(&two, "allow_once").await;
    assert_eq!(talk.end(prompt).await.stop, "end_turn");
    assert_eq!(
        states(&talk),
        ["running", "requires_action", "running", "idle"]
    );
}

#[tokio::test(start_paused = true)]
async fn v2_state_13_an_answer_for_work_that_has_ended_starts_nothing() {
    let mut talk = talk(Version::V2, asks()).await;
    let prompt = talk.prompt("go").await;
    let ask = talk.method("session/request_permission").await;
    talk.cancel().await;
    talk.end(prompt).await;
    talk.choose(&ask, "allow_once").await;
    talk.is_quiet().await;
    // Nor does one that answers nothing that was ever asked.
    let answer = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
    talk.answer(&json!({"id": 4711}), answer).await;
    talk.is_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn v2_prompt_12_a_refused_prompt_leaves_no_message_and_no_state() {
    let mut talk = talk(Version::V2, asks()).await;
    let image = json!([{"type": "image", "data": "AAAA", "mimeType": "image/png"}]);
    let refused = talk.prompt_with(image).await;
    assert_eq!(talk.answered(refused).await["error"]["code"], -32602);
    talk.is_quiet().await;
    assert!(updates(&talk.log).is_empty());
}

// Also: V2-PROMPT-09.
#[tokio::test(start_paused = true)]
async fn v2_prompt_20_every_client_of_the_session_sees_the_prompt_and_its_turn() {
    for other in BOTH {
        let gate = Arc::new(Notify::new());
        let server = ply_agent::serve(waits(&gate));
        let mut talk = talk_with(Version::V2, &server, json!({})).await;
        let mut second = match other {
            Version::V1 => v1_with(&server, json!({})).await,
            Version::V2 => v2_with(&server, json!({})).await,
        };
        let params = json!({"sessionId": talk.session, "cwd": "/work", "mcpServers": []});
        second.ok("session/resume", params).await;
        gate.notify_one();
        let ended = talk.turn("hello").await;
        let id = &talk
            .log
            .iter()
            .find(|message| message.get("result").is_some())
            .unwrap()["result"]["messageId"];
        let seen = second
            .until(|message| update(message)["content"]["text"] == "yes")
            .await;
        let user = updates(&seen).into_iter().find(|update| {
            let kind = update["sessionUpdate"].as_str().unwrap();
            kind.starts_with("user_message")
        });
        let user = user.expect("the other client sees the prompt");
        assert!(user.to_string().contains("hello"));
        if other == Version::V2 {
            assert_eq!(user["messageId"], *id);
            let rest = second.idle().await;
            assert_eq!(
                update(rest.last().unwrap())["stopReason"],
                Value::from(ended.stop)
            );
        }
    }
}
