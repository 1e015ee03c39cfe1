//! The states of a version 2 session.

use std::time::Duration;

use serde_json::json;

use super::scene::{Scene, Start};
use super::stage::Stage;
use crate::peer::Stopped;
use crate::rule::id;

/// How long a client is left in doubt.
const DOUBT: Duration = Duration::from_millis(300);

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "states",
        start: Start::AtPrompt,
        rules: &[id::V2_STATE_08, id::V2_STATE_10, id::V2_BG_05],
        leaves: false,
        run: |stage| Box::pin(states(stage)),
    },
    Scene {
        name: "odd-stop",
        start: Start::AtPrompt,
        rules: &[id::V2_STOP_05],
        leaves: false,
        run: |stage| Box::pin(odd_stop(stage)),
    },
];

/// States that are no end: the client must go on listening.
async fn states(stage: &mut Stage) -> Result<(), Stopped> {
    let steps = [
        (
            id::V2_STATE_08,
            json!({"state": "running"}),
            "a state was repeated",
        ),
        (
            id::V2_STATE_10,
            json!({"state": "_paused", "until": "noon"}),
            "an unknown state was reported",
        ),
        (
            id::V2_BG_05,
            json!({"state": "running", "background": [{"type": "_x", "id": 1}]}),
            "unknown background work was reported",
        ),
        (
            id::V2_BG_05,
            json!({"state": "running", "background": 3}),
            "an invalid list of background work was sent",
        ),
    ];
    for (rule, members, what) in steps {
        let mut update = json!({"sessionUpdate": "state_update"});
        super::stage::merge(&mut update, &members);
        let frame = stage.update(update).await?;
        let heard = stage.listen(DOUBT).await;
        let goes_on = match &heard {
            Ok(frames) => !frames
                .iter()
                .any(|frame| frame.method() == Some("session/close")),
            Err(_) => false,
        };
        let saw = format!("the client ended the session when {what}");
        stage.judge(&[rule], goes_on, &[frame], saw);
        heard?;
        stage.survives(&[rule], &[frame], "a state update").await?;
    }
    Ok(())
}

async fn odd_stop(stage: &mut Stage) -> Result<(), Stopped> {
    stage.say("That is all.").await?;
    let update = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "_bored"});
    let frame = stage.update(update).await?;
    stage.prompt = None;
    // A client that ends with its turn ends now, which is as good as an answer.
    match stage.ping().await {
        Ok(Some(_)) | Err(_) => stage.judge(&[id::V2_STOP_05], true, &[frame], ""),
        Ok(None) => stage.judge(
            &[id::V2_STOP_05],
            false,
            &[frame],
            "the client stops responding after an unknown stop reason",
        ),
    }
    Ok(())
}
