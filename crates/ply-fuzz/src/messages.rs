//! Decoding of typed messages, one target per protocol version.
//!
//! The first byte picks a method from the version's table, one past its end standing for an
//! extension; the rest is the text of the params. What decodes must encode, and the encoded form
//! must decode to a message that encodes the same.

use ply_wire::method::{self, DecodeError, MethodInfo};
use serde_json::Value;
use serde_json::value::RawValue;

const EXTENSION: &str = "_fuzz/extension";

/// Decodes params of version 1 methods, as an agent and as a client.
pub fn v1_messages(data: &[u8]) {
    let Some((name, params)) = pick(data, method::v1::METHODS) else {
        return;
    };
    let agent = |params: Option<&RawValue>| {
        method::v1::AgentInbound::decode(name, params).map(|inbound| inbound.encode_params())
    };
    let client = |params: Option<&RawValue>| {
        method::v1::ClientInbound::decode(name, params).map(|inbound| inbound.encode_params())
    };
    check(agent, &params);
    check(client, &params);
    // The lenient readers may only see more than the strict ones, and must not panic on anything.
    let strict = method::decode_result::<ply_wire::v1::PromptResponse>(&params);
    let lenient = method::v1::lenient_prompt_response(&params);
    assert!(lenient.is_ok() || strict.is_err());
    let is_ok = match name {
        "session/update" => method::v1::lenient_session_update(Some(&params)).is_ok(),
        "session/request_permission" => {
            method::v1::lenient_permission_request(Some(&params)).is_ok()
        }
        _ => return,
    };
    assert!(is_ok || client(Some(&params)).is_err());
}

/// Decodes params of version 2 methods, as an agent and as a client.
pub fn v2_messages(data: &[u8]) {
    let Some((name, params)) = pick(data, method::v2::METHODS) else {
        return;
    };
    let agent = |params: Option<&RawValue>| {
        method::v2::AgentInbound::decode(name, params).map(|inbound| inbound.encode_params())
    };
    let client = |params: Option<&RawValue>| {
        method::v2::ClientInbound::decode(name, params).map(|inbound| inbound.encode_params())
    };
    check(agent, &params);
    check(client, &params);
    let strict = method::decode_result::<ply_wire::v2::PromptResponse>(&params);
    let lenient = method::v2::lenient_prompt_response(&params);
    assert!(lenient.is_ok() || strict.is_err());
}

type Encoded = Result<Result<Option<Box<RawValue>>, serde_json::Error>, DecodeError>;

fn pick(data: &[u8], methods: &'static [MethodInfo]) -> Option<(&'static str, Box<RawValue>)> {
    let (first, text) = data.split_first()?;
    let index = usize::from(*first) % (methods.len() + 1);
    let name = methods.get(index).map_or(EXTENSION, |info| info.name);
    Some((name, serde_json::from_slice(text).ok()?))
}

fn check(recode: impl Fn(Option<&RawValue>) -> Encoded, params: &RawValue) {
    let Ok(first) = recode(Some(params)) else {
        return;
    };
    let first = first.expect("what was decoded has a JSON form");
    let second = recode(first.as_deref()).expect("what was encoded decodes");
    let second = second.expect("what was decoded has a JSON form");
    let value = |text: Option<Box<RawValue>>| -> Option<Value> {
        text.map(|text| serde_json::from_str(text.get()).expect("encoded text is JSON"))
    };
    match (value(first), value(second)) {
        (Some(first), Some(second)) => assert!(same(&first, &second), "{first} became {second}"),
        (first, second) => assert_eq!(first, second),
    }
}

/// Equality up to the last bits of a fraction, which the fast number reader may round differently.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (Value::Number(x), Value::Number(y)) if x.is_f64() && y.is_f64() => {
            match (x.as_f64(), y.as_f64()) {
                (Some(x), Some(y)) => (x - y).abs() <= x.abs() * 4.0 * f64::EPSILON,
                _ => x == y,
            }
        }
        _ => a == b,
    }
}
