//! What goes over the wire, whatever it is about: lines, ids, names, metadata.

use std::collections::HashSet;

use ply_agent::{Stop, v2};
use ply_wire::method::{self, MethodInfo};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::actor::{Actor, boolean_option, command, mode_option, run};
use crate::script::*;
use crate::shapes::check;
use crate::support::*;

const EVERYTHING: &str = "everything\nask\nsay done";

fn actor() -> Actor {
    let mut actor = Actor::new();
    actor.options = vec![mode_option("ask"), boolean_option(false)];
    actor.commands = vec![command("plan")];
    actor
}

/// Works on everything there is, and returns every line that the agent wrote.
async fn everything(version: Version) -> Vec<Value> {
    let server = actor().serve();
    let shows =
        json!({"session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}}});
    let mut client = match version {
        Version::V1 => v1_with(&server, shows).await,
        Version::V2 => v2_with(&server, json!({})).await,
    };
    let session = client.session().await;
    client.prompt(&session, EVERYTHING).await;
    let question = client.method("session/request_permission").await;
    let allowed = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
    client.answer(&question, allowed).await;
    client
        .until(|message| said(std::slice::from_ref(message)) == "done")
        .await;
    client.ok("session/list", json!({})).await;
    client.fails("session/nope", json!({})).await;
    client.write("{").await;
    client.until(|message| message["id"].is_null()).await;
    client.log
}

// Also: V1-RPC-01, V1-RPC-08, V1-RPC-10, V1-RPC-11.
#[tokio::test(start_paused = true)]
async fn v2_rpc_01_bad_lines_and_requests_are_refused_alike_in_both_versions() {
    for version in BOTH {
        let mut talk = talk(version, Actor::new()).await;
        let bad = [
            ("{", -32700),
            ("42", -32600),
            ("\"x\"", -32600),
            (r#"{"id":1,"method":"session/list"}"#, -32600),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"session/list"}"#,
                -32600,
            ),
        ];
        for (line, code) in bad {
            talk.client.write(line).await;
            let answer = talk.next().await;
            assert_eq!(answer["error"]["code"], code, "{version:?}: {line}");
            assert!(answer.get("id").is_some(), "{version:?}: {line}");
        }
        assert_eq!(talk.client.fails("session/prompt", json!({})).await, -32602);
        assert_eq!(talk.client.fails("session/nope", json!({})).await, -32601);
        // None of these is answered, and the link lives.
        for line in [
            r#"{"jsonrpc":"2.0","method":"session/prompt","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"foo/bar"}"#,
            r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        ] {
            talk.client.write(line).await;
        }
        let ids = [json!(0), json!(-1), json!("7"), json!("x".repeat(40))];
        for id in ids {
            let request =
                json!({"jsonrpc": "2.0", "id": id, "method": "session/list", "params": {}});
            talk.client.write(&request.to_string()).await;
            let answer = talk.client.next().await.unwrap();
            assert_eq!(answer["id"], id);
            assert!(answer["result"].is_object());
        }
    }
}

// Also: V2-RPC-03, V2-RPC-04.
#[tokio::test(start_paused = true)]
async fn v2_batch_02_every_line_is_one_message_with_the_members_of_its_kind() {
    for version in BOTH {
        let mut asked = HashSet::new();
        for message in everything(version).await {
            assert!(message.is_object(), "{message}");
            let (method, id) = (message.get("method"), message.get("id"));
            let (result, error) = (message.get("result"), message.get("error"));
            match (method, result, error) {
                // No answer of ours is missing when the next question comes, so no id may come again at all.
                (Some(_), None, None) => assert!(id.is_none_or(|id| asked.insert(id.to_string()))),
                (None, Some(_), None) => assert!(id.is_some_and(|id| !id.is_null()), "{message}"),
                (None, None, Some(error)) => {
                    assert!(id.is_some(), "{message}");
                    let is_unknown = error["code"] == -32700;
                    assert_eq!(id.is_some_and(Value::is_null), is_unknown, "{message}");
                }
                _ => panic!("it is several kinds of message: {message}"),
            }
        }
        assert!(!asked.is_empty());
    }
}

/// Sends the same lines over a transport and returns what comes back, with the names of sessions made alike.
async fn over(
    reader: impl tokio::io::AsyncRead + Unpin,
    mut writer: impl tokio::io::AsyncWrite + Unpin,
) -> Vec<String> {
    let mut lines = BufReader::new(reader).lines();
    let mut seen = Vec::new();
    let mut session = String::new();
    let requests = [
        ("initialize", json!({"protocolVersion": 1})),
        ("session/new", json!({"cwd": "/work", "mcpServers": []})),
        (
            "session/prompt",
            json!({"prompt": [{"type": "text", "text": "everything"}]}),
        ),
        ("session/nope", json!({})),
    ];
    for (id, (method, mut params)) in requests.into_iter().enumerate() {
        if method == "session/prompt" {
            params["sessionId"] = json!(session);
        }
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writer
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
        loop {
            let line = lines.next_line().await.unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if let Some(made) = message["result"]["sessionId"].as_str() {
                made.clone_into(&mut session);
            }
            let is_name = |session: &str| !session.is_empty();
            seen.push(match is_name(&session) {
                true => line.replace(&session, "SESSION"),
                false => line,
            });
            if message["id"] == id {
                break;
            }
        }
    }
    seen
}

/// Whatever carries the bytes, the messages and their order are the same.
#[tokio::test]
async fn v1_stdio_08_every_transport_carries_the_same_lines() {
    let mut runs = Vec::new();
    // A pipe with room, and one so narrow that every line comes in pieces.
    for pipe_bytes in [1 << 20, 7] {
        let (agent_reads, writer) = tokio::io::duplex(pipe_bytes);
        let (reader, agent_writes) = tokio::io::duplex(pipe_bytes);
        let server = actor().serve();
        tokio::spawn(async move { server.over(agent_reads, agent_writes).await });
        runs.push(over(reader, writer).await);
    }
    // One whose end is both read and written.
    let ((reader, writer), (agent_reads, agent_writes)) = ply_rpc::transport::memory::pair(100);
    let server = actor().serve();
    tokio::spawn(async move { server.over(agent_reads, agent_writes).await });
    runs.push(over(reader, writer).await);
    assert!(runs[0].len() > 15, "{:#?}", runs[0]);
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

fn odd_meta() -> v2::Meta {
    let meta = json!({"example.org/odd": {"a": [1, null]}, "traceparent": "00-x", "": false});
    serde_json::from_value(meta).unwrap()
}

/// Metadata of others is carried and means nothing, from the agent's code to clients of both versions.
#[tokio::test(start_paused = true)]
async fn v1_ext_06_unknown_metadata_is_passed_on_as_it_is() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let call = turn.tool_call("Look").meta(odd_meta()).await?;
                call.finish().await?;
                let words = v2::TextContent::new("hello").meta(odd_meta());
                turn.say(v2::ContentBlock::Text(words)).await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let params = json!({"sessionId": talk.session, "prompt": [
            {"type": "text", "text": "go", "_meta": odd_meta()}], "_meta": odd_meta()});
        talk.client.ask("session/prompt", params).await;
        talk.hears("hello").await;
        let expected = json!(odd_meta());
        assert_eq!(talk.call("Look")[0]["_meta"], expected);
        let said = talk.log.last().unwrap();
        assert_eq!(update(said)["content"]["_meta"], expected);
        // The user's words keep theirs for whoever joins.
        talk.settle().await;
        let server_keeps = talk.log.iter().map(update).any(|update| {
            update["sessionUpdate"] == "user_message" && update["content"][0]["_meta"] == expected
        });
        assert_eq!(server_keeps, version == Version::V2);
    }
}

/// Names and values that version 2 leaves open, by the member that holds them.
const OPEN: [(&str, &[&str]); 10] = [
    (
        "sessionUpdate",
        &[
            "user_message",
            "agent_message_chunk",
            "agent_thought_chunk",
            "tool_call_update",
            "tool_call_content_chunk",
            "terminal_update",
            "terminal_output_chunk",
            "plan_update",
            "compaction_update",
            "compaction_summary_chunk",
            "state_update",
            "config_option_update",
            "available_commands_update",
            "session_info_update",
            "usage_update",
            "notice",
        ],
    ),
    ("state", &["running", "idle", "requires_action"]),
    (
        "stopReason",
        &[
            "end_turn",
            "max_tokens",
            "max_turn_requests",
            "refusal",
            "cancelled",
            "error",
        ],
    ),
    (
        "status",
        &["pending", "in_progress", "completed", "failed", "cancelled"],
    ),
    (
        "kind",
        &[
            "read",
            "edit",
            "delete",
            "move",
            "search",
            "execute",
            "think",
            "fetch",
            "switch_mode",
            "other",
            "allow_once",
            "allow_always",
            "reject_once",
            "reject_always",
        ],
    ),
    ("priority", &["high", "medium", "low"]),
    ("severity", &["info", "warning", "error"]),
    (
        "category",
        &["mode", "model", "model_config", "thought_level"],
    ),
    (
        "type",
        &[
            "text",
            "image",
            "audio",
            "resource_link",
            "resource",
            "content",
            "diff",
            "terminal",
            "items",
            "select",
            "boolean",
            "id",
            "command",
            "tool_call",
            "agent",
        ],
    ),
    ("operation", &["add", "delete", "modify", "move", "copy"]),
];

fn check_open_values(value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if ["_meta", "rawInput", "rawOutput"].contains(&name.as_str()) {
                    continue;
                }
                let open = OPEN.iter().find(|(open, _)| open == name);
                if let (Some((_, known)), Some(value)) = (open, value.as_str()) {
                    let is_own = value.starts_with('_');
                    assert!(is_own || known.contains(&value), "{name} is {value}");
                }
                check_open_values(value);
            }
        }
        Value::Array(values) => values.iter().for_each(check_open_values),
        _ => {}
    }
}

// Also: V2-AUTH-04, V2-STOP-04.
#[tokio::test(start_paused = true)]
async fn v2_ext_01_no_name_or_value_is_minted_that_is_neither_known_nor_begins_with_an_underscore()
{
    let is_known =
        |methods: &[MethodInfo], name: &str| methods.iter().any(|info| info.name == name);
    for message in everything(Version::V2).await {
        check(Version::V2, &message);
        check_open_values(&message);
        if let Some(method) = message["method"].as_str() {
            assert!(
                method.starts_with('_') || is_known(method::v2::METHODS, method),
                "{method}"
            );
        }
    }
    for message in everything(Version::V1).await {
        check(Version::V1, &message);
        if let Some(method) = message["method"].as_str() {
            assert!(
                method.starts_with('_') || is_known(method::v1::METHODS, method),
                "{method}"
            );
        }
    }
    // A session that was left alone says no more than one that worked.
    let mut client = v2(Actor::new()).await;
    let session = client.session().await;
    run(&mut client, &session, "say hi").await;
    client.log.iter().for_each(check_open_values);
}
