//! Terminals of the client, which version 1 agents may use.

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::{Answer, Call, Stopped};

const ALL: &[&str] = &[
    "V1-TERM-02",
    "V1-TERM-03",
    "V1-TERM-05",
    "V1-TERM-06",
    "V1-TERM-07",
    "V1-TERM-08",
    "V1-TERM-09",
    "V1-TERM-10",
    "V1-TERM-12",
    "V1-TERM-15",
];
const WORKS: &str = "Agents that run commands in the client's terminals hang or fail.";

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-TERM-02",
            "A client that offers terminals serves all five methods.",
            WORKS,
            "Implement create, output, wait_for_exit, kill and release.",
        )
        .gate("terminal"),
        rule(
            "V1-TERM-03",
            "A terminal is answered at once, not when its command ends.",
            WORKS,
            "Answer when the command was started.",
        )
        .gate("terminal"),
        rule(
            "V1-TERM-05",
            "Past the limit the oldest output is dropped.",
            "Agents miss the end of the output, where the errors are.",
            "Keep the newest bytes, and set `truncated`.",
        )
        .gate("terminal"),
        rule(
            "V1-TERM-06",
            "Output is never cut inside a character.",
            "The output cannot be read.",
            "Cut at the next character.",
        )
        .gate("terminal"),
        rule(
            "V1-TERM-07",
            "The exit status comes with the output once the command has ended, not before.",
            WORKS,
            "Leave `exitStatus` out while it runs.",
        )
        .gate("terminal"),
        rule(
            "V1-TERM-08",
            "Waiting is answered when the command ends, with its code or signal.",
            WORKS,
            "Answer `exitCode`, or `signal` where there is no code.",
        )
        .gate("terminal"),
        rule(
            "V1-TERM-09",
            "Waiting does not keep other requests from being answered.",
            "A command that hangs cannot be stopped.",
            "Wait beside the reading of requests.",
        )
        .gate("terminal"),
        rule(
            "V1-TERM-10",
            "A killed terminal can still be read.",
            "Agents cannot tell what a command did before it was stopped.",
            "Keep the terminal until it is released.",
        )
        .gate("terminal"),
        rule(
            "V1-TERM-12",
            "A released terminal is gone, and what it ran has ended.",
            "Processes are left behind.",
            "Kill the command on release, and forget the id.",
        )
        .gate("terminal"),
    ],
    scenes: &[Scene {
        name: "terminals",
        start: Start::AtPrompt,
        rules: ALL,
        leaves: false,
        run: |stage| Box::pin(terminals(stage)),
    }],
};

fn said(answer: &Answer) -> String {
    match answer.error_code() {
        Some(code) => format!(
            "the answer was the error {code}: {}",
            answer.error_message()
        ),
        None => format!("the answer was {}", answer.result().unwrap_or(&Value::Null)),
    }
}

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
        None => Err(Stopped::Other(format!(
            "no terminal was made: {}",
            said(&answer)
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
        let saw = format!("`terminal/create`, which is not offered: {}", said(&answer));
        stage.judge(&["V1-RPC-08"], is_refused, &answer.frames(), saw);
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
    stage.judge(&["V1-TERM-02", "V1-INIT-17"], true, &made.frames(), "");
    let ended = ask(stage, "wait_for_exit", &id).await?;
    stage.judge(
        &["V1-TERM-02"],
        ended.error_code() != Some(-32601),
        &ended.frames(),
        said(&ended),
    );
    stage.judge(
        &["V1-TERM-08"],
        code(&ended) == Some(3),
        &ended.frames(),
        said(&ended),
    );
    let shown = ask(stage, "output", &id).await?;
    stage.judge(
        &["V1-TERM-02"],
        output(&shown).contains("out"),
        &shown.frames(),
        said(&shown),
    );
    let status = shown
        .result()
        .and_then(|result| result.pointer("/exitStatus/exitCode"));
    let is_told = status.and_then(Value::as_i64) == Some(3);
    let is_whole = shown
        .result()
        .is_some_and(|result| result.get("truncated").is_some_and(Value::is_boolean));
    stage.judge(
        &["V1-TERM-07"],
        is_told && is_whole,
        &shown.frames(),
        said(&shown),
    );
    let released = ask(stage, "release", &id).await?;
    stage.judge(
        &["V1-TERM-02"],
        released.error_code().is_none(),
        &released.frames(),
        said(&released),
    );
    let gone = ask(stage, "output", &id).await?;
    let saw = "a terminal that was released can still be read";
    stage.judge(
        &["V1-TERM-12"],
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
            let saw = "a terminal was not answered while its command ran";
            stage.judge(&["V1-TERM-03"], false, &[call.frame], saw);
            return Err(Stopped::Other(saw.to_owned()));
        }
        Err(stopped) => return Err(stopped),
    };
    stage.judge(&["V1-TERM-03"], true, &made.frames(), "");
    let id = made
        .result()
        .and_then(|result| result.get("terminalId"))
        .and_then(Value::as_str);
    let id = id.unwrap_or_default().to_owned();
    let shown = ask(stage, "output", &id).await?;
    let status = shown.result().and_then(|result| result.get("exitStatus"));
    let saw = "a command that runs has an exit status";
    stage.judge(
        &["V1-TERM-07"],
        status.is_none_or(Value::is_null),
        &shown.frames(),
        saw,
    );

    let waiting = begin(stage, "wait_for_exit", &id).await?;
    let killed = match ask(stage, "kill", &id).await {
        Ok(killed) => killed,
        Err(Stopped::Silent { .. }) => {
            let saw = "a kill was not answered while the end was waited for";
            stage.judge(&["V1-TERM-09"], false, &[waiting.frame], saw);
            return Err(Stopped::Other(saw.to_owned()));
        }
        Err(stopped) => return Err(stopped),
    };
    stage.judge(
        &["V1-TERM-02"],
        killed.error_code().is_none(),
        &killed.frames(),
        said(&killed),
    );
    let ended = stage.answer(&waiting).await?;
    let frames = [waiting.frame, killed.frame, ended.frame];
    stage.judge(&["V1-TERM-09"], true, &frames, "");
    // Killed or asked to end: a signal, or the code by which shells tell one.
    let has_end = ended.result().is_some_and(|result| {
        let told = |key: &str| result.get(key).is_some_and(|value| !value.is_null());
        told("signal") || told("exitCode")
    });
    stage.judge(&["V1-TERM-08"], has_end, &frames, said(&ended));
    let after = ask(stage, "output", &id).await?;
    stage.judge(
        &["V1-TERM-10"],
        after.result().is_some(),
        &after.frames(),
        said(&after),
    );
    let again = ask(stage, "wait_for_exit", &id).await?;
    stage.judge(
        &["V1-TERM-10"],
        again.result().is_some(),
        &again.frames(),
        said(&again),
    );
    let released = ask(stage, "release", &id).await?;
    stage.judge(
        &["V1-TERM-12"],
        released.error_code().is_none(),
        &released.frames(),
        said(&released),
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
    stage.judge(
        &["V1-TERM-05"],
        is_cut && is_new,
        &shown.frames(),
        said(&shown),
    );
    let is_clean = text
        .chars()
        .all(|c| c == '\u{1F980}' || c.is_ascii_uppercase());
    stage.judge(
        &["V1-TERM-06"],
        is_clean,
        &shown.frames(),
        "the output was cut inside a character",
    );
    ask(stage, "release", &id).await.map(drop)
}
