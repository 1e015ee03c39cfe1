//! Servers that fail: the session goes on, and says what is wrong.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::collections::BTreeMap;
use std::time::Duration;

use ply_agent::v2;
use ply_coder::mcp::{Servers, Settings};
use ply_coder::tool::Outcome;
use ply_mcp_server::scratch::Scratch;
use ply_mcp_server::{
    Card, call, connect, connect_with, home, kill, pid, run, shell, soon, stdio, tool,
};
use serde_json::{Value, json};

const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server");

fn good(name: &str) -> v2::McpServer {
    v2::McpServer::Stdio(stdio(name, SERVER, &[]))
}

/// Connects to a server that fails beside one that does not, and returns what is said of it.
async fn failure(server: v2::McpServer, settings: Settings) -> String {
    let servers = connect_with(&[server, good("good")], settings).await;
    let outcome = call(&servers, "mcp__good__echo", json!({ "text": "fine" })).await;
    assert_eq!(outcome.text, "fine");
    let failures = servers.failures();
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0].server, "bad");
    servers.end().await;
    failures[0].message.clone()
}

fn hasty() -> Settings {
    let mut settings = Settings::default();
    settings.connect = Duration::from_secs(3);
    settings
}

#[tokio::test]
async fn v1_sess_18_a_command_that_does_not_exist_is_named() {
    let missing = v2::McpServer::Stdio(stdio("bad", "/no/such/program", &[]));
    let message = failure(missing, Settings::default()).await;
    assert!(
        message.contains("`/no/such/program`") && message.contains("check the path"),
        "{message}"
    );
    let mut settings = Settings::default();
    settings.search_path = Some("/usr/own/bin".to_owned());
    let missing = v2::McpServer::Stdio(stdio("bad", "no-such-program", &[]));
    let message = failure(missing, settings).await;
    assert!(message.contains("PATH is `/usr/own/bin`"), "{message}");
}

#[tokio::test]
async fn a_server_that_exits_is_told_of_with_its_last_words() {
    let script = "echo first >&2; echo 'no configuration' >&2; exit 3";
    let message = failure(shell("bad", script), Settings::default()).await;
    let expected = "it exited with code 3; the last it wrote was: first / no configuration";
    assert_eq!(message, expected);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let script = "echo 'still loading' >&2; exec sleep 1000";
    let message = failure(shell("bad", script), hasty()).await;
    assert_eq!(
        message,
        "it did not answer within 3 s; the last it wrote was: still loading"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_no_server_is_given_up() {
    let message = failure(shell("bad", "echo hello; echo '{\"hello\":1}'"), hasty()).await;
    assert_eq!(message, "it exited with code 0");
    let message = failure(shell("bad", "exec yes"), hasty()).await;
    assert_eq!(message, "it did not answer within 3 s");
    let message = failure(shell("bad", "exec cat /dev/zero"), Settings::default()).await;
    assert!(message.contains("without ending the line"), "{message}");
}

#[tokio::test]
async fn starting_does_not_wait_for_a_server() {
    let server = [shell("bad", "exec sleep 1000")];
    let servers = Servers::start(&server, &home(), hasty());
    assert_eq!(servers.failures(), []);
    assert!(servers.tools().await.is_empty());
    soon(servers.ready()).await;
    assert_eq!(servers.failures().len(), 1);
    assert_eq!(
        servers.failures()[0].to_string(),
        "MCP server `bad`: it did not answer within 3 s"
    );
}

// Also: V2-MCP-02, V2-ERR-02.
#[tokio::test]
async fn v2_sess_04_transports_that_are_not_spoken_are_refused() {
    for (kind, words) in [
        ("sse", "streamable HTTP"),
        ("_pigeon", "`_pigeon` is not supported"),
    ] {
        let fields = BTreeMap::from([("name".to_owned(), json!("bad"))]);
        let server = v2::McpServer::Other(v2::OtherMcpServer::new(kind, fields));
        let refused = Servers::unsupported(&[good("good"), server.clone()]).unwrap();
        assert_eq!(refused.server, "bad");
        assert!(refused.message.contains(words), "{refused}");
        assert_eq!(failure(server, Settings::default()).await, refused.message);
    }
    assert_eq!(Servers::unsupported(&[good("good")]), None);
}

#[tokio::test]
async fn what_is_no_mcp_between_messages_is_passed_over() {
    let script = format!("echo 'starting up...'; printf '\\377\\n'; exec {SERVER}");
    let servers = connect(&[shell("s", &script)]).await;
    assert_eq!(servers.failures(), []);
    assert_eq!(
        call(&servers, "mcp__s__babble", Value::Null).await,
        Outcome::done("sorry")
    );
    assert_eq!(
        call(&servers, "mcp__s__echo", json!({ "text": "on" }))
            .await
            .text,
        "on"
    );
    servers.end().await;
}

#[tokio::test]
async fn a_line_without_end_ends_the_call_and_the_next_one_connects_anew() {
    let servers = connect(&[good("s")]).await;
    let outcome = call(&servers, "mcp__s__flood", Value::Null).await;
    assert!(
        outcome.failed && outcome.text.contains("without ending the line"),
        "{outcome:?}"
    );
    assert_eq!(
        call(&servers, "mcp__s__echo", json!({ "text": "on" }))
            .await
            .text,
        "on"
    );
    servers.end().await;
}

#[tokio::test]
async fn a_crash_during_a_call_fails_it_with_the_last_words_and_the_next_one_connects_anew() {
    let servers = connect(&[good("s"), good("other")]).await;
    let (before, other) = (
        pid(&servers, "mcp__s__pid").await,
        pid(&servers, "mcp__other__pid").await,
    );
    let outcome = call(&servers, "mcp__s__crash", json!({})).await;
    assert!(outcome.failed);
    let words = "it exited with code 7; the last it wrote was: first words / something broke";
    assert!(outcome.text.contains(words), "{outcome:?}");
    assert_ne!(pid(&servers, "mcp__s__pid").await, before);
    assert_eq!(pid(&servers, "mcp__other__pid").await, other);
    servers.end().await;
}

#[tokio::test]
async fn a_server_that_is_killed_during_a_call_fails_it_and_nothing_else() {
    // Its helper holds the pipes open, so that only the death of the process itself tells.
    let script = format!("sleep 1000 & exec {SERVER}");
    let servers = connect(&[shell("s", &script), good("other")]).await;
    let scratch = Scratch::new();
    let until = scratch.pipe("until");
    let victim = pid(&servers, "mcp__s__pid").await;
    let tool = tool(&servers, "mcp__s__slow").await;
    let card = Card::default();
    let (outcome, ()) = tokio::join!(
        soon(run(&*tool, json!({ "until": until.name() }), &card)),
        async {
            card.shown().await;
            kill(victim);
        }
    );
    assert!(
        outcome.failed && outcome.text.contains("signal 9"),
        "{outcome:?}"
    );
    assert_eq!(
        call(&servers, "mcp__other__echo", json!({ "text": "fine" }))
            .await
            .text,
        "fine"
    );
    assert_ne!(pid(&servers, "mcp__s__pid").await, victim);
    servers.end().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_started_again_says_so_at_every_call() {
    let scratch = Scratch::new();
    let own = scratch.path("server");
    std::fs::copy(SERVER, &own).unwrap();
    let servers = connect(&[v2::McpServer::Stdio(stdio("s", own.to_str().unwrap(), &[]))]).await;
    std::fs::remove_file(&own).unwrap();
    call(&servers, "mcp__s__crash", json!({})).await;
    for _ in 0..2 {
        let outcome = call(&servers, "mcp__s__echo", json!({})).await;
        assert!(
            outcome.failed && outcome.text.contains("cannot be reached: cannot start"),
            "{outcome:?}"
        );
    }
}

#[tokio::test]
async fn silence_ends_a_call_and_its_server_is_told() {
    let mut settings = Settings::default();
    settings.silence = Duration::from_secs(1);
    let servers = connect_with(&[good("s")], settings).await;
    let scratch = Scratch::new();
    let (until, mut cancelled) = (scratch.pipe("until"), scratch.pipe("cancelled"));
    let arguments = json!({ "until": until.name(), "cancelled": cancelled.name() });
    let outcome = call(&servers, "mcp__s__slow", arguments).await;
    assert!(
        outcome.failed && outcome.text.contains("said nothing for 1 s"),
        "{outcome:?}"
    );
    cancelled.signal().await;
    assert_eq!(
        call(&servers, "mcp__s__echo", json!({ "text": "on" }))
            .await
            .text,
        "on"
    );
    servers.end().await;
}
