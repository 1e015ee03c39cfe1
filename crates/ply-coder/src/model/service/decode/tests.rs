//! Whatever a service sends: nothing panics, and the books stay in order.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::model::service::answer::Answer;
use crate::model::{Delta, Facts, Request};

const APIS: [Api; 5] = [
    Api::OpenAi,
    Api::OpenAiResponses,
    Api::Anthropic,
    Api::Gemini,
    Api::Ollama,
];

/// Frames as services send them, to be spoilt in one place.
const FRAMES: &[&str] = &[
    r#"{"choices":[{"delta":{"content":"a","reasoning_content":"b"},"finish_reason":"stop"}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"n","arguments":"{"}}]}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":1}}}"#,
    r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"n"}}"#,
    r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}"#,
    r#"{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{}"}"#,
    r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"n","arguments":"{}"}}"#,
    r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"reasoning","encrypted_content":"s"}}"#,
    r#"{"type":"response.completed","response":{"output":[{"type":"message","content":[{"text":"a"}]}],"usage":{"input_tokens":1,"output_tokens":1}}}"#,
    r#"{"type":"message_start","message":{"usage":{"input_tokens":1,"cache_read_input_tokens":1,"cache_creation_input_tokens":1,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"n"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
    r#"{"type":"message_stop"}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"a","thought":true},{"functionCall":{"name":"n","args":{}},"thoughtSignature":"s"}]},"finishReason":"STOP"}]}"#,
    r#"{"usageMetadata":{"promptTokenCount":1,"toolUsePromptTokenCount":1,"candidatesTokenCount":1,"thoughtsTokenCount":1}}"#,
    r#"{"message":{"content":"a","thinking":"b","tool_calls":[{"function":{"name":"n","arguments":{}}}]},"done":false}"#,
    r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1}"#,
    r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"retryDelay":"1s"}]}}"#,
];

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!({"type": {}})),
        any::<bool>().prop_map(Value::from),
        Just(json!(u64::MAX)),
        Just(json!(-1)),
        Just(json!(1e308)),
        ".{0,4}".prop_map(Value::from),
    ]
}

/// Returns a frame in which one value may be another.
fn frame() -> impl Strategy<Value = String> {
    let frame = proptest::sample::select(FRAMES);
    (frame, any::<proptest::sample::Index>(), value()).prop_map(|(frame, at, value)| {
        let mut frame: Value = serde_json::from_str(frame).unwrap();
        // A place that is past the last one spoils nothing.
        let mut at = at.index(16);
        spoil(&mut frame, &mut at, &value);
        frame.to_string()
    })
}

/// Puts a value in the place of the `at`th value inside another.
fn spoil(whole: &mut Value, at: &mut usize, value: &Value) {
    let inner: Vec<&mut Value> = match whole {
        Value::Object(object) => object.values_mut().collect(),
        Value::Array(array) => array.iter_mut().collect(),
        _ => Vec::new(),
    };
    for inner in inner {
        if *at == 0 {
            *inner = value.clone();
            *at = usize::MAX;
            return;
        }
        *at = at.saturating_sub(1);
        spoil(inner, at, value);
        if *at == usize::MAX {
            return;
        }
    }
}

/// Reads frames as the stream does, and checks the deltas.
fn check(api: Api, frames: &[String]) {
    let service = Service::new(api, "m", Facts::new("p/m"));
    let mut decoder = decoder(&service);
    let mut answer = Answer::new(&service, &Request::default());
    let mut deltas = Vec::new();
    for frame in frames {
        let read = decoder.frame(frame, &mut answer);
        deltas.extend(answer.drain());
        if read.is_err() || answer.is_over() {
            break;
        }
    }
    if !answer.is_over() {
        // Whether it was whole does not matter here.
        drop(decoder.end(&mut answer));
        deltas.extend(answer.drain());
    }
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut started = 0;
    for delta in &deltas {
        match delta {
            Delta::CallStarted { place, .. } => {
                assert_eq!(*place, started, "{deltas:?}");
                started += 1;
                open.push((*place, String::new()));
            }
            Delta::CallArguments { place, json } => {
                let call = open.iter_mut().find(|(open, _)| open == place);
                call.unwrap().1.push_str(json);
            }
            Delta::CallEnded { place, call } => {
                let at = open.iter().position(|(open, _)| open == place).unwrap();
                let (_, raw) = open.remove(at);
                assert!(
                    call.arguments.is_object() || call.arguments.is_string(),
                    "{raw}"
                );
                assert!(!call.id.is_empty());
            }
            _ => {}
        }
    }
    let stops = deltas
        .iter()
        .filter(|delta| matches!(delta, Delta::Stopped(_)));
    assert!(stops.count() <= 1, "{deltas:?}");
}

proptest! {
    #[test]
    fn no_frame_panics_and_calls_begin_before_they_go_on_and_end(
        frames in proptest::collection::vec(frame(), 1..16)
    ) {
        for api in APIS {
            check(api, &frames);
        }
    }
}

#[test]
fn arguments_by_turns_reach_their_calls() {
    let delta = |index: u64, name: Option<&str>, arguments: &str| {
        let call = json!({"index": index, "id": format!("c{index}"),
            "function": {"name": name, "arguments": arguments}});
        json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string()
    };
    let service = Service::new(Api::OpenAi, "m", Facts::new("p/m"));
    let mut decoder = decoder(&service);
    let mut answer = Answer::new(&service, &Request::default());
    for frame in [
        delta(0, Some("one"), "{\"a\""),
        delta(1, Some("two"), "{\"b\""),
        delta(0, None, ":1}"),
        delta(1, None, ":2}"),
        "[DONE]".to_owned(),
    ] {
        decoder.frame(&frame, &mut answer).unwrap();
    }
    let calls: Vec<(String, Value)> = answer
        .drain()
        .filter_map(|delta| match delta {
            Delta::CallEnded { call, .. } => Some((call.name, call.arguments)),
            _ => None,
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("one".to_owned(), json!({"a": 1})),
            ("two".to_owned(), json!({"b": 2})),
        ]
    );
}

/// Reads pieces of calls in Chat Completions, given by index, id, name and arguments, and checks the calls.
#[track_caller]
fn check_calls(pieces: &[(u64, &str, &str, &str)], expected: &[(&str, Value)]) {
    let service = Service::new(Api::OpenAi, "m", Facts::new("p/m"));
    let mut decoder = decoder(&service);
    let mut answer = Answer::new(&service, &Request::default());
    for (index, id, name, arguments) in pieces {
        let call = json!({"index": index, "id": id,
            "function": {"name": name, "arguments": arguments}});
        let frame = json!({"choices": [{"delta": {"tool_calls": [call]}}]});
        decoder.frame(&frame.to_string(), &mut answer).unwrap();
    }
    decoder.frame("[DONE]", &mut answer).unwrap();
    let calls: Vec<(String, Value)> = answer
        .drain()
        .filter_map(|delta| match delta {
            Delta::CallEnded { call, .. } => Some((call.name, call.arguments)),
            _ => None,
        })
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, arguments)| ((*name).to_owned(), arguments.clone()))
        .collect();
    assert_eq!(calls, expected, "{pieces:?}");
}

#[test]
fn calls_that_share_an_index_are_told_apart() {
    let two = [("one", json!({"a": 1})), ("one", json!({"a": 2}))];
    check_calls(
        &[(0, "x", "one", "{\"a\":1}"), (0, "y", "one", "{\"a\":2}")],
        &two,
    );
    // In pieces, and though the first one never was whole.
    check_calls(
        &[
            (0, "x", "one", ""),
            (0, "", "", "{\"a\":"),
            (0, "", "", "1}"),
            (0, "y", "one", ""),
            (0, "", "", "{\"a\":2}"),
        ],
        &two,
    );
    check_calls(
        &[(0, "x", "one", "{\"a\""), (0, "y", "two", "{}")],
        &[("one", json!("{\"a\"")), ("two", json!({}))],
    );
    // Without ids.
    check_calls(
        &[(0, "", "one", "{\"a\":1}"), (0, "", "one", "{\"a\":2}")],
        &two,
    );
    check_calls(
        &[
            (0, "", "one", "{\"a\":1}"),
            (0, "", "two", ""),
            (0, "", "", "{}"),
        ],
        &[("one", json!({"a": 1})), ("two", json!({}))],
    );
}

#[test]
fn a_call_whose_name_and_id_are_said_again_stays_one() {
    let one = [("one", json!({"a": 1}))];
    for id in ["x", ""] {
        check_calls(
            &[
                (0, id, "one", "{\"a\""),
                (0, id, "one", ":1}"),
                (0, id, "one", ""),
            ],
            &one,
        );
    }
    check_calls(&[(0, "x", "one", "{\"a\""), (0, "", "", ":1}")], &one);
}

#[test]
fn counts_that_make_no_sense_do_not_overflow() {
    for api in APIS {
        for frame in FRAMES {
            let mut huge: Value = serde_json::from_str(frame).unwrap();
            enlarge(&mut huge);
            check(api, &[huge.to_string(), huge.to_string()]);
        }
    }
}

/// Makes every number as large as it can be.
fn enlarge(value: &mut Value) {
    match value {
        Value::Number(_) => *value = json!(u64::MAX),
        Value::Object(object) => object.values_mut().for_each(enlarge),
        Value::Array(array) => array.iter_mut().for_each(enlarge),
        _ => {}
    }
}

#[test]
fn an_answer_without_an_end_is_given_up() {
    let service = Service::new(Api::Ollama, "m", Facts::new("p/m"));
    let mut answer = Answer::new(&service, &Request::default());
    assert!(answer.count(64 << 20).is_ok());
    assert!(answer.count(1).is_err());
}
