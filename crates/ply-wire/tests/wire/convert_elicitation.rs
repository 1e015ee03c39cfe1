//! Elicitations and errors across versions: what is lost, and what must never be taken for consent.

use ply_wire::convert::{elicitation, error};
use ply_wire::{v1, v2};
use serde_json::{Value, json};

fn v2_request(json: Value) -> v2::CreateElicitationRequest {
    serde_json::from_value(json).unwrap()
}

fn form(scope: (&str, Value), format: &str) -> Value {
    let mut form = json!({
        "mode": "form", "message": "m",
        "requestedSchema": {"type": "object", "properties": {"a": {"type": "string", "format": format}}}
    });
    form[scope.0] = scope.1;
    form
}

#[test]
fn request_ids_are_those_of_the_other_link() {
    let request = v2_request(form(("requestId", json!(7)), "email"));
    let found = elicitation::request_down(&request, |id| {
        assert_eq!(*id, v2::RequestId::Number(7));
        Some(v1::RequestId::Str("x".into()))
    });
    assert_eq!(
        serde_json::to_value(found.unwrap()).unwrap()["requestId"],
        "x"
    );
    assert_eq!(elicitation::request_down(&request, |_| None), None);
    let session = v2_request(form(("sessionId", json!("s")), "email"));
    let down = elicitation::request_down(&session, |_| panic!("no request is named"));
    assert_eq!(
        serde_json::to_value(down.unwrap()).unwrap()["sessionId"],
        "s"
    );
}

#[test]
fn a_string_format_unknown_to_version_1_is_dropped() {
    let property = |format| {
        let request = v2_request(form(("sessionId", json!("s")), format));
        let down = elicitation::request_down(&request, |_| None).unwrap();
        serde_json::to_value(down).unwrap()["requestedSchema"]["properties"]["a"].clone()
    };
    assert_eq!(
        property("date-time"),
        json!({"type": "string", "format": "date-time"})
    );
    assert_eq!(property("_iban"), json!({"type": "string"}));
}

#[test]
fn v1_elic_28_an_unknown_action_is_never_consent() {
    for action in ["_later", "accepted", "yes"] {
        let two: v2::CreateElicitationResponse =
            serde_json::from_value(json!({"action": action, "content": {"a": 1}})).unwrap();
        assert_eq!(
            elicitation::response_down(&two).action,
            v1::ElicitationAction::Cancel
        );
        let one: v1::CreateElicitationResponse =
            serde_json::from_value(json!({"action": action, "content": {"a": 1}})).unwrap();
        assert_eq!(
            elicitation::response_up(&one).action,
            v2::ElicitationAction::Cancel
        );
    }
}

#[test]
fn answers_keep_what_both_versions_can_hold() {
    let two: v2::CreateElicitationResponse = serde_json::from_value(json!({
        "action": "accept",
        "content": {"s": "x", "i": 1, "f": 0.5, "b": true, "l": ["y"], "o": {"lat": 1}, "n": null}
    }))
    .unwrap();
    assert_eq!(
        serde_json::to_value(elicitation::response_down(&two)).unwrap(),
        json!({"action": "accept", "content": {"s": "x", "i": 1, "f": 0.5, "b": true, "l": ["y"]}})
    );
    let decline = v1::CreateElicitationResponse::new(v1::ElicitationAction::Decline);
    assert_eq!(
        elicitation::response_up(&decline).action,
        v2::ElicitationAction::Decline
    );
}

#[test]
fn v1_err_03_codes_data_and_messages_pass_unchanged() {
    for code in [
        -32700, -32600, -32601, -32602, -32603, -32000, -32002, -32022, -32800, -31999, 0, 7,
    ] {
        let two = v2::Error::new(code, "what happened").data(json!({"sessionId": "s"}));
        let one = error::down(&two);
        assert_eq!(
            (i32::from(one.code), &*one.message),
            (code, "what happened")
        );
        assert_eq!(one.data, Some(json!({"sessionId": "s"})));
        assert_eq!(error::up(&one), two);
    }
}
