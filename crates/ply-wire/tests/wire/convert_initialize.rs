//! Capabilities, identities and auth methods across versions.

use ply_wire::convert::auth::TerminalAuth::{Drop, Keep};
use ply_wire::convert::config::Booleans;
use ply_wire::convert::initialize;
use ply_wire::v1;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[track_caller]
fn check<A: DeserializeOwned, B: Serialize>(convert: impl Fn(&A) -> B, from: Value, to: Value) {
    let from: A = serde_json::from_value(from).unwrap();
    assert_eq!(serde_json::to_value(convert(&from)).unwrap(), to);
}

#[test]
fn a_version_1_client_is_shown_what_version_2_implies() {
    check(
        |m| initialize::response_down(m, Keep),
        json!({
            "protocolVersion": 2,
            "info": {"name": "agent", "title": "Agent", "version": "1"},
            "capabilities": {"session": {
                "prompt": {"image": {}, "embeddedContext": {}},
                "mcp": {"stdio": {}, "http": {}},
                "delete": {}
            }},
            "authMethods": [{"type": "agent", "methodId": "key", "name": "Key"}]
        }),
        json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
                "mcpCapabilities": {"http": true, "sse": false},
                "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
                "auth": {"logout": {}}
            },
            "authMethods": [{"id": "key", "name": "Key"}],
            "agentInfo": {"name": "agent", "title": "Agent", "version": "1"}
        }),
    );
}

#[test]
fn an_agent_without_sessions_or_login_advertises_neither() {
    check(
        |m| initialize::response_down(m, Keep),
        json!({"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {}}),
        json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": false,
                "promptCapabilities": {"image": false, "audio": false, "embeddedContext": false},
                "mcpCapabilities": {"http": false, "sse": false},
                "sessionCapabilities": {},
                "auth": {}
            },
            "authMethods": [],
            "agentInfo": {"name": "a", "version": "1"}
        }),
    );
}

#[test]
fn a_version_1_agent_gets_markers_as_objects_and_a_name() {
    check(
        |m| initialize::response_up(m, Keep),
        json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"audio": true},
                "mcpCapabilities": {"http": true, "sse": true},
                "sessionCapabilities": {"additionalDirectories": {}, "list": {}}
            }
        }),
        json!({
            "protocolVersion": 2,
            "info": {"name": "unknown", "version": "unknown"},
            "capabilities": {"session": {
                "prompt": {"audio": {}},
                "mcp": {"stdio": {}, "http": {}},
                "additionalDirectories": {}
            }}
        }),
    );
}

#[test]
fn a_version_1_client_keeps_only_what_version_2_has_words_for() {
    let client = json!({
        "protocolVersion": 1,
        "clientInfo": {"name": "e", "version": "1"},
        "clientCapabilities": {
            "fs": {"readTextFile": true, "writeTextFile": true},
            "terminal": true,
            "auth": {"terminal": true},
            "elicitation": {"url": {}}
        }
    });
    let with_terminal = json!({
        "protocolVersion": 2,
        "info": {"name": "e", "version": "1"},
        "capabilities": {"auth": {"terminal": {}}, "elicitation": {"url": {}}}
    });
    let without = json!({
        "protocolVersion": 2,
        "info": {"name": "e", "version": "1"},
        "capabilities": {"elicitation": {"url": {}}}
    });
    check(
        |m| initialize::request_up(m, Keep),
        client.clone(),
        with_terminal,
    );
    check(|m| initialize::request_up(m, Drop), client, without);
}

#[test]
fn a_version_1_agent_sees_no_file_or_terminal_service() {
    check(
        |m| initialize::request_down(m, Drop),
        json!({
            "protocolVersion": 2,
            "info": {"name": "e", "version": "1"},
            "capabilities": {"auth": {"terminal": {}}, "elicitation": {"form": {}}}
        }),
        json!({
            "protocolVersion": 1,
            "clientInfo": {"name": "e", "version": "1"},
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
                "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
                "auth": {"terminal": false},
                "elicitation": {"form": {}}
            }
        }),
    );
}

// Also: V1-AUTH-15.
#[test]
fn auth_methods_change_names_and_the_shape_of_the_environment() {
    use ply_wire::convert::auth::{methods_down, methods_up};
    let one = json!([
        {"id": "key", "name": "Key", "_meta": {"a": 1}},
        {"type": "terminal", "id": "login", "name": "Log in", "args": ["in"], "env": {"A": "1", "B": "2"}}
    ]);
    let two = json!([
        {"type": "agent", "methodId": "key", "name": "Key", "_meta": {"a": 1}},
        {
            "type": "terminal", "methodId": "login", "name": "Log in", "args": ["in"],
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
        }
    ]);
    check(|m: &Vec<_>| methods_up(m, Keep), one.clone(), two.clone());
    check(|m: &Vec<_>| methods_down(m, Keep), two.clone(), one.clone());
    check(
        |m: &Vec<_>| methods_up(m, Drop),
        one.clone(),
        json!([two[0]]),
    );
    check(|m: &Vec<_>| methods_down(m, Drop), two, json!([one[0]]));
    check(
        |m: &Vec<_>| methods_down(m, Keep),
        json!([{"type": "_sso", "methodId": "sso", "name": "Company login"}]),
        json!([]),
    );
}

#[test]
fn boolean_options_are_native_only_where_advertised() {
    for (client, wanted) in [
        (json!({}), Booleans::AsSelect),
        (json!({"session": {}}), Booleans::AsSelect),
        (
            json!({"session": {"configOptions": {}}}),
            Booleans::AsSelect,
        ),
        (
            json!({"session": {"configOptions": {"boolean": null}}}),
            Booleans::AsSelect,
        ),
        (
            json!({"session": {"configOptions": {"boolean": {}}}}),
            Booleans::Native,
        ),
    ] {
        let client: v1::ClientCapabilities = serde_json::from_value(client).unwrap();
        assert_eq!(Booleans::wanted_by(&client), wanted);
    }
}
