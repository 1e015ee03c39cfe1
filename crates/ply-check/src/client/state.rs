//! The states of a version 2 session.

use std::time::Duration;

use serde_json::json;

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::Stopped;

/// How long a client is left in doubt.
const DOUBT: Duration = Duration::from_millis(300);

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V2-STATE-07",
            "Updates while idle do not change the state.",
            "The client shows work that is none, or stops listening.",
            "Change the state by state updates alone.",
        ),
        rule(
            "V2-STATE-08",
            "A state that is told again changes nothing.",
            "The client tells of an end twice, or not at all.",
            "Act on changes only.",
        ),
        rule(
            "V2-STATE-10",
            "A state that is not known is not idle.",
            "The client stops listening while the agent works.",
            "Show it as busy until a known one comes.",
        ),
        rule(
            "V2-BG-05",
            "Background work of an unknown kind, or a malformed list, is taken.",
            "The connection ends in the middle of a turn.",
            "Show that something runs, or nothing.",
        ),
        rule(
            "V2-STOP-05",
            "A stop reason that is not known is shown as a plain end.",
            "The turn never ends, or the client crashes.",
            "Show it generically.",
        )
        .should(),
    ],
    scenes: &[
        Scene {
            name: "states",
            start: Start::AtPrompt,
            rules: &["V2-STATE-08", "V2-STATE-10", "V2-BG-05"],
            leaves: false,
            run: |stage| Box::pin(states(stage)),
        },
        Scene {
            name: "odd-stop",
            start: Start::AtPrompt,
            rules: &["V2-STOP-05"],
            leaves: false,
            run: |stage| Box::pin(odd_stop(stage)),
        },
    ],
};

/// States that are no end: the client must go on listening.
async fn states(stage: &mut Stage) -> Result<(), Stopped> {
    let steps = [
        (
            "V2-STATE-08",
            json!({"state": "running"}),
            "a state was told again",
        ),
        (
            "V2-STATE-10",
            json!({"state": "_paused", "until": "noon"}),
            "a state was told that it does not know",
        ),
        (
            "V2-BG-05",
            json!({"state": "running", "background": [{"type": "_x", "id": 1}]}),
            "background work was told that it does not know",
        ),
        (
            "V2-BG-05",
            json!({"state": "running", "background": 3}),
            "a malformed list of background work was told",
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
        Ok(Some(_)) | Err(_) => stage.judge(&["V2-STOP-05"], true, &[frame], ""),
        Ok(None) => stage.judge(
            &["V2-STOP-05"],
            false,
            &[frame],
            "the client answers nothing more after an unknown stop reason",
        ),
    }
    Ok(())
}
