//! Prompts: how they end, well or badly.

use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::json;

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::Stopped;

/// How long a client is left in doubt.
const DOUBT: Duration = Duration::from_millis(400);

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-PROMPT-17",
            "A prompt that fails is told to the user, and the client goes on.",
            "One failure of the agent ends the client.",
            "Show the error's message, and keep the session.",
        )
        .should(),
        rule(
            "V1-PROMPT-18",
            "When the agent is gone, its open prompt is over at once.",
            "The client shows a turn that never ends.",
            "End everything that waits when the pipe closes.",
        )
        .unspecified(),
        rule(
            "V1-ERR-03",
            "Error codes that are not known are shown like others.",
            "One failure of the agent ends the client.",
            "Treat every code alike but those that you know.",
        ),
        rule(
            "V2-ERR-01",
            "Errors of every code are taken.",
            "One failure of the agent ends the client.",
            "Treat every code alike but those that you know.",
        ),
        rule(
            "V2-PROMPT-08",
            "An older agent's answer without a message id is taken.",
            "Agents of last season cannot be used.",
            "Find the message by the next `user_message`.",
        )
        .unspecified(),
        rule(
            "V2-PROMPT-17",
            "The answer to a prompt is not the end of its work.",
            "The client stops listening while the agent works.",
            "Wait for `idle`.",
        ),
        rule(
            "V2-STATE-14",
            "An idle that was told before the prompt's own work began is not its end.",
            "The client stops listening while the agent works.",
            "Count an idle only after the prompt's own message or a running state.",
        )
        .unspecified(),
    ],
    scenes: &[
        Scene {
            name: "prompt-fails",
            start: Start::AtBeginning,
            rules: &["V1-PROMPT-17", "V1-ERR-03", "V2-ERR-01"],
            leaves: false,
            run: |stage| Box::pin(prompt_fails(stage)),
        },
        Scene {
            name: "agent-exits",
            start: Start::AtPrompt,
            rules: &["V1-PROMPT-18"],
            leaves: true,
            run: |stage| Box::pin(agent_exits(stage)),
        },
        Scene {
            name: "late-idle",
            start: Start::AtBeginning,
            rules: &["V2-PROMPT-17", "V2-STATE-14"],
            leaves: false,
            run: |stage| Box::pin(late_idle(stage)),
        },
        Scene {
            name: "old-answer",
            start: Start::AtBeginning,
            rules: &["V2-PROMPT-08"],
            leaves: false,
            run: |stage| Box::pin(old_answer(stage)),
        },
    ],
};

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
    let saw = "the client took an idle from before its prompt for the end";
    still_listens(stage, "V2-STATE-14", saw).await?;
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
    let saw = "the client took the answer to its prompt for the end";
    still_listens(stage, "V2-PROMPT-17", saw).await?;
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
    let what = "an answer to its prompt without a message id";
    stage.bear(&["V2-PROMPT-08"], what);
    let frame = stage.respond(&prompt.id, json!({})).await?;
    let content = prompt.params.get("prompt").cloned().unwrap_or_default();
    stage
        .update(
            json!({"sessionUpdate": "user_message", "messageId": "august-1", "content": content}),
        )
        .await?;
    stage.state("running").await?;
    stage.survives(&["V2-PROMPT-08"], &[frame], what).await
}
