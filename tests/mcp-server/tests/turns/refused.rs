//! Servers that are not spoken to. Our client does not even ask for them, so this one is hand-made.

use std::sync::Arc;

use ply_coder::config::{Config, Places};
use ply_coder::{Coder, model::offline::Offline};
use ply_mcp_server::{home, soon};
use ply_rpc::transport::memory;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

const INVALID_PARAMS: i64 = -32602;
const PIPE_BYTES: usize = 1 << 16;

/// Asks for a session with a server and returns the answer.
async fn ask(initialize: Value, server: Value) -> Value {
    let config = Config::new(vec![Arc::new(Offline::new())], Places::default());
    let agent = ply_agent::serve(Coder::new(config));
    let ((reader, mut writer), (agent_reader, agent_writer)) = memory::pair(PIPE_BYTES);
    tokio::spawn(async move {
        agent.over(agent_reader, agent_writer).await;
        agent.shutdown().await;
    });
    let new = json!({ "cwd": home(), "mcpServers": [server] });
    let mut lines = BufReader::new(reader).lines();
    for (id, method, params) in [(1, "initialize", initialize), (2, "session/new", new)] {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writer
            .write_all(format!("{request}\n").as_bytes())
            .await
            .unwrap();
        loop {
            let line = soon(lines.next_line()).await.unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id && id == 2 {
                return message;
            } else if message["id"] == id {
                assert!(message["error"].is_null(), "{message}");
                break;
            }
        }
    }
    unreachable!("the second answer ends it")
}

#[tokio::test]
async fn a_server_of_events_is_refused_when_the_session_is_asked_for() {
    let sse =
        json!({ "type": "sse", "name": "old", "url": "http://127.0.0.1:1/sse", "headers": [] });
    let info = json!({ "name": "test", "version": "1" });
    let first = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    let second = json!({ "protocolVersion": 2, "capabilities": {}, "info": info });
    for initialize in [first, second] {
        let answer = ask(initialize.clone(), sse.clone()).await;
        assert_eq!(
            answer["error"]["code"], INVALID_PARAMS,
            "{initialize}: {answer}"
        );
        let words = answer["error"].to_string();
        assert!(words.contains("MCP server"), "{initialize}: {words}");
    }
}
