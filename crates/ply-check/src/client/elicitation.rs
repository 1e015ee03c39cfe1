//! Requests for information.

use serde_json::{Value, json};

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::{Answer, Stopped};

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-ELIC-14",
            "What the user gives fits the form.",
            "The agent refuses what the user typed, without the user knowing why.",
            "Check the values before they are sent.",
        )
        .gate("elicitation.form")
        .should(),
        rule(
            "V1-ELIC-16",
            "The answer's action is accept, decline or cancel.",
            "The agent cannot tell what the user wants.",
            "Use one of the three.",
        )
        .gate("elicitation"),
        rule(
            "V1-ELIC-21",
            "Ids of addresses that are unknown are ignored.",
            "The connection ends by a mere race.",
            "Ignore them.",
        ),
        rule(
            "V1-ELIC-22",
            "A request in a mode that was not offered is refused with -32602.",
            "The agent waits for an answer that never comes.",
            "Answer -32602; -32601 if no mode is offered at all.",
        ),
        rule(
            "V1-ELIC-27",
            "A request in an unknown mode is not shown as a known one.",
            "The user consents to what was never meant.",
            "Answer -32602.",
        ),
        rule(
            "V2-ELIC-01",
            "Requests for information are answered as in version 1.",
            "The agent waits, or cannot tell what the user wants.",
            "See the rules V1-ELIC.",
        ),
    ],
    scenes: &[
        Scene {
            name: "form",
            start: Start::AtPrompt,
            rules: &[
                "V1-INIT-17",
                "V1-ELIC-14",
                "V1-ELIC-16",
                "V1-ELIC-22",
                "V2-ELIC-01",
            ],
            leaves: false,
            run: |stage| Box::pin(form(stage)),
        },
        Scene {
            name: "odd-elicitation",
            start: Start::AtPrompt,
            rules: &["V1-ELIC-21", "V1-ELIC-22", "V1-ELIC-27", "V2-ELIC-01"],
            leaves: false,
            run: |stage| Box::pin(odd(stage)),
        },
    ],
};

fn said(answer: &Answer) -> String {
    match answer.error_code() {
        Some(code) => format!("the answer was the error {code}"),
        None => format!("the answer was {}", answer.result().unwrap_or(&Value::Null)),
    }
}

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
        stage.not_offered(&["V1-ELIC-14", "V1-ELIC-16"], "forms");
        let is_kept = is_refusal(stage, &answer);
        let saw = format!("a form, which is not offered: {}", said(&answer));
        stage.judge(&["V1-ELIC-22", "V2-ELIC-01"], is_kept, &frames, saw);
        return Ok(());
    }
    stage.judge(
        &["V1-INIT-17"],
        answer.error_code() != Some(-32601),
        &frames,
        said(&answer),
    );
    let action = answer
        .result()
        .and_then(|result| result.get("action"))
        .and_then(Value::as_str);
    let is_known = matches!(action, Some("accept" | "decline" | "cancel"));
    stage.judge(
        &["V1-ELIC-16", "V2-ELIC-01"],
        is_known,
        &frames,
        said(&answer),
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
            &["V1-ELIC-14", "V2-ELIC-01"],
            is_fit,
            &frames,
            said(&answer),
        );
    }
    Ok(())
}

async fn odd(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(
        &["V1-ELIC-21", "V2-ELIC-01"],
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
            &["V1-ELIC-21", "V2-ELIC-01"],
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
    stage.judge(
        &["V1-ELIC-27", "V2-ELIC-01"],
        is_kept,
        &answer.frames(),
        said(&answer),
    );
    if stage.offers("/elicitation/url") {
        return Ok(());
    }
    let params = json!({"sessionId": stage.session, "mode": "url", "message": "Look here.", "elicitationId": "look-1", "url": "https://example.org/"});
    let answer = stage.ask("elicitation/create", params).await?;
    let is_kept = is_refusal(stage, &answer);
    let saw = format!("an address, which is not offered: {}", said(&answer));
    stage.judge(
        &["V1-ELIC-22", "V2-ELIC-01"],
        is_kept,
        &answer.frames(),
        saw,
    );
    Ok(())
}
