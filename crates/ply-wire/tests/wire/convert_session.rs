//! Options, modes, commands, MCP servers and session answers across versions.

use ply_wire::convert::config::{self, Booleans};
use ply_wire::convert::{commands, mcp, session};
use ply_wire::{v1, v2};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[track_caller]
fn check<A: DeserializeOwned, B: Serialize>(convert: impl Fn(&A) -> B, from: Value, to: Value) {
    let from: A = serde_json::from_value(from).unwrap();
    assert_eq!(serde_json::to_value(convert(&from)).unwrap(), to);
}

fn options(json: Value) -> Vec<v2::SessionConfigOption> {
    serde_json::from_value(json).unwrap()
}

fn web() -> Value {
    json!({"configId": "web", "name": "Web", "type": "boolean", "currentValue": true})
}

fn mode() -> Value {
    json!({
        "configId": "how", "name": "How", "category": "mode", "type": "select",
        "currentValue": "b",
        "options": [
            {"groupId": "g", "name": "G", "options": [{"value": "a", "name": "A", "description": "first"}]},
            {"groupId": "h", "name": "H", "options": [{"value": "b", "name": "B"}]}
        ]
    })
}

#[test]
fn v1_conf_04_booleans_are_a_select_for_clients_without_them() {
    let as_select = json!([{
        "id": "web", "name": "Web", "type": "select", "currentValue": "true",
        "options": [{"value": "true", "name": "On"}, {"value": "false", "name": "Off"}]
    }]);
    let native = json!([{"id": "web", "name": "Web", "type": "boolean", "currentValue": true}]);
    check(
        |m: &Vec<_>| config::options_down(m, Booleans::AsSelect),
        json!([web()]),
        as_select,
    );
    check(
        |m: &Vec<_>| config::options_down(m, Booleans::Native),
        json!([web()]),
        native,
    );
}

#[test]
fn a_boolean_shown_as_a_select_is_set_as_a_boolean() {
    let options = options(json!([web(), mode()]));
    let set = |config: &str, value: Value| {
        let request = json!({"sessionId": "s", "configId": config, "value": value});
        let request: v1::SetSessionConfigOptionRequest = serde_json::from_value(request).unwrap();
        config::set_option_up(&request, &options).unwrap().value
    };
    assert_eq!(
        set("web", json!("false")),
        v2::SessionConfigOptionValue::boolean(false)
    );
    assert_eq!(
        set("web", json!("true")),
        v2::SessionConfigOptionValue::boolean(true)
    );
    // Anything else is passed on for the core to refuse.
    assert_eq!(
        set("web", json!("maybe")),
        v2::SessionConfigOptionValue::id("maybe")
    );
    assert_eq!(
        set("how", json!("true")),
        v2::SessionConfigOptionValue::id("true")
    );
}

#[test]
fn v1_conf_06_options_of_unknown_types_are_left_out() {
    let slider = json!({"configId": "heat", "name": "Heat", "type": "_slider", "max": 9});
    check(
        |m: &Vec<_>| config::options_down(m, Booleans::Native),
        json!([slider]),
        json!([]),
    );
}

#[test]
fn a_select_without_values_offers_its_current_one() {
    let select = |options: Value| json!({"id": "x", "name": "X", "type": "select", "currentValue": "v", "options": options});
    let offered = |options: Value| {
        let one: v1::SessionConfigOption = serde_json::from_value(select(options)).unwrap();
        serde_json::to_value(config::options_up(&[one])).unwrap()[0]["options"].clone()
    };
    let empty = json!({"group": "e", "name": "E", "options": []});
    let full = json!({"group": "f", "name": "F", "options": [{"value": "v", "name": "V"}]});
    assert_eq!(offered(json!([])), json!([{"value": "v", "name": "v"}]));
    assert_eq!(
        offered(json!([empty])),
        json!([{"value": "v", "name": "v"}])
    );
    assert_eq!(
        offered(json!([empty, full])),
        json!([{"groupId": "f", "name": "F", "options": [{"value": "v", "name": "V"}]}])
    );
}

#[test]
fn a_current_value_that_is_not_offered_is_added_v2_conf_05() {
    let current = json!({"value": "v", "name": "v"});
    let one = json!({"value": "a", "name": "A"});
    let offered = |options: Value| {
        let select = json!({"id": "x", "name": "X", "type": "select", "currentValue": "v",
            "options": options});
        let select: v1::SessionConfigOption = serde_json::from_value(select).unwrap();
        serde_json::to_value(config::options_up(&[select])).unwrap()[0]["options"].clone()
    };
    assert_eq!(offered(json!([one])), json!([one, current]));
    let group = |options: Value| json!({"group": "g", "name": "G", "options": options});
    assert_eq!(
        offered(json!([group(json!([one]))]))[0]["options"],
        json!([one, current])
    );
    let modes: v1::SessionModeState = serde_json::from_value(json!({
        "currentModeId": "v", "availableModes": [{"id": "a", "name": "A"}]}))
    .unwrap();
    let option = serde_json::to_value(config::modes_up(&modes, &[])).unwrap();
    assert_eq!(option["options"], json!([one, current]));
}

#[test]
fn modes_come_from_the_first_select_of_category_mode() {
    let modes = |json| config::modes_down(&options(json));
    let state = modes(json!([web(), mode()])).unwrap();
    assert_eq!(
        serde_json::to_value(state).unwrap(),
        json!({
            "currentModeId": "b",
            "availableModes": [{"id": "a", "name": "A", "description": "first"}, {"id": "b", "name": "B"}]
        })
    );
    let mut boolean_mode = web();
    boolean_mode["category"] = json!("mode");
    assert_eq!(modes(json!([web()])), None);
    assert_eq!(modes(json!([boolean_mode.clone()])), None);
    assert!(modes(json!([boolean_mode, mode()])).is_some());
}

#[test]
fn modes_become_an_option_whose_id_is_free() {
    let modes = v1::SessionModeState::new("ask", vec![v1::SessionMode::new("ask", "Ask")]);
    let made = config::modes_up(&modes, &[]);
    assert_eq!(
        serde_json::to_value(&made).unwrap(),
        json!({
            "configId": "mode", "name": "Mode", "category": "mode", "type": "select",
            "currentValue": "ask", "options": [{"value": "ask", "name": "Ask"}]
        })
    );
    assert_eq!(
        config::modes_down(std::slice::from_ref(&made)),
        Some(modes.clone())
    );
    let second = config::modes_up(&modes, std::slice::from_ref(&made));
    assert_eq!(&*second.config_id.0, "mode-2");
    assert_eq!(
        &*config::modes_up(&modes, &[made, second]).config_id.0,
        "mode-3"
    );
}

#[test]
fn set_mode_is_setting_the_mode_option() {
    let request = v1::SetSessionModeRequest::new("s", "a");
    let set = config::set_mode_up(&request, &options(json!([web(), mode()]))).unwrap();
    assert_eq!(
        serde_json::to_value(&set).unwrap(),
        json!({"sessionId": "s", "configId": "how", "type": "id", "value": "a"})
    );
    assert_eq!(config::set_mode_down(&set), Some(request.clone()));
    assert_eq!(
        config::set_mode_up(&request, &options(json!([web()]))),
        None
    );
    let boolean = v2::SetSessionConfigOptionRequest::new("s", "how", true);
    assert_eq!(config::set_mode_down(&boolean), None);
}

#[test]
fn v1_mode_06_given_options_hide_modes() {
    let modes = v1::SessionModeState::new("ask", vec![v1::SessionMode::new("ask", "Ask")]);
    let option = v1::SessionConfigOption::boolean("web", "Web", true);
    let ids = |options: Option<&[_]>, modes| -> Vec<String> {
        let made = session::options_of(options, modes);
        made.iter()
            .map(|option| option.config_id.to_string())
            .collect()
    };
    assert_eq!(ids(Some(&[option]), Some(&modes)), ["web"]);
    assert_eq!(ids(Some(&[]), Some(&modes)), ["mode"]);
    assert_eq!(ids(None, Some(&modes)), ["mode"]);
    assert!(ids(None, None).is_empty());
}

#[test]
fn commands_leave_the_answer_and_are_returned_beside_it() {
    let response = json!({
        "sessionId": "s",
        "configOptions": [mode()],
        "availableCommands": [{"type": "command", "name": "plan", "description": "Plans"}]
    });
    let response: v2::NewSessionResponse = serde_json::from_value(response).unwrap();
    let (answer, commands) = session::new_response_down(&response, Booleans::Native);
    assert_eq!(commands, [v1::AvailableCommand::new("plan", "Plans")]);
    assert_eq!(
        answer.modes.unwrap().current_mode_id,
        v1::SessionModeId::new("b")
    );
    assert_eq!(answer.config_options.unwrap().len(), 1);
    // A list without entries would hide modes and says nothing.
    let bare = v2::NewSessionResponse::new("s");
    let (answer, commands) = session::new_response_down(&bare, Booleans::Native);
    assert_eq!(
        (answer.config_options, answer.modes, commands),
        (None, None, vec![])
    );
}

#[test]
fn unknown_commands_and_inputs_become_plain() {
    check(
        |m: &Vec<_>| commands::down(m),
        json!([
            {"type": "command", "name": "a", "description": "A", "input": {"type": "text", "hint": "h"}, "_meta": {"x": 1}},
            {"type": "command", "name": "b", "description": "B", "input": {"type": "_list"}},
            {"type": "_macro", "name": "c", "description": "C", "times": 2, "_meta": {"y": 1}}
        ]),
        json!([
            {"name": "a", "description": "A", "input": {"hint": "h"}, "_meta": {"x": 1}},
            {"name": "b", "description": "B"},
            {"name": "c", "description": "C", "_meta": {"y": 1}}
        ]),
    );
    check(
        |m: &Vec<_>| commands::up(m),
        json!([{"name": "a", "description": "A", "input": {"hint": "h"}}]),
        json!([{"type": "command", "name": "a", "description": "A", "input": {"type": "text", "hint": "h"}}]),
    );
}

#[test]
fn mcp_servers_change_tags_and_empty_lists() {
    let one = json!([
        {"name": "f", "command": "/f", "args": [], "env": []},
        {"type": "http", "name": "h", "url": "https://h", "headers": []}
    ]);
    let two = json!([
        {"type": "stdio", "name": "f", "command": "/f"},
        {"type": "http", "name": "h", "url": "https://h"}
    ]);
    check(
        |m: &Vec<_>| mcp::servers_up(m).unwrap(),
        one.clone(),
        two.clone(),
    );
    check(|m: &Vec<_>| mcp::servers_down(m).unwrap(), two, one);
}

#[test]
fn v2_sess_04_a_transport_without_a_counterpart_is_refused() {
    let sse = v1::McpServer::Sse(v1::McpServerSse::new("old", "https://old"));
    let error = v2::Error::from(mcp::servers_up(&[sse]).unwrap_err());
    assert_eq!(error.code, v2::ErrorCode::InvalidParams);
    let custom = json!([{"type": "_socket", "path": "/run/secret.sock"}]);
    let custom: Vec<v2::McpServer> = serde_json::from_value(custom).unwrap();
    let error = v1::Error::from(mcp::servers_down(&custom).unwrap_err());
    assert_eq!(error.code, v1::ErrorCode::InvalidParams);
    assert!(!error.message.contains("secret"));
}
