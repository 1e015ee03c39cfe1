//! Calls that work, slowly or at once.

use coder_tests::{Reply, Tell as _, World, read_story};
use ply_agent::v2::{McpServer, StopReason, ToolCallStatus};
use ply_mcp_server::scratch::Scratch;
use ply_mcp_server::{Listening, soon};
use serde_json::json;

use crate::{SERVER, VERSIONS, full, open, server, shows};

#[tokio::test]
async fn a_tool_is_listed_and_called_over_stdio_and_over_http() {
    for versions in VERSIONS {
        let web = Listening::start(SERVER, &[]).await;
        let script = [
            Reply::call("mcp__s__echo", json!({ "text": "over pipes" }))
                .and_call("mcp__w__echo", json!({ "text": "over the web" })),
            Reply::say("Both."),
        ];
        let world = World::with(full(versions), script).await;
        let session = open(&world, [server("s"), McpServer::Http(web.named("w"))]).await;
        let story = soon(session.tell("Echo")).await;
        assert_eq!(story.told(), ["over pipes", "over the web"], "{story:#?}");
        assert_eq!(story.stop, Some(StopReason::EndTurn));
        assert_eq!(story.notices, [] as [&str; 0], "{versions:?}");
        let first = world.model.request(0).await;
        for name in ["read_file", "mcp__s__echo", "mcp__s__add", "mcp__w__echo"] {
            let tools = first.tools();
            assert!(tools.iter().any(|tool| tool == name), "{name}: {tools:?}");
        }
        let told = world.model.request(1).await.tool_results();
        assert_eq!(told.len(), 2, "{told:?}");
    }
}

#[tokio::test]
async fn progress_is_on_the_card_while_a_call_runs() {
    for versions in VERSIONS {
        let scratch = Scratch::new();
        let until = scratch.pipe("until");
        let script = [
            Reply::call("mcp__s__slow", json!({ "until": until.name() })),
            Reply::say("Done."),
        ];
        let world = World::with(full(versions), script).await;
        let session = open(&world, [server("s")]).await;
        let mut turn = session.prompt("Wait").await.unwrap();
        shows(&mut turn, "waiting").await;
        until.release();
        let story = soon(read_story(&session, turn)).await;
        assert_eq!(story.stop, Some(StopReason::EndTurn), "{versions:?}");
        let told = world.model.request(1).await.tool_results();
        assert_eq!(told[0].1, "at last", "{versions:?}");
    }
}

#[tokio::test]
async fn a_failed_call_is_a_result_and_tools_that_come_later_are_listed() {
    let script = [
        Reply::call("mcp__s__fail", json!({})),
        Reply::call("mcp__s__grow", json!({})),
        Reply::call("mcp__s__grown", json!({})),
        Reply::say("Done."),
    ];
    let world = World::with(full(VERSIONS[1]), script).await;
    let session = open(&world, [server("s")]).await;
    let story = soon(session.tell("Go")).await;
    assert_eq!(story.calls[0].status, ToolCallStatus::Failed, "{story:#?}");
    assert!(story.told()[0].contains("it did not work"), "{story:#?}");
    assert_eq!(story.told()[1], "grown");
    assert_eq!(story.stop, Some(StopReason::EndTurn));
}

#[tokio::test]
async fn a_loaded_session_has_the_servers_of_the_new_request() {
    let place = Scratch::new();
    let stored = || coder_tests::Setup {
        store: Some(place.path("sessions.db")),
        ..full(VERSIONS[0])
    };
    let script = [
        Reply::call("mcp__old__echo", json!({ "text": "then" })),
        Reply::say("Done."),
    ];
    let first = World::with(stored(), script).await;
    let session = open(&first, [server("old")]).await;
    soon(session.tell("Echo")).await;
    let (id, cwd) = (session.id().clone(), first.path());
    session.close().await.unwrap();

    let script = [
        Reply::call("mcp__new__echo", json!({ "text": "now" })),
        Reply::say("Done."),
    ];
    let second = World::with(stored(), script).await;
    let setup = ply_client::SessionSetup::new(cwd).mcp_server(server("new"));
    let session = second.agent.load_session(id.0.to_string(), setup).await;
    let session = session.unwrap();
    let story = soon(session.tell("Again")).await;
    assert!(story.told().contains(&"now"), "{story:#?}");
    let tools = second.model.request(0).await.tools();
    let of = |server: &str| tools.iter().any(|tool| tool.starts_with(server));
    assert!(of("mcp__new__") && !of("mcp__old__"), "{tools:?}");
}
