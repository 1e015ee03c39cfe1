//! Logging in and out.

use std::sync::{Arc, Mutex};

use ply_agent::{About, v2};
use serde_json::{Value, json};

use crate::actor::{Actor, hear};
use crate::support::*;

const AUTH_REQUIRED: i64 = -32000;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// An agent that wants a login and has three ways to do it.
fn guarded() -> Actor {
    let agent = |id: &str, name: &str| v2::AuthMethod::Agent(v2::AuthMethodAgent::new(id, name));
    let shell = v2::AuthMethodTerminal::new("shell", "In a terminal").args(vec!["--login".into()]);
    let about = About::new("actor", "1")
        .auth_method(agent("key", "API key"))
        .auth_method(agent("other", "Another"))
        .auth_method(v2::AuthMethod::Terminal(shell));
    let mut actor = Actor::about_itself(about);
    actor.logged_in = Some(Arc::new(Mutex::new(false)));
    actor
}

fn new_session() -> Value {
    json!({"cwd": "/work", "mcpServers": []})
}

// Also: V1-AUTH-03, V1-AUTH-13, V2-AUTH-01, V2-AUTH-10, V1-ERR-01, V2-ERR-01, V2-RPC-05.
#[tokio::test(start_paused = true)]
async fn v1_auth_04_sessions_need_a_login_until_there_was_one_and_again_after_a_logout() {
    let ways = [("authenticate", "logout"), ("auth/login", "auth/logout")];
    for (version, (login, logout)) in [1, 2].into_iter().zip(ways) {
        let server = guarded().serve();
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        for _ in 0..2 {
            assert_eq!(
                client.fails("session/new", new_session()).await,
                AUTH_REQUIRED
            );
            // A session that was refused was never there.
            assert_eq!(
                client.ok("session/list", json!({})).await["sessions"],
                json!([])
            );
            assert_eq!(
                client.ok(login, json!({"methodId": "key"})).await,
                json!({})
            );
            let session = client.session().await;
            assert_eq!(hear(&mut client, &session, "say in").await, "in");
            client
                .ok("session/delete", json!({"sessionId": session}))
                .await;
            assert_eq!(client.ok(logout, json!({})).await, json!({}));
        }
    }
}

// Also: V2-AUTH-01.
#[tokio::test(start_paused = true)]
async fn v1_auth_02_a_method_that_was_not_advertised_is_refused() {
    let server = guarded().serve();
    let mut old = v1_with(&server, json!({})).await;
    let mut new = v2_with(&server, json!({})).await;
    // A terminal is the client's to run (V1-AUTH-07, V2-AUTH-06).
    for method in ["nope", "shell", ""] {
        let params = json!({"methodId": method});
        assert_eq!(
            old.fails("authenticate", params.clone()).await,
            INVALID_PARAMS
        );
        assert_eq!(new.fails("auth/login", params).await, INVALID_PARAMS);
    }
    // A login that fails is an error in the agent's words.
    let id = new.ask("auth/login", json!({"methodId": "other"})).await;
    let answer = new.answered(id).await.pop().unwrap();
    assert_eq!(
        answer["error"]["message"],
        "The key is wrong; give another."
    );
    assert_eq!(new.fails("session/new", new_session()).await, AUTH_REQUIRED);
}

// Also: V2-AUTH-03.
#[tokio::test(start_paused = true)]
async fn v1_auth_01_methods_have_unique_ids_and_names() {
    let server = guarded().serve();
    for (version, id) in [(1, "id"), (2, "methodId")] {
        let mut client = connect(&server);
        let params = json!({"protocolVersion": version, "info": {"name": "t", "version": "1"},
            "clientCapabilities": {"auth": {"terminal": true}}, "capabilities": {"auth": {"terminal": {}}}});
        let answer = client.ok("initialize", params).await;
        let methods = answer["authMethods"].as_array().unwrap();
        let ids: Vec<&str> = methods
            .iter()
            .filter_map(|method| method[id].as_str())
            .collect();
        assert_eq!(ids, ["key", "other", "shell"]);
        assert!(methods.iter().all(|method| method["name"].is_string()));
        assert!(version == 1 || methods.iter().all(|method| method["type"].is_string()));
        assert_eq!(methods[2]["type"], "terminal");
        assert_eq!(methods[2]["args"], json!(["--login"]));
    }
}

// Also: V2-AUTH-07.
#[tokio::test(start_paused = true)]
async fn v1_auth_08_terminals_are_offered_to_clients_that_have_them() {
    let server = guarded().serve();
    let cases = [
        (json!({}), json!({}), false),
        (
            json!({"auth": {"terminal": false}}),
            json!({"auth": {"terminal": null}}),
            false,
        ),
        (json!({"auth": {}}), json!({"auth": {}}), false),
        (
            json!({"auth": {"terminal": "yes"}}),
            json!({"auth": {"terminal": true}}),
            false,
        ),
        (
            json!({"auth": {"terminal": true}}),
            json!({"auth": {"terminal": {}}}),
            true,
        ),
    ];
    for (old, new, offered) in cases {
        for version in [1, 2] {
            let mut client = connect(&server);
            let params = json!({"protocolVersion": version, "info": {"name": "t", "version": "1"},
                "clientCapabilities": old, "capabilities": new});
            let answer = client.ok("initialize", params).await;
            let methods = answer["authMethods"].as_array().unwrap();
            let found = methods.iter().any(|method| method["type"] == "terminal");
            assert_eq!(found, offered, "version {version}: {old} {new}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn v2_auth_01_without_methods_there_is_no_login() {
    let server = Actor::new().serve();
    let mut old = v1_with(&server, json!({})).await;
    let mut new = v2_with(&server, json!({})).await;
    let key = json!({"methodId": "key"});
    assert_eq!(
        old.fails("authenticate", key.clone()).await,
        METHOD_NOT_FOUND
    );
    assert_eq!(old.fails("logout", json!({})).await, METHOD_NOT_FOUND);
    assert_eq!(new.fails("auth/login", key).await, METHOD_NOT_FOUND);
    assert_eq!(new.fails("auth/logout", json!({})).await, METHOD_NOT_FOUND);
    let mut client = connect(&server);
    let answer = client.ok("initialize", json!({"protocolVersion": 1})).await;
    assert!(answer["authMethods"].as_array().is_none_or(Vec::is_empty));
    assert!(answer["agentCapabilities"]["auth"].get("logout").is_none());
}
