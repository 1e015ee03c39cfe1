//! One tool call or terminal that is cancelled by itself.

use std::collections::HashSet;
use std::sync::Arc;

use ply_agent::{Agent, Stop};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::script::*;
use crate::support::*;

const INVALID_PARAMS: i64 = -32602;

/// Runs two tools side by side, each with a terminal, until they are cancelled.
fn two_tools() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            let one = turn.tool_call("One").cancellable().await?;
            let two = turn.tool_call("Two").cancellable().await?;
            let screen = turn
                .own_terminal("make one")
                .cwd("src")
                .size(80, 24)
                .cancellable();
            let screen = screen.await?;
            one.add_terminal(&screen).await?;
            one.start().await?;
            two.start().await?;
            screen.write(b"hello").await?;
            let first = async {
                assert!(
                    one.unless_cancelled(std::future::pending::<()>())
                        .await
                        .is_err()
                );
                one.cancel().await?;
                turn.say("one stopped").await
            };
            let ends = async {
                screen.cancelled().await;
                screen.exit(130).await?;
                turn.say("terminal stopped").await
            };
            let second = async {
                two.cancelled().await;
                // It had done its work by then.
                two.finish().await
            };
            let (first, ends, second) = tokio::join!(first, ends, second);
            first.and(ends).and(second)?;
            Ok(Stop::EndTurn)
        })
    })
}

fn last_of<'a>(log: &'a [Value], field: &str, id: &Value) -> Vec<&'a Value> {
    let updates = log.iter().map(update);
    updates.filter(|update| update[field] == *id).collect()
}

// Also: V2-ECANCEL-02, V2-ECANCEL-03, V2-ECANCEL-05, V2-TERM-05.
#[tokio::test(start_paused = true)]
async fn v2_ecancel_04_one_of_two_tools_is_cancelled_and_the_turn_goes_on() {
    let mut talk = talk(Version::V2, two_tools()).await;
    let prompt = talk.prompt("go").await;
    talk.until(|message| update(message)["sessionUpdate"] == "terminal_output_chunk")
        .await;
    let offer = json!({"cancel": {}});
    let one = talk.call("One")[0].clone();
    assert_eq!(one["capabilities"], offer);
    let shown = talk.log.iter().map(update);
    let mut shown = shown.filter(|update| update["sessionUpdate"] == "terminal_update");
    let screen = shown.next().unwrap().clone();
    assert_eq!(screen["capabilities"], offer);
    assert_eq!(screen["command"], "make one");
    assert_eq!(screen["cwd"], "/work/src");

    // The answer comes first, the final status confirms it.
    let call = json!({"sessionId": talk.session, "toolCallId": one["toolCallId"]});
    let asked = talk.client.ask("tool_call/cancel", call.clone()).await;
    assert_eq!(talk.answered(asked).await["result"], json!({}));
    talk.hears("one stopped").await;
    let told = last_of(&talk.log, "toolCallId", &one["toolCallId"]);
    let end = told.last().unwrap();
    assert_eq!(end["status"], "cancelled");
    assert_eq!(end["capabilities"], Value::Null, "it is withdrawn: {end}");
    assert!(end.as_object().unwrap().contains_key("capabilities"));
    assert_eq!(status(&talk.call("Two")), "in_progress");
    let states = |talk: &Talk| -> Vec<String> {
        let updates = talk.log.iter().map(update);
        let states = updates.filter_map(|update| update["state"].as_str());
        states.map(str::to_owned).collect()
    };
    assert_eq!(states(&talk), ["running"]);
    // What has ended cannot be cancelled again.
    assert_eq!(
        talk.client.fails("tool_call/cancel", call).await,
        INVALID_PARAMS
    );

    let terminal = json!({"sessionId": talk.session, "terminalId": screen["terminalId"]});
    let asked = talk.client.ask("terminal/cancel", terminal.clone()).await;
    assert_eq!(talk.answered(asked).await["result"], json!({}));
    talk.hears("terminal stopped").await;
    let told = last_of(&talk.log, "terminalId", &screen["terminalId"]);
    assert_eq!(told.last().unwrap()["exitStatus"], json!({"exitCode": 130}));
    assert!(
        told.last()
            .unwrap()
            .as_object()
            .unwrap()
            .contains_key("capabilities")
    );
    assert_eq!(
        talk.client.fails("terminal/cancel", terminal).await,
        INVALID_PARAMS
    );
    // The end of the terminal changed no call.
    assert_eq!(status(&talk.call("Two")), "in_progress");
    assert_eq!(states(&talk), ["running"]);

    let two = talk.call("Two")[0]["toolCallId"].clone();
    let call = json!({"sessionId": talk.session, "toolCallId": two});
    talk.client.ask("tool_call/cancel", call).await;
    let ended = talk.end(prompt).await;
    assert_eq!(ended.stop, "end_turn");
    assert_eq!(status(&talk.call("Two")), "completed", "it finished first");
}

/// What one client may cancel is not the other's, unless it sees the session; and version 1 has no such thing.
#[tokio::test(start_paused = true)]
async fn v2_ecancel_03_only_clients_that_see_the_session_cancel_its_calls() {
    let server = ply_agent::serve(two_tools());
    let mut talk = talk_with(Version::V2, &server, json!({})).await;
    let mut other = v2_with(&server, json!({})).await;
    let mut old = v1_with(&server, json!({})).await;
    talk.prompt("go").await;
    talk.until(|message| update(message)["sessionUpdate"] == "terminal_output_chunk")
        .await;
    let id = talk.call("One")[0]["toolCallId"].clone();
    let params = json!({"sessionId": talk.session, "toolCallId": id});
    assert_eq!(
        other.fails("tool_call/cancel", params.clone()).await,
        -32002
    );
    assert_eq!(old.fails("tool_call/cancel", params).await, -32601);
    assert_eq!(status(&talk.call("One")), "in_progress");
    talk.cancel().await;
    talk.settle().await;
    assert_eq!(status(&talk.call("One")), "cancelled");
    assert_eq!(status(&talk.call("Two")), "completed");
}

#[tokio::test(start_paused = true)]
async fn v2_term_01_no_two_terminals_of_a_session_have_one_id() {
    let agent = script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Run").await?;
            for _ in 0..3 {
                let screen = turn.own_terminal("true").await?;
                assert_ne!(&*screen.id().0, &*call.id().0);
                screen.exit(0).await?;
            }
            call.finish().await?;
            Ok(Stop::EndTurn)
        })
    });
    let mut talk = talk(Version::V2, agent).await;
    for _ in 0..4 {
        talk.turn("go").await;
    }
    let updates = talk.log.iter().map(update);
    let begun = updates.filter(|update| update["command"] == "true");
    let ids: Vec<_> = begun
        .map(|update| update["terminalId"].to_string())
        .collect();
    assert_eq!(ids.len(), 12);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 12);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_is_dropped_has_ended() {
    let gate = Arc::new(Notify::new());
    let opens = Arc::clone(&gate);
    let agent = script(move |turn| {
        let opens = Arc::clone(&opens);
        Box::pin(async move {
            drop(turn.own_terminal("sleep").await?);
            opens.notified().await;
            Ok(Stop::EndTurn)
        })
    });
    let mut talk = talk(Version::V2, agent).await;
    talk.prompt("go").await;
    let ended = talk.until(|message| update(message)["exitStatus"].is_object());
    assert_eq!(update(&ended.await)["exitStatus"], json!({}));
    gate.notify_one();
}
