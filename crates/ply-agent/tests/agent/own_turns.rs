//! Turns that the agent starts itself, and what it says outside any turn.

use std::sync::Mutex;

use ply_agent::v2::{NoticeSeverity, StopReason};
use ply_agent::{Agent, Result, Session, SessionSetup, Stop, Turn};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::script::*;
use crate::support::*;

/// Gives its sessions to the test; its turns wait for a cancel if they are told to.
struct HandsOut(mpsc::Sender<Session>);

impl Agent for HandsOut {
    async fn open(&self, session: &Session, _: &SessionSetup) -> Result<()> {
        self.0.send(session.clone()).await?;
        Ok(())
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        turn.say("begun ").await?;
        if turn.prompt().text() == "wait" {
            turn.cancelled().await;
        }
        Ok(Stop::EndTurn)
    }
}

async fn talk_and_session(version: Version) -> (Talk, Session) {
    let (give, mut take) = mpsc::channel(1);
    let talk = talk(version, HandsOut(give)).await;
    (talk, take.recv().await.unwrap())
}

// Also: V2-STATE-01, V2-STATE-02.
#[tokio::test(start_paused = true)]
async fn v2_prompt_19_a_turn_without_a_prompt_has_no_user_message() {
    let (mut talk, session) = talk_and_session(Version::V2).await;
    let stop = session.start_turn(|turn| async move {
        assert_eq!(turn.prompt().text(), "");
        assert_eq!(turn.prompt().message_id(), None);
        turn.say("by itself").await?;
        Ok(Stop::EndTurn)
    });
    assert_eq!(stop.await.unwrap(), StopReason::EndTurn);
    talk.until(|message| update(message)["state"] == "idle")
        .await;
    let states: Vec<_> = updates(&talk.log)
        .iter()
        .map(|update| update["state"].clone())
        .collect();
    assert_eq!(states, [json!("running"), Value::Null, json!("idle")]);
    assert_eq!(said(&talk.log), "by itself");
    talk.is_quiet().await;
}

/// Version 1 has no such turns; what is said in one is shown all the same.
#[tokio::test(start_paused = true)]
async fn a_version_1_client_hears_what_a_turn_of_the_agents_own_says() {
    let (mut talk, session) = talk_and_session(Version::V1).await;
    let stop = session.start_turn(|turn| async move {
        let call = turn.tool_call("Tick").await?;
        call.finish().await?;
        turn.say("by itself").await?;
        Ok(Stop::EndTurn)
    });
    stop.await.unwrap();
    talk.hears("by itself").await;
    assert_eq!(status(&talk.call("Tick")), "completed");
    talk.is_quiet().await;
    assert_eq!(talk.turn("go").await.stop, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn prompts_and_turns_of_the_agents_own_wait_for_each_other() {
    for version in BOTH {
        let (mut talk, session) = talk_and_session(version).await;
        let prompt = talk.prompt("wait").await;
        talk.hears("begun ").await;
        // Dropped, the wish stays.
        let own = session.start_turn(|turn| async move {
            turn.say("own ").await?;
            Ok(Stop::EndTurn)
        });
        let waited = tokio::time::timeout(std::time::Duration::from_secs(1), own).await;
        assert!(waited.is_err(), "it is not its turn yet");
        let params = json!({"requestId": prompt});
        match version {
            // Only this one, not what waits behind it.
            Version::V1 => talk.client.notify("$/cancel_request", params).await,
            Version::V2 => {
                talk.cancel().await;
                assert_eq!(talk.end(prompt).await.stop, "cancelled");
                talk.is_quiet().await;
                continue;
            }
        }
        talk.hears("own ").await;
        assert_eq!(talk.turn("go").await.stop, "end_turn");
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_the_agents_own_can_be_cancelled_and_may_fail() {
    for version in BOTH {
        let (mut talk, session) = talk_and_session(version).await;
        let own = session.start_turn(|turn| async move {
            turn.say("own").await?;
            turn.cancelled().await;
            Err(ply_agent::Error::msg("aborted"))
        });
        let (stop, ()) = tokio::join!(own, async {
            talk.hears("own").await;
            talk.cancel().await;
        });
        assert_eq!(stop.unwrap(), StopReason::Cancelled);
        let failed = session.start_turn(|_| async move { panic!("broken") });
        assert!(matches!(failed.await.unwrap(), StopReason::Error(_)));
        assert_eq!(talk.turn("go").await.stop, "end_turn");
    }
}

/// A turn of the agent's own has no client of its own to turn to, but any may answer questions.
#[tokio::test(start_paused = true)]
async fn a_turn_of_the_agents_own_may_ask_the_user() {
    for version in BOTH {
        let (mut talk, session) = talk_and_session(version).await;
        let own = session.start_turn(|turn| async move {
            assert!(!turn.can_read_files());
            let call = turn.tool_call("Update").await?;
            let decision = call.ask_with("Update now?").await?;
            call.finish_with(format!("{}", decision.is_allowed()))
                .await?;
            Ok(Stop::EndTurn)
        });
        let (stop, ()) = tokio::join!(own, async {
            let ask = talk.method("session/request_permission").await;
            talk.choose(&ask, "allow_once").await;
        });
        assert_eq!(stop.unwrap(), StopReason::EndTurn);
        let end = talk.until(|message| update(message)["status"] == "completed");
        end.await;
    }
}

// Also: V2-STATE-07.
#[tokio::test(start_paused = true)]
async fn what_is_said_between_turns_changes_no_state() {
    for version in BOTH {
        let (mut talk, session) = talk_and_session(version).await;
        talk.turn("go").await;
        talk.forget();
        session.say("by the way").await.unwrap();
        session.set_title("A title").await.unwrap();
        session
            .notice(NoticeSeverity::Info, "An update is there.")
            .await
            .unwrap();
        talk.until(|message| message.to_string().contains("A title"))
            .await;
        talk.is_quiet_but("notice").await;
        assert_eq!(said(&talk.log), "by the way");
        let has_state = |update: &&Value| update["sessionUpdate"] == "state_update";
        assert!(!updates(&talk.log).iter().any(has_state));
        assert_eq!(talk.turn("go").await.stop, "end_turn");
    }
}

/// States and user messages are the session's to report, so a custom state never stands for a standard one.
// Also: V2-STATE-11.
#[tokio::test(start_paused = true)]
async fn an_agent_cannot_forge_states_or_user_messages() {
    for version in BOTH {
        let forged = [
            json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
            json!({"sessionUpdate": "state_update", "state": "running"}),
            json!({"sessionUpdate": "state_update", "state": "_paused"}),
            json!({"sessionUpdate": "user_message", "messageId": "m", "content": [
                {"type": "text", "text": "forged"}
            ]}),
            json!({"sessionUpdate": "user_message_chunk", "messageId": "m", "content":
                {"type": "text", "text": "forged"}
            }),
        ];
        let forged = Mutex::new(forged.to_vec());
        let agent = script(move |turn| {
            let forged = forged.lock().unwrap().clone();
            Box::pin(async move {
                for update in forged {
                    turn.update(serde_json::from_value(update)?).await?;
                }
                turn.say("done").await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let ended = talk.turn("go").await;
        assert!(!format!("{:?}", ended.seen).contains("forged"));
        assert_eq!(said(&ended.seen), "done");
        let states = updates(&ended.seen)
            .into_iter()
            .filter_map(|update| update["state"].as_str());
        let expected: &[&str] = match version {
            Version::V1 => &[],
            Version::V2 => &["running", "idle"],
        };
        assert_eq!(states.collect::<Vec<_>>(), expected);
        talk.is_quiet().await;
    }
}
