//! Everything that the mutant says without a fault fits the official schema, in both versions.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::collections::BTreeMap;
use std::process::Stdio;

use ply_check::peer::{Peer, Reply};
use ply_check::{Frame, Recording};
use ply_client::Direction;
use ply_wire::{v1, v2};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::process::{Child, Command};

/// A prompt for everything that the mutant can do.
const WORDS: &[&str] = &[
    "Reply with the one word: ready",
    "/help",
    "Read README.md",
    "Write checked.txt: checked",
    "Write checked.txt: checked again",
    "Run `echo checked`",
    "Plan these steps",
    "Ask me in a form what my name is",
    "visit",
    "notice",
    "compact",
    "refuse",
    "tokens",
    "requests",
    "fail",
];

/// What a message must look like.
struct Shape {
    validator: jsonschema::Validator,
    decode: fn(Value) -> Result<(), String>,
}

fn shape<T: JsonSchema + DeserializeOwned>() -> Shape {
    let schema = schemars::schema_for!(T).to_value();
    Shape {
        validator: jsonschema::validator_for(&schema).unwrap(),
        decode: |value| {
            let read = serde_json::from_value::<T>(value);
            read.map(drop).map_err(|error| error.to_string())
        },
    }
}

type Shapes = BTreeMap<&'static str, Shape>;

macro_rules! shapes {
    ($version:ident: $($method:literal => $shape:ident),* $(,)?) => {
        BTreeMap::from([$(($method, shape::<$version::$shape>())),*])
    };
}

/// Returns the shapes of what an agent of version 1 sends: parameters of its own messages, and results of the client's requests.
fn first() -> (Shapes, Shapes) {
    let sent = shapes! { v1:
        "session/update" => SessionNotification,
        "session/request_permission" => RequestPermissionRequest,
        "fs/read_text_file" => ReadTextFileRequest,
        "fs/write_text_file" => WriteTextFileRequest,
        "terminal/create" => CreateTerminalRequest,
        "terminal/output" => TerminalOutputRequest,
        "terminal/wait_for_exit" => WaitForTerminalExitRequest,
        "terminal/release" => ReleaseTerminalRequest,
        "elicitation/create" => CreateElicitationRequest,
        "$/cancel_request" => CancelRequestNotification,
    };
    let answered = shapes! { v1:
        "initialize" => InitializeResponse,
        "authenticate" => AuthenticateResponse,
        "logout" => LogoutResponse,
        "session/new" => NewSessionResponse,
        "session/load" => LoadSessionResponse,
        "session/resume" => ResumeSessionResponse,
        "session/list" => ListSessionsResponse,
        "session/close" => CloseSessionResponse,
        "session/delete" => DeleteSessionResponse,
        "session/set_mode" => SetSessionModeResponse,
        "session/set_config_option" => SetSessionConfigOptionResponse,
        "session/prompt" => PromptResponse,
    };
    (sent, answered)
}

/// Returns the shapes of what an agent of version 2 sends.
fn second() -> (Shapes, Shapes) {
    let sent = shapes! { v2:
        "session/update" => UpdateSessionNotification,
        "session/request_permission" => RequestPermissionRequest,
        "elicitation/create" => CreateElicitationRequest,
        "$/cancel_request" => CancelRequestNotification,
    };
    let answered = shapes! { v2:
        "initialize" => InitializeResponse,
        "auth/login" => LoginAuthResponse,
        "auth/logout" => LogoutAuthResponse,
        "session/new" => NewSessionResponse,
        "session/resume" => ResumeSessionResponse,
        "session/list" => ListSessionsResponse,
        "session/close" => CloseSessionResponse,
        "session/delete" => DeleteSessionResponse,
        "session/set_config_option" => SetSessionConfigOptionResponse,
        "session/prompt" => PromptResponse,
    };
    (sent, answered)
}

fn start() -> (Child, Peer, Recording) {
    let mut mutant = Command::new(env!("CARGO_BIN_EXE_mutant_agent"));
    let mutant = mutant.arg("--login").kill_on_drop(true);
    let mutant = mutant.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = mutant.spawn().unwrap();
    let (output, input) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let recording = Recording::new("shapes");
    let mut peer = Peer::new(output, input, Direction::ToAgent, recording.clone());
    let service = &mut peer.service;
    let allow = json!({"outcome": {"outcome": "selected", "optionId": "allow"}});
    service.on("session/request_permission", move |_| {
        Reply::Result(allow.clone())
    });
    for (method, result) in [
        ("fs/read_text_file", json!({"content": "# A file\n"})),
        ("fs/write_text_file", json!({})),
        ("terminal/create", json!({"terminalId": "t-1"})),
        ("terminal/wait_for_exit", json!({"exitCode": 0})),
        (
            "terminal/output",
            json!({"output": "checked\n", "truncated": false}),
        ),
        ("terminal/release", json!({})),
        (
            "elicitation/create",
            json!({"action": "accept", "content": {"name": "Ada"}}),
        ),
    ] {
        service.on(method, move |_| Reply::Result(result.clone()));
    }
    (child, peer, recording)
}

/// Says a prompt, and waits for the end of its turn.
async fn turn(peer: &mut Peer, session: &str, text: &str, is_v2: bool) {
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
    let answer = peer.ask("session/prompt", params).await.unwrap();
    if is_v2 {
        let rests = |frame: &Frame| {
            let state = frame.update().and_then(|update| update.get("state"));
            state == Some(&json!("idle"))
        };
        if peer.seen_since(answer.request, rests).is_none() {
            let rest = peer.until(peer.patience, rests).await.unwrap();
            assert!(rest.is_some(), "`{text}` does not end");
        }
    }
}

/// Goes through everything that the mutant can do.
async fn everything(peer: &mut Peer, is_v2: bool) {
    let place = tempfile::tempdir().unwrap();
    let cwd = place.path().canonicalize().unwrap();
    let auth = if is_v2 { json!({}) } else { json!(true) };
    let capabilities = json!({
        "fs": {"readTextFile": true, "writeTextFile": true},
        "terminal": true,
        "auth": {"terminal": auth},
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    });
    let info = json!({"name": "shapes", "version": "1.0.0"});
    let hello = match is_v2 {
        true => json!({"protocolVersion": 2, "info": info, "capabilities": capabilities}),
        false => {
            json!({"protocolVersion": 1, "clientInfo": info, "clientCapabilities": capabilities})
        }
    };
    peer.need("initialize", hello).await.unwrap();
    let setup = json!({"cwd": cwd, "mcpServers": []});
    let refused = peer.ask("session/new", setup.clone()).await.unwrap();
    assert_eq!(refused.error_code(), Some(-32000));
    let login = if is_v2 { "auth/login" } else { "authenticate" };
    peer.need(login, json!({"methodId": "key"})).await.unwrap();
    let (_, opened) = peer.need("session/new", setup).await.unwrap();
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    for words in WORDS {
        turn(peer, &session, words, is_v2).await;
    }
    let mut back = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    let option = match is_v2 {
        true => json!({"sessionId": session, "configId": "model", "type": "id", "value": "small"}),
        false => json!({"sessionId": session, "configId": "mode", "value": "code"}),
    };
    peer.need("session/set_config_option", option)
        .await
        .unwrap();
    if is_v2 {
        back["replayFrom"] = json!({"type": "start"});
    } else {
        let mode = json!({"sessionId": session, "modeId": "ask"});
        peer.need("session/set_mode", mode).await.unwrap();
        peer.need("session/load", back.clone()).await.unwrap();
    }
    peer.need("session/resume", back).await.unwrap();
    cancelled(peer, &session, is_v2).await;
    peer.need("session/list", json!({"cwd": cwd}))
        .await
        .unwrap();
    let it = json!({"sessionId": session});
    peer.need("session/close", it.clone()).await.unwrap();
    peer.need("session/delete", it).await.unwrap();
    let logout = if is_v2 { "auth/logout" } else { "logout" };
    peer.need(logout, json!({})).await.unwrap();
}

/// Cancels a turn that waits for permission.
async fn cancelled(peer: &mut Peer, session: &str, is_v2: bool) {
    peer.service
        .on("session/request_permission", |_| Reply::Hold);
    let text = json!([{"type": "text", "text": "Write other.txt: other"}]);
    let prompt = json!({"sessionId": session, "prompt": text});
    let call = peer.begin("session/prompt", prompt).await.unwrap();
    let asks = |frame: &Frame| frame.method() == Some("session/request_permission");
    let asked = peer.until(peer.patience, asks).await.unwrap();
    assert!(asked.is_some());
    let cancel = json!({"sessionId": session});
    let told = peer.notify("session/cancel", cancel).await.unwrap();
    let ended = if is_v2 {
        let ends = |frame: &Frame| {
            let reason = frame.update().and_then(|update| update.get("stopReason"));
            reason == Some(&json!("cancelled"))
        };
        let seen = peer.seen_since(told, ends).is_some();
        seen || peer.until(peer.patience, ends).await.unwrap().is_some()
    } else {
        let answer = peer.answer(&call).await.unwrap();
        answer.result() == Some(&json!({"stopReason": "cancelled"}))
    };
    assert!(ended, "the turn did not end as cancelled");
    let withdraws = |frame: &Frame| frame.method() == Some("$/cancel_request");
    assert!(peer.seen_since(told, withdraws).is_some());
}

/// Returns what does not fit.
fn misfits(frames: &[Frame], sent: &Shapes, answered: &Shapes) -> Vec<String> {
    let mut asked = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut fitting = |shape: Option<&Shape>, name: &str, value: &Value| {
        let Some(shape) = shape else {
            return wrong.push(format!("{name} is not known"));
        };
        let errors = shape.validator.iter_errors(value).map(|e| e.to_string());
        let errors: Vec<_> = errors.chain((shape.decode)(value.clone()).err()).collect();
        if !errors.is_empty() {
            wrong.push(format!("{name} {value}: {}", errors.join("; ")));
        }
    };
    for frame in frames {
        let method = frame.method().map(str::to_owned);
        let params = frame.params().cloned().unwrap_or_default();
        match (frame.direction, method) {
            (Direction::ToAgent, Some(method)) => {
                let id = frame.id().map(Value::to_string);
                asked.insert(id.unwrap_or_default(), method);
            }
            (Direction::ToAgent, None) => {}
            (Direction::ToClient, Some(method)) => {
                fitting(sent.get(method.as_str()), &method, &params);
            }
            (Direction::ToClient, None) => {
                let id = frame.id().unwrap().to_string();
                let method = &asked[&id];
                let result = frame.json.as_ref().and_then(|json| json.get("result"));
                if let Some(result) = result {
                    fitting(answered.get(method.as_str()), method, result);
                }
            }
        }
    }
    wrong
}

async fn assert_fits(is_v2: bool) {
    let (mut child, mut peer, recording) = start();
    everything(&mut peer, is_v2).await;
    peer.close_output().await;
    assert!(child.wait().await.unwrap().success());
    let (sent, answered) = if is_v2 { second() } else { first() };
    let wrong = recording.with_frames(|frames| misfits(frames, &sent, &answered));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn everything_the_mutant_says_in_version_1_fits_the_schema() {
    assert_fits(false).await;
}

#[tokio::test]
async fn everything_the_mutant_says_in_version_2_fits_the_schema() {
    assert_fits(true).await;
}
