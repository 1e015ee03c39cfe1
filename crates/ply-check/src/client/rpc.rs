//! JSON-RPC, and what the other side may send that means nothing.

pub(super) mod params;

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{Scene, Start};
use super::stage::Stage;
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::id;

/// How long nothing must come.
const QUIET: Duration = Duration::from_millis(150);

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "ids",
        start: Start::AtPrompt,
        rules: &[
            id::V1_RPC_05,
            id::V1_RPC_07,
            id::V1_RPC_08,
            id::V1_RPC_15,
            id::V1_EXT_03,
            id::V2_RPC_01,
            id::V2_RPC_03,
        ],
        leaves: false,
        run: |stage| Box::pin(ids(stage)),
    },
    Scene {
        name: "notifications",
        start: Start::AtPrompt,
        rules: &[id::V1_RPC_04, id::V1_RPC_09, id::V2_RPC_01],
        leaves: false,
        run: |stage| Box::pin(notifications(stage)),
    },
    Scene {
        name: "no-messages",
        start: Start::AtPrompt,
        rules: &[id::V1_RPC_10, id::V2_RPC_01],
        leaves: false,
        run: |stage| Box::pin(no_messages(stage)),
    },
    Scene {
        name: "arrays",
        start: Start::AtPrompt,
        rules: &[id::V1_RPC_18, id::V2_BATCH_01],
        leaves: false,
        run: |stage| Box::pin(arrays(stage)),
    },
];

/// Requests that nobody knows, under ids of every kind, while the prompt waits.
async fn ids(stage: &mut Stage) -> Result<(), Stopped> {
    let prompt = stage.prompt.as_ref().map(|prompt| prompt.id.clone());
    let prompt = prompt.unwrap_or(json!(1_000_001));
    let ids = [
        json!("7"),
        json!(0),
        json!(-1),
        json!("x".repeat(40)),
        prompt.clone(),
    ];
    for (place, id) in ids.into_iter().enumerate() {
        let method = match place % 2 {
            0 => "_ply/nope",
            _ => "session/nope",
        };
        let call = stage.begin_as(id.clone(), method, json!({})).await?;
        let theirs =
            |frame: &Frame| frame.is_answer() && frame.direction == ply_client::Direction::ToAgent;
        let heard = stage.listen_for(theirs).await?;
        let Some(heard) = heard else {
            let saw = format!("`{method}` got no response");
            let rules = [id::V1_RPC_08, id::V1_RPC_15, id::V1_EXT_03, id::V2_RPC_01];
            stage.judge(&rules, false, &[call.frame], saw);
            if id == prompt {
                let saw = "a request with an id that the client also uses got no response";
                stage.judge(&[id::V1_RPC_07], false, &[call.frame], saw);
            }
            continue;
        };
        let frames = [call.frame, heard.number];
        let is_same = heard.id() == Some(&id);
        let saw = "the response has another id than the request";
        stage.judge(&[id::V1_RPC_05, id::V2_RPC_01], is_same, &frames, saw);
        if id == prompt {
            let saw = "an id that both sides use was mixed up";
            stage.judge(&[id::V1_RPC_07, id::V2_RPC_03], is_same, &frames, saw);
        }
        let code = heard
            .json
            .as_ref()
            .and_then(|json| json.pointer("/error/code"))
            .and_then(Value::as_i64);
        let saw = match code {
            Some(code) => format!("`{method}` returned error {code}"),
            None => format!("`{method}` returned a result"),
        };
        let rules = [id::V1_RPC_08, id::V2_RPC_01];
        stage.judge(&rules, code == Some(-32601), &frames, saw.clone());
        if method.starts_with('_') {
            stage.judge(&[id::V1_EXT_03], code == Some(-32601), &frames, saw);
        }
        stage.judge(&[id::V1_RPC_15], true, &frames, "");
    }
    Ok(())
}

async fn notifications(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(&[id::V1_RPC_09, id::V2_RPC_01], "unknown notifications");
    let first = stage.notify("_ply/nothing", json!({"x": 1})).await?;
    let second = stage.notify("foo/bar", json!([1, 2])).await?;
    let third = stage
        .notify("session/update", json!({"nope": true}))
        .await?;
    let heard = stage.listen(QUIET).await?;
    let answer = heard.iter().find(|frame| frame.is_answer());
    let frames: Vec<_> = [first, second, third]
        .into_iter()
        .chain(answer.map(|frame| frame.number))
        .collect();
    let saw = "a notification got a response";
    stage.judge(
        &[id::V1_RPC_04, id::V2_RPC_01],
        answer.is_none(),
        &frames,
        saw,
    );
    let what = "unknown notifications";
    stage
        .survives(&[id::V1_RPC_09, id::V2_RPC_01], &frames, what)
        .await
}

async fn no_messages(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(&[id::V1_RPC_10, id::V2_RPC_01], "invalid lines");
    let first = stage
        .send_bytes(b"{\n42\n\"x\"\n\n{\"jsonrpc\":\"2.0\"}\nnull\n")
        .await?;
    let heard = stage.listen(QUIET).await?;
    let is_lawful = |frame: &&Frame| {
        let code = frame
            .json
            .as_ref()
            .and_then(|json| json.pointer("/error/code"));
        let code = code.and_then(Value::as_i64);
        matches!(code, Some(-32700 | -32600)) && frame.id().is_some_and(Value::is_null)
    };
    let answers: Vec<_> = heard.iter().filter(|frame| frame.is_answer()).collect();
    let odd = answers.iter().find(|frame| !is_lawful(frame));
    let frames: Vec<_> = [first]
        .into_iter()
        .chain(odd.map(|frame| frame.number))
        .collect();
    let saw = "an invalid line got a response other than -32700 or -32600 with a null id";
    let rules = [id::V1_RPC_10, id::V2_RPC_01];
    stage.judge(&rules, odd.is_none(), &frames, saw);
    stage.survives(&rules, &frames, "invalid lines").await
}

async fn arrays(stage: &mut Stage) -> Result<(), Stopped> {
    let one = json!({"jsonrpc": "2.0", "id": "in-array-1", "method": "_ply/ping", "params": {}});
    let two = json!({"jsonrpc": "2.0", "id": "in-array-2", "method": "_ply/ping", "params": {}});
    let line = format!("{}\n", json!([one, two]));
    stage.bear(&[id::V1_RPC_18, id::V2_BATCH_01], "an array");
    let frame = stage.send_bytes(line.as_bytes()).await?;
    let heard = stage.listen(QUIET).await?;
    let is_run = |frame: &&Frame| {
        let text = String::from_utf8_lossy(&frame.bytes).into_owned();
        text.contains("in-array-")
    };
    let run = heard.iter().find(is_run);
    let frames: Vec<_> = [frame]
        .into_iter()
        .chain(run.map(|frame| frame.number))
        .collect();
    let rules = [id::V1_RPC_18, id::V2_BATCH_01];
    stage.judge(
        &rules,
        run.is_none(),
        &frames,
        "the contents of an array were executed",
    );
    stage.survives(&rules, &frames, "an array").await
}
