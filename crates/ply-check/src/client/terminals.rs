//! Terminals of the client, which version 1 agents may use.

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{Scene, Start};
use super::stage::Stage;
use crate::peer::{Answer, Call, Stopped};
use crate::rule::id;

const ALL: &[&str] = &[
    id::V1_INIT_17,
    id::V1_TERM_02,
    id::V1_TERM_03,
    id::V1_TERM_05,
    id::V1_TERM_06,
    id::V1_TERM_07,
    id::V1_TERM_08,
    id::V1_TERM_09,
    id::V1_TERM_10,
    id::V1_TERM_12,
    id::V1_TERM_15,
];
/// The rules that a client breaks which offers terminals and has none.
const OFFERED: [&str; 2] = [id::V1_TERM_02, id::V1_INIT_17];

pub(super) const SCENES: &[Scene] = &[Scene {
    name: "terminals",
    start: Start::AtPrompt,
    rules: ALL,
    leaves: false,
    run: |stage| Box::pin(terminals(stage)),
}];

async fn begin(stage: &mut Stage, method: &str, id: &str) -> Result<Call, Stopped> {
    let params = json!({"sessionId": stage.session, "terminalId": id});
    stage.begin(&format!("terminal/{method}"), params).await
}

async fn ask(stage: &mut Stage, method: &str, id: &str) -> Result<Answer, Stopped> {
    let call = begin(stage, method, id).await?;
    stage.answer(&call).await
}

async fn create(
    stage: &mut Stage,
    script: &str,
    limit: Option<u64>,
) -> Result<(Answer, String), Stopped> {
    let mut params =
        json!({"sessionId": stage.session, "command": "/bin/sh", "args": ["-c", script]});
    if let Some(limit) = limit {
        super::stage::merge(&mut params, &json!({"outputByteLimit": limit}));
    }
    let answer = stage.ask("terminal/create", params).await?;
    let id = answer
        .result()
        .and_then(|result| result.get("terminalId"))
        .and_then(Value::as_str);
    match id.map(str::to_owned) {
        Some(id) => Ok((answer, id)),
        None if answer.error_code() == Some(-32601) => {
            let saw = "`terminal/create` is advertised but unknown";
            stage.judge(&OFFERED, false, &answer.frames(), saw);
            Err(Stopped::Other(saw.to_owned()))
        }
        None => Err(Stopped::Other(format!(
            "no terminal was created: {}",
            answer.said()
        ))),
    }
}

fn code(answer: &Answer) -> Option<i64> {
    answer.result()?.get("exitCode")?.as_i64()
}

fn output(answer: &Answer) -> String {
    let output = answer
        .result()
        .and_then(|result| result.get("output"))
        .and_then(Value::as_str);
    output.unwrap_or_default().to_owned()
}

async fn terminals(stage: &mut Stage) -> Result<(), Stopped> {
    if !stage.offers("/terminal") {
        stage.not_offered(ALL, "terminals");
        let params = json!({"sessionId": stage.session, "command": "/bin/true"});
        let answer = stage.ask("terminal/create", params).await?;
        let is_refused = answer.error_code() == Some(-32601);
        let saw = format!(
            "`terminal/create`, which is not advertised: {}",
            answer.said()
        );
        stage.judge(&[id::V1_RPC_08], is_refused, &answer.frames(), saw);
        return Ok(());
    }
    ends_by_itself(stage).await?;
    runs_long(stage).await?;
    says_much(stage).await?;
    // One is left running: it has to end with the connection.
    let (made, id) = create(stage, "echo $$; sleep 300", None).await?;
    for _ in 0..20 {
        let shown = ask(stage, "output", &id).await?;
        if let Ok(process) = output(&shown).trim().parse::<u32>() {
            stage.left_running = Some((process, made.frame));
            break;
        }
        stage.listen(Duration::from_millis(50)).await?;
    }
    Ok(())
}

async fn ends_by_itself(stage: &mut Stage) -> Result<(), Stopped> {
    let (made, id) = create(stage, "echo out; exit 3", None).await?;
    stage.judge(&OFFERED, true, &made.frames(), "");
    let ended = ask(stage, "wait_for_exit", &id).await?;
    stage.expect(
        &[id::V1_TERM_02],
        ended.error_code() != Some(-32601),
        &ended,
    );
    stage.expect(&[id::V1_TERM_08], code(&ended) == Some(3), &ended);
    let shown = ask(stage, "output", &id).await?;
    stage.expect(&[id::V1_TERM_02], output(&shown).contains("out"), &shown);
    let status = shown
        .result()
        .and_then(|result| result.pointer("/exitStatus/exitCode"));
    let is_told = status.and_then(Value::as_i64) == Some(3);
    let is_whole = shown
        .result()
        .is_some_and(|result| result.get("truncated").is_some_and(Value::is_boolean));
    stage.expect(&[id::V1_TERM_07], is_told && is_whole, &shown);
    let released = ask(stage, "release", &id).await?;
    stage.expect(
        &[id::V1_TERM_02],
        released.error_code().is_none(),
        &released,
    );
    let gone = ask(stage, "output", &id).await?;
    let saw = "a released terminal can still be read";
    stage.judge(
        &[id::V1_TERM_12],
        gone.error_code().is_some(),
        &gone.frames(),
        saw,
    );
    Ok(())
}

async fn runs_long(stage: &mut Stage) -> Result<(), Stopped> {
    let params = json!({"sessionId": stage.session, "command": "/bin/sh", "args": ["-c", "echo begun; exec sleep 300"]});
    let call = stage.begin("terminal/create", params).await?;
    let made = match stage.answer(&call).await {
        Ok(made) => made,
        Err(Stopped::Silent { .. }) => {
            let saw = "`terminal/create` got no response while the command ran";
            stage.judge(&[id::V1_TERM_03], false, &[call.frame], saw);
            return Err(Stopped::Other(saw.to_owned()));
        }
        Err(stopped) => return Err(stopped),
    };
    stage.judge(&[id::V1_TERM_03], true, &made.frames(), "");
    let id = made
        .result()
        .and_then(|result| result.get("terminalId"))
        .and_then(Value::as_str);
    let id = id.unwrap_or_default().to_owned();
    let shown = ask(stage, "output", &id).await?;
    let status = shown.result().and_then(|result| result.get("exitStatus"));
    let saw = "a running command has an exit status";
    stage.judge(
        &[id::V1_TERM_07],
        status.is_none_or(Value::is_null),
        &shown.frames(),
        saw,
    );

    let waiting = begin(stage, "wait_for_exit", &id).await?;
    let killed = match ask(stage, "kill", &id).await {
        Ok(killed) => killed,
        Err(Stopped::Silent { .. }) => {
            let saw = "`terminal/kill` got no response during `terminal/wait_for_exit`";
            stage.judge(&[id::V1_TERM_09], false, &[waiting.frame], saw);
            return Err(Stopped::Other(saw.to_owned()));
        }
        Err(stopped) => return Err(stopped),
    };
    stage.expect(&[id::V1_TERM_02], killed.error_code().is_none(), &killed);
    let ended = stage.answer(&waiting).await?;
    let frames = [waiting.frame, killed.frame, ended.frame];
    stage.judge(&[id::V1_TERM_09], true, &frames, "");
    // Killed or asked to end: a signal, or the code by which shells tell one.
    let has_end = ended.result().is_some_and(|result| {
        let told = |key: &str| result.get(key).is_some_and(|value| !value.is_null());
        told("signal") || told("exitCode")
    });
    stage.judge(&[id::V1_TERM_08], has_end, &frames, ended.said());
    let after = ask(stage, "output", &id).await?;
    stage.expect(&[id::V1_TERM_10], after.result().is_some(), &after);
    let again = ask(stage, "wait_for_exit", &id).await?;
    stage.expect(&[id::V1_TERM_10], again.result().is_some(), &again);
    let released = ask(stage, "release", &id).await?;
    stage.expect(
        &[id::V1_TERM_12],
        released.error_code().is_none(),
        &released,
    );
    Ok(())
}

async fn says_much(stage: &mut Stage) -> Result<(), Stopped> {
    // A hundred crabs of four bytes and a last word; the limit cuts one of the crabs.
    let script =
        "i=0; while [ $i -lt 100 ]; do printf '\\360\\237\\246\\200'; i=$((i+1)); done; printf END";
    let (_, id) = create(stage, script, Some(42)).await?;
    ask(stage, "wait_for_exit", &id).await?;
    let shown = ask(stage, "output", &id).await?;
    let text = output(&shown);
    let is_cut =
        shown.result().and_then(|result| result.get("truncated")) == Some(&Value::Bool(true));
    let is_new = text.ends_with("END") && text.len() <= 42;
    stage.expect(&[id::V1_TERM_05], is_cut && is_new, &shown);
    let is_clean = text
        .chars()
        .all(|c| c == '\u{1F980}' || c.is_ascii_uppercase());
    stage.judge(
        &[id::V1_TERM_06],
        is_clean,
        &shown.frames(),
        "the output was truncated inside a character",
    );
    ask(stage, "release", &id).await.map(drop)
}
