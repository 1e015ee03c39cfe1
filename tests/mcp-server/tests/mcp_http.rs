//! Servers behind HTTP: headers, refusals, and servers that go away.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use ply_agent::v2;
use ply_mcp_server::scratch::Scratch;
use ply_mcp_server::{Card, Listening, call, connect, kill, run, soon, tool};
use serde_json::{Value, json};

const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server");

// Also: V1-MCP-03.
#[tokio::test]
async fn v2_mcp_05_given_headers_are_sent_and_those_of_the_transport_stay() {
    let web = Listening::start(SERVER, &["--token", "secret"]).await;
    let headers = vec![
        v2::HttpHeader::new("Authorization", "Bearer secret"),
        v2::HttpHeader::new("X-Own", "mine"),
        v2::HttpHeader::new("Mcp-Session-Id", "stolen"),
        v2::HttpHeader::new("Accept", "text/html"),
    ];
    let servers = connect(&[v2::McpServer::Http(web.named("w").headers(headers))]).await;
    assert_eq!(servers.failures(), []);
    let outcome = call(&servers, "mcp__w__headers", json!({})).await;
    let headers: Value = serde_json::from_str(&outcome.text).unwrap();
    assert_eq!(headers["authorization"], "Bearer secret");
    assert_eq!(headers["x-own"], "mine");
    assert_ne!(headers["mcp-session-id"], "stolen");
    assert!(
        headers["accept"]
            .as_str()
            .unwrap()
            .contains("text/event-stream")
    );
    servers.end().await;
}

async fn failure(server: v2::McpServerHttp) -> String {
    let servers = connect(&[v2::McpServer::Http(server)]).await;
    servers.failures()[0].message.clone()
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let closed = Listening::start(SERVER, &["--token", "secret"]).await;
    let message = failure(closed.named("w")).await;
    assert!(
        message.contains("HTTP status 401") && message.contains("`Authorization`"),
        "{message}"
    );
    let page = Listening::start(SERVER, &["--page"]).await;
    let message = failure(page.named("w")).await;
    assert!(message.contains("not MCP"), "{message}");
    let (url, pid) = (page.url.clone(), page.child.id());
    drop(page);
    // Until then its port still takes connections.
    ply_mcp_server::gone(pid.cast_signed()).await;
    let message = failure(v2::McpServerHttp::new("w", format!("{url}?key=secret"))).await;
    assert!(
        message.contains("no connection") && !message.contains("secret"),
        "{message}"
    );
    let message = failure(v2::McpServerHttp::new("w", "ftp://127.0.0.1/")).await;
    assert!(message.contains("`https://`"), "{message}");
}

#[tokio::test]
async fn a_server_that_is_killed_during_a_call_fails_it_and_one_in_its_place_is_found() {
    let web = Listening::start(SERVER, &[]).await;
    let servers = connect(&[v2::McpServer::Http(web.named("w"))]).await;
    let scratch = Scratch::new();
    let until = scratch.pipe("until");
    let slow = tool(&servers, "mcp__w__slow").await;
    let card = Card::default();
    let victim = i32::try_from(web.child.id()).unwrap();
    let (outcome, ()) = tokio::join!(
        soon(run(&*slow, json!({ "until": until.name() }), &card)),
        async {
            card.shown().await;
            kill(victim);
        }
    );
    assert!(
        outcome.failed && outcome.text.contains("was lost"),
        "{outcome:?}"
    );
    let outcome = call(&servers, "mcp__w__echo", json!({})).await;
    assert!(
        outcome.failed && outcome.text.contains("no connection"),
        "{outcome:?}"
    );
    let _new = Listening::start(SERVER, &["--port", &web.port()]).await;
    let outcome = call(&servers, "mcp__w__echo", json!({ "text": "again" })).await;
    assert_eq!(outcome.text, "again");
    servers.end().await;
}
