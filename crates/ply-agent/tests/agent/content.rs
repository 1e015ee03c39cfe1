//! What prompts may hold: what every agent takes, what was advertised, and nothing else.

use ply_agent::{About, Accepts, Agent, Stop, v2};
use serde_json::{Value, json};

use crate::script::*;
use crate::support::*;

fn text() -> Value {
    json!({"type": "text", "text": "look"})
}

fn link() -> Value {
    json!({"type": "resource_link", "uri": "file:///work/a.rs", "name": "a.rs"})
}

fn image() -> Value {
    json!({"type": "image", "data": "AAAA", "mimeType": "image/png"})
}

fn audio() -> Value {
    json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"})
}

fn text_resource() -> Value {
    let resource = json!({"uri": "file:///work/b.rs", "text": "fn b() {}"});
    json!({"type": "resource", "resource": resource})
}

fn blob_resource() -> Value {
    let resource = json!({"uri": "file:///work/c.bin", "blob": "AAAA"});
    json!({"type": "resource", "resource": resource})
}

/// Says back every block of the prompt.
fn mirror(accepts: Accepts) -> impl Agent {
    let agent = script(|turn| {
        Box::pin(async move {
            for block in turn.prompt().content().to_vec() {
                turn.say(block).await?;
            }
            Ok(Stop::EndTurn)
        })
    });
    agent.about(About::new("mirror", "1").accepts(accepts))
}

fn all() -> Accepts {
    Accepts {
        image: true,
        audio: true,
        embedded_context: true,
    }
}

fn mirrored(ended: &Ended) -> Vec<Value> {
    let chunks = updates(&ended.seen).into_iter();
    let chunks = chunks.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    chunks.map(|chunk| chunk["content"].clone()).collect()
}

// Also: V1-CONTENT-03, V2-INIT-12.
#[tokio::test(start_paused = true)]
async fn v1_content_02_every_agent_takes_text_and_links() {
    for version in BOTH {
        let mut talk = talk(version, mirror(Accepts::default())).await;
        for prompt in [
            json!([text()]),
            json!([link()]),
            json!([link(), text(), link()]),
        ] {
            let id = talk.prompt_with(prompt.clone()).await;
            let ended = talk.end(id).await;
            assert_eq!(ended.stop, "end_turn");
            assert_eq!(json!(mirrored(&ended)), prompt);
        }
    }
}

// Also: V1-CONTENT-01, V1-CONTENT-08.
#[tokio::test(start_paused = true)]
async fn an_agent_that_takes_everything_gets_and_says_it_unchanged() {
    for version in BOTH {
        let mut talk = talk(version, mirror(all())).await;
        let blocks = [
            text(),
            image(),
            audio(),
            link(),
            text_resource(),
            blob_resource(),
        ];
        let id = talk.prompt_with(json!(blocks)).await;
        let ended = talk.end(id).await;
        assert_eq!(ended.stop, "end_turn");
        assert_eq!(mirrored(&ended), blocks);
    }
}

// Also: V1-CONTENT-11, V2-PROMPT-12.
#[tokio::test(start_paused = true)]
async fn v2_prompt_03_content_that_was_not_advertised_is_refused_and_starts_nothing() {
    for version in BOTH {
        let mut talk = talk(version, mirror(Accepts::default())).await;
        for block in [image(), audio(), text_resource(), blob_resource()] {
            let id = talk.prompt_with(json!([text(), block])).await;
            let answer = talk.answered(id).await;
            assert_eq!(answer["error"]["code"], -32602, "{block}");
            talk.is_quiet().await;
        }
        let unknown = json!([text(), {"type": "_hologram", "depth": 3}]);
        let id = talk.prompt_with(unknown).await;
        let answer = talk.answered(id).await;
        assert_eq!(answer["error"]["code"], -32602);
        talk.is_quiet().await;
        assert!(
            talk.log
                .iter()
                .all(|message| message.get("method").is_none())
        );
        assert_eq!(talk.turn("go").await.stop, "end_turn");
    }
}

#[tokio::test(start_paused = true)]
async fn each_kind_of_content_is_taken_by_itself() {
    for version in BOTH {
        for (block, number) in [(image(), 0), (audio(), 1), (text_resource(), 2)] {
            for advertised in 0..3 {
                let accepts = Accepts {
                    image: advertised == 0,
                    audio: advertised == 1,
                    embedded_context: advertised == 2,
                };
                let mut talk = talk(version, mirror(accepts)).await;
                let id = talk.prompt_with(json!([block])).await;
                let answer = talk.answered(id).await;
                let refused = answer["error"]["code"] == -32602;
                assert_eq!(refused, number != advertised, "{block}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn v2_prompt_04_an_empty_prompt_is_refused_and_starts_nothing() {
    for version in BOTH {
        let mut talk = talk(version, mirror(all())).await;
        let id = talk.prompt_with(json!([])).await;
        assert_eq!(talk.answered(id).await["error"]["code"], -32602);
        talk.is_quiet().await;
        assert_eq!(talk.log.len(), 1);
        assert_eq!(talk.turn("go").await.stop, "end_turn");
    }
}

/// A refusal does not wait for the turn that runs.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_taken_is_refused_at_once_also_during_a_turn() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                turn.say("begun").await?;
                turn.cancelled().await;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let runs = talk.prompt("wait").await;
        talk.hears("begun").await;
        let refused = talk.prompt_with(json!([image()])).await;
        assert_eq!(talk.answered(refused).await["error"]["code"], -32602);
        talk.cancel().await;
        assert_eq!(talk.end(runs).await.stop, "cancelled");
    }
}

/// A block of a kind that version 1 does not know becomes text that names it.
// Also: V2-CONTENT-01.
#[tokio::test(start_paused = true)]
async fn words_of_an_unknown_kind_reach_both_versions() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let block = json!({"type": "_hologram", "depth": 3});
                let block: v2::ContentBlock = serde_json::from_value(block)?;
                turn.say(block).await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let ended = talk.turn("go").await;
        let block = &mirrored(&ended)[0];
        match version {
            Version::V1 => {
                assert_eq!(block["type"], "text");
                assert!(block["text"].as_str().unwrap().contains("_hologram"));
            }
            Version::V2 => assert_eq!(*block, json!({"type": "_hologram", "depth": 3})),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn v2_content_03_data_that_is_not_base64_is_refused_on_both_ways() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let blob = json!({"uri": "file:///a", "blob": "not base64!"});
                let bad = [
                    json!({"type": "image", "data": "not base64!", "mimeType": "image/png"}),
                    json!({"type": "audio", "data": "not base64!", "mimeType": "audio/wav"}),
                    json!({"type": "resource", "resource": blob}),
                    json!({"type": "text", "text": "a", "annotations": {"priority": 1.5}}),
                    json!({"type": "resource_link", "name": "a", "uri": "relative/path"}),
                ];
                for block in bad {
                    let block: v2::ContentBlock = serde_json::from_value(block)?;
                    assert!(turn.say(block).await.is_err());
                }
                let good =
                    json!({"type": "text", "text": "good", "annotations": {"priority": 1.0}});
                turn.say(serde_json::from_value::<v2::ContentBlock>(good)?)
                    .await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent.about(About::new("a", "1").accepts(all()))).await;
        let image = |data: &str| json!([{"type": "image", "data": data, "mimeType": "image/png"}]);
        let refused = talk.prompt_with(image("%%%")).await;
        assert_eq!(talk.answered(refused).await["error"]["code"], -32602);
        let taken = talk.prompt_with(image("YQ==")).await;
        let ended = talk.end(taken).await;
        assert_eq!(said(&ended.seen), "good");
    }
}
