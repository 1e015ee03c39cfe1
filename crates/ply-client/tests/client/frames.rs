//! Every line that a client writes, whatever happens to it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use crate::support::{SESSION, Script, open, prompt, v1_with, v2_with, within};
use ply_client::{Client, Direction, Elicitations, Event};
use ply_wire::method::{Kind, v1 as methods_v1, v2 as methods_v2};
use serde_json::{Value, json};

/// What a client wrote, and what it was sent, in order.
type Lines = Arc<Mutex<Vec<(Direction, Vec<u8>)>>>;

fn recorded() -> (Client, Lines) {
    let lines = Lines::default();
    let sink = Arc::clone(&lines);
    let client = Client::new()
        .elicitation(Elicitations::new().forms())
        .on_line(move |direction, line| sink.lock().unwrap().push((direction, line.to_vec())));
    (client, lines)
}

/// Goes through everything that makes a client write.
async fn work(client: Client, is_v2: bool) {
    let capabilities =
        json!({ "loadSession": true, "sessionCapabilities": { "list": {}, "close": {} } });
    let (agent, mut script) = match is_v2 {
        false => v1_with(client, capabilities).await,
        true => v2_with(client, json!({})).await,
    };
    let session = open(&agent, &mut script).await;
    let (mut turn, request) = prompt(&session, &mut script, "hello\nyou \u{1F600}").await;
    // Lines that are no messages, and questions of every sort.
    script.raw("{").await;
    script.raw("[1, 2]").await;
    script.raw("no json at all").await;
    let unknown = script.ask("_nobody/knows", json!({})).await;
    assert_eq!(script.answered(&unknown).await["error"]["code"], -32601);
    let asked = ask_permission(&mut script, is_v2).await;
    while let Some(event) = turn.next().await {
        if let Event::Permission(permission) = event.unwrap() {
            permission.allow_once().await.unwrap();
            break;
        }
    }
    assert_eq!(
        script.answered(&asked).await["result"]["outcome"]["outcome"],
        "selected"
    );
    let bad = script
        .ask("elicitation/create", json!({ "mode": "url" }))
        .await;
    assert_eq!(script.answered(&bad).await["error"]["code"], -32602);
    turn.cancel().await.unwrap();
    script.expect("session/cancel").await;
    if is_v2 {
        script.answer(&request, json!({ "messageId": "m" })).await;
        script.state("running", None).await;
        script.state("idle", Some("cancelled")).await;
    } else {
        script.stop(&request, "cancelled").await;
    }
    within(turn.finish()).await.unwrap();
    // A request that is not answered in time is taken back.
    let listing = agent.list_sessions(ply_client::SessionFilter::all());
    tokio::select! {
        _ = listing => panic!("nobody answers"),
        _ = script.expect("session/list") => {}
    }
    script.expect("$/cancel_request").await;
    let closing = async {
        let request = script.expect("session/close").await;
        script.answer(&request, json!({})).await;
    };
    let (closed, ()) = tokio::join!(session.close(), closing);
    closed.unwrap();
    script.silent().await;
}

async fn ask_permission(script: &mut Script, is_v2: bool) -> Value {
    if !is_v2 {
        return script.ask_permission("c").await;
    }
    let call = json!({ "toolCallId": "c", "title": "Remove everything" });
    let params = json!({
        "sessionId": SESSION,
        "title": "May I?",
        "subject": { "type": "tool_call", "toolCall": call },
        "options": crate::support::options(&["allow_once", "reject_once"]),
    });
    script.ask("session/request_permission", params).await
}

/// Returns the id of the message, as it stands in the line.
fn id(line: &Value) -> String {
    line["id"].to_string()
}

// Also: V2-BATCH-02, V2-RPC-03, V2-RPC-04, V2-RPC-01.
#[tokio::test(start_paused = true)]
async fn v1_stdio_04_nothing_but_messages_of_the_protocol_is_written() {
    for is_v2 in [false, true] {
        let (client, lines) = recorded();
        work(client, is_v2).await;
        let lines = std::mem::take(&mut *lines.lock().unwrap());
        let mut open = HashSet::new();
        let mut written = 0;
        for (direction, line) in lines {
            let Ok(json) = serde_json::from_slice::<Value>(&line) else {
                assert_eq!(direction, Direction::ToClient, "{line:?}");
                continue;
            };
            if direction == Direction::ToClient {
                if json["method"].is_null() {
                    open.remove(&id(&json));
                }
                continue;
            }
            written += 1;
            let text = std::str::from_utf8(&line).unwrap();
            assert!(
                text.trim_end().starts_with('{') && !text.trim_end().contains('\n'),
                "{text}"
            );
            assert_eq!(json["jsonrpc"], "2.0");
            let params = serde_json::value::to_raw_value(&json["params"]).unwrap();
            let read = |kind, method: &str| match is_v2 {
                false => methods_v1::AgentInbound::decode_as(kind, method, Some(&params)).err(),
                true => methods_v2::AgentInbound::decode_as(kind, method, Some(&params)).err(),
            };
            match (json["method"].as_str(), json.get("id")) {
                (Some(method), Some(_)) => {
                    assert!(
                        open.insert(id(&json)),
                        "an id in flight is used again: {json}"
                    );
                    let error = read(Kind::Request, method);
                    assert!(
                        error.is_none() || method == "initialize",
                        "{error:?} in {json}"
                    );
                }
                (Some(method), None) => {
                    assert_eq!(
                        read(Kind::Notification, method).map(|e| e.to_string()),
                        None,
                        "{json}"
                    );
                }
                (None, answered) => {
                    let has_result = json.get("result").is_some();
                    assert_ne!(has_result, json.get("error").is_some(), "{json}");
                    assert!(
                        answered.is_some_and(|id| !id.is_null() || !has_result),
                        "{json}"
                    );
                }
            }
        }
        assert!(written > 9, "{written}");
    }
}
