//! Cancelling: the turn, and single requests.

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{Scene, Start};
use super::stage::Stage;
use crate::peer::{Answer, Stopped};
use crate::rule::id;

/// How long a client may take to answer open questions once it has cancelled.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(3);

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "cancel-turn",
        start: Start::AtPrompt,
        rules: &[
            id::V1_CANCEL_01,
            id::V1_CANCEL_08,
            id::V2_CANCEL_01,
            id::V2_CANCEL_09,
        ],
        leaves: false,
        run: |stage| Box::pin(cancel_turn(stage)),
    },
    Scene {
        name: "cancel-permissions",
        start: Start::AtPrompt,
        rules: &[id::V1_CANCEL_03, id::V1_PERM_08, id::V2_CANCEL_03],
        leaves: false,
        run: |stage| Box::pin(cancel_permissions(stage)),
    },
    Scene {
        name: "take-back",
        start: Start::AtPrompt,
        rules: &[id::V1_CREQ_03, id::V2_CREQ_01, id::V2_CREQ_04],
        leaves: false,
        run: |stage| Box::pin(take_back(stage)),
    },
    Scene {
        name: "take-back-nothing",
        start: Start::AtPrompt,
        rules: &[id::V1_CREQ_08, id::V2_CREQ_02],
        leaves: false,
        run: |stage| Box::pin(take_back_nothing(stage)),
    },
];

/// Returns whether an answer is `cancelled`, or that its request was.
fn is_cancelled(answer: &Answer) -> bool {
    let outcome = answer
        .result()
        .and_then(|result| result.pointer("/outcome/outcome"));
    outcome.and_then(Value::as_str) == Some("cancelled")
}

fn nobody_cancelled() -> Stopped {
    Stopped::Other("the client did not cancel when it was interrupted".to_owned())
}

async fn cancel_turn(stage: &mut Stage) -> Result<(), Stopped> {
    stage.say("This will take a while.").await?;
    stage
        .tool_call("slow-1", json!({"status": "in_progress"}))
        .await?;
    let cancel = match stage.interrupt().await {
        Ok(cancel) => cancel,
        Err(Stopped::Ended) => return Err(nobody_cancelled()),
        Err(stopped) => return Err(stopped),
    };
    let cancel = cancel.ok_or_else(nobody_cancelled)?;
    let is_right = cancel.session() == Some(stage.session.as_str());
    let saw = "`session/cancel` names another session";
    stage.judge(
        &[id::V1_CANCEL_01, id::V2_CANCEL_01],
        is_right,
        &[cancel.number],
        saw,
    );
    let late = stage
        .tool_update("slow-1", json!({"status": "completed"}))
        .await?;
    let more = stage.say("That was already done.").await?;
    let frames = [cancel.number, late, more];
    let rules = [id::V1_CANCEL_08, id::V2_CANCEL_09];
    // A client that ends once it has cancelled does not say anything about what it takes.
    match stage.ping().await {
        Ok(Some(_)) => stage.judge(&rules, true, &frames, ""),
        Ok(None) => stage.judge(
            &rules,
            false,
            &frames,
            "the client stops responding after its cancel",
        ),
        Err(_) => return Ok(()),
    }
    stage.end_turn("cancelled").await.map(drop)
}

async fn cancel_permissions(stage: &mut Stage) -> Result<(), Stopped> {
    let mut open = Vec::new();
    for tool in ["ask-1", "ask-2", "ask-3"] {
        open.push(stage.ask_permission(tool).await?);
    }
    // What the client decides by itself is decided by now; the rest waits for a person.
    stage.listen(Duration::from_millis(300)).await?;
    let is_open = |stage: &Stage, call: &crate::peer::Call| {
        let id = call.id.clone();
        let answered = stage.seen_since(call.frame, move |frame| {
            frame.is_answer() && frame.id() == Some(&id)
        });
        answered.is_none()
    };
    let still: Vec<_> = open
        .into_iter()
        .filter(|call| is_open(stage, call))
        .collect();
    if still.is_empty() {
        // The client decides by itself, so that nothing is open when it cancels: there is nothing to judge.
        return Ok(());
    }
    let cancel = match stage.interrupt().await {
        Ok(cancel) => cancel,
        Err(Stopped::Ended) => return Err(nobody_cancelled()),
        Err(stopped) => return Err(stopped),
    };
    let cancel = cancel.ok_or_else(nobody_cancelled)?;
    // Version 2 leaves it to the agent to take them back.
    if stage.version == ply_wire::negotiate::Version::V2 {
        for call in &still {
            stage
                .notify("$/cancel_request", json!({"requestId": call.id}))
                .await?;
        }
    }
    let patience = std::mem::replace(&mut stage.patience, ANSWER_TIME_MAX);
    let rules = [id::V1_CANCEL_03, id::V1_PERM_08, id::V2_CANCEL_03];
    for call in &still {
        match stage.answer(call).await {
            Ok(answer) => {
                let frames = [call.frame, cancel.number, answer.frame];
                let is_kept = is_cancelled(&answer) || answer.error_code() == Some(-32800);
                let saw = "an open permission request did not return `cancelled` after the cancel";
                // In version 1 an error is no outcome.
                let is_kept = is_kept
                    && (stage.version == ply_wire::negotiate::Version::V2 || is_cancelled(&answer));
                stage.judge(&rules, is_kept, &frames, saw);
            }
            Err(Stopped::Silent { .. }) => {
                let saw = "an open permission request got no response after the cancel";
                stage.judge(
                    &[id::V1_CANCEL_03, id::V2_CANCEL_03],
                    false,
                    &[call.frame, cancel.number],
                    saw,
                );
            }
            Err(Stopped::Ended) => {
                let saw = "the client closed the connection with a permission request open";
                stage.judge(
                    &[id::V1_CANCEL_03, id::V2_CANCEL_03],
                    false,
                    &[call.frame, cancel.number],
                    saw,
                );
                return Ok(());
            }
            Err(stopped) => return Err(stopped),
        }
    }
    stage.patience = patience;
    stage.end_turn("cancelled").await.map(drop)
}

/// A question that is taken back is answered all the same.
async fn take_back(stage: &mut Stage) -> Result<(), Stopped> {
    let call = stage.ask_permission("back-1").await?;
    let notice = stage
        .notify("$/cancel_request", json!({"requestId": call.id}))
        .await?;
    let rules = [id::V1_CREQ_03, id::V2_CREQ_01];
    // A client without support goes on asking its user, which takes as long as it takes; version 2 has no such choice.
    let answer = match stage.answer(&call).await {
        Ok(answer) => answer,
        Err(Stopped::Silent { .. }) => {
            let saw = "a permission request that the agent cancelled got no response";
            stage.judge(
                &[id::V2_CREQ_01, id::V2_CREQ_04],
                false,
                &[call.frame, notice],
                saw,
            );
            stage.not_offered(&[id::V1_CREQ_03], "`$/cancel_request`");
            return Ok(());
        }
        Err(stopped) => return Err(stopped),
    };
    let frames = [call.frame, notice, answer.frame];
    let is_lawful = answer.result().is_some() || answer.error_code() == Some(-32800);
    let saw = "a cancelled request returned an error other than -32800";
    stage.judge(&[id::V2_CREQ_01], is_lawful, &frames, saw);
    // Only those who support it are bound. An error shows support if a question that is not taken back gets none.
    let mut fails_always = false;
    if !is_lawful {
        let control = stage.ask_permission("back-2").await?;
        fails_always = match stage.answer(&control).await {
            Ok(answer) => answer.result().is_none(),
            Err(Stopped::Silent { .. }) => false,
            Err(stopped) => return Err(stopped),
        };
    }
    match fails_always {
        true => stage.not_offered(&[id::V1_CREQ_03], "`$/cancel_request`"),
        false => stage.judge(&[id::V1_CREQ_03], is_lawful, &frames, saw),
    }
    // It may have been answered before the notice came.
    let was_first = answer.result().is_some_and(|_| !is_cancelled(&answer));
    let is_kept = is_cancelled(&answer) || was_first;
    let saw = "a cancelled permission request returned an error";
    stage.judge(&[id::V2_CREQ_04], is_kept, &frames, saw);
    let id = call.id.clone();
    stage.listen(Duration::from_millis(150)).await?;
    let second = stage.seen_since(answer.frame, move |frame| {
        frame.is_answer() && frame.id() == Some(&id)
    });
    let saw = "a cancelled request got two responses";
    stage.judge(&rules, second.is_none(), &frames, saw);
    Ok(())
}

async fn take_back_nothing(stage: &mut Stage) -> Result<(), Stopped> {
    let rules = [id::V1_CREQ_08, id::V2_CREQ_02];
    stage.bear(&rules, "`$/cancel_request` for requests that never were");
    let first = stage
        .notify("$/cancel_request", json!({"requestId": 987_654}))
        .await?;
    let second = stage
        .notify("$/cancel_request", json!({"requestId": "never used"}))
        .await?;
    stage
        .survives(
            &rules,
            &[first, second],
            "`$/cancel_request` for requests that never were",
        )
        .await?;
    stage.bear(
        &rules,
        "`$/cancel_request` for a request that it had answered",
    );
    // The one that was just answered, too.
    let answered = stage.ping().await?;
    let Some(answered) = answered else {
        return Ok(());
    };
    let id = stage.recording().with_frames(|frames| {
        frames
            .get(answered.request)
            .and_then(|frame| frame.id().cloned())
    });
    let third = stage
        .notify("$/cancel_request", json!({"requestId": id}))
        .await?;
    stage
        .survives(
            &rules,
            &[third],
            "`$/cancel_request` for a request that it had answered",
        )
        .await
}
