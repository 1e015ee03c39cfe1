//! What a hostile server lists is bounded, cleaned and named apart.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::HashSet;

use ply_agent::v2;
use ply_mcp_server::{connect, names, prepared, soon, stdio};
use serde_json::json;

const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server");

#[tokio::test]
async fn a_hostile_list_is_bounded_cleaned_and_named_apart() {
    let servers = connect(&[v2::McpServer::Stdio(stdio(
        "bad\u{1b}\u{202e}",
        SERVER,
        &["--hostile"],
    ))])
    .await;
    let tools = soon(servers.tools()).await;
    assert_eq!(tools.len(), 256);
    let names: HashSet<String> = names(&tools).into_iter().collect();
    assert_eq!(names.len(), tools.len());
    let mut schemas_bytes = 0;
    for tool in &tools {
        let spec = tool.spec();
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        assert!(
            spec.name.len() <= 64 && spec.name.bytes().all(plain),
            "{}",
            spec.name
        );
        assert!(spec.description.len() < 4096);
        assert!(
            spec.description
                .contains("of the MCP server `bad`, described by the server itself")
        );
        let hidden = |c: char| {
            (c.is_control() && c != '\n') || matches!(c, '\u{200b}' | '\u{202e}') || c > '\u{e0000}'
        };
        assert!(!spec.description.contains(hidden), "{:?}", spec.description);
        assert_eq!(spec.schema.get("type"), Some(&json!("object")));
        schemas_bytes += spec.schema.to_string().len();
        prepared(&**tool, json!({}), |prepared| {
            assert!(!prepared.title.contains(hidden))
        })
        .await;
    }
    assert!(schemas_bytes <= 512 * 1024);
    let failures = servers.failures();
    let message = &failures.first().unwrap().message;
    assert!(message.contains("of its tools are left out"), "{message}");
    servers.end().await;
}
