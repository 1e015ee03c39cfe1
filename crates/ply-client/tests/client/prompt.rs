//! Prompts to a version 1 agent: sent, held, answered, failed.

use crate::support::{SESSION, open, prompt, reported, told, v1_session, v1_with, within};
use ply_client::{Client, Error, Prompt, ReportKind, TurnError, v2};
use serde_json::json;

// Also: V1-INIT-01.
#[tokio::test]
async fn v1_prompt_01_a_prompt_goes_to_a_session_that_is_set_up() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    assert_eq!(
        request["params"],
        json!({ "sessionId": SESSION, "prompt": [{ "type": "text", "text": "hi" }] })
    );
    script.say("Hello, ").await;
    script.say("world").await;
    script.stop(&request, "end_turn").await;
    let told = told(&mut turn).await;
    assert_eq!(told, ["says Hello, ", "says world", "end: Some(EndTurn)"]);
    assert_eq!(session.transcript().last_agent_text(), "Hello, world");
    assert!(turn.message_id().is_some());
}

#[tokio::test]
async fn v1_prompt_12_a_second_prompt_builds_on_the_first() {
    let (session, mut script) = v1_session().await;
    for text in ["one", "two"] {
        let (mut turn, request) = prompt(&session, &mut script, text).await;
        script.say(text).await;
        script.stop(&request, "end_turn").await;
        let told = told(&mut turn).await;
        assert_eq!(told, [format!("says {text}"), "end: Some(EndTurn)".into()]);
    }
    let transcript = session.transcript();
    let texts: Vec<_> = transcript
        .messages()
        .map(|message| message.text())
        .collect();
    assert_eq!(texts, ["one", "one", "two", "two"]);
}

// Also: V1-PROMPT-13, D10, D11.
#[tokio::test]
async fn a_second_prompt_is_held_until_the_first_turn_is_answered() {
    let (session, mut script) = v1_session().await;
    let (mut first, request) = prompt(&session, &mut script, "one").await;
    let mut second = session.prompt("two").await.unwrap();
    script.silent().await;
    script.say("first").await;
    script.stop(&request, "end_turn").await;
    let request = script.expect("session/prompt").await;
    assert_eq!(request["params"]["prompt"][0]["text"], "two");
    script.say("second").await;
    script.stop(&request, "max_tokens").await;
    assert_eq!(told(&mut first).await, ["says first", "end: Some(EndTurn)"]);
    let second = told(&mut second).await;
    assert_eq!(second, ["says second", "end: Some(MaxTokens)"]);
}

#[tokio::test]
async fn v1_prompt_17_an_error_is_shown_and_the_session_stays_usable() {
    let (session, mut script) = v1_session().await;
    let (turn, request) = prompt(&session, &mut script, "one").await;
    script
        .refuse(&request, -32603, "the model is on fire")
        .await;
    match within(turn.finish()).await.unwrap_err() {
        TurnError::Failed { code, message, .. } => {
            assert_eq!((code, message.as_str()), (-32603, "the model is on fire"));
        }
        other => panic!("{other}"),
    }
    let (turn, request) = prompt(&session, &mut script, "two").await;
    script.stop(&request, "end_turn").await;
    assert!(within(turn.finish()).await.is_ok());
}

#[tokio::test]
async fn v1_stop_06_a_refusal_is_marked() {
    let (session, mut script) = v1_session().await;
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    script.stop(&request, "refusal").await;
    assert!(within(turn.finish()).await.unwrap().is_refused());
}

#[tokio::test]
async fn b15_an_unknown_stop_reason_is_kept_as_other() {
    let (session, mut script) = v1_session().await;
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    script.stop(&request, "coffee_break").await;
    match within(turn.finish()).await.unwrap().stop_reason {
        Some(v2::StopReason::Other(other)) => assert_eq!(other.stop_reason, "coffee_break"),
        other => panic!("{other:?}"),
    }
    let reports = reported(session.agent(), ReportKind::UnknownStopReason);
    assert_eq!(reports, 1);
}

#[tokio::test]
async fn an_answer_that_says_nothing_ends_the_turn_all_the_same() {
    for answer in [json!({}), json!(null), json!({ "stopReason": 7 })] {
        let (session, mut script) = v1_session().await;
        let (turn, request) = prompt(&session, &mut script, "hi").await;
        script.answer(&request, answer).await;
        assert!(within(turn.finish()).await.is_ok());
        assert_eq!(reported(session.agent(), ReportKind::BadPromptAnswer), 1);
    }
}

#[tokio::test]
async fn an_empty_prompt_is_refused_here() {
    let (session, mut script) = v1_session().await;
    let refused = session.prompt(Prompt::default()).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })));
    script.silent().await;
}

// Also: V1-CONTENT-04, V1-CONTENT-05, V1-INIT-11, V1-INIT-13.
#[tokio::test]
async fn v1_prompt_02_only_content_that_the_agent_takes_is_sent() {
    let image = v2::ContentBlock::Image(v2::ImageContent::new("aGk=", "image/png"));
    let audio = v2::ContentBlock::Audio(v2::AudioContent::new("aGk=", "audio/wav"));
    for (name, block) in [("image", image), ("audio", audio)] {
        for (capability, is_sent) in [
            (json!({}), false),
            (json!({ name: null }), false),
            (json!({ name: false }), false),
            (json!({ name: true }), true),
        ] {
            let capabilities = json!({ "promptCapabilities": capability });
            let (agent, mut script) = v1_with(Client::new(), capabilities).await;
            let session = open(&agent, &mut script).await;
            let prompted = session.prompt(vec![block.clone()]).await;
            assert_eq!(prompted.is_ok(), is_sent, "{name} {capability}");
            if is_sent {
                let request = script.expect("session/prompt").await;
                let sent = &request["params"]["prompt"][0];
                assert_eq!(
                    (&sent["type"], &sent["data"]),
                    (&json!(name), &json!("aGk="))
                );
            } else {
                assert!(matches!(prompted, Err(Error::NotOffered { .. })));
                script.silent().await;
            }
        }
    }
}

// Also: V1-CONTENT-07.
#[tokio::test]
async fn v1_content_06_an_embedded_resource_becomes_a_link_where_it_is_not_taken() {
    for (capability, kind) in [(false, "resource_link"), (true, "resource")] {
        let capabilities = json!({ "promptCapabilities": { "embeddedContext": capability } });
        let (agent, mut script) = v1_with(Client::new(), capabilities).await;
        let session = open(&agent, &mut script).await;
        let said = Prompt::new("look").resource("file:///work/a.rs", "fn main() {}");
        let turn = session.prompt(said).await.unwrap();
        let request = script.expect("session/prompt").await;
        let block = &request["params"]["prompt"][1];
        assert_eq!(block["type"], kind);
        if capability {
            assert_eq!(block["resource"]["text"], "fn main() {}");
        } else {
            assert_eq!(
                (&block["uri"], &block["name"]),
                (&json!("file:///work/a.rs"), &json!("a.rs"))
            );
        }
        drop(turn);
    }
}

// Also: V1-CONTENT-08, V1-CONTENT-09.
#[tokio::test]
async fn v1_content_01_every_kind_of_block_is_taken_from_the_agent() {
    let blocks = [
        json!({ "type": "text", "text": "t", "annotations": { "priority": 0.5, "odd": 1 } }),
        json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" }),
        json!({ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" }),
        json!({ "type": "resource_link", "uri": "file:///a", "name": "a" }),
        json!({ "type": "resource", "resource": { "uri": "file:///a", "text": "x" } }),
    ];
    let (session, mut script) = v1_session().await;
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    for block in &blocks {
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": block });
        script.update(update).await;
    }
    // Without a required field a block cannot be used.
    let bad = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "image" } });
    script.update(bad).await;
    script.stop(&request, "end_turn").await;
    within(turn.finish()).await.unwrap();
    let transcript = session.transcript();
    let message = transcript.messages().last().unwrap();
    let kinds: Vec<_> = serde_json::to_value(&message.content)
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        ["text", "image", "audio", "resource_link", "resource"]
    );
    assert_eq!(reported(session.agent(), ReportKind::MalformedUpdate), 1);
}
