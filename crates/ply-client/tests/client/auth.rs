//! Logging in and out.

use crate::support::{Script, greet, prompt, within};
use ply_client::{Agent, Client, Error};
use serde_json::{Value, json};

async fn agent(version: u16, logout: bool) -> (Agent, Script) {
    let methods = match version {
        1 => json!([
            { "id": "key", "name": "API key" },
            { "type": "terminal", "id": "shell", "name": "In a terminal", "args": ["login"] },
        ]),
        _ => json!([
            { "type": "agent", "methodId": "key", "name": "API key" },
            { "type": "terminal", "methodId": "shell", "name": "In a terminal" },
            { "type": "_magic", "methodId": "wand", "name": "By magic" },
        ]),
    };
    let mut answer = json!({
        "protocolVersion": version,
        "info": { "name": "script", "version": "0" },
        "capabilities": { "session": {} },
        "authMethods": methods,
    });
    if logout {
        answer["agentCapabilities"] = json!({ "auth": { "logout": {} } });
    }
    let (agent, script, _) = greet(Client::new(), answer).await;
    (agent.unwrap(), script)
}

// Also: V1-AUTH-07, V1-AUTH-06, V2-AUTH-05, V2-AUTH-06.
#[tokio::test]
async fn v1_auth_02_only_an_advertised_protocol_login_is_sent() {
    for (version, method, field) in [
        (1, "authenticate", "methodId"),
        (2, "auth/login", "methodId"),
    ] {
        let (agent, mut script) = agent(version, false).await;
        for refused in ["nope", "shell", "wand"] {
            let login = agent.login(refused).await;
            assert!(matches!(login, Err(Error::Invalid { .. })), "{refused}");
        }
        script.silent().await;
        let answering = async {
            let request = script.expect(method).await;
            assert_eq!(request["params"][field], "key");
            script.answer(&request, json!({})).await;
        };
        let (login, ()) = tokio::join!(agent.login("key"), answering);
        login.unwrap();
    }
}

// Also: V1-AUTH-14.
#[tokio::test]
async fn v1_auth_05_an_agent_that_wants_a_login_says_which_and_is_tried_again() {
    let (agent, mut script) = agent(1, false).await;
    let answering = async {
        let request = script.expect("session/new").await;
        script.refuse(&request, -32000, "who are you").await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    match session.unwrap_err() {
        Error::AuthRequired { methods } => {
            let ids: Vec<_> = methods
                .iter()
                .map(|method| method.method_id().to_string())
                .collect();
            assert_eq!(ids, ["key", "shell"]);
        }
        other => panic!("{other}"),
    }
    let session = crate::support::open(&agent, &mut script).await;
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    script.refuse(&request, -32000, "who are you").await;
    assert!(within(turn.finish()).await.unwrap_err().is_auth_required());
}

// Also: V1-AUTH-12, V2-AUTH-02.
#[tokio::test]
async fn logging_out_is_asked_only_where_it_is_offered() {
    let (silent, mut script) = agent(1, false).await;
    assert!(matches!(
        silent.logout().await,
        Err(Error::NotOffered { .. })
    ));
    script.silent().await;
    for (version, method) in [(1, "logout"), (2, "auth/logout")] {
        let (agent, mut script) = agent(version, true).await;
        let answering = async {
            let request = script.expect(method).await;
            script.answer(&request, Value::Null).await;
        };
        let (logout, ()) = tokio::join!(agent.logout(), answering);
        logout.unwrap();
    }
}
