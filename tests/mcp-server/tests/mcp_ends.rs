//! No process of a server outlives its session.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use ply_agent::v2;
use ply_coder::mcp::{Servers, Settings};
use ply_mcp_server::scratch::Scratch;
use ply_mcp_server::{Card, call, connect, gone, home, lives, pid, run, shell, soon, stdio, tool};
use serde_json::json;

const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server");

/// Connects to a server with a helper that ignores what it is told, and returns both processes.
async fn with_helper(scratch: &Scratch) -> (Servers, [i32; 2]) {
    let mut helper = scratch.pipe("helper");
    let ignores = "trap '' TERM HUP INT; while :; do sleep 1000; done";
    let script = format!(
        "sh -c \"{ignores}\" & echo $! > {}; exec {SERVER}",
        helper.name()
    );
    let servers = connect(&[shell("s", &script)]).await;
    let helper = helper.line().await.parse().unwrap();
    let server = pid(&servers, "mcp__s__pid").await;
    assert!(lives(server) && lives(helper));
    (servers, [server, helper])
}

#[tokio::test]
async fn c6_nothing_lives_after_the_end() {
    let scratch = Scratch::new();
    let (servers, pids) = with_helper(&scratch).await;
    soon(servers.end()).await;
    assert_eq!(pids.map(lives), [false, false]);
    soon(servers.end()).await;
}

#[tokio::test]
async fn c6_nothing_lives_after_the_servers_are_dropped() {
    let scratch = Scratch::new();
    let (servers, [server, helper]) = with_helper(&scratch).await;
    let kept = tool(&servers, "mcp__s__echo").await;
    drop(servers);
    gone(server).await;
    gone(helper).await;
    let outcome = soon(run(&*kept, json!({}), &Card::default())).await;
    assert!(
        outcome.failed && outcome.text.contains("the session ended"),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn nothing_lives_after_the_servers_are_dropped_while_they_start() {
    let scratch = Scratch::new();
    let mut started = scratch.pipe("started");
    let script = format!("echo $$ > {}; exec sleep 1000", started.name());
    let servers = Servers::start(&[shell("s", &script)], &home(), Settings::default());
    let pid = started.line().await.parse().unwrap();
    drop(servers);
    gone(pid).await;
}

#[tokio::test]
async fn a_call_in_the_middle_of_the_end_fails_and_no_later_one_starts_anything() {
    let servers = connect(&[v2::McpServer::Stdio(stdio("s", SERVER, &[]))]).await;
    let scratch = Scratch::new();
    let until = scratch.pipe("until");
    let slow = tool(&servers, "mcp__s__slow").await;
    let card = Card::default();
    let (outcome, ()) = tokio::join!(
        soon(run(&*slow, json!({ "until": until.name() }), &card)),
        async {
            card.shown().await;
            soon(servers.end()).await;
        }
    );
    assert!(
        outcome.failed && outcome.text.contains("the session ended"),
        "{outcome:?}"
    );
    let outcome = call(&servers, "mcp__s__echo", json!({})).await;
    assert!(
        outcome.failed && outcome.text.contains("the session ended"),
        "{outcome:?}"
    );
}
