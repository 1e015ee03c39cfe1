//! Requests for information.

use serde_json::{Value, json};

use super::scene::{Scene, Start};
use super::stage::Stage;
use crate::peer::{Answer, Stopped};
use crate::rule::id;

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "form",
        start: Start::AtPrompt,
        rules: &[
            id::V1_INIT_17,
            id::V1_ELIC_14,
            id::V1_ELIC_16,
            id::V1_ELIC_22,
            id::V2_ELIC_01,
        ],
        leaves: false,
        run: |stage| Box::pin(form(stage)),
    },
    Scene {
        name: "odd-elicitation",
        start: Start::AtPrompt,
        rules: &[
            id::V1_ELIC_21,
            id::V1_ELIC_22,
            id::V1_ELIC_27,
            id::V2_ELIC_01,
        ],
        leaves: false,
        run: |stage| Box::pin(odd(stage)),
    },
];

/// A refusal of a mode: -32602, or -32601 where the method as such is not there.
fn is_refusal(stage: &Stage, answer: &Answer) -> bool {
    match answer.error_code() {
        Some(-32602) => true,
        Some(-32601) => !stage.offers("/elicitation"),
        _ => false,
    }
}

async fn form(stage: &mut Stage) -> Result<(), Stopped> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "default": "release"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "sign": {"type": "boolean", "default": true}
        },
        "required": ["name"]
    });
    let params = json!({"sessionId": stage.session, "mode": "form", "message": "What shall it be?", "requestedSchema": schema});
    let call = stage.begin("elicitation/create", params).await?;
    let answer = stage.decision(&call).await?;
    let frames = answer.frames();
    if !stage.offers("/elicitation/form") {
        stage.not_offered(&[id::V1_ELIC_14, id::V1_ELIC_16], "forms");
        let is_kept = is_refusal(stage, &answer);
        let saw = format!("a form, which is not advertised: {}", answer.said());
        stage.judge(&[id::V1_ELIC_22, id::V2_ELIC_01], is_kept, &frames, saw);
        return Ok(());
    }
    stage.judge(
        &[id::V1_INIT_17],
        answer.error_code() != Some(-32601),
        &frames,
        answer.said(),
    );
    let action = answer
        .result()
        .and_then(|result| result.get("action"))
        .and_then(Value::as_str);
    let is_known = matches!(action, Some("accept" | "decline" | "cancel"));
    stage.judge(
        &[id::V1_ELIC_16, id::V2_ELIC_01],
        is_known,
        &frames,
        answer.said(),
    );
    if action == Some("accept") {
        let content = answer.result().and_then(|result| result.get("content"));
        let is_fit = content.is_some_and(|content| {
            let has_name = content.get("name").is_some_and(Value::is_string);
            let count = content.get("count");
            let count_fits = count
                .is_none_or(|count| count.as_i64().is_some_and(|count| (1..=9).contains(&count)));
            has_name && count_fits && content.get("sign").is_none_or(Value::is_boolean)
        });
        stage.judge(
            &[id::V1_ELIC_14, id::V2_ELIC_01],
            is_fit,
            &frames,
            answer.said(),
        );
    }
    Ok(())
}

async fn odd(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(
        &[id::V1_ELIC_21, id::V2_ELIC_01],
        "the end of an address that never was",
    );
    let first = stage
        .notify(
            "elicitation/complete",
            json!({"elicitationId": "never was"}),
        )
        .await?;
    stage
        .survives(
            &[id::V1_ELIC_21, id::V2_ELIC_01],
            &[first],
            "the end of an address that never was",
        )
        .await?;
    let params = json!({"sessionId": stage.session, "mode": "_dream", "message": "Close your eyes.", "topic": "flying"});
    let answer = stage.ask("elicitation/create", params).await?;
    let is_kept = answer.error_code().is_some()
        || answer
            .result()
            .and_then(|result| result.get("action"))
            .and_then(Value::as_str)
            != Some("accept");
    stage.expect(&[id::V1_ELIC_27, id::V2_ELIC_01], is_kept, &answer);
    if stage.offers("/elicitation/url") {
        return Ok(());
    }
    let params = json!({"sessionId": stage.session, "mode": "url", "message": "Look here.", "elicitationId": "look-1", "url": "https://example.org/"});
    let answer = stage.ask("elicitation/create", params).await?;
    let is_kept = is_refusal(stage, &answer);
    let saw = format!("a URL, which is not advertised: {}", answer.said());
    stage.judge(
        &[id::V1_ELIC_22, id::V2_ELIC_01],
        is_kept,
        &answer.frames(),
        saw,
    );
    Ok(())
}
