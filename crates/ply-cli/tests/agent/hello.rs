//! What the agent says of itself, and that all of it is true.

use serde_json::{Value, json};

use crate::place::Place;
use crate::raw::Raw;

/// The smallest picture there is: one pixel, PNG.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

#[tokio::test]
async fn the_first_answer_of_version_1_names_what_there_is() {
    let place = Place::new();
    let hello = place.agent().raw().hello_v1().await;
    assert_eq!(
        hello,
        json!({
            "protocolVersion": 1,
            "agentInfo": { "name": "ply", "title": "Ply", "version": env!("CARGO_PKG_VERSION") },
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": { "image": false, "audio": false, "embeddedContext": true },
                "mcpCapabilities": { "http": true, "sse": false },
                "sessionCapabilities": {
                    "additionalDirectories": {}, "close": {}, "delete": {}, "fork": {}, "list": {}, "resume": {}
                },
                "auth": {},
                "_meta": { "steering": { "supported": true } },
            },
            "authMethods": [],
            "_meta": { "steering": { "supported": true } },
        })
    );
}

#[tokio::test]
async fn the_first_answer_of_version_2_names_what_there_is() {
    let place = Place::new();
    let hello = place.agent().raw().hello_v2().await;
    assert_eq!(
        hello,
        json!({
            "protocolVersion": 2,
            "info": { "name": "ply", "title": "Ply", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": {
                "session": {
                    "prompt": { "embeddedContext": {} },
                    "mcp": { "stdio": {}, "http": {} },
                    "delete": {},
                    "additionalDirectories": {},
                    "fork": {},
                },
                "_meta": { "steering": { "supported": true } },
            },
            "_meta": { "steering": { "supported": true } },
        })
    );
}

/// Calls every method on sessions that a version has, and one that it has not.
async fn use_everything(agent: &mut Raw, place: &Place, v2: bool) {
    let cwd = place.project();
    let id = agent.session(&cwd).await;
    let this = json!({ "sessionId": id });
    let here = json!({ "sessionId": id, "cwd": cwd, "mcpServers": [] });
    let listed = agent.call("session/list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"][0]["sessionId"], *id, "{listed}");
    let mut option = json!({ "sessionId": id, "configId": "mode", "value": "plan" });
    if v2 {
        option["type"] = "id".into();
    }
    let set = agent.call("session/set_config_option", option).await;
    let set = set.unwrap();
    assert_eq!(set["configOptions"][0]["currentValue"], "plan", "{set}");
    agent.call("session/close", this.clone()).await.unwrap();
    let reopened = agent.call("session/resume", here.clone()).await.unwrap();
    let modes = &reopened["configOptions"][0];
    assert_eq!(modes["currentValue"], "plan", "{reopened}");
    agent.call("session/close", this.clone()).await.unwrap();
    if !v2 {
        agent.call("session/load", here.clone()).await.unwrap();
        let mode = json!({ "sessionId": id, "modeId": "ask" });
        agent.call("session/set_mode", mode).await.unwrap();
        agent.call("session/close", this.clone()).await.unwrap();
    }
    let forked = agent.call("session/fork", here.clone()).await.unwrap();
    let fork = json!({ "sessionId": forked["sessionId"] });
    agent.call("session/delete", fork).await.unwrap();
    let idle = json!({ "steering": { "idleBehavior": "promptRequired" } });
    let resumed = agent.call("session/resume", here.clone()).await;
    resumed.unwrap();
    let steer = json!({ "sessionId": id, "prompt": [], "_meta": idle });
    let steered = agent.call("_session/steering", steer).await.unwrap();
    assert_eq!(steered["outcome"], "promptRequired", "{steered}");
    agent.call("session/delete", this).await.unwrap();
    let listed = agent.call("session/list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"], json!([]));
    let gone = agent.call("session/resume", here).await.unwrap_err();
    assert_eq!(gone["code"], -32002, "{gone}");
    let none = agent
        .call("session/status", json!({ "sessionId": id }))
        .await;
    assert_eq!(none.unwrap_err()["code"], -32601);
}

#[tokio::test]
async fn every_method_that_is_advertised_answers_in_version_1() {
    let place = Place::new();
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    use_everything(&mut agent, &place, false).await;
}

#[tokio::test]
async fn every_method_that_is_advertised_answers_in_version_2() {
    let place = Place::new();
    let mut agent = place.agent().raw();
    agent.hello_v2().await;
    use_everything(&mut agent, &place, true).await;
}

#[tokio::test]
async fn pictures_are_taken_only_where_a_model_can_see_them() {
    let place = Place::new();
    let takes = async |launch: crate::place::Launch| {
        let hello = launch.raw().hello_v1().await;
        hello["agentCapabilities"]["promptCapabilities"]["image"].clone()
    };
    assert_eq!(takes(place.agent()).await, false);
    assert_eq!(
        takes(place.agent().set("ANTHROPIC_API_KEY", "k")).await,
        true
    );
    assert_eq!(
        takes(place.agent().set("DEEPSEEK_API_KEY", "k")).await,
        false
    );
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    let image = json!({ "type": "image", "mimeType": "image/png", "data": PIXEL });
    let prompt = json!({ "sessionId": id, "prompt": [image] });
    let refused = agent.call("session/prompt", prompt).await.unwrap_err();
    assert!(
        refused["message"].as_str().unwrap().contains("image"),
        "{refused}"
    );
}

#[tokio::test]
async fn pictures_and_embedded_files_are_taken_and_sound_is_not() {
    let place = Place::new();
    // Others can see; the one that is chosen cannot.
    let launch = place.agent().set("ANTHROPIC_API_KEY", "k");
    let mut agent = launch.with(["--model", "offline"]).raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    let text = json!({ "type": "text", "text": "what is this picture?" });
    let image = json!({ "type": "image", "mimeType": "image/png", "data": PIXEL });
    let file = json!({ "uri": "file:///a.txt", "mimeType": "text/plain", "text": "hello" });
    let file = json!({ "type": "resource", "resource": file });
    let prompt = |content: Value| json!({ "sessionId": id, "prompt": content });
    let taken = prompt(json!([image, file, text]));
    let stop = agent.call("session/prompt", taken).await.unwrap();
    assert_eq!(stop["stopReason"], "end_turn");
    let said = agent.text("agent_message_chunk");
    assert!(said.starts_with("I cannot see the attachment"), "{said}");
    let sound = json!([{ "type": "audio", "mimeType": "audio/wav", "data": "AAAA" }]);
    let refused = agent.call("session/prompt", prompt(sound)).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused["code"], -32602, "{refused}");
}

#[tokio::test]
async fn a_further_directory_is_a_root_too() {
    let place = Place::new();
    let beside = place.path("beside");
    std::fs::create_dir(&beside).unwrap();
    std::fs::write(beside.join("note.txt"), "from beside\n").unwrap();
    for agent in place.agent().each_version().await {
        let setup = ply_client::SessionSetup::new(place.project()).root(&beside);
        let session = agent.new_session(setup).await.unwrap();
        let read = format!("read {}", beside.join("note.txt").display());
        let story = coder_tests::Tell::tell(&session, &read).await;
        assert!(story.text.contains("from beside"), "{story:#?}");
    }
}

#[tokio::test]
async fn an_mcp_server_that_cannot_be_reached_is_told_of_and_costs_nothing_else() {
    let place = Place::new();
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    // Nobody listens on a port that was just given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", port.local_addr().unwrap());
    drop(port);
    let servers = json!([{ "type": "http", "name": "far", "url": url, "headers": [] }]);
    let setup = json!({ "cwd": place.project(), "mcpServers": servers });
    let opened = agent.call("session/new", setup).await.unwrap();
    let id = opened["sessionId"].as_str().unwrap();
    let stop = agent.prompt(id, "think of it").await.unwrap();
    assert_eq!(stop["stopReason"], "end_turn");
    let told = serde_json::to_string(&agent.updates).unwrap();
    assert!(told.contains("far"), "{told}");
}

#[tokio::test]
async fn a_transport_for_mcp_that_is_not_advertised_is_refused() {
    let place = Place::new();
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    let servers =
        json!([{ "type": "sse", "name": "old", "url": "http://127.0.0.1:9/", "headers": [] }]);
    let setup = json!({ "cwd": place.project(), "mcpServers": servers });
    let refused = agent.call("session/new", setup).await.unwrap_err();
    assert_eq!(refused["code"], -32602, "{refused}");
}
