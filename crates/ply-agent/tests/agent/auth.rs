//! Logging in and out.

use std::sync::{Arc, Mutex};

use ply_agent::{About, Agent, Asker, Elicited, Error, Result, Stop, Turn, v2};
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

/// An agent that asks for an account name while the client waits for its login.
struct Asks;

impl Agent for Asks {
    fn about(&self) -> About {
        let method = v2::AuthMethodAgent::new("key", "Key");
        About::new("asks", "1").auth_method(v2::AuthMethod::Agent(method))
    }

    async fn prompt(&self, _: &mut Turn) -> Result<Stop> {
        Ok(Stop::EndTurn)
    }

    async fn login_asking(&self, _: &v2::AuthMethodId, user: &Asker) -> Result<()> {
        let schema = v2::ElicitationSchema::new().string("account", true);
        match user.elicit_form("Which account?", schema).await? {
            Elicited::Accepted(_) => {}
            _ => return Err(Error::msg("No account, no login.")),
        }
        let (visited, id) = user.elicit_url("Log in", "https://example.org/").await?;
        assert!(matches!(visited, Elicited::Accepted(_)));
        user.finish_url(id).await
    }
}

// Also: V1-ELIC-04, V2-ELIC-02.
#[tokio::test(start_paused = true)]
async fn v2_elic_03_a_question_of_a_login_names_the_request_that_waits() {
    let server = ply_agent::serve(Asks);
    let capabilities = json!({"elicitation": {"form": {}, "url": {}}});
    for (version, login) in [(1, "authenticate"), (2, "auth/login")] {
        let mut client = match version {
            1 => v1_with(&server, capabilities.clone()).await,
            _ => v2_with(&server, capabilities.clone()).await,
        };
        client.session().await;
        for id in [json!(77), json!("seventy")] {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": login,
                "params": {"methodId": "key"}});
            client.write(&request.to_string()).await;
            let mut questions = Vec::new();
            for mode in ["form", "url"] {
                let ask = client.next().await.unwrap();
                assert_eq!(ask["method"], "elicitation/create");
                assert_eq!(ask["params"]["mode"], mode);
                assert_eq!(ask["params"]["requestId"], id, "it is the one that waits");
                assert!(ask["params"].get("sessionId").is_none());
                let content = json!({"action": "accept", "content": {"account": "ann"}});
                client.answer(&ask, content).await;
                questions.push(ask);
            }
            let complete = client.next().await.unwrap();
            assert_eq!(complete["method"], "elicitation/complete");
            let visit = &questions[1]["params"]["elicitationId"];
            assert_eq!(complete["params"]["elicitationId"], *visit);
            let answer = client.next().await.unwrap();
            assert_eq!((&answer["id"], &answer["result"]), (&id, &json!({})));
        }
        // Declined, it fails in the agent's words.
        let id = client.ask(login, json!({"methodId": "key"})).await;
        let ask = client.next().await.unwrap();
        client.answer(&ask, json!({"action": "decline"})).await;
        let answer = client.answered(id).await.pop().unwrap();
        assert_eq!(answer["error"]["message"], "No account, no login.");
    }
}

// Also: V2-AUTH-08.
#[tokio::test(start_paused = true)]
async fn v2_auth_04_only_methods_of_a_known_or_custom_type_are_offered() {
    let other = |type_: &str, id: &str| {
        let method = json!({"type": type_, "methodId": id, "name": id});
        serde_json::from_value::<v2::AuthMethod>(method).unwrap()
    };
    let terminal = |id: &str, env: Vec<v2::EnvVariable>| {
        v2::AuthMethod::Terminal(v2::AuthMethodTerminal::new(id, "In a terminal").env(env))
    };
    let variable = |value: &str| v2::EnvVariable::new("HOME_OF", value);
    let about = About::new("actor", "1")
        .auth_method(other("_magic", "wand"))
        .auth_method(other("sso", "later"))
        .auth_method(terminal("once", vec![variable("a")]))
        .auth_method(terminal("twice", vec![variable("a"), variable("b")]));
    let server = Actor::about_itself(about).serve();
    let mut client = connect(&server);
    let params = json!({"protocolVersion": 2, "info": {"name": "t", "version": "1"},
        "capabilities": {"auth": {"terminal": {}}}});
    let answer = client.ok("initialize", params).await;
    let methods = answer["authMethods"].as_array().unwrap();
    let ids: Vec<_> = methods
        .iter()
        .filter_map(|method| method["methodId"].as_str())
        .collect();
    assert_eq!(ids, ["wand", "once"]);
    assert_eq!(
        methods[1]["env"],
        json!([{"name": "HOME_OF", "value": "a"}])
    );
}
