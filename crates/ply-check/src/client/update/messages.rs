//! Messages, and what they hold.

use ply_wire::negotiate::Version;
use serde_json::json;

use crate::client::scene::{Scene, Start, Topic, rule};
use crate::client::stage::Stage;
use crate::peer::Stopped;

const LOST: &str =
    "What the agent says is not shown, or the connection ends in the middle of a turn.";

pub(in crate::client) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-CONTENT-09",
            "Annotations are advice, and may be odd.",
            LOST,
            "Ignore annotations that you do not know.",
        )
        .may(),
        rule(
            "V1-CONTENT-12",
            "Messages may hold every kind of content.",
            LOST,
            "Show a placeholder for what you cannot show.",
        )
        .unspecified(),
        rule(
            "V1-MSGID-02",
            "Ids of messages are opaque texts; null is none.",
            LOST,
            "Compare ids as texts, and read null as absent.",
        ),
        rule(
            "V2-MSG-02",
            "A whole message replaces what its chunks said; null clears it.",
            LOST,
            "Keep messages by their id.",
        ),
        rule(
            "V2-MSG-04",
            "Chunks of several messages may come mixed.",
            LOST,
            "Keep messages by their id.",
        ),
        rule(
            "V2-MSG-05",
            "A message of the user and one of the agent may share an id.",
            LOST,
            "Keep messages by their kind and id.",
        ),
        rule(
            "V2-CONTENT-02",
            "Links to resources may have icons.",
            LOST,
            "Ignore icons that you cannot show.",
        )
        .may(),
    ],
    scenes: &[
        Scene {
            name: "every-content",
            start: Start::AtPrompt,
            rules: &[
                "V1-CONTENT-09",
                "V1-CONTENT-12",
                "V1-MSGID-02",
                "V2-CONTENT-01",
                "V2-CONTENT-02",
            ],
            leaves: false,
            run: |stage| Box::pin(every_content(stage)),
        },
        Scene {
            name: "messages",
            start: Start::AtPrompt,
            rules: &["V2-MSG-02", "V2-MSG-04", "V2-MSG-05"],
            leaves: false,
            run: |stage| Box::pin(messages(stage)),
        },
    ],
};

async fn every_content(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(&["V1-CONTENT-12", "V2-CONTENT-01"], "content of every kind");
    let blocks = [
        json!({"type": "text", "text": "plain"}),
        json!({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}),
        json!({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}),
        json!({"type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"}),
        json!({"type": "resource", "resource": {"uri": "file:///a.txt", "text": "a"}}),
        json!({"type": "resource", "resource": {"uri": "file:///b", "blob": "AAEC"}}),
        json!({"type": "_smell", "of": "roses"}),
    ];
    let mut frames = Vec::new();
    for block in blocks {
        let update =
            json!({"sessionUpdate": "agent_message_chunk", "messageId": "all-1", "content": block});
        frames.push(stage.update(update).await?);
    }
    let rules = ["V1-CONTENT-12", "V2-CONTENT-01"];
    stage
        .survives(&rules, &frames, "content of every kind")
        .await?;
    if stage.version == Version::V2 {
        stage.bear(&["V2-CONTENT-02"], "a link with icons");
        let icons =
            json!([{"src": "https://example.org/a.png"}, {"src": "data:image/png;base64,AA=="}]);
        let link =
            json!({"type": "resource_link", "name": "a", "uri": "file:///a", "icons": icons});
        let frame = stage.update(json!({"sessionUpdate": "agent_message_chunk", "messageId": "icon-1", "content": link})).await?;
        return stage
            .survives(&["V2-CONTENT-02"], &[frame], "a link with icons")
            .await;
    }
    stage.bear(&["V1-CONTENT-09"], "odd annotations");
    let odd = json!({"type": "text", "text": "odd", "annotations": {"audience": ["nobody"], "priority": 1.5, "mood": "blue", "lastModified": "yesterday"}});
    let odd = stage
        .update(json!({"sessionUpdate": "agent_message_chunk", "content": odd}))
        .await?;
    stage
        .survives(&["V1-CONTENT-09"], &[odd], "odd annotations")
        .await?;
    stage.bear(&["V1-MSGID-02"], "odd ids of messages");
    let mut frames = Vec::new();
    for id in [json!("1"), json!("01"), json!(" 1 "), json!(null)] {
        let content = json!({"type": "text", "text": "under an odd id"});
        frames.push(stage.update(json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": content})).await?);
    }
    stage
        .survives(&["V1-MSGID-02"], &frames, "odd ids of messages")
        .await
}

async fn messages(stage: &mut Stage) -> Result<(), Stopped> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let chunk = |id: &str, part: &str| json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": text(part)});
    stage.bear(&["V2-MSG-04"], "chunks of several messages");
    let mut mixed = Vec::new();
    for (id, part) in [
        ("a", "one "),
        ("b", "two "),
        ("a", "three "),
        ("c", "four "),
        ("b", "five"),
    ] {
        mixed.push(stage.update(chunk(id, part)).await?);
    }
    stage
        .survives(&["V2-MSG-04"], &mixed, "chunks of several messages")
        .await?;
    stage.bear(&["V2-MSG-02"], "messages that replace what was said");
    let whole = stage.update(json!({"sessionUpdate": "agent_message", "messageId": "a", "content": [text("all of it")]})).await?;
    let null = stage
        .update(json!({"sessionUpdate": "agent_message", "messageId": "b", "content": null}))
        .await?;
    let kept = stage
        .update(json!({"sessionUpdate": "agent_message", "messageId": "c"}))
        .await?;
    stage
        .survives(
            &["V2-MSG-02"],
            &[whole, null, kept],
            "messages that replace what was said",
        )
        .await?;
    stage.bear(
        &["V2-MSG-05"],
        "a message of the user under an id of the agent",
    );
    let user = stage.update(json!({"sessionUpdate": "user_message", "messageId": "a", "content": [text("from the user")]})).await?;
    stage
        .survives(
            &["V2-MSG-05"],
            &[user],
            "a message of the user under an id of the agent",
        )
        .await
}
