//! Scenes in which nothing is strange: what every message of a client shows, shows here too.

use serde_json::json;

use super::scene::{Scene, Start};
use super::stage::{Stage, bare};
use crate::peer::Stopped;
use crate::rule::id;

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "plain-turn",
        start: Start::AtPrompt,
        // These need to know first whether the client ends with a turn that goes well.
        rules: &[
            id::V1_PROMPT_17,
            id::V1_PROMPT_18,
            id::V1_ERR_03,
            id::V2_ERR_01,
        ],
        leaves: false,
        run: |stage| Box::pin(plain_turn(stage)),
    },
    Scene {
        name: "bare-agent",
        start: Start::AtBeginning,
        rules: &[id::V1_INIT_12, id::V2_INIT_21],
        leaves: false,
        run: |stage| Box::pin(bare_agent(stage)),
    },
];

/// A turn as it should be. What the client is like is seen from its messages.
async fn plain_turn(stage: &mut Stage) -> Result<(), Stopped> {
    stage.say("Hello. All is as it should be.").await?;
    stage
        .tool_call("plain-1", json!({"status": "in_progress"}))
        .await?;
    stage
        .tool_update("plain-1", json!({"status": "completed"}))
        .await?;
    // Nothing is lost by hearing what the client does about it.
    stage.listen(std::time::Duration::from_millis(50)).await?;
    stage.end_turn("end_turn").await.map(drop)
}

/// An agent that offers no more than it must: whatever is optional is not to be called.
async fn bare_agent(stage: &mut Stage) -> Result<(), Stopped> {
    let welcome = bare(stage.version);
    stage.house.lock().welcome = welcome;
    stage.house.lock().setup = json!({});
    stage.reach_prompt().await?;
    stage.judge(&[id::V1_INIT_12, id::V2_INIT_21], true, &[], "");
    stage.say("Hello from an agent that can do little.").await?;
    stage.end_turn("end_turn").await.map(drop)
}
