//! What a client sends to set a session up, and that nothing is sent before.

use crate::support::{SESSION, Script, greet, open, prompt, v1_with, v2_session_of, v2_with};
use ply_client::{Agent, Client, Error, Prompt, SessionFilter, SessionSetup, Terminals, v2};
use serde_json::{Value, json};

/// Agents of both versions that open old sessions and take further directories and servers.
async fn agents() -> [(Agent, Script); 2] {
    let v1 = json!({
        "loadSession": true,
        "mcpCapabilities": { "http": true },
        "sessionCapabilities": { "resume": {}, "list": {}, "additionalDirectories": {} },
    });
    let v2 = json!({ "additionalDirectories": {}, "mcp": { "stdio": {}, "http": {} } });
    [
        v1_with(Client::new(), v1).await,
        v2_with(Client::new(), v2).await,
    ]
}

// Also: V1-RESUME-02.
#[tokio::test]
async fn v1_sess_17_all_roots_are_sent_again_when_a_session_is_opened_again() {
    for (is_v2, (agent, mut script)) in [false, true].into_iter().zip(agents().await) {
        let setup = SessionSetup::new("/work").root("/lib").root("/docs");
        let methods = match is_v2 {
            false => ["session/load", "session/resume"],
            true => ["session/resume"; 2],
        };
        for (number, method) in methods.into_iter().enumerate() {
            let id = format!("old-{number}");
            let answering = async {
                let request = script.expect(method).await;
                let params = &request["params"];
                assert_eq!(params["sessionId"], *id);
                assert_eq!(params["cwd"], "/work");
                assert_eq!(params["additionalDirectories"], json!(["/lib", "/docs"]));
                let servers = params.get("mcpServers");
                assert!(
                    servers.is_none_or(|servers| *servers == json!([])),
                    "{params}"
                );
                script.answer(&request, json!({})).await;
            };
            let opening = async {
                match number {
                    0 => agent.load_session(id.as_str(), setup.clone()).await,
                    _ => agent.resume_session(id.as_str(), setup.clone()).await,
                }
            };
            let (session, ()) = tokio::join!(opening, answering);
            session.unwrap();
        }
    }
}

#[tokio::test]
async fn v1_list_08_the_roots_of_a_listing_replace_those_that_were_known() {
    for (agent, mut script) in agents().await {
        for roots in [json!(["/a", "/b"]), json!(["/c"]), json!([])] {
            let answering = async {
                let request = script.expect("session/list").await;
                let entry =
                    json!({ "sessionId": "s", "cwd": "/w", "additionalDirectories": roots });
                script
                    .answer(&request, json!({ "sessions": [entry] }))
                    .await;
            };
            let (listed, ()) = tokio::join!(agent.list_sessions(SessionFilter::all()), answering);
            let listed = serde_json::to_value(listed.unwrap()).unwrap();
            let known = listed[0].get("additionalDirectories").cloned();
            assert_eq!(known.unwrap_or(json!([])), roots);
        }
    }
}

#[tokio::test]
async fn v1_mcp_05_a_server_over_http_has_all_its_members() {
    for (agent, mut script) in agents().await {
        let token = v2::HttpHeader::new("X-Token", "t");
        let plain = v2::McpServerHttp::new("web", "https://localhost/mcp");
        let servers = [plain.clone(), plain.headers(vec![token])];
        let setup = servers
            .into_iter()
            .fold(SessionSetup::new("/work"), |setup, server| {
                setup.mcp_server(v2::McpServer::Http(server))
            });
        let is_v1 = agent.version() == ply_client::Version::V1;
        let answering = async {
            let request = script.expect("session/new").await;
            let servers = request["params"]["mcpServers"].as_array().unwrap().clone();
            for (server, headers) in servers
                .iter()
                .zip([json!([]), json!([{ "name": "X-Token", "value": "t" }])])
            {
                assert_eq!(server["type"], "http");
                assert_eq!(server["name"], "web");
                assert_eq!(server["url"], "https://localhost/mcp");
                let sent = server.get("headers");
                // Version 2 may leave an empty list out, version 1 may not.
                assert!(
                    sent == Some(&headers) || (!is_v1 && sent.is_none()),
                    "{server}"
                );
            }
            assert_eq!(servers.len(), 2);
            script
                .answer(&request, json!({ "sessionId": SESSION }))
                .await;
        };
        let (session, ()) = tokio::join!(agent.new_session(setup), answering);
        session.unwrap();
    }
}

#[tokio::test]
async fn v2_prompt_01_nothing_is_prompted_without_a_session_that_is_set_up() {
    let (agent, mut script) = v2_with(Client::new(), json!({})).await;
    let refusing = async {
        let request = script.expect("session/new").await;
        script.refuse(&request, -32603, "no room").await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), refusing);
    session.unwrap_err();
    let session = open(&agent, &mut script).await;
    let closing = async {
        let request = script.expect("session/close").await;
        script.answer(&request, json!({})).await;
    };
    let (closed, ()) = tokio::join!(session.close(), closing);
    closed.unwrap();
    session.prompt("too late").await.unwrap_err();
    script.silent().await;
}

fn image() -> v2::ContentBlock {
    v2::ContentBlock::Image(v2::ImageContent::new("YQ==", "image/png"))
}

fn audio() -> v2::ContentBlock {
    v2::ContentBlock::Audio(v2::AudioContent::new("YQ==", "audio/wav"))
}

#[tokio::test]
async fn v2_prompt_02_only_what_the_agent_takes_is_sent() {
    let all = ["image", "audio", "embeddedContext"];
    let cases: [(Value, &[&str]); 7] = [
        (json!({}), &[]),
        (json!({ "prompt": null }), &[]),
        (
            json!({ "prompt": { "image": null, "audio": null, "embeddedContext": null } }),
            &[],
        ),
        (json!({ "prompt": { "image": {} } }), &["image"]),
        (json!({ "prompt": { "audio": {} } }), &["audio"]),
        (
            json!({ "prompt": { "embeddedContext": {} } }),
            &["embeddedContext"],
        ),
        (
            json!({ "prompt": { "image": {}, "audio": {}, "embeddedContext": {} } }),
            &all,
        ),
    ];
    for (session, taken) in cases {
        let (agent, mut script) = v2_with(Client::new(), session.clone()).await;
        let session = open(&agent, &mut script).await;
        for (name, block) in [("image", image()), ("audio", audio())] {
            let sent = session.prompt(Prompt::new("look").block(block)).await;
            match taken.contains(&name) {
                true => {
                    let request = script.expect("session/prompt").await;
                    assert_eq!(request["params"]["prompt"].as_array().unwrap().len(), 2);
                }
                false => assert!(matches!(sent, Err(Error::NotOffered { .. })), "{name}"),
            }
        }
        let file = Prompt::new("look").resource("file:///work/a.rs", "fn main() {}");
        let _turn = session.prompt(file).await.unwrap();
        let request = script.expect("session/prompt").await;
        let sent = &request["params"]["prompt"][1]["type"];
        assert_eq!(
            *sent,
            if taken.contains(&"embeddedContext") {
                "resource"
            } else {
                "resource_link"
            }
        );
        script.silent().await;
    }
}

#[tokio::test]
async fn v2_auth_11_the_auth_capability_says_nothing_about_logins() {
    for auth in [Value::Null, json!({}), json!({ "_meta": {} })] {
        for has_methods in [false, true] {
            let methods = match has_methods {
                true => json!([{ "type": "agent", "methodId": "key", "name": "Key" }]),
                false => json!([]),
            };
            let answer = json!({
                "protocolVersion": 2,
                "info": { "name": "script", "version": "0" },
                "capabilities": { "session": {}, "auth": auth },
                "authMethods": methods,
            });
            let (agent, mut script, _) = greet(Client::new(), answer).await;
            let agent = agent.unwrap();
            if !has_methods {
                assert!(matches!(
                    agent.login("key").await,
                    Err(Error::Invalid { .. })
                ));
                assert!(matches!(
                    agent.logout().await,
                    Err(Error::NotOffered { .. })
                ));
                script.silent().await;
                continue;
            }
            let answering = async {
                for method in ["auth/login", "auth/logout"] {
                    let request = script.expect(method).await;
                    script.answer(&request, json!({})).await;
                }
            };
            let both = async { (agent.login("key").await, agent.logout().await) };
            let ((login, logout), ()) = tokio::join!(both, answering);
            login.unwrap();
            logout.unwrap();
        }
    }
}

// Also: V2-TERM-10.
#[tokio::test]
async fn v2_perm_05_a_command_that_is_allowed_is_the_agents_to_run() {
    let marker = std::env::temp_dir().join(format!("ply-allowed-{}", std::process::id()));
    let client = Client::new()
        .permissions(ply_client::AllowAll)
        .terminals(Terminals::new());
    let (session, mut script) = v2_session_of(client).await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let command = format!("touch {}", marker.display());
    let params = json!({
        "sessionId": SESSION,
        "title": "May I?",
        "subject": { "type": "command", "command": command, "cwd": "/" },
        "options": crate::support::options(&["allow_once", "reject_once"]),
    });
    let id = script.ask("session/request_permission", params).await;
    let answer = script.answered(&id).await;
    assert_eq!(answer["result"]["outcome"]["optionId"], "allow_once");
    // Terminals of version 2 are shown and no more: whatever the client offers to version 1, here it runs nothing.
    script
        .update(
            json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "command": command }),
        )
        .await;
    let of = json!({ "sessionId": SESSION, "terminalId": "t", "command": "sh", "args": [] });
    for method in [
        "create",
        "output",
        "wait_for_exit",
        "kill",
        "release",
        "input",
        "resize",
    ] {
        let id = script.ask(&format!("terminal/{method}"), of.clone()).await;
        assert_eq!(
            script.answered(&id).await["error"]["code"],
            -32601,
            "{method}"
        );
    }
    script.silent().await;
    assert!(!marker.exists());
    let shown = session.with_transcript(|transcript| {
        let terminal = transcript.terminal(&v2::TerminalId::new("t"));
        terminal.and_then(|terminal| terminal.command.clone())
    });
    assert_eq!(shown, Some(command));
}

#[tokio::test]
async fn v2_content_03_content_that_breaks_its_rules_is_refused_here() {
    let (agent, mut script) = v2_with(Client::new(), json!({ "prompt": { "image": {} } })).await;
    let session = open(&agent, &mut script).await;
    let bad = [
        json!({ "type": "image", "data": "not base64!", "mimeType": "image/png" }),
        json!({ "type": "audio", "data": "not base64!", "mimeType": "audio/wav" }),
        json!({ "type": "resource", "resource": { "uri": "file:///a", "blob": "not base64!" } }),
        json!({ "type": "text", "text": "a", "annotations": { "priority": 1.5 } }),
        json!({ "type": "text", "text": "a", "annotations": { "priority": -0.1 } }),
        json!({ "type": "resource_link", "name": "a", "uri": "relative/path" }),
    ];
    for block in bad {
        let block: v2::ContentBlock = serde_json::from_value(block.clone()).unwrap();
        let sent = session.prompt(Prompt::default().block(block)).await;
        assert!(matches!(sent, Err(Error::Invalid { .. })));
    }
    script.silent().await;
}
