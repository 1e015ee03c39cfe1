//! Prompts: how they end, well or badly.

use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::json;

use super::scene::{Scene, Start};
use super::stage::Stage;
use crate::peer::Stopped;
use crate::rule::id;

/// How long a client is left in doubt.
const DOUBT: Duration = Duration::from_millis(400);

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "prompt-fails",
        start: Start::AtBeginning,
        rules: &[id::V1_PROMPT_17, id::V1_ERR_03, id::V2_ERR_01],
        leaves: false,
        run: |stage| Box::pin(prompt_fails(stage)),
    },
    Scene {
        name: "agent-exits",
        start: Start::AtPrompt,
        rules: &[id::V1_PROMPT_18],
        leaves: true,
        run: |stage| Box::pin(agent_exits(stage)),
    },
    Scene {
        name: "late-idle",
        start: Start::AtBeginning,
        rules: &[id::V2_PROMPT_17, id::V2_STATE_14],
        leaves: false,
        run: |stage| Box::pin(late_idle(stage)),
    },
    Scene {
        name: "old-answer",
        start: Start::AtBeginning,
        rules: &[id::V2_PROMPT_08],
        leaves: false,
        run: |stage| Box::pin(old_answer(stage)),
    },
];

/// The prompt is answered with an error of a strange code. That the client does not crash is seen from outside.
async fn prompt_fails(stage: &mut Stage) -> Result<(), Stopped> {
    stage.receive_prompt().await?;
    if let Some(prompt) = stage.prompt.take() {
        let error =
            json!({"code": -31999, "message": "The model is out of paper", "data": {"tray": 2}});
        stage
            .send(&json!({"jsonrpc": "2.0", "id": prompt.id, "error": error}))
            .await?;
    }
    Ok(())
}

/// The agent says something and is gone.
async fn agent_exits(stage: &mut Stage) -> Result<(), Stopped> {
    stage.say("I have to").await?;
    stage.prompt = None;
    Ok(())
}

/// Judges whether the client still listens: it neither closes the connection nor goes on to something else.
async fn still_listens(stage: &mut Stage, rule: &str, saw: &str) -> Result<(), Stopped> {
    let heard = stage.listen(DOUBT).await;
    let is_kept = match &heard {
        Ok(frames) => !frames
            .iter()
            .any(|frame| frame.method() == Some("session/close")),
        Err(_) => false,
    };
    stage.judge(&[rule], is_kept, &[], saw);
    heard.map(drop)
}

async fn late_idle(stage: &mut Stage) -> Result<(), Stopped> {
    stage.receive_prompt().await?;
    // What is told of the time before the prompt comes in between.
    stage.state("idle").await?;
    let saw = "the client treated an idle state from before its prompt as the end";
    still_listens(stage, id::V2_STATE_14, saw).await?;
    let Some(prompt) = stage
        .prompt
        .clone()
        .filter(|_| stage.version == Version::V2)
    else {
        return Ok(());
    };
    stage
        .respond(&prompt.id, json!({"messageId": "late-1"}))
        .await?;
    let saw = "the client treated the prompt response as the end";
    still_listens(stage, id::V2_PROMPT_17, saw).await?;
    let content = prompt.params.get("prompt").cloned().unwrap_or_default();
    stage
        .update(json!({"sessionUpdate": "user_message", "messageId": "late-1", "content": content}))
        .await?;
    stage.state("running").await?;
    stage.say("Here I am at last.").await?;
    stage.end_turn("end_turn").await.map(drop)
}

async fn old_answer(stage: &mut Stage) -> Result<(), Stopped> {
    stage.receive_prompt().await?;
    let Some(prompt) = stage.prompt.clone() else {
        return Ok(());
    };
    let what = "a prompt response without a message id";
    stage.bear(&[id::V2_PROMPT_08], what);
    let frame = stage.respond(&prompt.id, json!({})).await?;
    let content = prompt.params.get("prompt").cloned().unwrap_or_default();
    stage
        .update(
            json!({"sessionUpdate": "user_message", "messageId": "august-1", "content": content}),
        )
        .await?;
    stage.state("running").await?;
    stage.survives(&[id::V2_PROMPT_08], &[frame], what).await
}
