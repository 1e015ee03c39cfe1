//! JSON-RPC, and what the other side may send that means nothing.

pub(super) mod params;

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::Stopped;
use crate::recording::Frame;

/// How long nothing must come.
const QUIET: Duration = Duration::from_millis(150);

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-RPC-04",
            "Notifications get no answer, whatever they hold.",
            "An answer that nobody asked for ends in errors on the agent's side.",
            "Write nothing when a message has no id.",
        ),
        rule(
            "V1-RPC-07",
            "Each side counts its own requests: the same id may be in use both ways.",
            "An answer reaches the wrong request, and both hang.",
            "Keep the requests that you sent and those that you got apart.",
        ),
        rule(
            "V1-RPC-08",
            "A method that is not known is answered with -32601.",
            "Agents ask for optional methods to find out what there is; without this answer they wait.",
            "Answer -32601 for every request whose method is not implemented.",
        ),
        rule(
            "V1-RPC-09",
            "Notifications that are not known are ignored.",
            "A newer agent cannot be used.",
            "Ignore them.",
        )
        .should(),
        rule(
            "V1-RPC-10",
            "Lines that are no messages do not end the connection.",
            "One stray print of the agent ends the session.",
            "Skip the line, or answer -32700 with a null id.",
        )
        .unspecified(),
        rule(
            "V1-RPC-15",
            "Requests are answered while the client's own wait for their answers.",
            "The turn hangs: the agent waits for the client and the client for the agent.",
            "Read and answer while a prompt is open.",
        ),
        rule(
            "V1-RPC-18",
            "Arrays are neither sent nor run.",
            "Arrays are no part of the protocol; who runs them is alone.",
            "Answer an array with one -32600 with a null id, or skip it.",
        )
        .unspecified(),
        rule(
            "V1-EXT-03",
            "A request of an extension that is not known is answered with -32601.",
            "The agent waits for an answer.",
            "Answer -32601, also to methods that begin with `_`.",
        ),
        rule(
            "V2-BATCH-01",
            "An array gets one -32600 or nothing, and nothing in it is run.",
            "Arrays are no part of the protocol; who runs them is alone.",
            "Do not run what an array holds.",
        ),
    ],
    scenes: &[
        Scene {
            name: "ids",
            start: Start::AtPrompt,
            rules: &[
                "V1-RPC-05",
                "V1-RPC-07",
                "V1-RPC-08",
                "V1-RPC-15",
                "V1-EXT-03",
                "V2-RPC-01",
                "V2-RPC-03",
            ],
            leaves: false,
            run: |stage| Box::pin(ids(stage)),
        },
        Scene {
            name: "notifications",
            start: Start::AtPrompt,
            rules: &["V1-RPC-04", "V1-RPC-09", "V2-RPC-01"],
            leaves: false,
            run: |stage| Box::pin(notifications(stage)),
        },
        Scene {
            name: "no-messages",
            start: Start::AtPrompt,
            rules: &["V1-RPC-10", "V2-RPC-01"],
            leaves: false,
            run: |stage| Box::pin(no_messages(stage)),
        },
        Scene {
            name: "arrays",
            start: Start::AtPrompt,
            rules: &["V1-RPC-18", "V2-BATCH-01"],
            leaves: false,
            run: |stage| Box::pin(arrays(stage)),
        },
    ],
};

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
            let saw = format!("`{method}` was not answered");
            let rules = ["V1-RPC-08", "V1-RPC-15", "V1-EXT-03", "V2-RPC-01"];
            stage.judge(&rules, false, &[call.frame], saw);
            if id == prompt {
                let saw = "a request under an id that the client uses too was not answered";
                stage.judge(&["V1-RPC-07"], false, &[call.frame], saw);
            }
            continue;
        };
        let frames = [call.frame, heard.number];
        let is_same = heard.id() == Some(&id);
        let saw = "the answer has another id than the request";
        stage.judge(&["V1-RPC-05", "V2-RPC-01"], is_same, &frames, saw);
        if id == prompt {
            let saw = "an id that both sides use was mixed up";
            stage.judge(&["V1-RPC-07", "V2-RPC-03"], is_same, &frames, saw);
        }
        let code = heard
            .json
            .as_ref()
            .and_then(|json| json.pointer("/error/code"))
            .and_then(Value::as_i64);
        let saw = match code {
            Some(code) => format!("`{method}` was answered with {code}"),
            None => format!("`{method}` was answered with a result"),
        };
        let rules = ["V1-RPC-08", "V2-RPC-01"];
        stage.judge(&rules, code == Some(-32601), &frames, saw.clone());
        if method.starts_with('_') {
            stage.judge(&["V1-EXT-03"], code == Some(-32601), &frames, saw);
        }
        stage.judge(&["V1-RPC-15"], true, &frames, "");
    }
    Ok(())
}

async fn notifications(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(
        &["V1-RPC-09", "V2-RPC-01"],
        "notifications that it does not know",
    );
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
    let saw = "a notification was answered";
    stage.judge(&["V1-RPC-04", "V2-RPC-01"], answer.is_none(), &frames, saw);
    let what = "notifications that it does not know";
    stage
        .survives(&["V1-RPC-09", "V2-RPC-01"], &frames, what)
        .await
}

async fn no_messages(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(&["V1-RPC-10", "V2-RPC-01"], "lines that are no messages");
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
    let saw = "a line that is no message was answered with something else than -32700 or -32600 and a null id";
    let rules = ["V1-RPC-10", "V2-RPC-01"];
    stage.judge(&rules, odd.is_none(), &frames, saw);
    stage
        .survives(&rules, &frames, "lines that are no messages")
        .await
}

async fn arrays(stage: &mut Stage) -> Result<(), Stopped> {
    let one = json!({"jsonrpc": "2.0", "id": "in-array-1", "method": "_ply/ping", "params": {}});
    let two = json!({"jsonrpc": "2.0", "id": "in-array-2", "method": "_ply/ping", "params": {}});
    let line = format!("{}\n", json!([one, two]));
    stage.bear(&["V1-RPC-18", "V2-BATCH-01"], "an array");
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
    let rules = ["V1-RPC-18", "V2-BATCH-01"];
    stage.judge(
        &rules,
        run.is_none(),
        &frames,
        "what an array holds was run",
    );
    stage.survives(&rules, &frames, "an array").await
}
