//! Sessions: how they begin, and what may come before or after their answers.

use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::json;

use super::scene::{Scene, Start};
use super::stage::Stage;
use crate::peer::{Reply, Stopped};
use crate::recording::Frame;
use crate::rule::id;

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "early-updates",
        start: Start::AtBeginning,
        rules: &[id::V1_SESS_12, id::V2_SESS_06, id::V2_RPC_03],
        leaves: false,
        run: |stage| Box::pin(early_updates(stage)),
    },
    Scene {
        name: "idle-updates",
        start: Start::AtBeginning,
        rules: &[id::V1_PROMPT_11, id::V2_STATE_07, id::V2_TOOL_08],
        leaves: false,
        run: |stage| Box::pin(idle_updates(stage)),
    },
    Scene {
        name: "odd-options",
        start: Start::AtBeginning,
        rules: &[
            id::V1_CONF_06,
            id::V1_CONF_07,
            id::V1_LOAD_07,
            id::V1_LOAD_08,
            id::V2_CONF_06,
            id::V2_CMD_03,
            id::V2_CMD_04,
        ],
        leaves: false,
        run: |stage| Box::pin(odd_options(stage)),
    },
];

/// Waits for `session/new` and leaves it open.
async fn hold_new(stage: &mut Stage) -> Result<Option<crate::peer::Held>, Stopped> {
    stage.service.on("session/new", |_| Reply::Hold);
    let opens = |frame: &Frame| {
        matches!(
            frame.method(),
            Some("session/new" | "session/load" | "session/resume" | "session/prompt")
        )
    };
    if stage.until(Duration::from_secs(10), opens).await?.is_none() {
        return Err(Stopped::Other("the client opened no session".to_owned()));
    }
    Ok(stage.service.take_held("session/new"))
}

async fn early_updates(stage: &mut Stage) -> Result<(), Stopped> {
    let Some(held) = hold_new(stage).await? else {
        return Err(Stopped::Other(
            "the client creates no new session".to_owned(),
        ));
    };
    stage.bear(
        &[id::V1_SESS_12, id::V2_SESS_06],
        "updates before the `session/new` response",
    );
    let command = match stage.version {
        Version::V1 => json!({"name": "early", "description": "Came early"}),
        Version::V2 => json!({"type": "command", "name": "early", "description": "Came early"}),
    };
    let update =
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [command]});
    let first = stage.update_in("check-early", update).await?;
    let text = json!({"sessionUpdate": "agent_message_chunk", "messageId": "early-1",
        "content": {"type": "text", "text": "I was early."}});
    let second = stage.update_in("check-early", text).await?;
    // What else the client asks for meanwhile is heard before the answer.
    stage.listen(Duration::from_millis(100)).await?;
    let mut setup = stage.house.lock().setup.clone();
    super::stage::merge(&mut setup, &json!({"sessionId": "check-early"}));
    stage.respond(&held.id, setup).await?;
    let reached = stage.reach_prompt().await;
    let is_kept = reached.is_ok() && stage.session == "check-early";
    let rules = [id::V1_SESS_12, id::V2_SESS_06];
    let saw = "the client stopped after updates that came before the `session/new` response";
    stage.judge(&rules, is_kept, &[first, second], saw);
    reached
}

/// Updates between the answer to `session/new` and the prompt.
async fn idle_updates(stage: &mut Stage) -> Result<(), Stopped> {
    let Some(held) = hold_new(stage).await? else {
        return Err(Stopped::Other(
            "the client creates no new session".to_owned(),
        ));
    };
    let mut setup = stage.house.lock().setup.clone();
    super::stage::merge(&mut setup, &json!({"sessionId": "check-idle"}));
    stage.respond(&held.id, setup).await?;
    stage.session = "check-idle".to_owned();
    let rules = [id::V1_PROMPT_11, id::V2_STATE_07, id::V2_TOOL_08];
    stage.bear(&rules, "updates outside of a turn");
    let first = stage
        .tool_call("background-1", json!({"status": "in_progress"}))
        .await?;
    let second = stage
        .tool_update("background-1", json!({"status": "completed"}))
        .await?;
    let third = stage.say("Something happened meanwhile.").await?;
    let frames = [first, second, third];
    let reached = stage.reach_prompt().await;
    let saw = "the client sent no prompt after updates outside of a turn";
    stage.judge(&rules, reached.is_ok(), &frames, saw);
    reached
}

async fn odd_options(stage: &mut Stage) -> Result<(), Stopped> {
    let setup = match stage.version {
        Version::V1 => json!({"configOptions": [
            {"id": "heat", "name": "Heat", "type": "slider", "min": 0, "max": 9, "currentValue": 4},
            {"id": "plain", "name": "Plain", "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "A"}]},
            {"id": "odd", "name": "Odd", "category": "zzz", "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "A"}]}
        ]}),
        Version::V2 => json!({
            "configOptions": [
                {"configId": "heat", "name": "Heat", "type": "_slider", "min": 0, "max": 9},
                {"configId": "odd", "name": "Odd", "category": "zzz", "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "A"}]}
            ],
            "availableCommands": [
                {"type": "_button", "name": "press", "description": "Pressed"},
                {"type": "command", "name": "say", "description": "Says", "input": {"type": "_voice", "hint": "speak"}}
            ]
        }),
    };
    stage.house.lock().setup = setup;
    let reached = stage.reach_prompt().await;
    let rules = [
        id::V1_CONF_06,
        id::V1_CONF_07,
        id::V2_CONF_06,
        id::V2_CMD_04,
    ];
    let saw = "the client sent no prompt in a session with unknown options or commands";
    stage.judge(&rules, reached.is_ok(), &[], saw);
    let is_load = |frame: &Frame| frame.method() == Some("session/load");
    let load = stage.recording().with_frames(|frames| {
        frames
            .iter()
            .find(|frame| is_load(frame))
            .map(|frame| frame.number)
    });
    if let Some(load) = load {
        let saw = "the client sent no prompt after `session/load` returned null";
        stage.judge(
            &[id::V1_LOAD_07, id::V1_LOAD_08],
            reached.is_ok(),
            &[load],
            saw,
        );
    }
    reached?;
    stage.bear(&[id::V2_CMD_03], "another list of commands");
    let commands = match stage.version {
        Version::V1 => json!([]),
        Version::V2 => json!([{"type": "command", "name": "other", "description": "Another"}]),
    };
    let update =
        json!({"sessionUpdate": "available_commands_update", "availableCommands": commands});
    let frame = stage.update(update).await?;
    stage
        .survives(&[id::V2_CMD_03], &[frame], "another list of commands")
        .await
}
