//! The method tables: complete, and decoded from raw text without surprises.

use std::collections::BTreeSet;

use ply_wire::method::v1::{
    LenientSessionUpdate, LenientStopReason, lenient_permission_request, lenient_prompt_response,
    lenient_session_update,
};
use ply_wire::method::{self, DecodeError, Kind, MethodInfo, Notification, Request, Side};
use ply_wire::{v1, v2};
use serde_json::value::RawValue;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

#[test]
fn tables_hold_the_methods_of_the_schema_crate() {
    check_names(
        method::v1::METHODS,
        &format!("{:?}", v1::AGENT_METHOD_NAMES),
        &format!("{:?}", v1::CLIENT_METHOD_NAMES),
        &format!("{:?}", v1::PROTOCOL_LEVEL_METHOD_NAMES),
    );
    check_names(
        method::v2::METHODS,
        &format!("{:?}", v2::AGENT_METHOD_NAMES),
        &format!("{:?}", v2::CLIENT_METHOD_NAMES),
        &format!("{:?}", v2::PROTOCOL_LEVEL_METHOD_NAMES),
    );
}

/// The constants are structs; their debug text is the one form that lists every field.
#[track_caller]
fn check_names(methods: &[MethodInfo], agent: &str, client: &str, either: &str) {
    for (sender, names) in [
        (Side::Client, agent),
        (Side::Agent, client),
        (Side::Either, either),
    ] {
        let official: BTreeSet<_> = names.split('"').skip(1).step_by(2).collect();
        let ours: BTreeSet<_> = methods
            .iter()
            .filter(|m| m.sender == sender)
            .map(|m| m.name)
            .collect();
        assert_eq!(ours, official);
    }
    let all: BTreeSet<_> = methods.iter().map(|m| m.name).collect();
    assert_eq!(all.len(), methods.len(), "a method is listed twice");
}

#[test]
fn traits_and_tables_agree() {
    assert_eq!(<v1::PromptRequest as Request>::METHOD, "session/prompt");
    assert_eq!(<v1::PromptRequest as Request>::CALLER, Side::Client);
    assert_eq!(
        <v2::RequestPermissionRequest as Request>::CALLER,
        Side::Agent
    );
    assert_eq!(
        <v2::UpdateSessionNotification as Notification>::METHOD,
        "session/update"
    );
    assert_eq!(
        <v1::CancelRequestNotification as Notification>::SENDER,
        Side::Either
    );
    let load = method::v1::METHODS
        .iter()
        .find(|m| m.name == "session/load")
        .unwrap();
    assert_eq!(load.gate, Some("agentCapabilities.loadSession"));
}

#[test]
fn each_side_takes_exactly_the_methods_sent_to_it() {
    for info in method::v1::METHODS {
        let agent = method::v1::AgentInbound::kind_of(info.name);
        let client = method::v1::ClientInbound::kind_of(info.name);
        assert_eq!(agent.is_some(), info.sender != Side::Agent, "{}", info.name);
        assert_eq!(
            client.is_some(),
            info.sender != Side::Client,
            "{}",
            info.name
        );
        assert_eq!(agent.or(client), Some(info.kind));
    }
    for info in method::v2::METHODS {
        let agent = method::v2::AgentInbound::kind_of(info.name);
        let client = method::v2::ClientInbound::kind_of(info.name);
        assert_eq!(agent.is_some(), info.sender != Side::Agent, "{}", info.name);
        assert_eq!(
            client.is_some(),
            info.sender != Side::Client,
            "{}",
            info.name
        );
        assert_eq!(agent.or(client), Some(info.kind));
    }
}

#[test]
fn a_message_decodes_into_its_type() {
    let params = raw(r#"{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}"#);
    let inbound = method::v1::AgentInbound::decode("session/prompt", Some(&params)).unwrap();
    assert_eq!(inbound.method(), "session/prompt");
    assert_eq!(
        inbound.encode_params().unwrap().unwrap().get(),
        params.get()
    );
    let method::v1::AgentInbound::Prompt(prompt) = inbound else {
        panic!("{inbound:?}")
    };
    assert_eq!(prompt.session_id, v1::SessionId::new("s"));
}

#[test]
fn v1_rpc_08_unknown_methods_are_not_found() {
    for name in [
        "session/nope",
        "",
        "initialize ",
        "fs/read_text_file",
        "tool_call/cancel",
    ] {
        let error = method::v1::AgentInbound::decode(name, None).unwrap_err();
        assert_eq!(error, DecodeError::MethodNotFound);
        assert_eq!(error.code(), -32601);
    }
    for name in [
        "session/load",
        "session/set_mode",
        "authenticate",
        "terminal/create",
    ] {
        let error = method::v2::AgentInbound::decode(name, None).unwrap_err();
        assert_eq!(
            error,
            DecodeError::MethodNotFound,
            "{name} is not in version 2"
        );
    }
}

#[test]
fn v1_ext_02_underscore_methods_are_kept_as_they_came() {
    let params = raw(r#"{ "b": 1, "a" : [2] }"#);
    let inbound = method::v2::ClientInbound::decode("_vendor/x", Some(&params)).unwrap();
    let method::v2::ClientInbound::Extension(extension) = inbound else {
        panic!("{inbound:?}")
    };
    assert_eq!(&*extension.method, "_vendor/x");
    assert_eq!(extension.params.unwrap().get(), params.get());
    assert!(method::v1::AgentInbound::decode("_x", None).is_ok());
}

#[test]
fn absent_params_count_as_an_empty_object() {
    for params in [None, Some(raw("null")), Some(raw("{}"))] {
        let params = params.as_deref();
        assert!(method::v1::AgentInbound::decode("logout", params).is_ok());
        assert!(method::v1::AgentInbound::decode("session/list", params).is_ok());
        assert!(method::v2::AgentInbound::decode("auth/logout", params).is_ok());
        let error = method::v1::AgentInbound::decode("session/prompt", params).unwrap_err();
        assert_eq!(
            error,
            DecodeError::InvalidParams("missing field `sessionId`".into())
        );
    }
}

#[test]
fn params_by_position_are_refused() {
    for text in [r#"["s"]"#, "[]", r#""s""#, "7", "true"] {
        let error = method::v1::AgentInbound::decode("session/close", Some(&raw(text)));
        assert_eq!(
            error.unwrap_err(),
            DecodeError::InvalidParams("expected an object".into())
        );
    }
}

#[test]
fn requests_and_notifications_are_not_mixed_up() {
    let session = raw(r#"{"sessionId":"s"}"#);
    let decode = |kind, name| method::v2::AgentInbound::decode_as(kind, name, Some(&session));
    assert!(decode(Kind::Notification, "session/cancel").is_ok());
    assert!(decode(Kind::Request, "session/close").is_ok());
    assert_eq!(
        decode(Kind::Request, "session/cancel").unwrap_err(),
        DecodeError::MethodNotFound
    );
    assert_eq!(
        decode(Kind::Notification, "session/close").unwrap_err(),
        DecodeError::MethodNotFound
    );
    assert!(decode(Kind::Request, "_x").is_ok());
    assert!(decode(Kind::Notification, "_x").is_ok());
}

#[test]
fn v1_rpc_11_reasons_never_repeat_what_was_sent() {
    let secret = "hunter2, expected nothing at line 1 column 1";
    let cases = [
        (
            "fs/read_text_file",
            format!(r#"{{"sessionId":"s","path":"/a","line":"{secret}"}}"#),
        ),
        (
            "fs/read_text_file",
            format!(r#"{{"sessionId":{{"{secret}":1}},"path":"/a"}}"#),
        ),
        (
            "session/update",
            format!(r#"{{"sessionId":"s","update":{{"sessionUpdate":"{secret}"}}}}"#),
        ),
        (
            "session/request_permission",
            format!(
                r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c"}},"options":[{{"optionId":"1","name":"n","kind":"{secret}"}}]}}"#
            ),
        ),
        (
            "elicitation/create",
            format!(r#"{{"mode":"{secret}","message":"m"}}"#),
        ),
        (
            "$/cancel_request",
            format!(r#"{{"requestId":["{secret}"]}}"#),
        ),
    ];
    for (name, params) in cases {
        let error = method::v1::ClientInbound::decode(name, Some(&raw(&params))).unwrap_err();
        assert!(matches!(error, DecodeError::InvalidParams(_)), "{name}");
        let error = v1::Error::from(error);
        assert_eq!(error.code, v1::ErrorCode::InvalidParams);
        assert!(
            !error.message.contains("hunter2"),
            "{name}: {}",
            error.message
        );
        assert!(
            !error.message.contains("nothing"),
            "{name}: {}",
            error.message
        );
    }
}

#[test]
fn results_decode_and_empty_ones_may_be_null() {
    assert!(method::decode_result::<v1::AuthenticateResponse>(&raw("null")).is_ok());
    assert!(method::decode_result::<v2::CloseSessionResponse>(&raw("{}")).is_ok());
    assert!(method::decode_result::<v1::PromptResponse>(&raw("null")).is_err());
    assert!(method::decode_result::<v1::NewSessionResponse>(&raw(r#"["s"]"#)).is_err());
}

#[test]
fn b15_v1_unknown_stop_reason_is_kept() {
    let read = |text: &str| lenient_prompt_response(&raw(text));
    let known = read(r#"{"stopReason":"end_turn","_meta":{"a":1}}"#).unwrap();
    assert_eq!(
        known.stop_reason,
        Some(LenientStopReason::Known(v1::StopReason::EndTurn))
    );
    assert_eq!(known.meta.unwrap()["a"], 1);
    let other = read(r#"{"stopReason":"budget_exhausted","_meta":3}"#).unwrap();
    assert_eq!(
        other.stop_reason,
        Some(LenientStopReason::Other("budget_exhausted".into()))
    );
    assert_eq!(other.meta, None);
    for bad in [
        "null",
        "{}",
        r#"{"stopReason":7}"#,
        r#"{"stopReason":null}"#,
        r#"["end_turn"]"#,
    ] {
        assert!(
            matches!(read(bad), Err(DecodeError::InvalidResult(_))),
            "{bad}"
        );
    }
}

#[test]
fn b15_v1_unknown_update_is_kept_whole() {
    let params = raw(r#"{"sessionId":"s","update":{"sessionUpdate":"future","x":[1]}}"#);
    let read = lenient_session_update(Some(&params)).unwrap();
    let LenientSessionUpdate::Unknown {
        session_id,
        kind,
        update,
    } = read
    else {
        panic!()
    };
    assert_eq!((&*session_id.0, &*kind), ("s", "future"));
    assert_eq!(update.get(), r#"{"sessionUpdate":"future","x":[1]}"#);
    let known = raw(
        r#"{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":"m"}}"#,
    );
    assert!(matches!(
        lenient_session_update(Some(&known)),
        Ok(LenientSessionUpdate::Known(_))
    ));
    let broken = [
        r#"{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","modeId":"m"}}"#,
        r#"{"sessionId":"s","update":{}}"#,
        r#"{"sessionId":"s","update":["future"]}"#,
        r#"{"update":{"sessionUpdate":"future"}}"#,
        r#"["s",{"sessionUpdate":"future"}]"#,
        "[]",
    ];
    for text in broken {
        assert!(lenient_session_update(Some(&raw(text))).is_err(), "{text}");
    }
    assert!(lenient_session_update(None).is_err());
}

#[test]
fn b15_v1_unknown_permission_kind_is_kept_apart() {
    let read = |options: &str, rest: &str| {
        let params = format!(
            r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c"}},"options":[{options}]{rest}}}"#
        );
        lenient_permission_request(Some(&raw(&params)))
    };
    let once = r#"{"optionId":"1","name":"Once","kind":"allow_once","_meta":{"a":1}}"#;
    let odd = r#"{"optionId":"2","name":"For now","kind":"allow_session"}"#;
    let both = read(&format!("{odd},{once}"), r#","_meta":{"b":1}"#).unwrap();
    let known = read(once, r#","_meta":{"b":1}"#).unwrap();
    assert_eq!(both.request, known.request);
    assert!(known.other_options.is_empty());
    let other = v2::PermissionOptionKind::Other("allow_session".into());
    assert_eq!(
        both.other_options,
        [v2::PermissionOption::new("2", "For now", other)]
    );
    for bad in [
        r#"{"optionId":"2","name":"For now"}"#,
        r#"{"optionId":2,"name":"x","kind":"y"}"#,
    ] {
        assert!(
            matches!(read(bad, ""), Err(DecodeError::InvalidParams(_))),
            "{bad}"
        );
    }
    assert!(lenient_permission_request(None).is_err());
}

#[test]
fn b15_v1_unknown_enums_of_a_tool_call_do_not_cost_the_call() {
    let params = raw(
        r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"deploy","status":"paused"}}"#,
    );
    let inbound = method::v1::ClientInbound::decode("session/update", Some(&params)).unwrap();
    let method::v1::ClientInbound::SessionUpdate(note) = inbound else {
        panic!("{inbound:?}")
    };
    let v1::SessionUpdate::ToolCall(call) = note.update else {
        panic!("{:?}", note.update)
    };
    assert_eq!(call.kind, v1::ToolKind::Other);
    assert_eq!(call.status, v1::ToolCallStatus::Pending);
}

#[test]
fn b15_v2_unknown_values_stay_as_other() {
    let update = |text: &str| serde_json::from_str::<v2::SessionUpdate>(text).unwrap();
    let idle = update(r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"budget"}"#);
    let v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)) = idle else {
        panic!()
    };
    let Some(v2::StopReason::Other(other)) = idle.stop_reason else {
        panic!()
    };
    assert_eq!(other.stop_reason, "budget");

    let call =
        update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"x","status":"y"}"#);
    let v2::SessionUpdate::ToolCallUpdate(call) = call else {
        panic!()
    };
    assert_eq!(call.kind.value(), Some(&v2::ToolKind::Unknown("x".into())));
    assert_eq!(
        call.status.value(),
        Some(&v2::ToolCallStatus::Other("y".into()))
    );

    assert!(matches!(
        update(r#"{"sessionUpdate":"future"}"#),
        v2::SessionUpdate::Other(_)
    ));
    // V2-RPC-06: a known discriminator with a bad payload is an error and no unknown variant.
    assert!(
        serde_json::from_str::<v2::SessionUpdate>(r#"{"sessionUpdate":"plan_update"}"#).is_err()
    );
}

#[test]
fn a_v2_prompt_answer_of_an_earlier_draft_is_tolerated() {
    let read = |text: &str| method::v2::lenient_prompt_response(&raw(text));
    assert_eq!(
        read(r#"{"messageId":"m"}"#),
        Ok(Some(v2::PromptResponse::new("m")))
    );
    assert_eq!(read("{}"), Ok(None));
    assert_eq!(read("null"), Ok(None));
    assert_eq!(read(r#"{"messageId":null}"#), Ok(None));
    for bad in [r#"{"messageId":7}"#, "[]", r#"["m"]"#, "3"] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn v1_elic_04_an_elicitation_has_exactly_one_scope() {
    let scoped = |scope: &str| {
        let params = format!(
            r#"{{"mode":"form",{scope}"message":"m","requestedSchema":{{"type":"object","properties":{{}}}}}}"#
        );
        let params = raw(&params);
        let one = method::v1::ClientInbound::decode("elicitation/create", Some(&params)).is_ok();
        let two = method::v2::ClientInbound::decode("elicitation/create", Some(&params)).is_ok();
        assert_eq!(one, two, "{scope}");
        one
    };
    assert!(scoped(r#""sessionId":"s","#));
    assert!(scoped(r#""requestId":1,"#));
    assert!(!scoped(r#""sessionId":"s","requestId":1,"#));
    assert!(!scoped(""));
}

#[test]
fn v2_sess_05_null_lists_count_as_omitted() {
    let answer = raw(r#"{"sessionId":"s","configOptions":null,"availableCommands":null}"#);
    let answer: v2::NewSessionResponse = method::decode_result(&answer).unwrap();
    assert_eq!(answer, v2::NewSessionResponse::new("s"));
}

#[test]
fn v2_ext_04_a_meta_that_is_no_object_counts_as_omitted() {
    for name in ["session/close", "session/cancel"] {
        let params = raw(r#"{"sessionId":"s","_meta":3}"#);
        let inbound = method::v2::AgentInbound::decode(name, Some(&params)).unwrap();
        assert_eq!(
            inbound.encode_params().unwrap().unwrap().get(),
            r#"{"sessionId":"s"}"#
        );
    }
}
