//! Samples of every message against the official types and their JSON Schema.

use std::collections::BTreeSet;

use ply_wire::method::v1::LenientSessionUpdate;
use ply_wire::method::{self, Kind, MethodInfo, Side};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

#[path = "samples/catalogue.rs"]
pub(crate) mod catalogue;

use catalogue::{MessageType, V1, V2};

/// Parents whose members are data of users or extensions, so the schema names none of them.
const OPEN_OBJECTS: [&str; 8] = [
    "_meta",
    "rawInput",
    "rawOutput",
    "env",
    "data",
    "properties",
    "content",
    "futureField",
];

#[test]
fn every_sample_survives_decoding_and_encoding() {
    for message in catalogue::both() {
        for sample in &message.samples {
            let encoded = (message.recode)(&sample.json.to_string())
                .unwrap_or_else(|error| panic!("{} {}: {error}", message.name, sample.name));
            assert_eq!(encoded, sample.encoded, "{} {}", message.name, sample.name);
            message.assert_valid(&sample.name, &sample.json);
            message.assert_valid(&format!("{} encoded", sample.name), &encoded);
        }
    }
}

#[test]
fn every_type_has_a_sample() {
    for message in catalogue::both() {
        assert!(
            !message.samples.is_empty(),
            "{} has no sample",
            message.name
        );
    }
}

#[test]
fn every_method_has_sampled_params_and_result() {
    check_methods(&V1, method::v1::METHODS);
    check_methods(&V2, method::v2::METHODS);
}

/// The schema marks params and results with the method and with the side that handles it.
fn check_methods(types: &[MessageType], methods: &[MethodInfo]) {
    for info in methods {
        let side = match info.sender {
            Side::Client => "agent",
            Side::Agent => "client",
            Side::Either => "protocol",
        };
        let names: Vec<_> = types
            .iter()
            .filter(|m| m.schema["x-method"] == info.name && m.schema["x-side"] == side)
            .map(|m| m.name)
            .collect();
        let endings: &[&str] = match info.kind {
            Kind::Request => &["Request", "Response"],
            Kind::Notification => &["Notification"],
        };
        assert_eq!(names.len(), endings.len(), "{}: {names:?}", info.name);
        for ending in endings {
            assert!(
                names.iter().any(|n| n.ends_with(ending)),
                "{} has no {ending}",
                info.name
            );
        }
    }
}

#[test]
fn every_sampled_message_decodes_by_its_method() {
    use method::{v1, v2};
    for info in method::v1::METHODS {
        for params in sampled_params(&V1, info) {
            let agent = v1::AgentInbound::decode_as(info.kind, info.name, Some(&params));
            let client = v1::ClientInbound::decode_as(info.kind, info.name, Some(&params));
            assert_eq!(
                agent.is_ok(),
                info.sender != Side::Agent,
                "{} {params}",
                info.name
            );
            assert_eq!(
                client.is_ok(),
                info.sender != Side::Client,
                "{} {params}",
                info.name
            );
        }
    }
    for info in method::v2::METHODS {
        for params in sampled_params(&V2, info) {
            let agent = v2::AgentInbound::decode_as(info.kind, info.name, Some(&params));
            let client = v2::ClientInbound::decode_as(info.kind, info.name, Some(&params));
            assert_eq!(
                agent.is_ok(),
                info.sender != Side::Agent,
                "{} {params}",
                info.name
            );
            assert_eq!(
                client.is_ok(),
                info.sender != Side::Client,
                "{} {params}",
                info.name
            );
        }
    }
}

fn sampled_params(types: &'static [MessageType], info: &MethodInfo) -> Vec<Box<RawValue>> {
    let params = types
        .iter()
        .filter(|m| m.schema["x-method"] == info.name && !m.name.ends_with("Response"))
        .flat_map(|m| &m.samples);
    params
        .map(|sample| to_raw_value(&sample.json).unwrap())
        .collect()
}

#[test]
fn every_variant_of_the_schema_has_a_sample() {
    for types in [&*V1, &*V2] {
        for (name, tag) in [
            ("SessionUpdate", "sessionUpdate"),
            ("ContentBlock", "type"),
            ("ToolCallContent", "type"),
        ] {
            let message = catalogue::find(types, name);
            let known = variants(&message.schema, tag);
            assert!(
                known.len() >= 3,
                "{name}: the schema changed its form: {known:?}"
            );
            let sampled = sampled(message, tag);
            assert!(
                known.is_subset(&sampled),
                "{name}: {:?}",
                known.difference(&sampled)
            );
        }
    }
    for name in ["SessionUpdate", "ContentBlock", "ToolCallContent"] {
        let message = catalogue::find(&V2, name);
        let custom = message.samples.iter().any(|sample| {
            let tag = if name == "SessionUpdate" {
                "sessionUpdate"
            } else {
                "type"
            };
            sample.json[tag].as_str().unwrap().starts_with('_')
        });
        assert!(custom, "{name} has no sample of an unknown variant");
    }
}

#[test]
fn b15_only_updates_outside_the_schema_count_as_unknown() {
    let update = catalogue::find(&V1, "SessionUpdate");
    for kind in variants(&update.schema, "sessionUpdate") {
        let params = json!({"sessionId": "s", "update": {"sessionUpdate": kind, "content": 7}});
        let params = to_raw_value(&params).unwrap();
        let read = method::v1::lenient_session_update(Some(&params));
        assert!(
            !matches!(read, Ok(LenientSessionUpdate::Unknown { .. })),
            "{kind}"
        );
    }
}

#[test]
fn every_error_code_of_the_schema_has_a_sample() {
    for types in [&*V1, &*V2] {
        let message = catalogue::find(types, "Error");
        let known: BTreeSet<_> = message.schema["$defs"]["ErrorCode"]["anyOf"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|variant| variant["const"].as_i64())
            .collect();
        let sampled: BTreeSet<_> = message
            .samples
            .iter()
            .map(|sample| sample.json["code"].as_i64().unwrap())
            .collect();
        assert!(known.len() >= 8, "the schema changed its form: {known:?}");
        assert!(
            known.is_subset(&sampled),
            "{:?}",
            known.difference(&sampled)
        );
    }
}

#[test]
fn v1_rpc_12_keys_are_camel_case_and_spelled_as_in_the_schema() {
    for types in [&*V1, &*V2] {
        let mut spelled = BTreeSet::new();
        for message in types {
            property_names(&message.schema, &mut spelled);
        }
        for name in &spelled {
            let camel = name == "_meta" || name.chars().all(|c| c.is_ascii_alphanumeric());
            assert!(
                camel && !name.starts_with(char::is_uppercase),
                "{name} in the schema"
            );
        }
        for message in types {
            for sample in &message.samples {
                let mut keys = BTreeSet::new();
                object_keys(&sample.encoded, &mut keys);
                let unknown: Vec<_> = keys.difference(&spelled).collect();
                assert!(
                    unknown.is_empty(),
                    "{} {}: {unknown:?}",
                    message.name,
                    sample.name
                );
            }
        }
    }
}

#[test]
fn v1_rpc_12_discriminators_are_snake_case() {
    for message in catalogue::both() {
        let mut values = BTreeSet::new();
        constants(&message.schema, &mut values);
        for value in values {
            // JSON Schema's own name for a date and time, which the schema takes over.
            let snake =
                value == "date-time" || value.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            assert!(snake, "{}: {value}", message.name);
        }
    }
}

#[test]
fn v1_rpc_16_unknown_members_are_tolerated_everywhere() {
    for message in catalogue::both() {
        for sample in &message.samples {
            let mut newer = sample.json.clone();
            add_member(&mut newer);
            let mut encoded = (message.recode)(&newer.to_string())
                .unwrap_or_else(|error| panic!("{} {}: {error}", message.name, sample.name));
            // Open variants keep what they do not know; the rest drop it.
            remove_member(&mut encoded);
            assert_eq!(encoded, sample.encoded, "{} {}", message.name, sample.name);
        }
    }
}

/// Gives every member of the fullest sample a value of a wrong type, one at a time.
#[test]
fn v1_rpc_17_display_fields_fall_back_and_acted_on_fields_are_strict() {
    let mut checked = [0, 0];
    for message in catalogue::both() {
        let Some(properties) = message.schema["properties"].as_object() else {
            continue;
        };
        let full = message
            .samples
            .iter()
            .max_by_key(|s| s.json.as_object().unwrap().len());
        let full = &full.unwrap().json;
        for (name, property) in properties {
            let wrong = [json!(7), json!("x"), json!({"wrong": [true]})]
                .into_iter()
                .find_map(|w| {
                    let mut broken = full.clone();
                    broken[name] = w;
                    (!message.is_valid(&broken)).then_some(broken)
                });
            let Some(broken) = wrong else { continue };
            let lenient = property["x-deserialize-default-on-error"] == true;
            let result = (message.recode)(&broken.to_string());
            assert_eq!(
                result.is_ok(),
                lenient,
                "{} {name}: {result:?}",
                message.name
            );
            checked[usize::from(lenient)] += 1;
        }
    }
    assert!(checked.iter().all(|count| *count > 50), "{checked:?}");
}

#[test]
fn required_members_are_required() {
    for message in catalogue::both() {
        let Some(required) = message.schema["required"].as_array() else {
            continue;
        };
        for name in required {
            let name = name.as_str().unwrap();
            for sample in &message.samples {
                let mut without = sample.json.clone();
                without.as_object_mut().unwrap().remove(name);
                let result = (message.recode)(&without.to_string());
                assert!(
                    result.is_err(),
                    "{} {} without {name}",
                    message.name,
                    sample.name
                );
            }
        }
    }
}

#[test]
fn v1_rpc_17_named_cases() {
    let keeps = |name: &str, sent: Value, kept: Value| {
        let got = (catalogue::find(&V1, name).recode)(&sent.to_string()).unwrap();
        assert_eq!(got, kept);
    };
    keeps(
        "SessionUpdate",
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": 7}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t"}),
    );
    keeps(
        "SessionUpdate",
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "content": [3, {"type": "terminal", "terminalId": "x"}]}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "content": [{"type": "terminal", "terminalId": "x"}]}),
    );
    keeps(
        "SessionUpdate",
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": 1}, {"name": "a", "description": "b"}]}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "a", "description": "b"}]}),
    );
    let refuses = |name: &str, sent: Value| {
        assert!(
            (catalogue::find(&V1, name).recode)(&sent.to_string()).is_err(),
            "{sent}"
        );
    };
    refuses(
        "ReadTextFileRequest",
        json!({"sessionId": "s", "path": "/a", "line": "x"}),
    );
    refuses(
        "CreateTerminalRequest",
        json!({"sessionId": "s", "command": "ls", "args": "x"}),
    );
    refuses(
        "NewSessionRequest",
        json!({"cwd": "/a", "mcpServers": [{"name": "no command"}]}),
    );
    refuses(
        "PromptRequest",
        json!({"sessionId": "s", "prompt": [{"type": "text"}]}),
    );
}

fn variants(schema: &Value, tag: &str) -> BTreeSet<String> {
    let lists = ["oneOf", "anyOf"]
        .into_iter()
        .filter_map(|key| schema[key].as_array());
    lists
        .flatten()
        .filter_map(|variant| variant["properties"][tag]["const"].as_str())
        .map(str::to_owned)
        .collect()
}

fn sampled(message: &MessageType, tag: &str) -> BTreeSet<String> {
    let tags = message
        .samples
        .iter()
        .filter_map(|sample| sample.json[tag].as_str());
    tags.map(str::to_owned).collect()
}

fn property_names(schema: &Value, names: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        names.extend(properties.keys().cloned());
    }
    for child in children(schema) {
        property_names(child, names);
    }
}

fn constants(schema: &Value, values: &mut BTreeSet<String>) {
    values.extend(schema["const"].as_str().map(str::to_owned));
    for child in children(schema) {
        constants(child, values);
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    }
}

fn object_keys(json: &Value, keys: &mut BTreeSet<String>) {
    if let Value::Object(members) = json {
        // A custom variant, named with a leading underscore, brings its own members.
        if members
            .values()
            .any(|v| v.as_str().is_some_and(|text| text.starts_with('_')))
        {
            return;
        }
        for (key, value) in members {
            keys.insert(key.clone());
            if !is_open(key, value) {
                object_keys(value, keys);
            }
        }
    } else {
        children(json)
            .into_iter()
            .for_each(|item| object_keys(item, keys));
    }
}

/// Content of a form is open; content of a message, which has a `type`, is not.
fn is_open(key: &str, value: &Value) -> bool {
    OPEN_OBJECTS.contains(&key) && value.is_object() && value.get("type").is_none()
}

fn add_member(json: &mut Value) {
    match json {
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                if !is_open(key, value) {
                    add_member(value);
                }
            }
            members.insert("futureField".into(), json!({"n": 1}));
        }
        Value::Array(items) => items.iter_mut().for_each(add_member),
        _ => {}
    }
}

fn remove_member(json: &mut Value) {
    match json {
        Value::Object(members) => {
            members.remove("futureField");
            members.values_mut().for_each(remove_member);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_member),
        _ => {}
    }
}
