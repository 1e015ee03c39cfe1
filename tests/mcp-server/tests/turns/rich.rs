//! What servers offer besides a few tools.

use coder_tests::{Reply, Tell as _, World};
use ply_agent::v2::{AvailableCommand, McpServer, ToolCallStatus};
use ply_mcp_server::{soon, stdio};
use serde_json::json;

use crate::{SERVER, VERSIONS, full, open};

/// Names a server with so many tools.
fn rich(name: &str, tools: usize) -> McpServer {
    McpServer::Stdio(stdio(name, SERVER, &["--rich", &tools.to_string()]))
}

#[tokio::test]
async fn the_model_is_told_what_a_server_says_of_itself_as_its_words() {
    let world = World::with(full(VERSIONS[1]), [Reply::say("Done.")]).await;
    let session = open(&world, [rich("maps", 0)]).await;
    soon(session.tell("Go")).await;
    let system = world.model.request(0).await.system();
    assert!(
        system.contains("The MCP server `maps`:\n> Numbers are in metres.\n"),
        "{system}"
    );
    assert!(
        !system.contains("\nInstructions from the user:"),
        "{system}"
    );
}

#[tokio::test]
async fn calls_that_only_read_run_beside_each_other_and_others_do_not() {
    let both = |tool: &str| {
        Reply::call(format!("mcp__maps__{tool}"), json!({}))
            .and_call(format!("mcp__maps__{tool}"), json!({}))
    };
    let script = [both("look"), both("act"), Reply::say("Done.")];
    let world = World::with(full(VERSIONS[1]), script).await;
    let session = open(&world, [rich("maps", 0)]).await;
    let story = soon(session.tell("Go")).await;
    assert_eq!(
        story.told(),
        ["together", "together", "alone", "alone"],
        "{story:#?}"
    );
    // What the server says of itself spares no question.
    assert_eq!(world.asked().len(), 4, "{:?}", world.asked());
}

#[tokio::test]
async fn many_tools_are_found_before_they_are_called_and_stay_in_their_place() {
    let script = [
        Reply::call("mcp__maps__item_7", json!({})),
        Reply::call("tool_search", json!({ "query": "paint fence" })),
        Reply::call("mcp__maps__item_7", json!({})),
        Reply::call("tool_search", json!({ "query": "item_3" })),
        Reply::say("Done."),
        Reply::call("mcp__maps__item_3", json!({})),
        Reply::say("Done."),
    ];
    let world = World::with(full(VERSIONS[1]), script).await;
    let session = open(&world, [rich("maps", 50)]).await;
    let story = soon(session.tell("Go")).await;
    let told = story.told();
    assert!(told[0].contains("`tool_search`"), "{told:?}");
    assert_eq!(story.calls[0].status, ToolCallStatus::Failed);
    assert!(told[1].contains("mcp__maps__item_7") && told[1].contains("Paints a fence."));
    assert_eq!(told[2], "item_7 was called");
    let later = soon(session.tell("Again")).await;
    assert_eq!(later.told().last(), Some(&"item_3 was called"));
    let tools = |number| {
        let request = world.model.request(number);
        async move { request.await.tools() }
    };
    let first = tools(0).await;
    assert!(first.iter().any(|tool| tool == "tool_search"), "{first:?}");
    assert!(
        !first.iter().any(|tool| tool.contains("item_")),
        "{first:?}"
    );
    // What was listed before is listed again, in front of what was found.
    for (before, after) in [(0, 2), (2, 4), (4, 6)] {
        let (before, after) = (tools(before).await, tools(after).await);
        assert_eq!(before[..], after[..before.len()]);
    }
    assert_eq!(
        tools(6)
            .await
            .iter()
            .filter(|tool| tool.contains("item_"))
            .count(),
        11
    );
}

#[tokio::test]
async fn few_tools_are_listed_without_a_search() {
    let world = World::with(full(VERSIONS[1]), [Reply::say("Done.")]).await;
    let session = open(&world, [rich("maps", 38)]).await;
    soon(session.tell("Go")).await;
    let tools = world.model.request(0).await.tools();
    assert!(tools.iter().any(|tool| tool == "mcp__maps__item_37"));
    assert!(!tools.iter().any(|tool| tool == "tool_search"));
}

#[tokio::test]
async fn resources_are_listed_and_read_and_reading_is_asked_about() {
    let read = |uri: &str| {
        let arguments = json!({ "server": "maps", "uri": uri });
        Reply::call("read_mcp_resource", arguments)
    };
    let script = [
        Reply::call("list_mcp_resources", json!({})),
        read("memo://notes"),
        read("memo://nothing"),
        Reply::call("list_mcp_resources", json!({ "server": "other" })),
        Reply::say("Done."),
    ];
    let world = World::with(full(VERSIONS[1]), script).await;
    let session = open(&world, [rich("maps", 0), crate::server("other")]).await;
    let story = soon(session.tell("Go")).await;
    let told = story.told();
    assert!(told[0].contains("\"memo://notes\" Notes"), "{told:?}");
    assert!(told[0].contains("picture\" Picture"), "{told:?}");
    assert!(told[1].contains("Buy milk."), "{told:?}");
    assert!(told[2].contains("no such memo"), "{told:?}");
    assert!(told[3].contains("There are: `maps`"), "{told:?}");
    let asked = world.asked();
    assert_eq!(asked, ["Call `maps/read_mcp_resource`"; 2], "{asked:?}");
}

#[tokio::test]
async fn without_resources_there_are_no_tools_for_them() {
    let world = World::with(full(VERSIONS[1]), [Reply::say("Done.")]).await;
    let session = open(&world, [crate::server("plain")]).await;
    soon(session.tell("Go")).await;
    let tools = world.model.request(0).await.tools();
    assert!(
        !tools.iter().any(|tool| tool.contains("resource")),
        "{tools:?}"
    );
}

fn commands(session: &ply_client::Session) -> Vec<String> {
    session.with_transcript(|transcript| {
        let commands = transcript.commands().iter();
        let names = commands.filter_map(|command| match command {
            AvailableCommand::Command(command) => Some(command.name.clone()),
            _ => None,
        });
        names.collect()
    })
}

#[tokio::test]
async fn a_prompt_of_a_server_is_a_command_that_the_model_gets_the_text_of() {
    for versions in VERSIONS {
        let script = [Reply::say("Done."), Reply::say("On.")];
        let world = World::with(full(versions), script).await;
        // At once: the server is still starting.
        let session = open(&world, [rich("maps", 0)]).await;
        let story = soon(session.tell("/maps:review number 7")).await;
        assert_eq!(story.text, "Done.", "{story:#?}");
        assert_eq!(
            story.calls[0].title.as_deref(),
            Some("Command `/maps:review`")
        );
        assert_eq!(commands(&session).last().unwrap(), "maps:review");
        let help = soon(session.tell("/help")).await.text;
        let line = "- `/maps:review issue`: Reviews an issue.";
        assert!(help.contains(line), "{help}");
        soon(session.tell("And then?")).await;
        for request in [0, 1] {
            let body = world.model.request(request).await.body.to_string();
            assert!(body.contains("Review issue number 7."), "{body}");
            assert!(!body.contains("/maps:review"), "{body}");
        }
    }
}

#[tokio::test]
async fn prompts_of_servers_are_told_of_before_the_first_turn() {
    let world = World::with(full(VERSIONS[1]), []).await;
    let session = open(&world, [rich("maps", 0)]).await;
    soon(async {
        while commands(&session).last().unwrap() != "maps:review" {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_prompt_that_lacks_an_argument_says_so_and_a_file_of_that_name_comes_first() {
    let world = World::with(full(VERSIONS[1]), [Reply::say("Done.")]).await;
    let session = open(&world, [rich("maps", 0)]).await;
    let story = soon(session.tell("/maps:review")).await;
    assert_eq!(story.text, "This command needs more: issue.");
    world.write(".ply/commands/maps/review.md", "Mine.");
    soon(session.tell("/maps:review")).await;
    let body = world.model.request(0).await.body.to_string();
    assert!(body.contains("Mine."), "{body}");
    let names = commands(&session);
    let same = names.iter().filter(|name| *name == "maps:review");
    assert_eq!(same.count(), 1, "{names:?}");
}
