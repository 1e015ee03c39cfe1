//! MCP servers of `config.toml` and of the project, with the real program.

use std::process::Command;

use coder_tests::{ModelServer, Reply, Tell as _};
use serde_json::{Value, json};

use crate::place::{PLY, Place, soon};

/// A server in a line of shell: it has one tool, which says what is in a variable.
const SERVER: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
    id=${line#*\"id\":}; id=${id%%[,\}]*}
    case $line in
    *'"method":"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer '{"tools":[{"name":"who","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*) answer "{\"content\":[{\"type\":\"text\",\"text\":\"$WHO\"}]}" ;;
    esac
done"#;

#[tokio::test]
async fn servers_of_the_user_and_of_the_project_are_called() {
    let place = Place::new();
    place.write("server.sh", SERVER);
    let project = json!({ "mcpServers": { "theirs": {
        "command": "sh", "args": ["./server.sh"], "env": { "WHO": "${NAMED}" }
    } } });
    place.write(".mcp.json", &project.to_string());
    let script = [
        Reply::call("mcp__own__who", json!({})).and_call("mcp__theirs__who", json!({})),
        Reply::say("Done."),
    ];
    let model = ModelServer::start(script).await;
    let server = "[mcp_servers.own]\ncommand = \"sh\"\nargs = [\"server.sh\"]\nenv = { WHO = \"the user\" }\n";
    place.configure_model(&model, server);
    let agent = place.agent().set("NAMED", "the project");
    let agent = agent.client(ply_client::Client::new()).await;
    let session = soon(agent.new_session(place.project())).await.unwrap();
    let story = soon(session.tell("Who?")).await;
    let told: Vec<_> = story.told();
    assert!(told.ends_with(&["the user", "the project"]), "{story:#?}");
}

#[test]
fn servers_are_listed_with_the_file_that_names_them() {
    let place = Place::new();
    place.configure(
        "[mcp_servers.web]\nurl = \"https://example.org/mcp\"\nheaders = { A = \"secret\" }\n[mcp_servers.off]\nenabled = false\n",
    );
    place.write(
        ".mcp.json",
        r#"{"mcpServers": {"files": {"command": "npx"}, "off": {"command": "x"}}}"#,
    );
    let list = |arguments: &[&str]| {
        let listed = Command::new(PLY)
            .args(["mcp", "list"])
            .args(arguments)
            .env_clear()
            .env("HOME", place.path("home"))
            .current_dir(place.project())
            .output()
            .unwrap();
        assert!(listed.status.success(), "{listed:?}");
        String::from_utf8(listed.stdout).unwrap()
    };
    assert_eq!(
        list(&[]),
        "web\ton\tconfig.toml\thttps://example.org/mcp\noff\toff\tconfig.toml\t\nfiles\ton\t.mcp.json\tnpx\n"
    );
    let listed: Value = serde_json::from_str(&list(&["--json"])).unwrap();
    assert_eq!(listed[2]["source"], ".mcp.json");
}
