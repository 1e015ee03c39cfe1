//! Calls of tools over both transports.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use ply_agent::v2;
use ply_coder::mcp::Servers;
use ply_coder::model::Content;
use ply_coder::tool::{Access, Order, Outcome};
use ply_mcp_server::scratch::Scratch;
use ply_mcp_server::{
    Card, Listening, call, connect, home, names, prepared, run, soon, stdio, tool,
};
use serde_json::{Value, json};

const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server");

/// Both servers of a session: one over pipes, one over HTTP.
async fn both() -> (Servers, Listening) {
    let web = Listening::start(SERVER, &[]).await;
    let servers = [
        v2::McpServer::Stdio(stdio("local", SERVER, &[])),
        v2::McpServer::Http(web.named("web")),
    ];
    let servers = connect(&servers).await;
    assert_eq!(servers.failures(), []);
    (servers, web)
}

// Also: V2-MCP-04, V1-MCP-01.
#[tokio::test]
async fn v1_sess_07_tools_of_all_servers_are_listed_page_by_page() {
    let (servers, _web) = both().await;
    let names = names(&soon(servers.tools()).await);
    assert_eq!(names.len(), 30);
    for server in ["local", "web"] {
        for tool in ["echo", "slow", "flood"] {
            assert!(
                names.contains(&format!("mcp__{server}__{tool}")),
                "{names:?}"
            );
        }
    }
    servers.end().await;
}

#[tokio::test]
async fn calls_are_answered_over_both_transports() {
    let (servers, _web) = both().await;
    for server in ["local", "web"] {
        let call = async |tool: &str, arguments| {
            call(&servers, &format!("mcp__{server}__{tool}"), arguments).await
        };
        assert_eq!(
            call("echo", json!({ "text": "hallo" })).await,
            Outcome::done("hallo")
        );
        let sum = call("add", json!({ "a": 2, "b": 3 })).await;
        assert_eq!(sum, Outcome::done(r#"{"sum":5}"#));
        let failed = call("fail", Value::Null).await;
        assert_eq!(failed, Outcome::failed("it did not work"));
        let image = call("image", json!({})).await;
        assert_eq!(image.text, "a pixel");
        assert!(
            matches!(&image.images[..], [Content::Image { mime_type, .. }] if mime_type == "image/png")
        );
        let big = call("big", json!({})).await;
        assert!(big.text.len() < 66 * 1024 && big.text.contains("bytes left out"));
        assert!(big.text.starts_with("0123") && big.text.ends_with("cdef"));
    }
    servers.end().await;
}

#[tokio::test]
async fn a_call_says_what_it_needs_permission_for_and_trusts_no_hint() {
    let (servers, _web) = both().await;
    let tool = tool(&servers, "mcp__local__echo").await;
    let spec = tool.spec();
    assert!(
        spec.description.starts_with(
            "The tool `echo` of the MCP server `local`, described by the server itself"
        )
    );
    assert_eq!(spec.schema["properties"]["text"]["type"], "string");
    prepared(&*tool, json!({ "text": "hello" }), |prepared| {
        assert_eq!(prepared.title, "local: echo");
        assert_eq!(prepared.kind, v2::ToolKind::Other);
        let [
            Access::Mcp {
                server,
                tool,
                arguments,
                version,
            },
        ] = prepared.access.as_slice()
        else {
            panic!("{:?}", prepared.access);
        };
        assert_eq!((server.as_str(), tool.as_str()), ("local", "echo"));
        assert_eq!(arguments, "{\n  \"text\": \"hello\"\n}");
        assert_eq!(version.len(), 32);
        assert_eq!(prepared.order, Order::Paths(vec!["mcp:local".into()]));
    })
    .await;
    let outcome = run(&*tool, json!("no object"), &Card::default()).await;
    assert!(outcome.failed);
}

#[tokio::test]
async fn v2_mcp_03_a_server_runs_in_the_directory_of_the_session_with_the_last_of_its_variables() {
    let given = stdio("s", SERVER, &[]).env(vec![
        v2::EnvVariable::new("PLY_TEST", "first"),
        v2::EnvVariable::new("PLY_TEST", "last"),
    ]);
    let servers = connect(&[v2::McpServer::Stdio(given)]).await;
    let outcome = call(&servers, "mcp__s__cwd", json!({})).await;
    assert_eq!(outcome.text, home().to_str().unwrap());
    let outcome = call(&servers, "mcp__s__env", json!({ "name": "PLY_TEST" })).await;
    assert_eq!(outcome.text, "last");
    servers.end().await;
}

#[tokio::test]
async fn what_is_withheld_is_not_inherited() {
    let mut settings = ply_coder::mcp::Settings::default();
    settings.withheld = vec!["CARGO_MANIFEST_DIR".to_owned()];
    let server = [v2::McpServer::Stdio(stdio("s", SERVER, &[]))];
    for (settings, inherited) in [(Default::default(), true), (settings, false)] {
        let servers = ply_mcp_server::connect_with(&server, settings).await;
        let name = json!({ "name": "CARGO_MANIFEST_DIR" });
        let outcome = call(&servers, "mcp__s__env", name).await;
        assert_eq!(outcome.text.contains("mcp-server"), inherited);
        servers.end().await;
    }
}

#[tokio::test]
async fn how_far_a_call_is_is_shown() {
    let (servers, _web) = both().await;
    let scratch = Scratch::new();
    for server in ["local", "web"] {
        let until = scratch.pipe(server);
        let tool = tool(&servers, &format!("mcp__{server}__slow")).await;
        let card = Card::default();
        let (outcome, ()) = tokio::join!(
            run(&*tool, json!({ "until": until.name() }), &card),
            async {
                assert_eq!(card.shown().await, "3/10 waiting [2J for somebody");
                until.release();
            }
        );
        assert_eq!(outcome, Outcome::done("at last"));
    }
    servers.end().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_its_server_is_told() {
    let (servers, _web) = both().await;
    let scratch = Scratch::new();
    for server in ["local", "web"] {
        let until = scratch.pipe(&format!("{server}-until"));
        let mut cancelled = scratch.pipe(&format!("{server}-cancelled"));
        let arguments = json!({ "until": until.name(), "cancelled": cancelled.name() });
        let tool = tool(&servers, &format!("mcp__{server}__slow")).await;
        let card = Card::default();
        let (outcome, ()) = tokio::join!(soon(run(&*tool, arguments, &card)), async {
            card.shown().await;
            card.cancel();
        });
        assert!(outcome.failed && outcome.text.contains("cancelled"));
        cancelled.signal().await;
        let outcome = call(
            &servers,
            &format!("mcp__{server}__echo"),
            json!({ "text": "on" }),
        )
        .await;
        assert_eq!(outcome.text, "on");
    }
    servers.end().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_is_withdrawn() {
    let (servers, _web) = both().await;
    let scratch = Scratch::new();
    for server in ["local", "web"] {
        let until = scratch.pipe(&format!("{server}-until"));
        let mut cancelled = scratch.pipe(&format!("{server}-cancelled"));
        let arguments = json!({ "until": until.name(), "cancelled": cancelled.name() });
        let tool = tool(&servers, &format!("mcp__{server}__slow")).await;
        let card = Card::default();
        tokio::select! {
            _ = run(&*tool, arguments, &card) => panic!("nobody released it"),
            _ = card.shown() => {}
        }
        cancelled.signal().await;
    }
    servers.end().await;
}

#[tokio::test]
async fn a_list_that_changed_is_asked_for_before_the_next_request() {
    let (servers, _web) = both().await;
    for server in ["local", "web"] {
        let grown = format!("mcp__{server}__grown");
        assert!(!names(&soon(servers.tools()).await).contains(&grown));
        call(&servers, &format!("mcp__{server}__grow"), json!({})).await;
        // Over HTTP the notification has a stream of its own, which the answer may overtake.
        soon(async {
            while !names(&servers.tools().await).contains(&grown) {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let outcome = call(&servers, &grown, json!({})).await;
        assert_eq!(outcome.text, "here I am");
    }
    servers.end().await;
}

#[tokio::test]
async fn a_server_learns_the_roots_and_is_declined_everything_else() {
    let (servers, _web) = both().await;
    let root = format!("file://{}/", std::env::temp_dir().to_str().unwrap());
    for server in ["local", "web"] {
        let outcome = call(&servers, &format!("mcp__{server}__ask"), json!({})).await;
        let answers: Value = serde_json::from_str(&outcome.text).unwrap();
        assert_eq!(answers["roots/list"]["roots"][0]["uri"], root);
        assert_eq!(answers["sampling/createMessage"]["code"], -32601);
        assert_eq!(answers["elicitation/create"]["action"], "decline");
    }
    servers.end().await;
}

#[tokio::test]
async fn servers_of_one_name_are_told_apart() {
    let server = v2::McpServer::Stdio(stdio("my server", SERVER, &[]));
    let servers = connect(&[server.clone(), server]).await;
    let first = ply_mcp_server::pid(&servers, "mcp__my_server__pid").await;
    let second = ply_mcp_server::pid(&servers, "mcp__my_server_2__pid").await;
    assert_ne!(first, second);
    servers.end().await;
}

#[tokio::test]
async fn prompts_are_listed_as_commands_and_asked_for() {
    let rich = ply_mcp_server::stdio("my maps", SERVER, &["--rich", "0"]);
    let servers = connect(&[v2::McpServer::Stdio(rich)]).await;
    let prompts = servers.prompts();
    assert_eq!(prompts.len(), 1, "{prompts:?}");
    assert_eq!(prompts[0].command, "my_maps:review");
    assert_eq!(prompts[0].hint.as_deref(), Some("issue"));
    let expanded = servers.expand_prompt("my_maps:review", " number 7 ").await;
    assert_eq!(expanded, Some(Ok("Review issue number 7.".to_owned())));
    let missing = servers.expand_prompt("my_maps:review", "").await;
    assert!(missing.is_some_and(|missing| missing.is_err()));
    assert_eq!(servers.expand_prompt("my_maps:other", "").await, None);
    servers.end().await;
}
