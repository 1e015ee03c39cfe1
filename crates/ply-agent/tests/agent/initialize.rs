//! The first words on a connection: versions, identities, capabilities, and what is refused.

use ply_agent::About;
use serde_json::{Value, json};

use crate::actor::{Actor, hear, run};
use crate::support::*;

const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

fn new_session() -> Value {
    json!({"cwd": "/work", "mcpServers": []})
}

fn v2_params(version: i64) -> Value {
    json!({"protocolVersion": version, "info": {"name": "test", "version": "1"}, "capabilities": {}})
}

// Also: V1-INIT-05, V1-INIT-06, V2-INIT-02, V2-INIT-04, V1-INIT-22.
#[tokio::test(start_paused = true)]
async fn v1_init_07_08_the_agent_answers_with_the_version_asked_for_or_its_newest() {
    let server = Actor::about_itself(About::new("actor", "1.2.3").title("The Actor")).serve();
    for (asked, spoken) in [(0, 1), (1, 1), (2, 2), (3, 2), (65535, 2)] {
        let mut client = connect(&server);
        let mut params = v2_params(asked);
        params["clientCapabilities"] = json!({});
        let answer = client.ok("initialize", params).await;
        assert_eq!(answer["protocolVersion"], spoken, "asked for {asked}");
        let (info, capabilities) = match spoken {
            1 => (&answer["agentInfo"], &answer["agentCapabilities"]),
            _ => (&answer["info"], &answer["capabilities"]),
        };
        assert_eq!(
            *info,
            json!({"name": "actor", "version": "1.2.3", "title": "The Actor"})
        );
        assert!(capabilities.is_object(), "{answer}");
        client.leave().await;
    }
}

#[tokio::test(start_paused = true)]
async fn v2_init_03_an_identity_is_required_of_a_version_2_client() {
    let mut client = connect(&Actor::new().serve());
    let params = json!({"protocolVersion": 2, "capabilities": {}});
    assert_eq!(client.fails("initialize", params).await, INVALID_PARAMS);
    // Nothing has happened: it may try again.
    client.ok("initialize", v2_params(2)).await;
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_no_small_integer_is_refused() {
    let mut client = connect(&Actor::new().serve());
    for version in [json!("1"), json!(65536), json!(-1), json!(1.5), Value::Null] {
        let params = json!({"protocolVersion": version});
        assert_eq!(client.fails("initialize", params).await, INVALID_PARAMS);
    }
    assert_eq!(client.fails("initialize", json!({})).await, INVALID_PARAMS);
}

// Also: B10, V2-INIT-17.
#[tokio::test(start_paused = true)]
async fn v1_init_19_nothing_is_served_before_initialize() {
    for version in [1, 2] {
        let mut client = connect(&Actor::new().serve());
        client.cancel("sess-1").await;
        for method in [
            "session/new",
            "session/prompt",
            "authenticate",
            "auth/login",
            "_x/y",
            "nope",
        ] {
            assert_eq!(
                client.fails(method, json!({})).await,
                INVALID_REQUEST,
                "{method}"
            );
        }
        client.ok("initialize", v2_params(version)).await;
        client.ok("session/new", new_session()).await;
        assert_eq!(client.log.len(), 8, "the early cancel was answered");
    }
}

// Also: B10, V1-INIT-03.
#[tokio::test(start_paused = true)]
async fn v1_init_20_a_version_1_client_may_initialize_again_and_the_last_time_counts() {
    let server = Actor::new().serve();
    let mut client = v1_with(
        &server,
        json!({"fs": {"readTextFile": true}, "terminal": true}),
    )
    .await;
    let before = client.session().await;
    assert!(
        hear(&mut client, &before, "abilities")
            .await
            .contains(r#""read":true"#)
    );
    client.ok("initialize", json!({"protocolVersion": 1})).await;
    let after = client.session().await;
    let abilities = hear(&mut client, &after, "abilities").await;
    assert!(!abilities.contains("true"), "{abilities}");
    // The version cannot change under sessions that are in use.
    assert_eq!(
        client.fails("initialize", v2_params(2)).await,
        INVALID_REQUEST
    );
    assert_eq!(
        hear(&mut client, &after, "say still here").await,
        "still here"
    );
}

// Also: B10, V2-INIT-16.
#[tokio::test(start_paused = true)]
async fn v2_init_15_a_version_2_client_may_initialize_again_until_its_first_other_request() {
    let mut client = connect(&Actor::new().serve());
    client.ok("initialize", v2_params(2)).await;
    let mut params = v2_params(2);
    params["capabilities"] = json!({"elicitation": {"form": {}}});
    client.ok("initialize", params).await;
    let session = client.session().await;
    let abilities = hear(&mut client, &session, "abilities").await;
    assert!(abilities.contains(r#""form":true"#), "{abilities}");
    assert_eq!(
        client.fails("initialize", v2_params(2)).await,
        INVALID_REQUEST
    );
    let again = hear(&mut client, &session, "abilities").await;
    assert_eq!(again, abilities, "the connection is as it was");
}

// Also: V2-INIT-07.
#[tokio::test(start_paused = true)]
async fn v1_init_10_methods_of_the_other_version_are_not_there() {
    let server = Actor::new().serve();
    let mut old = v1_with(&server, json!({})).await;
    let session = old.session().await;
    let of_session = json!({"sessionId": session});
    for method in [
        "auth/login",
        "auth/logout",
        "tool_call/cancel",
        "terminal/cancel",
    ] {
        assert_eq!(
            old.fails(method, of_session.clone()).await,
            METHOD_NOT_FOUND,
            "{method}"
        );
    }
    let mut new = v2_with(&server, json!({})).await;
    let session = new.session().await;
    let of_session =
        json!({"sessionId": session, "modeId": "ask", "cwd": "/work", "mcpServers": []});
    for method in ["authenticate", "logout", "session/load", "session/set_mode"] {
        assert_eq!(
            new.fails(method, of_session.clone()).await,
            METHOD_NOT_FOUND,
            "{method}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn v1_init_10_a_version_1_client_sees_no_update_of_version_2() {
    let mut client = v1(Actor::new()).await;
    let session = client.session().await;
    let seen = run(&mut client, &session, "everything").await;
    let known = [
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
    ];
    for kind in kinds(&seen) {
        assert!(known.contains(&kind), "{kind} is not of version 1");
    }
}

// Also: V1-INIT-11, V1-INIT-13, V1-INIT-18, V1-INIT-23.
#[tokio::test(start_paused = true)]
async fn v1_init_12_a_version_1_client_has_exactly_the_abilities_it_named() {
    let all = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true,
        "elicitation": {"form": {}, "url": {}}});
    let cases = [
        (json!({}), 0),
        (
            json!({"fs": null, "terminal": null, "elicitation": null}),
            0,
        ),
        (json!({"fs": {}, "terminal": false, "elicitation": {}}), 0),
        (
            json!({"fs": {"readTextFile": false}, "elicitation": {"form": null}}),
            0,
        ),
        (json!({"terminal": "yes", "fs": {"readTextFile": 7}}), 0),
        (
            json!({"hologram": {"size": 3}, "fs": {"telepathy": true}}),
            0,
        ),
        (json!({"fs": {"readTextFile": true}}), 1),
        (json!({"fs": {"writeTextFile": true}, "terminal": true}), 2),
        (json!({"elicitation": {"url": {}}}), 1),
        (all, 5),
    ];
    let server = Actor::new().serve();
    for (capabilities, expected) in cases {
        let mut client = v1_with(&server, capabilities.clone()).await;
        let session = client.session().await;
        let abilities = hear(&mut client, &session, "abilities").await;
        let count = abilities.matches("true").count();
        assert_eq!(count, expected, "{capabilities} gave {abilities}");
    }
}

// Also: V2-INIT-14, V2-INIT-20, V1-INIT-21, V2-INIT-18.
#[tokio::test(start_paused = true)]
async fn v2_init_09_markers_are_objects_and_files_and_terminals_are_of_version_1() {
    let cases = [
        (json!({}), 0),
        (json!({"fs": {"readTextFile": true}, "terminal": true}), 0),
        (json!({"fs": {"readTextFile": {}}, "terminal": {}}), 0),
        (json!({"elicitation": {"form": true, "url": null}}), 0),
        (json!({"elicitation": 3}), 0),
        (
            json!({"elicitation": {"form": {}, "url": {"_meta": {}}}}),
            2,
        ),
    ];
    let server = Actor::new().serve();
    for (capabilities, expected) in cases {
        let mut client = v2_with(&server, capabilities.clone()).await;
        let session = client.session().await;
        let abilities = hear(&mut client, &session, "abilities").await;
        assert_eq!(
            abilities.matches("true").count(),
            expected,
            "{capabilities}"
        );
        assert!(abilities.contains(r#""client":"test""#), "{abilities}");
    }
    // A newer client's odd shapes are dropped.
    let mut client = connect(&server);
    let odd = json!({"protocolVersion": 3, "info": 5, "capabilities": [1], "_meta": "x"});
    assert_eq!(client.ok("initialize", odd).await["protocolVersion"], 2);
}

// Also: V2-RPC-02.
#[tokio::test(start_paused = true)]
async fn v2_rpc_02_bad_ids_are_refused_on_version_2_and_null_is_answered_on_version_1() {
    let server = Actor::new().serve();
    let mut client = v2_with(&server, json!({})).await;
    for id in ["null", "true", "1.5", "[1]"] {
        client
            .write(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"session/new","params":{{"cwd":"/work"}}}}"#
            ))
            .await;
        let answer = client.next().await.unwrap();
        assert_eq!(answer["error"]["code"], INVALID_REQUEST, "{id}: {answer}");
        assert_eq!(answer["id"], Value::Null, "{id}: {answer}");
    }
    assert_eq!(
        client.ok("session/list", json!({})).await["sessions"],
        json!([])
    );
    let mut old = v1_with(&server, json!({})).await;
    old.write(r#"{"jsonrpc":"2.0","id":null,"method":"session/list","params":{}}"#)
        .await;
    let answer = old.next().await.unwrap();
    assert_eq!(answer["id"], Value::Null);
    assert!(answer["result"]["sessions"].is_array(), "{answer}");
}

// Also: V1-RPC-03, V1-RPC-04, V1-RPC-08, V2-BATCH-01, V1-ERR-01, V2-ERR-01.
#[tokio::test(start_paused = true)]
async fn v1_rpc_01_what_is_no_message_is_refused_and_the_link_lives() {
    let server = Actor::new().serve();
    for version in [1, 2] {
        let mut client = connect(&server);
        client.ok("initialize", v2_params(version)).await;
        let cases = [
            (
                r#"{"id":9,"method":"session/list","params":{}}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"1.0","id":9,"method":"session/list"}"#,
                INVALID_REQUEST,
            ),
            ("[]", INVALID_REQUEST),
            (
                r#"[{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":"/w"}}]"#,
                INVALID_REQUEST,
            ),
            ("42", INVALID_REQUEST),
            ("{", -32700),
            (
                r#"{"jsonrpc":"2.0","id":9,"method":"session/nope"}"#,
                METHOD_NOT_FOUND,
            ),
            (
                r#"{"jsonrpc":"2.0","id":9,"method":"_vendor/nope"}"#,
                METHOD_NOT_FOUND,
            ),
            (
                r#"{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{}}"#,
                INVALID_PARAMS,
            ),
        ];
        for (line, code) in cases {
            client.write(line).await;
            let answer = client.next().await.unwrap();
            assert_eq!(
                answer["error"]["code"], code,
                "version {version}, {line}: {answer}"
            );
            assert!(answer["error"]["message"].is_string());
            assert!(answer.get("result").is_none());
        }
        for note in [
            "session/cancel",
            "session/nope",
            "_x/y",
            "$/nope",
            "session/prompt",
        ] {
            client.notify(note, json!({"odd": 1})).await;
        }
        assert_eq!(
            client.ok("session/list", json!({})).await["sessions"],
            json!([])
        );
    }
}
