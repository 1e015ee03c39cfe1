//! Sessions: how they begin, and what may come before or after their answers.

use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::json;

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::{Reply, Stopped};
use crate::recording::Frame;

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-SESS-12",
            "Updates of a session may come before the answer that names it.",
            "Commands and messages that agents send early are lost, or the connection ends.",
            "Keep such updates until the answer comes.",
        )
        .unspecified(),
        rule(
            "V1-PROMPT-11",
            "Updates may come outside of a turn.",
            "Background work and command lists of agents are lost, or the connection ends.",
            "Show them like any other.",
        )
        .unspecified(),
        rule(
            "V1-LOAD-07",
            "The replay of a loaded session is taken in before its answer.",
            "Old sessions look empty.",
            "Route updates by their session from the moment that the load is sent.",
        ),
        rule(
            "V1-LOAD-08",
            "The answer to `session/load` may be null.",
            "Old sessions cannot be opened.",
            "Take null for an empty object.",
        ),
        rule(
            "V1-CONF-06",
            "Options of an unknown type are ignored.",
            "One option loses all of them.",
            "Skip the option.",
        )
        .should(),
        rule(
            "V1-CONF-07",
            "Categories may be missing or unknown.",
            "One option loses all of them.",
            "Take an unknown category for none.",
        ),
        rule(
            "V2-SESS-06",
            "A state that was told before the answer to `session/new` is kept.",
            "The client shows an idle session that works.",
            "Take the session as idle only if nothing else was told.",
        ),
        rule(
            "V2-CONF-06",
            "Options of an unknown type are ignored.",
            "One option loses all of them.",
            "Skip the option.",
        )
        .should(),
        rule(
            "V2-CMD-04",
            "Commands and inputs of an unknown type are shown plainly or hidden.",
            "One command loses all of them.",
            "Skip what you cannot show.",
        )
        .should(),
        rule(
            "V2-CMD-03",
            "Commands may come with the session and be replaced later.",
            "The client offers commands that are gone.",
            "Replace the whole list with each update.",
        ),
    ],
    scenes: &[
        Scene {
            name: "early-updates",
            start: Start::AtBeginning,
            rules: &["V1-SESS-12", "V2-SESS-06", "V2-RPC-03"],
            leaves: false,
            run: |stage| Box::pin(early_updates(stage)),
        },
        Scene {
            name: "idle-updates",
            start: Start::AtBeginning,
            rules: &["V1-PROMPT-11", "V2-STATE-07", "V2-TOOL-08"],
            leaves: false,
            run: |stage| Box::pin(idle_updates(stage)),
        },
        Scene {
            name: "odd-options",
            start: Start::AtBeginning,
            rules: &[
                "V1-CONF-06",
                "V1-CONF-07",
                "V1-LOAD-07",
                "V1-LOAD-08",
                "V2-CONF-06",
                "V2-CMD-03",
                "V2-CMD-04",
            ],
            leaves: false,
            run: |stage| Box::pin(odd_options(stage)),
        },
    ],
};

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
        return Err(Stopped::Other("the client makes no new session".to_owned()));
    };
    stage.bear(
        &["V1-SESS-12", "V2-SESS-06"],
        "updates that came before the answer to `session/new`",
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
    let rules = ["V1-SESS-12", "V2-SESS-06"];
    let saw = "the client did not go on after updates that came before the answer to `session/new`";
    stage.judge(&rules, is_kept, &[first, second], saw);
    reached
}

/// Updates between the answer to `session/new` and the prompt.
async fn idle_updates(stage: &mut Stage) -> Result<(), Stopped> {
    let Some(held) = hold_new(stage).await? else {
        return Err(Stopped::Other("the client makes no new session".to_owned()));
    };
    let mut setup = stage.house.lock().setup.clone();
    super::stage::merge(&mut setup, &json!({"sessionId": "check-idle"}));
    stage.respond(&held.id, setup).await?;
    stage.session = "check-idle".to_owned();
    let rules = ["V1-PROMPT-11", "V2-STATE-07", "V2-TOOL-08"];
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
    let saw = "the client sent no prompt after updates that came outside of a turn";
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
    let rules = ["V1-CONF-06", "V1-CONF-07", "V2-CONF-06", "V2-CMD-04"];
    let saw =
        "the client sent no prompt in a session with options or commands that it does not know";
    stage.judge(&rules, reached.is_ok(), &[], saw);
    let is_load = |frame: &Frame| frame.method() == Some("session/load");
    let load = stage.recording().with_frames(|frames| {
        frames
            .iter()
            .find(|frame| is_load(frame))
            .map(|frame| frame.number)
    });
    if let Some(load) = load {
        let saw = "the client sent no prompt after a session was loaded with the answer null";
        stage.judge(&["V1-LOAD-07", "V1-LOAD-08"], reached.is_ok(), &[load], saw);
    }
    reached?;
    stage.bear(&["V2-CMD-03"], "another list of commands");
    let commands = match stage.version {
        Version::V1 => json!([]),
        Version::V2 => json!([{"type": "command", "name": "other", "description": "Another"}]),
    };
    let update =
        json!({"sessionUpdate": "available_commands_update", "availableCommands": commands});
    let frame = stage.update(update).await?;
    stage
        .survives(&["V2-CMD-03"], &[frame], "another list of commands")
        .await
}
