//! Clients that are told how far they are and come back there, and requests that are sent again.

use ply_agent::{Agent, Server, Stop};
use serde_json::{Value, json};

use crate::script::script;
use crate::support::*;

const INVALID_PARAMS: i64 = -32602;

fn speaks() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            for word in ["one ", "two ", "three "] {
                turn.say(word).await?;
            }
            let call = turn.tool_call("Look").await?;
            call.start().await?;
            call.finish_with("seen").await?;
            turn.say("four").await?;
            Ok(Stop::EndTurn)
        })
    })
}

async fn with_cursors(version: u64, server: &Server) -> Client {
    let capabilities = json!({"_meta": {"ply": {"cursors": true}}});
    match version {
        1 => v1_with(server, capabilities).await,
        _ => v2_with(server, capabilities).await,
    }
}

fn of(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}

fn cursor(message: &Value) -> Option<&str> {
    message["params"]["_meta"]["acp/cursor"].as_str()
}

/// Prompts and returns the updates up to the end of the turn.
async fn turn(client: &mut Client, session: &str, operation: &str) -> Vec<Value> {
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "go"}],
        "_meta": {"ply/operation": operation}});
    let id = client.ask("session/prompt", params).await;
    let is_over = |message: &Value| {
        let is_idle = message["params"]["update"]["state"] == "idle";
        is_idle || (message["id"] == id && message["result"]["stopReason"].is_string())
    };
    let mut seen = client.until(is_over).await;
    seen.retain(|message| message["method"] == "session/update");
    seen
}

/// Returns updates without their cursors, with texts of one message joined.
fn shown(updates: &[Value]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for message in updates {
        let update = message["params"]["update"].clone();
        if let (Some(last), Some(text)) = (out.last_mut(), update["content"]["text"].as_str())
            && last["sessionUpdate"] == "agent_message_chunk"
            && update["sessionUpdate"] == "agent_message_chunk"
        {
            let joined = format!("{}{text}", last["content"]["text"].as_str().unwrap());
            last["content"]["text"] = joined.into();
        } else {
            out.push(update);
        }
    }
    out
}

/// Resumes after a cursor and returns the updates up to the answer.
async fn after(client: &mut Client, version: u64, session: &str, cursor: &str) -> Vec<Value> {
    let mut params = of(session);
    match version {
        1 => params["_meta"] = json!({"ply/after": cursor, "ply/operations": ["first"]}),
        _ => params["replayFrom"] = json!({"type": "_ply/after", "cursor": cursor}),
    }
    let id = client.ask("session/resume", params).await;
    let mut seen = client.answered(id).await;
    let answer = seen.pop().unwrap();
    assert!(answer["result"].is_object(), "{answer}");
    seen
}

#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_is_shown_exactly_what_comes_after_its_cursor() {
    for version in [1, 2] {
        let server = ply_agent::serve(speaks());
        let mut client = with_cursors(version, &server).await;
        let session = client.session().await;
        let updates = turn(&mut client, &session, "first").await;
        for (at, update) in updates.iter().enumerate() {
            let cursor = cursor(update).unwrap_or_else(|| panic!("no cursor in {update}"));
            let mut other = with_cursors(version, &server).await;
            let rest = after(&mut other, version, &session, cursor).await;
            let expected = shown(updates.get(at + 1..).unwrap());
            assert_eq!(shown(&rest), expected, "after {update}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_ask_for_cursors_sees_none() {
    for version in [1, 2] {
        let server = ply_agent::serve(speaks());
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        turn(&mut client, &session, "first").await;
        let log = format!("{:?}", client.log);
        assert!(
            !log.contains("acp/cursor") && !log.contains("\"ply\""),
            "{log}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_names_no_place_in_the_session_is_refused_in_words() {
    for version in [1, 2] {
        let server = ply_agent::serve(speaks());
        let mut client = with_cursors(version, &server).await;
        let (session, other) = (client.session().await, client.session().await);
        let updates = turn(&mut client, &other, "first").await;
        let foreign = updates.iter().find_map(cursor).unwrap().to_owned();
        turn(&mut client, &session, "second").await;
        for wrong in [json!("latest"), json!(""), json!(7), json!(foreign)] {
            let mut client = with_cursors(version, &server).await;
            let mut params = of(&session);
            params["_meta"] = json!({"ply/after": wrong});
            let id = client.ask("session/resume", params).await;
            let seen = client.answered(id).await;
            assert_eq!(seen.len(), 1, "something was shown: {seen:#?}");
            assert_eq!(seen[0]["error"]["code"], INVALID_PARAMS);
            let told = seen[0]["error"].to_string();
            assert!(told.contains("cursor"), "{told}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_made_twice_under_one_key_is_one_session() {
    for version in [1, 2] {
        let server = ply_agent::serve(speaks());
        let mut client = with_cursors(version, &server).await;
        let params = |key: &str| {
            json!({"cwd": "/work", "mcpServers": [],
                "_meta": {"ply/operation": key}})
        };
        let first = client.ok("session/new", params("a")).await;
        let id = first["sessionId"].as_str().unwrap().to_owned();
        turn(&mut client, &id, "first").await;
        let mut again = with_cursors(version, &server).await;
        let second = again.ok("session/new", params("a")).await;
        assert_eq!(second["sessionId"], first["sessionId"]);
        let third = again.ok("session/new", params("b")).await;
        assert_ne!(third["sessionId"], first["sessionId"]);
        let mut elsewhere = params("a");
        elsewhere["cwd"] = json!("/elsewhere");
        let wrong = again.ask("session/new", elsewhere).await;
        let answer = again.answered(wrong).await.pop().unwrap();
        assert_eq!(answer["error"]["code"], INVALID_PARAMS, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_sent_again_after_coming_back_gets_the_same_answer() {
    for version in [1, 2] {
        let server = ply_agent::serve(speaks());
        let mut client = with_cursors(version, &server).await;
        let session = client.session().await;
        let updates = turn(&mut client, &session, "first").await;
        let last = updates.iter().rev().find_map(cursor).unwrap().to_owned();
        drop(client);
        let mut client = with_cursors(version, &server).await;
        after(&mut client, version, &session, &last).await;
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "go"}],
            "_meta": {"ply/operation": "first"}});
        let id = client.ask("session/prompt", params).await;
        let seen = client.answered(id).await;
        assert_eq!(seen.len(), 1, "the prompt was carried out again: {seen:#?}");
        let result = &seen[0]["result"];
        assert!(result["stopReason"] == "end_turn" || result["messageId"].is_string());
    }
}
