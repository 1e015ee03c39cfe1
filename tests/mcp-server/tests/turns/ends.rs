//! Servers that end, by themselves or with the session.

use std::time::Duration;

use coder_tests::{Reply, Tell as _, World, read_story};
use ply_agent::v2::{McpServer, StopReason, ToolCallStatus};
use ply_mcp_server::scratch::Scratch;
use ply_mcp_server::{gone, kill, lives, soon, stdio};
use serde_json::json;

use crate::{VERSIONS, full, open, server, shows};

/// The hard limit of a cancel.
const HARD: Duration = Duration::from_secs(2);

fn pid() -> Reply {
    Reply::call("mcp__s__pid", json!({}))
}

#[tokio::test]
async fn a_server_that_is_killed_in_a_call_fails_it_and_is_started_anew_for_the_next() {
    for versions in VERSIONS {
        let scratch = Scratch::new();
        let until = scratch.pipe("until");
        let script = [
            pid(),
            Reply::say("Known."),
            Reply::call("mcp__s__slow", json!({ "until": until.name() })),
            pid(),
            Reply::say("Still here."),
        ];
        let world = World::with(full(versions), script).await;
        let session = open(&world, [server("s")]).await;
        let before: i32 = soon(session.tell("Who?")).await.told()[0].parse().unwrap();
        let mut turn = session.prompt("Wait").await.unwrap();
        shows(&mut turn, "waiting").await;
        kill(before);
        let story = soon(read_story(&session, turn)).await;
        assert_eq!(story.stop, Some(StopReason::EndTurn), "{story:#?}");
        assert!(story.text.ends_with("Still here."), "{story:#?}");
        let told = world.model.request(4).await.tool_results();
        let [_, slow, after] = told.as_slice() else {
            panic!("{told:?}")
        };
        assert!(slow.1.contains('s') && slow.1 != "at last", "{slow:?}");
        let after: i32 = after.1.parse().unwrap();
        assert!(after != before && lives(after), "{told:?}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_start_is_told_of_and_the_session_works() {
    for versions in VERSIONS {
        let script = [
            Reply::call("mcp__good__echo", json!({ "text": "fine" })),
            Reply::say("Done."),
            Reply::say("Again."),
        ];
        let world = World::with(full(versions), script).await;
        let bad = McpServer::Stdio(stdio("bad", "/no/such/program", &[]));
        let session = open(&world, [bad, server("good")]).await;
        let story = soon(session.tell("Echo")).await;
        assert_eq!(story.told(), ["fine"], "{story:#?}");
        let told = format!("{:?} {}", story.notices, story.text);
        assert!(
            told.contains("bad") && told.contains("/no/such/program"),
            "{story:#?}"
        );
        let story = soon(session.tell("And now?")).await;
        let told = format!("{:?} {}", story.notices, story.text);
        assert!(
            !told.contains("/no/such/program"),
            "it is told once: {told}"
        );
    }
}

#[tokio::test]
async fn a_cancel_in_a_slow_call_is_heard_at_once() {
    for versions in VERSIONS {
        let scratch = Scratch::new();
        let (until, mut cancelled) = (scratch.pipe("until"), scratch.pipe("cancelled"));
        let slow = json!({ "until": until.name(), "cancelled": cancelled.name() });
        let script = [
            Reply::call("mcp__s__slow", slow),
            pid(),
            Reply::say("Done."),
        ];
        let world = World::with(full(versions), script).await;
        let session = open(&world, [server("s")]).await;
        let mut turn = session.prompt("Wait").await.unwrap();
        shows(&mut turn, "waiting").await;
        session.cancel().await.unwrap();
        let story = tokio::time::timeout(HARD, read_story(&session, turn)).await;
        let story = story.expect("the turn ends in time");
        assert_eq!(story.stop, Some(StopReason::Cancelled), "{story:#?}");
        assert!(
            story.calls.iter().all(|call| call.is_finished()),
            "{story:#?}"
        );
        // The server was told, and serves the next call.
        cancelled.signal().await;
        let story = soon(session.tell("And now?")).await;
        assert_eq!(
            story.calls[0].status,
            ToolCallStatus::Completed,
            "{story:#?}"
        );
    }
}

#[tokio::test]
async fn the_end_of_a_session_is_the_end_of_its_servers() {
    for versions in VERSIONS {
        let world = World::with(full(versions), [pid(), Reply::say("Done.")]).await;
        let session = open(&world, [server("s")]).await;
        let pid: i32 = soon(session.tell("Who?")).await.told()[0].parse().unwrap();
        assert!(lives(pid));
        soon(session.close()).await.unwrap();
        assert!(!lives(pid), "{versions:?}");
    }
}

#[tokio::test]
async fn the_end_of_the_connection_is_the_end_of_the_servers() {
    let world = World::with(full(VERSIONS[1]), [pid(), Reply::say("Done.")]).await;
    let session = open(&world, [server("s")]).await;
    let pid: i32 = soon(session.tell("Who?")).await.told()[0].parse().unwrap();
    world.agent.close().await;
    gone(pid).await;
}
