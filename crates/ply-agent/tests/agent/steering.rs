//! Words for a turn that runs.

use std::sync::Arc;

use ply_agent::{About, Agent, Stop, serve};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::script::*;
use crate::support::*;

/// Says what it is told at the gate, and at its end.
fn listening(gate: &Arc<Notify>) -> impl Agent + use<> {
    let gate = Arc::clone(gate);
    let agent = script(move |turn| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            turn.say(format!("[{}", turn.prompt().text())).await?;
            turn.unless_cancelled(gate.notified()).await?;
            for steered in turn.steered() {
                turn.say(format!(" +{}", steered.text())).await?;
            }
            assert_eq!(turn.steered(), [], "each is told once");
            assert_eq!(turn.last_steered().await, []);
            turn.say("]").await?;
            Ok(Stop::EndTurn)
        })
    });
    agent.about(About::new("listener", "1").steering())
}

fn words(session: &str, text: &str, meta: Value) -> Value {
    let prompt = [json!({"type": "text", "text": text})];
    json!({"sessionId": session, "prompt": prompt, "_meta": meta})
}

#[tokio::test(start_paused = true)]
async fn words_for_a_turn_reach_it_and_are_part_of_the_history() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let mut talk = talk(version, listening(&gate)).await;
        let turn = talk.prompt("go").await;
        talk.hears("[go").await;
        let session = talk.session.clone();
        for text in ["left", "right"] {
            let params = words(&session, text, json!({}));
            let told = talk.client.ok("_session/steering", params).await;
            assert_eq!(told, json!({"outcome": "injected"}), "{version:?}");
        }
        gate.notify_one();
        let ended = talk.end(turn).await;
        assert_eq!(ended.stop, "end_turn");
        let all = said(&talk.log);
        assert!(all.ends_with(" +left +right]"), "{all}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_turn_words_begin_one_or_are_given_back() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let mut talk = talk(version, listening(&gate)).await;
        let session = talk.session.clone();
        let own = json!({"steering": {"idleBehavior": "promptRequired"}});
        let told = talk
            .client
            .ok("_session/steering", words(&session, "a", own))
            .await;
        let expected = json!({"outcome": "promptRequired", "reason": "noRunningTurn"});
        assert_eq!(told, expected);
        let told = talk
            .client
            .ok("_session/steering", words(&session, "b", json!({})))
            .await;
        assert_eq!(told, json!({"outcome": "startedNewTurn"}));
        gate.notify_one();
        let all = talk
            .client
            .until(|message| said(std::slice::from_ref(message)).contains(']'))
            .await;
        assert!(!said(&all).contains('a'));
    }
}

#[tokio::test(start_paused = true)]
async fn a_marked_prompt_joins_the_turn_and_ends_with_it() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let mut talk = talk(version, listening(&gate)).await;
        let turn = talk.prompt("go").await;
        talk.hears("[go").await;
        let session = talk.session.clone();
        let marked = words(&session, "left", json!({"steering": true}));
        let steering = talk.client.ask("session/prompt", marked).await;
        talk.settle().await;
        gate.notify_one();
        let ended = talk.end(turn).await;
        assert_eq!(ended.stop, "end_turn");
        assert!(said(&talk.log).ends_with(" +left]"), "{:?}", talk.log);
        assert!(talk.answers(steering) <= 1);
    }
}

#[tokio::test(start_paused = true)]
async fn only_an_agent_that_listens_is_steered() {
    let gate = Arc::new(Notify::new());
    let advertised = |about: About| async move {
        let server = serve(script(|_| Box::pin(async { Ok(Stop::EndTurn) })).about(about));
        let mut client = connect(&server);
        let params = json!({"protocolVersion": 1, "clientCapabilities": {}});
        let answer = client.ok("initialize", params).await;
        let meta = answer["_meta"]["steering"].clone();
        assert_eq!(answer["agentCapabilities"]["_meta"]["steering"], meta);
        meta
    };
    let yes = advertised(About::new("a", "1").steering()).await;
    assert_eq!(yes, json!({"supported": true}));
    assert_eq!(advertised(About::new("a", "1")).await, Value::Null);
    let mut client = v1(script(|_| Box::pin(async { Ok(Stop::EndTurn) }))).await;
    let session = client.session().await;
    let params = words(&session, "x", json!({}));
    assert_eq!(client.fails("_session/steering", params).await, -32601);
    drop(gate);
}
