//! Making, opening, listing, closing and deleting sessions.

use crate::support::{SESSION, open, prompt, reported, v1_with, v2_with, within, words};
use ply_client::{Client, Error, ReportKind, SessionFilter, SessionSetup, v2};
use ply_wire::v1;
use serde_json::{Value, json};

fn stdio_server() -> v2::McpServer {
    v2::McpServer::Stdio(v2::McpServerStdio::new("tools", "/bin/tools"))
}

// Also: V1-RPC-13, V1-SESS-15, V2-SESS-02.
#[tokio::test]
async fn v1_sess_02_a_relative_directory_is_refused_here() {
    let (agent, mut script) = v1_with(Client::new(), json!({ "loadSession": true })).await;
    let invalid = |result: Result<(), Error>| matches!(result, Err(Error::Invalid { .. }));
    assert!(invalid(agent.new_session("work").await.map(drop)));
    assert!(invalid(
        agent
            .new_session(SessionSetup::new("/work").root("x"))
            .await
            .map(drop)
    ));
    assert!(invalid(agent.load_session("x", ".").await.map(drop)));
    let server = v2::McpServer::Stdio(v2::McpServerStdio::new("tools", "tools"));
    let setup = SessionSetup::new("/work").mcp_server(server);
    assert!(invalid(agent.new_session(setup).await.map(drop)));
    script.silent().await;
}

#[tokio::test]
async fn v1_sess_06_mcp_servers_are_there_even_if_empty() {
    let (agent, mut script) = v1_with(Client::new(), json!({ "loadSession": true })).await;
    let answering = async {
        let request = script.expect("session/new").await;
        assert_eq!(
            request["params"],
            json!({ "cwd": "/work", "mcpServers": [] })
        );
        script
            .answer(&request, json!({ "sessionId": SESSION }))
            .await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    assert_eq!(session.unwrap().id().0.as_ref(), SESSION);
}

// Also: V1-SESS-08.
#[tokio::test]
async fn v1_mcp_04_a_stdio_server_has_no_type_and_all_its_fields() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let answering = async {
        let request = script.expect("session/new").await;
        let server = json!({ "name": "tools", "command": "/bin/tools", "args": [], "env": [] });
        assert_eq!(request["params"]["mcpServers"], json!([server]));
        script
            .answer(&request, json!({ "sessionId": SESSION }))
            .await;
    };
    let setup = SessionSetup::new("/work").mcp_server(stdio_server());
    let (session, ()) = tokio::join!(agent.new_session(setup), answering);
    session.unwrap();
}

// Also: V1-MCP-05, V2-MCP-02.
#[tokio::test]
async fn v1_mcp_02_a_server_over_sse_goes_only_to_an_agent_that_advertises_sse() {
    let header = v1::HttpHeader::new("A", "b");
    let sse = v1::McpServerSse::new("old", "http://127.0.0.1:1/sse").headers(vec![header]);
    let setup = SessionSetup::new("/work").mcp_sse_server(&sse);
    for mcp in [json!({}), json!({ "sse": null }), json!({ "http": true })] {
        let capabilities = json!({ "mcpCapabilities": mcp });
        let (agent, mut script) = v1_with(Client::new(), capabilities).await;
        let refused = agent.new_session(setup.clone()).await.unwrap_err();
        assert!(refused.to_string().contains("over SSE"), "{refused}");
        script.silent().await;
    }
    let mcp = json!({ "mcp": { "http": {}, "stdio": {}, "sse": {} } });
    let (agent, mut script) = v2_with(Client::new(), mcp).await;
    assert!(agent.new_session(setup.clone()).await.is_err());
    script.silent().await;

    let capabilities = json!({ "mcpCapabilities": { "sse": true } });
    let (agent, mut script) = v1_with(Client::new(), capabilities).await;
    let answering = async {
        let request = script.expect("session/new").await;
        let server = json!({
            "type": "sse", "name": "old", "url": "http://127.0.0.1:1/sse",
            "headers": [{ "name": "A", "value": "b" }],
        });
        assert_eq!(request["params"]["mcpServers"], json!([server]));
        let answer = json!({ "sessionId": SESSION });
        script.answer(&request, answer).await;
    };
    let (session, ()) = tokio::join!(agent.new_session(setup), answering);
    session.unwrap();
}

// Also: V1-MCP-02, V2-SESS-07, V2-MCP-01.
#[tokio::test]
async fn v1_sess_14_what_the_agent_does_not_take_is_refused_here() {
    let http = v2::McpServer::Http(v2::McpServerHttp::new("web", "https://localhost/mcp"));
    let refused = |result: Result<(), Error>| matches!(result, Err(Error::NotOffered { .. }));
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let roots = SessionSetup::new("/work").root("/other");
    assert!(refused(agent.new_session(roots.clone()).await.map(drop)));
    let web = SessionSetup::new("/work").mcp_server(http);
    assert!(refused(agent.new_session(web).await.map(drop)));
    script.silent().await;

    let (agent, mut script) = v2_with(Client::new(), json!({})).await;
    assert!(refused(agent.new_session(roots.clone()).await.map(drop)));
    let setup = SessionSetup::new("/work").mcp_server(stdio_server());
    assert!(refused(agent.new_session(setup).await.map(drop)));
    script.silent().await;

    let capabilities = json!({ "sessionCapabilities": { "additionalDirectories": {} } });
    let (agent, mut script) = v1_with(Client::new(), capabilities).await;
    let answering = async {
        let request = script.expect("session/new").await;
        assert_eq!(
            request["params"]["additionalDirectories"],
            json!(["/other"])
        );
        script
            .answer(&request, json!({ "sessionId": SESSION }))
            .await;
    };
    let (session, ()) = tokio::join!(agent.new_session(roots), answering);
    session.unwrap();
}

// Also: V1-LOAD-02, V1-RESUME-01, V1-LIST-01, V1-DEL-01, V1-CLOSE-01.
#[tokio::test]
async fn v1_load_01_nothing_is_asked_that_is_not_offered() {
    for capabilities in [
        json!({}),
        json!({ "loadSession": false, "sessionCapabilities": null }),
    ] {
        let (agent, mut script) = v1_with(Client::new(), capabilities).await;
        let session = open(&agent, &mut script).await;
        let refused = |result: Result<(), Error>| matches!(result, Err(Error::NotOffered { .. }));
        assert!(refused(agent.load_session("x", "/work").await.map(drop)));
        assert!(refused(agent.resume_session("x", "/work").await.map(drop)));
        assert!(refused(
            agent.list_sessions(SessionFilter::all()).await.map(drop)
        ));
        assert!(refused(agent.delete_session("x").await));
        assert!(refused(session.close().await));
        script.silent().await;
    }
}

// Also: V1-LOAD-07, V1-LOAD-08.
#[tokio::test]
async fn v1_load_03_a_loaded_session_has_its_whole_history() {
    for answer in [json!(null), json!({})] {
        let (agent, mut script) = v1_with(Client::new(), json!({ "loadSession": true })).await;
        let answering = async {
            let request = script.expect("session/load").await;
            let params = json!({ "sessionId": "old", "cwd": "/work", "mcpServers": [] });
            assert_eq!(request["params"], params);
            for number in 0..500 {
                let said = json!({
                    "sessionUpdate": "user_message_chunk",
                    "messageId": format!("u{number}"),
                    "content": { "type": "text", "text": format!("question {number}") },
                });
                script.update_of("old", said).await;
                let mut answer = words(&format!("answer {number}"));
                answer["messageId"] = json!(format!("a{number}"));
                script.update_of("old", answer).await;
            }
            script.answer(&request, answer).await;
        };
        let (session, ()) = tokio::join!(agent.load_session("old", "/work"), answering);
        let transcript = session.unwrap().transcript();
        assert_eq!(transcript.messages().count(), 1000);
        assert_eq!(transcript.last_agent_text(), "answer 499");
        assert_eq!(reported(&agent, ReportKind::LateUpdate), 0);
    }
}

#[tokio::test]
async fn a_load_that_fails_leaves_nothing_behind() {
    let (agent, mut script) = v1_with(Client::new(), json!({ "loadSession": true })).await;
    for _ in 0..2 {
        let answering = async {
            let request = script.expect("session/load").await;
            script.refuse(&request, -32002, "no such session").await;
        };
        let (session, ()) = tokio::join!(agent.load_session("old", "/work"), answering);
        assert!(matches!(session, Err(Error::Refused(error)) if error.code == -32002));
    }
}

// Also: V2-RESUME-14.
#[tokio::test]
async fn loading_from_a_version_2_agent_asks_for_the_history_from_its_start() {
    let (agent, mut script) = v2_with(Client::new(), json!({})).await;
    let answering = async {
        let request = script.expect("session/resume").await;
        assert_eq!(request["params"]["replayFrom"]["type"], "start");
        script
            .update_of("old", crate::support::words_of("m", "part"))
            .await;
        let whole = json!({
            "sessionUpdate": "agent_message",
            "messageId": "m",
            "content": [{ "type": "text", "text": "the whole" }],
        });
        script.update_of("old", whole).await;
        script.answer(&request, json!({})).await;
    };
    let (session, ()) = tokio::join!(agent.load_session("old", "/work"), answering);
    assert_eq!(session.unwrap().transcript().last_agent_text(), "the whole");

    let answering = async {
        let request = script.expect("session/resume").await;
        assert_eq!(request["params"]["replayFrom"], Value::Null);
        script.answer(&request, json!({})).await;
    };
    let (session, ()) = tokio::join!(agent.resume_session("other", "/work"), answering);
    session.unwrap();
}

#[tokio::test]
async fn a_session_that_is_open_is_not_opened_twice() {
    let (agent, mut script) = v1_with(Client::new(), json!({ "loadSession": true })).await;
    let session = open(&agent, &mut script).await;
    let again = agent.load_session(SESSION, "/work").await;
    assert!(matches!(again, Err(Error::SessionOpen)));
    script.silent().await;
    drop(session);
}

// Also: V1-LIST-03, V1-LIST-04, V2-LIST-02.
#[tokio::test]
async fn all_pages_of_a_list_are_read_with_the_cursors_as_they_came() {
    let capabilities = json!({ "sessionCapabilities": { "list": {} } });
    let (agent, mut script) = v1_with(Client::new(), capabilities).await;
    let cursors = [Value::Null, json!(""), json!("\u{1F642}=&%")];
    let answering = async {
        for (page, cursor) in cursors.iter().enumerate() {
            let request = script.expect("session/list").await;
            assert_eq!(request["params"]["cursor"], *cursor);
            let session = json!({ "sessionId": format!("s{page}"), "cwd": "/work" });
            let mut answer = json!({ "sessions": [session] });
            if let Some(next) = cursors.get(page + 1) {
                answer["nextCursor"] = next.clone();
            }
            script.answer(&request, answer).await;
        }
    };
    let (sessions, ()) = tokio::join!(agent.list_sessions(SessionFilter::all()), answering);
    let ids: Vec<_> = sessions
        .unwrap()
        .iter()
        .map(|info| info.session_id.to_string())
        .collect();
    assert_eq!(ids, ["s0", "s1", "s2"]);
    script.silent().await;
}

#[tokio::test]
async fn a_list_that_goes_in_circles_ends() {
    let (agent, mut script) = v2_with(Client::new(), json!({})).await;
    let answering = async {
        for _ in 0..2 {
            let request = script.expect("session/list").await;
            script
                .answer(&request, json!({ "sessions": [], "nextCursor": "again" }))
                .await;
        }
    };
    let (sessions, ()) = tokio::join!(agent.list_sessions(SessionFilter::all()), answering);
    assert!(sessions.unwrap().is_empty());
    script.silent().await;
}

// Also: V1-CLOSE-04, V2-CLOSE-06.
#[tokio::test]
async fn closing_a_session_that_is_gone_is_as_wished_and_ends_its_turns() {
    let (agent, mut script) = v2_with(Client::new(), json!({})).await;
    let session = open(&agent, &mut script).await;
    let (turn, _) = prompt(&session, &mut script, "hi").await;
    let answering = async {
        let request = script.expect("session/close").await;
        assert_eq!(request["params"], json!({ "sessionId": SESSION }));
        script.refuse(&request, -32002, "no such session").await;
    };
    let (closed, ()) = tokio::join!(session.close(), answering);
    closed.unwrap();
    within(turn.finish()).await.unwrap_err();
    assert!(matches!(
        session.prompt("hi").await,
        Err(Error::SessionClosed)
    ));
    script.silent().await;
}

// Also: V2-DEL-01.
#[tokio::test]
async fn a_session_is_deleted_where_that_is_offered() {
    let (agent, mut script) = v2_with(Client::new(), json!({ "delete": {} })).await;
    let answering = async {
        let request = script.expect("session/delete").await;
        script.answer(&request, json!({})).await;
    };
    let (deleted, ()) = tokio::join!(agent.delete_session("x"), answering);
    deleted.unwrap();
}

// Also: V2-INIT-11.
#[tokio::test]
async fn an_agent_without_sessions_is_not_asked_for_one() {
    let answer = json!({
        "protocolVersion": 2,
        "info": { "name": "script", "version": "0" },
        "capabilities": {},
    });
    let (agent, mut script, _) = crate::support::greet(Client::new(), answer).await;
    let made = agent.unwrap().new_session("/work").await;
    assert!(matches!(made, Err(Error::NotOffered { .. })));
    script.closed().await;
}

// Also: V1-SESS-12.
#[tokio::test]
async fn d3_updates_before_the_new_answer_are_kept_and_applied_in_order() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let answering = async {
        let request = script.expect("session/new").await;
        for text in ["a", "b", "c"] {
            script.say(text).await;
        }
        let commands = json!({
            "sessionUpdate": "available_commands_update",
            "availableCommands": [{ "name": "test", "description": "runs tests" }],
        });
        script.update(commands).await;
        script.update_of("another", words("lost")).await;
        script
            .answer(&request, json!({ "sessionId": SESSION }))
            .await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    let session = session.unwrap();
    assert_eq!(session.transcript().last_agent_text(), "abc");
    assert_eq!(session.commands().len(), 1);
    assert_eq!(reported(&agent, ReportKind::EarlyUpdate), 1);
    assert_eq!(reported(&agent, ReportKind::UnknownSession), 1);
}

#[tokio::test]
async fn d3_at_most_a_thousand_early_updates_are_kept() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let answering = async {
        let request = script.expect("session/new").await;
        for _ in 0..1500 {
            script.say("x").await;
        }
        script
            .answer(&request, json!({ "sessionId": SESSION }))
            .await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    assert_eq!(session.unwrap().transcript().last_agent_text().len(), 1000);
    assert_eq!(reported(&agent, ReportKind::EarlyUpdatesDropped), 500);
}

// Also: V2-CMD-03.
#[tokio::test]
async fn v2_sess_06_a_state_told_before_the_answer_is_not_overwritten() {
    let (agent, mut script) = v2_with(Client::new(), json!({})).await;
    let answering = async {
        let request = script.expect("session/new").await;
        script.state("running", None).await;
        let commands = json!([{ "type": "command", "name": "test", "description": "runs tests" }]);
        let answer = json!({ "sessionId": SESSION, "availableCommands": commands });
        script.answer(&request, answer).await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    let session = session.unwrap();
    assert!(session.with_transcript(|transcript| transcript.state().is_active()));
    assert_eq!(session.commands().len(), 1);
}
