//! What every message of an agent has to look like.

use std::path::Path;

use ply_agent::{v1, v2};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::script::Version;

/// Checks a message of the agent against the official types.
#[track_caller]
pub(crate) fn check(version: Version, message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    check_values(message);
    let params = &message["params"];
    match (version, message["method"].as_str().unwrap_or_default()) {
        (Version::V1, "session/update") => {
            read::<v1::SessionNotification>(params);
        }
        (Version::V2, "session/update") => {
            let update = read::<v2::UpdateSessionNotification>(params).update;
            let is_known = !matches!(update, v2::SessionUpdate::Other(_));
            assert!(is_known, "not an update of version 2: {params}");
        }
        (Version::V1, "session/request_permission") => {
            read::<v1::RequestPermissionRequest>(params);
        }
        (Version::V2, "session/request_permission") => {
            read::<v2::RequestPermissionRequest>(params);
        }
        (Version::V1, "elicitation/create") => {
            read::<v1::CreateElicitationRequest>(params);
        }
        (Version::V2, "elicitation/create") => {
            read::<v2::CreateElicitationRequest>(params);
        }
        (_, "elicitation/complete") => {
            read::<v2::CompleteElicitationNotification>(params);
        }
        (Version::V1, "fs/read_text_file") => {
            read::<v1::ReadTextFileRequest>(params);
        }
        (Version::V1, "fs/write_text_file") => {
            read::<v1::WriteTextFileRequest>(params);
        }
        (Version::V1, "terminal/create") => {
            read::<v1::CreateTerminalRequest>(params);
        }
        (Version::V1, "terminal/output") => {
            read::<v1::TerminalOutputRequest>(params);
        }
        (Version::V1, "terminal/wait_for_exit") => {
            read::<v1::WaitForTerminalExitRequest>(params);
        }
        (Version::V1, "terminal/kill") => {
            read::<v1::KillTerminalRequest>(params);
        }
        (Version::V1, "terminal/release") => {
            read::<v1::ReleaseTerminalRequest>(params);
        }
        (_, "" | "$/cancel_request") => {}
        (_, method) => panic!("an agent does not send {method} on {version:?}"),
    }
}

/// Reads a value that has to be of this type and no more: what is not in the type would be lost on the way (V1-EXT-01).
#[track_caller]
fn read<T: DeserializeOwned + Serialize>(params: &Value) -> T {
    let read = serde_json::from_value::<T>(params.clone());
    let read = read.unwrap_or_else(|error| panic!("{error} in {params}"));
    let again = serde_json::to_value(&read).unwrap();
    assert_eq!(again, *params, "a member that the type does not have");
    read
}

/// Paths are absolute and lines count from 1, wherever they are. What a tool was given is its own.
#[track_caller]
fn check_values(value: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "path" | "oldPath" | "cwd" => {
                        let path = value
                            .as_str()
                            .is_none_or(|path| Path::new(path).is_absolute());
                        assert!(path, "{name} is {value}");
                    }
                    "line" => assert_ne!(value, 0, "lines count from 1"),
                    "rawInput" | "rawOutput" | "_meta" => continue,
                    _ => {}
                }
                check_values(value);
            }
        }
        Value::Array(values) => values.iter().for_each(check_values),
        _ => {}
    }
}

#[test]
#[should_panic(expected = "a member that the type does not have")]
fn v1_ext_01_a_member_of_the_agents_own_is_seen_by_every_test() {
    let update = serde_json::json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T",
        "vendor": 1});
    let params = serde_json::json!({"sessionId": "s", "update": update});
    let message =
        serde_json::json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    check(Version::V1, &message);
}
