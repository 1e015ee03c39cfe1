//! What a client knows after the messages it got: both versions fold to the same kind of transcript.

use ply_agent::transcript::Transcript;
use ply_agent::{v1, v2};
use ply_wire::lift::Lifter;
use serde_json::Value;

/// Folds what a client of version 2 was sent about one session, answers to its requests included.
pub(crate) fn v2_fold(messages: &[Value], session: &str) -> Transcript {
    let mut transcript = Transcript::new();
    for message in messages {
        let params = &message["params"];
        if message["method"] == "session/update" && params["sessionId"] == session {
            let update: v2::SessionUpdate = read(&params["update"]);
            transcript.apply(&update);
        } else if message["method"] == "session/request_permission" {
            let request: v2::RequestPermissionRequest = read(params);
            transcript.permission_requested(&request);
        } else if let Some(result) = message.get("result") {
            answer_v2(result, &mut transcript);
        }
    }
    transcript
}

fn answer_v2(result: &Value, transcript: &mut Transcript) {
    if let Some(options) = result.get("configOptions") {
        let update = v2::ConfigOptionUpdate::new(read::<Vec<_>>(options));
        transcript.apply(&v2::SessionUpdate::ConfigOptionUpdate(update));
    }
    if let Some(commands) = result.get("availableCommands") {
        let update = v2::AvailableCommandsUpdate::new(read::<Vec<_>>(commands));
        transcript.apply(&v2::SessionUpdate::AvailableCommandsUpdate(update));
    }
}

/// Folds what a client of version 1 was sent about one session, without its own prompts.
pub(crate) fn v1_fold(messages: &[Value], session: &str) -> Transcript {
    let (mut lifter, mut lifted) = (Lifter::new("lifted-", ""), Vec::new());
    for message in messages {
        let params = &message["params"];
        if message["method"] == "session/update" && params["sessionId"] == session {
            let update: v1::SessionUpdate = read(&params["update"]);
            lifter.update(update, &mut lifted);
        } else if message["method"] == "session/request_permission" {
            let request: v1::RequestPermissionRequest = read(params);
            // What was chosen is no part of the transcript.
            drop(lifter.permission_asked(&request.into(), &mut lifted));
        } else if let Some(options) = message["result"].get("configOptions") {
            let options: Vec<v1::SessionConfigOption> = read(options);
            let options = lifter.session_started(None, Some(&options));
            let update = v2::ConfigOptionUpdate::new(options);
            lifted.push(v2::SessionUpdate::ConfigOptionUpdate(update));
        }
    }
    Transcript::fold(&lifted)
}

/// Leaves out the user's messages, which a client of version 1 is not told about its own prompts.
pub(crate) fn without_prompts(messages: &[Value]) -> Vec<Value> {
    let is_prompt = |message: &&Value| {
        let kind = &message["params"]["update"]["sessionUpdate"];
        kind == "user_message" || kind == "user_message_chunk"
    };
    messages.iter().filter(|m| !is_prompt(m)).cloned().collect()
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}
