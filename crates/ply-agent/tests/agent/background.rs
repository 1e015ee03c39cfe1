//! Work that goes on beside turns, and how clients hear of it.

use std::sync::Arc;

use ply_agent::{About, Agent, Stop};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::script::*;
use crate::support::*;

/// Starts a server that outlives its turn and ends when it is told to, or cancelled, or the session closes.
fn starts_server(end: &Arc<Notify>) -> impl Agent + use<> {
    let end = Arc::clone(end);
    let forks = About::new("script", "1").session_fork();
    let agent = script(move |turn| {
        let end = Arc::clone(&end);
        Box::pin(async move {
            if turn.prompt().text() != "serve" {
                turn.cancelled().await;
                return Ok(Stop::EndTurn);
            }
            let call = turn.tool_call("Serve").cancellable().await?;
            let screen = turn.own_terminal("serve --port 80").cancellable().await?;
            call.add_terminal(&screen).await?;
            call.start().await?;
            let (call, screen) = (call.detach().await?, screen.detach().await?);
            tokio::spawn(async move {
                tokio::select! {
                    () = end.notified() => screen.exit(0).await.ok(),
                    () = screen.cancelled() => screen.exit(143).await.ok(),
                };
                call.finish().await.ok();
            });
            turn.say("it serves").await?;
            Ok(Stop::EndTurn)
        })
    });
    agent.about(forks)
}

/// Returns the states that were told, each with its list of background work.
fn states(talk: &Talk) -> Vec<(String, Value)> {
    let updates = talk.log.iter().map(update);
    let states = updates.filter_map(|update| {
        let background = update.get("background").cloned().unwrap_or(Value::Null);
        Some((update["state"].as_str()?.to_owned(), background))
    });
    states.collect()
}

fn of(talk: &Talk, is: impl Fn(&Value) -> bool) -> Option<usize> {
    talk.log.iter().position(|message| is(update(message)))
}

// Also: V2-BG-02, V2-BG-04, V2-BG-01.
#[tokio::test(start_paused = true)]
async fn v2_bg_03_work_is_announced_before_it_is_listed_and_ends_before_it_is_not() {
    let end = Arc::new(Notify::new());
    let mut talk = talk(Version::V2, starts_server(&end)).await;
    assert_eq!(talk.turn("serve").await.stop, "end_turn");
    let id = talk
        .log
        .iter()
        .map(update)
        .find(|update| update["terminalId"].is_string());
    let id = id.unwrap()["terminalId"].clone();
    let listed = json!([{"type": "terminal", "terminalId": id}]);
    // From the first list on, every state has one. While the call had no terminal in the background, it was the work.
    let told = states(&talk);
    assert_eq!(told[0], ("running".to_owned(), Value::Null));
    assert!(
        told[1..]
            .iter()
            .all(|(_, list)| list.as_array().is_some_and(|list| list.len() == 1))
    );
    assert_eq!(told.last().unwrap(), &("idle".to_owned(), listed.clone()));
    let announced = of(&talk, |update| update["command"] == "serve --port 80").unwrap();
    let first = of(&talk, |update| update["background"].is_array()).unwrap();
    assert!(announced < first);

    // Later turns say so too, and a client that joins hears of it.
    talk.prompt("wait").await;
    talk.until(|message| update(message)["state"] == "running")
        .await;
    assert_eq!(
        states(&talk).last().unwrap(),
        &("running".to_owned(), listed)
    );

    end.notify_one();
    talk.until(|message| update(message)["background"] == json!([]))
        .await;
    assert_eq!(
        states(&talk).last().unwrap().0,
        "running",
        "the turn goes on"
    );
    let exited = of(&talk, |update| update["exitStatus"].is_object()).unwrap();
    let empty = of(&talk, |update| update["background"] == json!([])).unwrap();
    assert!(exited < empty);
    talk.cancel().await;
    talk.settle().await;
    assert_eq!(
        states(&talk).last().unwrap(),
        &("idle".to_owned(), json!([]))
    );
    assert_eq!(status(&talk.call("Serve")), "completed");
}

#[tokio::test(start_paused = true)]
async fn v2_cancel_11_work_in_the_list_outlives_a_cancel() {
    let end = Arc::new(Notify::new());
    let mut talk = talk(Version::V2, starts_server(&end)).await;
    talk.turn("serve").await;
    let wait = talk.prompt("wait").await;
    talk.until(|message| update(message)["state"] == "running")
        .await;
    talk.cancel().await;
    assert_eq!(talk.end(wait).await.stop, "cancelled");
    let listed = states(&talk).pop().unwrap().1;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(status(&talk.call("Serve")), "in_progress");
    assert_eq!(of(&talk, |update| update["exitStatus"].is_object()), None);
    // The user ends it by itself, also while nothing runs, and no state but the list changes.
    let id = listed[0]["terminalId"].clone();
    let params = json!({"sessionId": talk.session, "terminalId": id});
    let asked = talk.client.ask("terminal/cancel", params).await;
    talk.settle().await;
    assert!(
        talk.log
            .iter()
            .any(|message| message["id"] == asked && message["result"].is_object())
    );
    let exit = talk
        .log
        .iter()
        .map(update)
        .find(|update| update["exitStatus"].is_object());
    assert_eq!(exit.unwrap()["exitStatus"], json!({"exitCode": 143}));
    assert_eq!(
        states(&talk).last().unwrap(),
        &("idle".to_owned(), json!([]))
    );
    assert_eq!(status(&talk.call("Serve")), "completed");
}

/// Work of the background ends with its session, and version 1 sees the call go on and end.
#[tokio::test(start_paused = true)]
async fn work_in_the_background_hears_that_the_session_closes() {
    for version in BOTH {
        let end = Arc::new(Notify::new());
        let mut talk = talk(version, starts_server(&end)).await;
        assert_eq!(talk.turn("serve").await.stop, "end_turn");
        assert_eq!(status(&talk.call("Serve")), "in_progress");
        let params = json!({"sessionId": talk.session});
        talk.client.ok("session/close", params).await;
        talk.log.append(&mut talk.client.log.clone());
        // Version 1 has no word for it.
        let ended = match version {
            Version::V1 => "failed",
            Version::V2 => "cancelled",
        };
        assert_eq!(status(&talk.call("Serve")), ended);
    }
}

/// A call without a process is listed itself.
#[tokio::test(start_paused = true)]
async fn v2_bg_04_a_watcher_is_listed_as_its_call() {
    let agent = script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Watch").await?;
            call.start().await?;
            let call = call.detach().await?;
            tokio::spawn(async move {
                call.cancelled().await;
                call.cancel().await.ok();
            });
            Ok(Stop::EndTurn)
        })
    });
    let mut talk = talk(Version::V2, agent).await;
    talk.turn("go").await;
    let id = talk.call("Watch")[0]["toolCallId"].clone();
    let listed = json!([{"type": "tool_call", "toolCallId": id}]);
    assert_eq!(
        states(&talk).last().unwrap(),
        &("idle".to_owned(), listed.clone())
    );
    let server = talk.session.clone();
    let resumed = talk
        .client
        .ok(
            "session/resume",
            json!({"sessionId": server, "cwd": "/work"}),
        )
        .await;
    assert!(resumed.is_object());
    let snapshot = talk
        .client
        .log
        .iter()
        .rev()
        .map(update)
        .find(|update| update["state"] == "idle");
    assert_eq!(snapshot.unwrap()["background"], listed);
}

/// Reads until a session tells a state with a list of background work, and returns that.
async fn told_state(client: &mut Client, session: &str) -> Value {
    let is_it = |message: &Value| {
        let update = update(message);
        message["params"]["sessionId"] == session
            && update["state"] == "idle"
            && update["background"].is_array()
    };
    let seen = client.until(is_it).await;
    update(seen.last().unwrap())["background"].clone()
}

/// What runs beside the turns of the source is not the fork's, and what the fork starts is not the source's.
#[tokio::test(start_paused = true)]
async fn the_client_of_a_fork_is_told_of_the_forks_own_background_work() {
    let end = Arc::new(Notify::new());
    let server = ply_agent::serve(starts_server(&end));
    let mut client = v2_with(&server, json!({})).await;
    let source = client.session().await;
    client.prompt(&source, "serve").await;
    let of_source = told_state(&mut client, &source).await;
    assert_eq!(of_source.as_array().unwrap().len(), 1, "{of_source}");

    let params = json!({"sessionId": source, "cwd": "/work", "mcpServers": []});
    let fork = client.ok("session/fork", params).await;
    let fork = fork["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(told_state(&mut client, &fork).await, json!([]));
    client.prompt(&fork, "serve").await;
    let of_fork = told_state(&mut client, &fork).await;
    assert_eq!(of_fork.as_array().unwrap().len(), 1, "{of_fork}");
    assert_ne!(of_fork, of_source);

    // Each ends for its own session.
    let params = json!({"sessionId": fork, "terminalId": of_fork[0]["terminalId"]});
    client.ask("terminal/cancel", params).await;
    // The call is listed by itself until it ends, too.
    while told_state(&mut client, &fork).await != json!([]) {}
    end.notify_one();
    while told_state(&mut client, &source).await != json!([]) {}
}
