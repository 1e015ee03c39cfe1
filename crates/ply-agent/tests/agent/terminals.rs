//! Commands that the client runs, which version 1 clients may offer.

use ply_agent::v2::ToolKind;
use ply_agent::{Agent, Stop};
use serde_json::{Value, json};

use crate::script::*;
use crate::support::*;
use crate::tool_calls::shown;

/// Runs a command in a tool call, in the way that the prompt names.
fn runs_commands() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            if !turn.has_terminals() {
                let made = turn.terminal("cargo").await;
                turn.say(format!(
                    "no terminals: {}",
                    made.unwrap_err().is_not_offered()
                ))
                .await?;
                return Ok(Stop::EndTurn);
            }
            let call = turn.tool_call("Test").kind(ToolKind::Execute).await?;
            let terminal = turn
                .terminal("cargo")
                .arg("test")
                .env("RUST_BACKTRACE", "0")
                .cwd("crates")
                .output_bytes(1000)
                .await?;
            call.add_terminal(&terminal).await?;
            call.start().await?;
            match turn.prompt().text().as_str() {
                "wait" => {
                    let exit = terminal.wait().await?;
                    let output = terminal.output().await?;
                    turn.say(format!("{:?} {}", exit.exit_code, output.output))
                        .await?;
                    terminal.release().await?;
                }
                "kill" => {
                    terminal.kill().await?;
                    terminal.release().await?;
                }
                "drop" => drop(terminal),
                "error" => return Err(ply_agent::Error::msg("broken")),
                "panic" => panic!("broken"),
                "stubborn" => std::future::pending().await,
                _ => {
                    turn.unless_cancelled(std::future::pending::<()>()).await?;
                }
            }
            call.finish().await?;
            Ok(Stop::EndTurn)
        })
    })
}

/// Answers terminal requests until the end of the turn and, if it has not come by then, the
/// release.
async fn serve(talk: &mut Talk, prompt: i64) -> Ended {
    let mut released = false;
    while talk.answers(prompt) == 0 || !released {
        let message = talk.next().await;
        let answer = match message["method"].as_str().unwrap_or_default() {
            "terminal/create" => json!({"terminalId": "term-1"}),
            "terminal/wait_for_exit" => json!({"exitCode": 3, "signal": null}),
            "terminal/output" => json!({
                "output": "running 1 test\n", "truncated": false,
                "exitStatus": {"exitCode": 3, "signal": null},
            }),
            "terminal/kill" => json!({}),
            "terminal/release" => {
                released = true;
                Value::Null
            }
            _ => continue,
        };
        talk.answer(&message, answer).await;
    }
    talk.end(prompt).await
}

async fn terminal_talk() -> Talk {
    let server = ply_agent::serve(runs_commands());
    talk_with(Version::V1, &server, json!({"terminal": true})).await
}

fn place(talk: &Talk, is: impl Fn(&Value) -> bool) -> usize {
    talk.log.iter().position(is).expect("it is in the log")
}

fn count(talk: &Talk, method: &str) -> usize {
    let log = talk.log.iter();
    log.filter(|message| message["method"] == method).count()
}

#[tokio::test(start_paused = true)]
async fn v1_term_01_commands_are_run_only_where_the_client_offers_it() {
    for version in BOTH {
        for capabilities in [json!({}), json!({"terminal": false})] {
            let server = ply_agent::serve(runs_commands());
            let mut talk = talk_with(version, &server, capabilities).await;
            let ended = talk.turn("wait").await;
            assert_eq!(said(&ended.seen), "no terminals: true");
        }
    }
    // Version 2 has no such methods, whatever a client says.
    let server = ply_agent::serve(runs_commands());
    let mut talk = talk_with(Version::V2, &server, json!({"terminal": true})).await;
    assert_eq!(said(&talk.turn("wait").await.seen), "no terminals: true");
}

// Also: V1-TERM-13, V1-RPC-13, V1-TOOL-12.
#[tokio::test(start_paused = true)]
async fn v1_term_04_a_command_is_made_shown_waited_for_and_released() {
    let mut talk = terminal_talk().await;
    let prompt = talk.prompt("wait").await;
    let ended = serve(&mut talk, prompt).await;
    assert_eq!(ended.stop, "end_turn");
    assert_eq!(said(&ended.seen), "Some(3) running 1 test\n");
    let create = talk
        .log
        .iter()
        .find(|message| message["method"] == "terminal/create");
    assert_eq!(
        create.unwrap()["params"],
        json!({
            "sessionId": talk.session, "command": "cargo", "args": ["test"],
            "env": [{"name": "RUST_BACKTRACE", "value": "0"}],
            "cwd": "/work/crates", "outputByteLimit": 1000,
        })
    );
    let shown = shown(Version::V1, &talk.call("Test"));
    assert_eq!(
        shown[0],
        json!({"type": "terminal", "terminalId": "term-1"})
    );
    assert_eq!(shown.len(), 1);
    assert_eq!(count(&talk, "terminal/create"), 1);
    assert_eq!(count(&talk, "terminal/release"), 1);
}

// Also: V1-TERM-13.
#[tokio::test(start_paused = true)]
async fn v1_term_11_every_terminal_is_released_once_however_the_turn_goes() {
    for how in [
        "wait", "kill", "drop", "error", "panic", "cancel", "stubborn",
    ] {
        let mut talk = terminal_talk().await;
        let prompt = talk.prompt(how).await;
        if how == "cancel" || how == "stubborn" {
            let create = talk.method("terminal/create").await;
            talk.answer(&create, json!({"terminalId": "term-1"})).await;
            talk.until(|message| update(message)["status"] == "in_progress")
                .await;
            talk.cancel().await;
        }
        let ended = serve(&mut talk, prompt).await;
        let stop = match how {
            "error" | "panic" => "error",
            "cancel" | "stubborn" => "cancelled",
            _ => "end_turn",
        };
        assert_eq!(ended.stop, stop, "{how}");
        assert_eq!(count(&talk, "terminal/create"), 1, "{how}");
        assert_eq!(count(&talk, "terminal/release"), 1, "{how}");
        let release = place(&talk, |message| message["method"] == "terminal/release");
        let shows = place(&talk, |message| {
            update(message)["content"][0]["type"] == "terminal"
        });
        assert!(shows < release, "{how}: it is shown before it is released");
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_terminal_whose_session_is_closed_is_released() {
    let mut talk = terminal_talk().await;
    let prompt = talk.prompt("stubborn").await;
    let create = talk.method("terminal/create").await;
    talk.answer(&create, json!({"terminalId": "term-1"})).await;
    talk.until(|message| update(message)["status"] == "in_progress")
        .await;
    let close = json!({"sessionId": talk.session});
    let close = talk.client.ask("session/close", close).await;
    let ended = serve(&mut talk, prompt).await;
    assert_eq!(ended.stop, "cancelled");
    assert!(talk.answered(close).await.get("result").is_some());
    assert_eq!(count(&talk, "terminal/release"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_run_the_command_fails_the_turn_with_its_words() {
    let mut talk = terminal_talk().await;
    let prompt = talk.prompt("wait").await;
    let create = talk.method("terminal/create").await;
    talk.client.answer_error(&create, -32603).await;
    let ended = talk.end(prompt).await;
    assert_eq!(ended.stop, "error");
    assert_eq!(status(&talk.call("Test")), "failed");
    assert_eq!(count(&talk, "terminal/release"), 0);
    talk.is_quiet().await;
}

/// The output is kept with the session: a client that loads it sees it though the terminal is gone.
#[tokio::test(start_paused = true)]
async fn what_a_released_terminal_showed_is_in_the_history() {
    let server = ply_agent::serve(runs_commands());
    let mut talk = talk_with(Version::V1, &server, json!({"terminal": true})).await;
    let prompt = talk.prompt("wait").await;
    serve(&mut talk, prompt).await;
    let mut other = v1_with(&server, json!({})).await;
    let params = json!({"sessionId": talk.session, "cwd": "/work", "mcpServers": []});
    let load = other.ask("session/load", params).await;
    let replay = other.answered(load).await;
    let replayed = updates(&replay).into_iter();
    let call: Vec<_> = replayed
        .filter(|update| update.get("toolCallId").is_some())
        .cloned()
        .collect();
    let shown = shown(Version::V1, &call);
    let text = shown[0]["content"]["text"].as_str().unwrap();
    assert_eq!(text, "$ cargo test\nrunning 1 test\n[exit code 3]");
}
