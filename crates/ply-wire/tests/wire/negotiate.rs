//! Version negotiation, as tables.

use ply_wire::method::DecodeError;
use ply_wire::negotiate::{
    AnswerError, InitializeAnswer, InitializeOffer, InitializeParams, Supported, UNKNOWN_IDENTITY,
    Version, check_answer, choose, read_answer,
};
use ply_wire::{ProtocolVersion, v1, v2};
use serde_json::json;
use serde_json::value::RawValue;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn version(number: u16) -> ProtocolVersion {
    number.into()
}

#[test]
fn the_agent_chooses_the_newest_version_at_or_below_the_request() {
    use Supported::{Both, V1, V2};
    let table: [(u16, Supported, Option<Version>); 15] = [
        // V1-INIT-07 and V1-INIT-08: a version 1 agent answers 1 whatever is asked for.
        (0, V1, Some(Version::V1)),
        (1, V1, Some(Version::V1)),
        (2, V1, Some(Version::V1)),
        (3, V1, Some(Version::V1)),
        (65535, V1, Some(Version::V1)),
        // V2-INIT-04.
        (0, Both, Some(Version::V1)),
        (1, Both, Some(Version::V1)),
        (2, Both, Some(Version::V2)),
        (3, Both, Some(Version::V2)),
        (65535, Both, Some(Version::V2)),
        (2, V2, Some(Version::V2)),
        (3, V2, Some(Version::V2)),
        (65535, V2, Some(Version::V2)),
        // V2-INIT-05.
        (0, V2, None),
        (1, V2, None),
    ];
    for (requested, supported, chosen) in table {
        assert_eq!(
            choose(version(requested), supported).ok(),
            chosen,
            "{requested} {supported:?}"
        );
    }
}

#[test]
fn v2_init_05_the_refusal_names_what_was_asked_and_what_is_spoken() {
    let error = v2::Error::from(choose(version(1), Supported::V2).unwrap_err());
    assert_eq!(i32::from(error.code), -32022);
    assert_eq!(error.data, Some(json!({"requested": 1, "supported": [2]})));
}

#[test]
fn v1_init_02_the_version_is_an_integer_of_16_bits() {
    for good in ["0", "1", "2", "65535"] {
        let offer = InitializeOffer::read(Some(&raw(&format!(r#"{{"protocolVersion":{good}}}"#))));
        assert_eq!(offer.unwrap().requested().to_string(), good);
    }
    for bad in [
        "65536", "-1", "1.0", "1.5", "\"1\"", "null", "[1]", "{}", "true",
    ] {
        let offer = InitializeOffer::read(Some(&raw(&format!(r#"{{"protocolVersion":{bad}}}"#))));
        assert_eq!(offer.unwrap_err().code(), -32602, "{bad}");
    }
    for bad in [None, Some(raw("{}")), Some(raw("[1]")), Some(raw("1"))] {
        assert!(InitializeOffer::read(bad.as_deref()).is_err());
    }
}

#[track_caller]
fn as_v1(params: &str) -> v1::InitializeRequest {
    let offer = InitializeOffer::read(Some(&raw(params))).unwrap();
    match offer.decode(Version::V1).unwrap() {
        InitializeParams::V1(request) => request,
        InitializeParams::V2(_) => panic!("decoded as version 2"),
    }
}

#[track_caller]
fn as_v2(params: &str) -> Result<v2::InitializeRequest, DecodeError> {
    let offer = InitializeOffer::read(Some(&raw(params))).unwrap();
    offer.decode(Version::V2).map(|params| match params {
        InitializeParams::V2(request) => request,
        InitializeParams::V1(_) => panic!("decoded as version 1"),
    })
}

#[test]
fn v1_init_18_malformed_capabilities_count_as_absent() {
    let request = as_v1(
        r#"{"protocolVersion":1,"clientInfo":3,"clientCapabilities":{"terminal":"yes","fs":{"readTextFile":true}}}"#,
    );
    assert!(!request.client_capabilities.terminal);
    assert!(request.client_capabilities.fs.read_text_file);
    assert_eq!(request.client_info, None);
    let none = as_v1(r#"{"protocolVersion":1,"clientCapabilities":"all"}"#);
    assert_eq!(none.client_capabilities, v1::ClientCapabilities::new());
}

#[test]
fn v1_init_21_a_version_2_shape_turns_on_no_version_1_service() {
    let request = as_v1(
        r#"{"protocolVersion":2,"info":{"name":"e","version":"1"},"capabilities":{"fs":{"readTextFile":true},"terminal":true}}"#,
    );
    assert_eq!(request.client_capabilities, v1::ClientCapabilities::new());
    assert_eq!(request.client_info, Some(v1::Implementation::new("e", "1")));
    assert_eq!(
        as_v1(r#"{"protocolVersion":9,"info":[]}"#).client_info,
        None
    );
}

#[test]
fn v1_init_14_markers_are_on_as_objects_and_off_otherwise() {
    for (marker, on) in [
        ("null", false),
        ("{}", true),
        (r#"{"_meta":{}}"#, true),
        ("3", false),
    ] {
        let request = as_v1(&format!(
            r#"{{"protocolVersion":1,"clientCapabilities":{{"session":{{"configOptions":{{"boolean":{marker}}}}}}}}}"#
        ));
        let session = request.client_capabilities.session.unwrap();
        let boolean = session.config_options.and_then(|options| options.boolean);
        assert_eq!(boolean.is_some(), on, "{marker}");
    }
}

#[test]
fn v2_init_03_info_is_required_at_version_2() {
    for params in [
        r#"{"protocolVersion":2}"#,
        r#"{"protocolVersion":2,"info":null,"capabilities":{}}"#,
        r#"{"protocolVersion":2,"info":{"name":"e"},"capabilities":{}}"#,
        r#"{"protocolVersion":2,"clientInfo":{"name":"e","version":"1"}}"#,
    ] {
        assert_eq!(as_v2(params).unwrap_err().code(), -32602, "{params}");
    }
}

#[test]
fn v2_init_09_and_20_malformed_capabilities_count_as_absent() {
    let with = |capabilities: &str| {
        let request = as_v2(&format!(
            r#"{{"protocolVersion":2,"info":{{"name":"e","version":"1"}},"capabilities":{capabilities}}}"#
        ));
        request.unwrap().capabilities
    };
    assert_eq!(with("7"), v2::ClientCapabilities::new());
    assert_eq!(
        with(r#"{"auth":{"terminal":true}}"#).auth.unwrap().terminal,
        None
    );
    let some = with(r#"{"auth":3,"elicitation":{"form":{},"url":true}}"#);
    assert_eq!(some.auth, None);
    let elicitation = some.elicitation.unwrap();
    assert!(elicitation.supports_form() && !elicitation.supports_url());
}

#[test]
fn v2_init_18_a_newer_request_loses_only_what_cannot_be_read() {
    let odd =
        as_v2(r#"{"protocolVersion":3,"info":"editor","capabilities":[],"_meta":4}"#).unwrap();
    assert_eq!(odd.info.name, UNKNOWN_IDENTITY);
    assert_eq!(odd.capabilities, v2::ClientCapabilities::new());
    assert_eq!(odd.meta, None);
    let good = as_v2(
        r#"{"protocolVersion":3,"info":{"name":"e","version":"1"},"capabilities":{"elicitation":{"form":{}}},"_meta":{"a":1}}"#,
    )
    .unwrap();
    assert_eq!(good.info.name, "e");
    assert!(good.capabilities.elicitation.unwrap().supports_form());
    assert_eq!(good.meta.unwrap()["a"], 1);
    assert_eq!(good.protocol_version, version(3));
    assert!(as_v2(r#"{"protocolVersion":3}"#).is_ok());
}

#[test]
fn v1_init_09_and_v2_init_06_the_client_checks_the_answer() {
    assert_eq!(check_answer(version(1), Supported::Both), Ok(Version::V1));
    assert_eq!(check_answer(version(2), Supported::Both), Ok(Version::V2));
    for (answered, supported) in [
        (99, Supported::Both),
        (7, Supported::V2),
        (1, Supported::V2),
        (2, Supported::V1),
        (0, Supported::Both),
    ] {
        let answered = version(answered);
        assert_eq!(
            check_answer(answered, supported),
            Err(AnswerError::Version { answered })
        );
    }
}

#[test]
fn an_answer_that_echoes_version_2_in_the_shape_of_version_1_is_told_from_a_malformed_one() {
    for echo in [
        r#"{"protocolVersion":2}"#,
        r#"{"protocolVersion":2,"agentCapabilities":{"loadSession":true},"agentInfo":null,"authMethods":[]}"#,
        r#"{"protocolVersion":2,"agentInfo":{"name":"a","version":"1"},"_meta":null}"#,
    ] {
        for supported in [Supported::Both, Supported::V2] {
            let read = read_answer(&raw(echo), supported);
            assert_eq!(read, Err(AnswerError::Echoed), "{echo}");
        }
        let read = read_answer(&raw(echo), Supported::V1);
        assert!(matches!(read, Err(AnswerError::Version { .. })), "{echo}");
    }
}

#[test]
fn an_answer_is_read_in_the_shape_of_its_version() {
    let read = |text: &str| read_answer(&raw(text), Supported::Both);
    assert!(matches!(
        read(r#"{"protocolVersion":1}"#),
        Ok(InitializeAnswer::V1(_))
    ));
    let two = r#"{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{"prompt":{"image":3}}}}"#;
    let Ok(InitializeAnswer::V2(answer)) = read(two) else {
        panic!()
    };
    assert_eq!(
        answer.capabilities.session.unwrap().prompt.unwrap().image,
        None
    );
    let half = r#"{"protocolVersion":2,"info":7,"agentCapabilities":{}}"#;
    assert!(matches!(read(half), Err(AnswerError::Malformed(_))));
    assert!(matches!(
        read(r#"{"protocolVersion":"1"}"#),
        Err(AnswerError::Malformed(_))
    ));
    assert!(matches!(read("null"), Err(AnswerError::Malformed(_))));
    assert!(matches!(
        read(r#"{"protocolVersion":99}"#),
        Err(AnswerError::Version { .. })
    ));
}
