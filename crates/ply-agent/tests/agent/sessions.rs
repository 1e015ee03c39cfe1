//! New sessions: their ids, directories and servers, and what comes after their answer.

use std::collections::HashSet;
use std::sync::Arc;

use ply_agent::{About, Mcp};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::actor::{Actor, Trouble, command, hear, mode_option};
use crate::support::*;

const INVALID_PARAMS: i64 = -32602;
const NOT_FOUND: i64 = -32002;

async fn both(actor: &Actor) -> [Client; 2] {
    let server = actor.serve();
    [
        v1_with(&server, json!({})).await,
        v2_with(&server, json!({})).await,
    ]
}

// Also: V2-SESS-01.
#[tokio::test(start_paused = true)]
async fn v1_sess_01_a_thousand_sessions_over_two_connections_have_ids_of_their_own() {
    let mut ids = HashSet::new();
    for mut client in both(&Actor::new()).await {
        for _ in 0..500 {
            assert!(ids.insert(client.session().await), "an id came twice");
        }
    }
    assert_eq!(ids.len(), 1000);
}

// Also: V2-SESS-02, V1-RPC-13.
#[tokio::test(start_paused = true)]
async fn v1_sess_02_a_relative_directory_is_refused() {
    for mut client in both(&Actor::new()).await {
        for cwd in [
            "",
            ".",
            "work",
            "./work",
            "../work",
            "file:///work",
            "C:\\work",
        ] {
            let params = json!({"cwd": cwd, "mcpServers": []});
            assert_eq!(
                client.fails("session/new", params).await,
                INVALID_PARAMS,
                "{cwd}"
            );
        }
        assert_eq!(
            client.ok("session/list", json!({})).await["sessions"],
            json!([])
        );
    }
}

// Also: V2-SESS-08.
#[tokio::test(start_paused = true)]
async fn v1_sess_04_relative_paths_begin_at_the_session_s_directory() {
    for mut client in both(&Actor::new()).await {
        let session = client.session().await;
        assert_eq!(hear(&mut client, &session, "cwd").await, "/work");
        client.prompt(&session, "locate ./x").await;
        let seen = client
            .until(|message| !update(message)["locations"].is_null())
            .await;
        let location = update(seen.last().unwrap())["locations"][0].clone();
        assert_eq!(location["path"], "/work/./x");
        assert_eq!(location["line"], 1);
    }
}

// Also: V2-SESS-03.
#[tokio::test(start_paused = true)]
async fn v1_sess_06_servers_must_be_named_on_version_1_and_may_be_left_out_on_version_2() {
    let [mut old, mut new] = both(&Actor::new()).await;
    assert_eq!(
        old.fails("session/new", json!({"cwd": "/work"})).await,
        INVALID_PARAMS
    );
    let session = old.session().await;
    let load = json!({"sessionId": session, "cwd": "/work"});
    assert_eq!(
        old.fails("session/load", load.clone()).await,
        INVALID_PARAMS
    );
    old.ok("session/resume", load).await;
    new.ok("session/new", json!({"cwd": "/work"})).await;
    new.ok("session/new", json!({"cwd": "/work", "mcpServers": []}))
        .await;
}

// Also: V1-MCP-06.
#[tokio::test(start_paused = true)]
async fn servers_reach_the_agent_and_malformed_ones_are_refused() {
    let actor = Actor::about_itself(About::new("a", "1").mcp(Mcp {
        stdio: true,
        http: true,
    }));
    for (version, mut client) in (1..).zip(both(&actor).await) {
        let mut stdio = json!({"name": "files", "command": "/bin/files", "args": ["-v"],
            "env": [{"name": "A", "value": "1"}]});
        if version == 2 {
            stdio["type"] = json!("stdio");
        }
        let http = json!({"type": "http", "name": "web", "url": "https://web", "headers": []});
        client
            .ok(
                "session/new",
                json!({"cwd": "/work", "mcpServers": [stdio, http]}),
            )
            .await;
        let setup = actor.setups.lock().unwrap().last().unwrap().clone();
        assert_eq!(setup.mcp_servers.len(), 2);
        assert!(!setup.reopened);
        stdio.as_object_mut().unwrap().remove("command");
        let params = json!({"cwd": "/work", "mcpServers": [http, stdio]});
        assert_eq!(client.fails("session/new", params).await, INVALID_PARAMS);
    }
}

// Also: V2-SESS-11, V1-SESS-10, V2-SESS-05, V2-CMD-03, D3.
#[tokio::test(start_paused = true)]
async fn v1_sess_11_what_the_agent_sets_up_is_in_the_answer_or_after_it() {
    let mut actor = Actor::new();
    actor.options = vec![mode_option("ask")];
    actor.commands = vec![command("plan")];
    let [mut old, mut new] = both(&actor).await;

    let id = old
        .ask("session/new", json!({"cwd": "/work", "mcpServers": []}))
        .await;
    let seen = old.answered(id).await;
    assert_eq!(seen.len(), 1, "something came before the answer");
    assert_eq!(seen[0]["result"]["configOptions"][0]["currentValue"], "ask");
    assert_eq!(seen[0]["result"]["modes"]["currentModeId"], "ask");
    let commands = old.next().await.unwrap();
    assert_eq!(
        update(&commands)["sessionUpdate"],
        "available_commands_update"
    );
    assert_eq!(update(&commands)["availableCommands"][0]["name"], "plan");

    let answer = new.ok("session/new", json!({"cwd": "/work"})).await;
    assert_eq!(answer["configOptions"][0]["configId"], "mode");
    assert_eq!(answer["availableCommands"][0]["name"], "plan");
    // Outside any turn too, something may be said.
    actor.last_session().say("by the way").await.unwrap();
    let said = new.next().await.unwrap();
    assert_eq!(update(&said)["content"]["text"], "by the way");
}

#[tokio::test(start_paused = true)]
async fn v2_sess_05_nothing_set_up_is_an_empty_list_or_nothing_and_never_null() {
    for mut client in both(&Actor::new()).await {
        let answer = client
            .ok("session/new", json!({"cwd": "/work", "mcpServers": []}))
            .await;
        for field in ["configOptions", "availableCommands", "modes"] {
            let value = answer.get(field);
            assert!(
                value.is_none_or(|value| *value == json!([])),
                "{field} in {answer}"
            );
        }
    }
}

// Also: V1-PROMPT-14, V2-SESS-09, E14, V1-ERR-01, V2-ERR-01, D6.
#[tokio::test(start_paused = true)]
async fn v1_sess_13_a_session_that_is_unknown_or_foreign_is_not_found() {
    let [mut old, mut new] = both(&Actor::new()).await;
    let foreign = old.session().await;
    let of = |session: &str| {
        json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}], "modeId": "m",
            "configId": "c", "value": "v", "type": "id", "cwd": "/work", "mcpServers": [],
            "toolCallId": "t", "terminalId": "t"})
    };
    let methods = [
        "session/prompt",
        "session/set_mode",
        "session/set_config_option",
        "session/close",
        "session/load",
        "session/resume",
    ];
    for method in methods {
        assert_not_found(&mut old, method, of("sess-nope")).await;
    }
    let methods = [
        "session/prompt",
        "session/set_config_option",
        "tool_call/cancel",
        "terminal/cancel",
    ];
    for method in methods {
        assert_not_found(&mut new, method, of("sess-nope")).await;
        // It is there, but this connection has not resumed it (V2-SESS-10).
        assert_not_found(&mut new, method, of(&foreign)).await;
    }
    assert_not_found(&mut new, "session/resume", of("sess-nope")).await;
    for session in ["sess-nope", &foreign] {
        new.cancel(session).await;
    }
    new.ok(
        "session/resume",
        json!({"sessionId": foreign, "cwd": "/work"}),
    )
    .await;
    assert_eq!(hear(&mut new, &foreign, "say mine too").await, "mine too");
}

async fn assert_not_found(client: &mut Client, method: &str, params: Value) {
    let id = client.ask(method, params.clone()).await;
    let answer = client.answered(id).await.pop().unwrap();
    assert_eq!(answer["error"]["code"], NOT_FOUND, "{method}: {answer}");
    assert_eq!(
        answer["error"]["data"]["sessionId"], params["sessionId"],
        "{method}: {answer}"
    );
}

// Also: V2-SESS-07.
#[tokio::test(start_paused = true)]
async fn v1_sess_16_further_directories_are_those_of_the_last_request() {
    let actor = Actor::about_itself(About::new("a", "1").additional_directories());
    for (version, mut client) in (1..).zip(both(&actor).await) {
        let params =
            json!({"cwd": "/work", "mcpServers": [], "additionalDirectories": ["/a", "/b"]});
        let made = client.ok("session/new", params).await;
        let session = made["sessionId"].as_str().unwrap();
        assert_eq!(hear(&mut client, session, "roots").await, "2");
        client
            .ok("session/close", json!({"sessionId": session}))
            .await;
        let method = if version == 1 {
            "session/load"
        } else {
            "session/resume"
        };
        client
            .ok(
                method,
                json!({"sessionId": session, "cwd": "/work", "mcpServers": []}),
            )
            .await;
        assert_eq!(hear(&mut client, session, "roots").await, "0");
    }
}

// Also: V2-SESS-08.
#[tokio::test(start_paused = true)]
async fn v1_sess_09_sessions_on_one_connection_do_not_mix() {
    let actor = Actor::new();
    for mut client in both(&actor).await {
        let (one, two) = (client.session().await, client.session().await);
        client
            .prompt(&one, "say first of one\nwait\nsay second of one")
            .await;
        let seen = client
            .until(|message| said(std::slice::from_ref(message)) == "first of one")
            .await;
        assert_eq!(seen.last().unwrap()["params"]["sessionId"], one);
        let prompt = client.prompt(&two, "say all of two\nrecall").await;
        let mut seen = client.answered(prompt).await;
        if seen.last().unwrap()["result"].get("stopReason").is_none() {
            seen.extend(client.idle().await);
        }
        assert!(updates(&seen).len() > 1);
        let sessions = seen
            .iter()
            .filter_map(|message| message["params"]["sessionId"].as_str());
        assert!(sessions.clone().all(|session| session == two), "{seen:#?}");
        assert!(!said(&seen).contains("one"), "{seen:#?}");
        actor.gate.add_permits(1);
        client
            .until(|message| said(std::slice::from_ref(message)).ends_with("second of one"))
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_the_agent_refuses_was_never_there() {
    for trouble in [Trouble::OpenFails, Trouble::OpenPanics] {
        let actor = Actor::new();
        for mut client in both(&actor).await {
            *actor.trouble.lock().unwrap() = Some(trouble);
            let params = json!({"cwd": "/work", "mcpServers": []});
            assert_eq!(client.fails("session/new", params).await, -32603);
            *actor.trouble.lock().unwrap() = None;
            // Cleaning up may take a moment after a panic.
            tokio::task::yield_now().await;
            let listed = client.ok("session/list", json!({})).await;
            assert_eq!(listed["sessions"], json!([]));
            let session = client.session().await;
            assert_eq!(hear(&mut client, &session, "say better").await, "better");
            client
                .ok("session/delete", json!({"sessionId": session}))
                .await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_making_is_given_up_was_never_there() {
    let mut actor = Actor::new();
    actor.open_gate = Some(Arc::new(Semaphore::new(0)));
    for mut client in both(&actor).await {
        let id = client
            .ask("session/new", json!({"cwd": "/work", "mcpServers": []}))
            .await;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        client
            .notify("$/cancel_request", json!({"requestId": id}))
            .await;
        let answer = client.answered(id).await.pop().unwrap();
        assert_eq!(answer["error"]["code"], -32800, "{answer}");
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        assert_eq!(
            client.ok("session/list", json!({})).await["sessions"],
            json!([])
        );
        assert_eq!(
            actor.closed.lock().unwrap().len(),
            actor.sessions.lock().unwrap().len()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_client_leaves_before_the_answer_does_not_stay_open() {
    let mut actor = Actor::new();
    let gate = Arc::new(Semaphore::new(0));
    actor.open_gate = Some(Arc::clone(&gate));
    for mut client in both(&actor).await {
        client
            .ask("session/new", json!({"cwd": "/work", "mcpServers": []}))
            .await;
        tokio::task::yield_now().await;
        client.vanish().await;
        gate.add_permits(1);
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
        let opened = actor.sessions.lock().unwrap().len();
        assert_eq!(actor.closed.lock().unwrap().len(), opened);
        // The code that waited at the gate may have been dropped there.
        gate.forget_permits(gate.available_permits());
    }
}
