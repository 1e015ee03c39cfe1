//! Every sample that has a counterpart in the other version, converted: the outcome fits the other
//! version's schema, and coming back gives the original where nothing is said to be lost.

use ply_wire::convert::auth::TerminalAuth;
use ply_wire::convert::config::{self, Booleans};
use ply_wire::convert::{auth, elicitation, error, initialize, session, unstable};
use ply_wire::{v1, v2};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::samples::catalogue::{self, MessageType, V1, V2};

/// Converts each sample, checks the outcome against its schema and returns both; `None` is a
/// conversion that refuses.
#[track_caller]
fn convert_all<A: DeserializeOwned, B: Serialize>(
    (from, from_name): (&'static [MessageType], &str),
    (to, to_name): (&'static [MessageType], &str),
    convert: impl Fn(&A) -> Option<B>,
) -> Vec<(A, Option<B>)> {
    let to = catalogue::find(to, to_name);
    let samples = catalogue::find(from, from_name)
        .samples
        .iter()
        .map(|sample| {
            let message: A = serde_json::from_value(sample.json.clone()).unwrap();
            let converted = convert(&message);
            if let Some(converted) = &converted {
                to.assert_valid(&sample.name, &serde_json::to_value(converted).unwrap());
            }
            (message, converted)
        });
    samples.collect()
}

/// Both directions of one pair of types, by the names of their samples.
macro_rules! there_and_back {
    ($v1_type:ident, $v2_type:ident, $up:expr, $down:expr) => {{
        let (v1_name, v2_name) = (stringify!($v1_type), stringify!($v2_type));
        let up = convert_all::<v1::$v1_type, v2::$v2_type>((&V1, v1_name), (&V2, v2_name), |m| {
            $up(m).into()
        });
        let down = convert_all::<v2::$v2_type, v1::$v1_type>((&V2, v2_name), (&V1, v1_name), |m| {
            $down(m).into()
        });
        for (original, there) in up {
            let back = there.and_then(|there| Option::from($down(&there)));
            assert_eq!(
                back,
                Some(original),
                "version 1 changed by going up and down"
            );
        }
        for (original, there) in down {
            let back = there.and_then(|there| Option::from($up(&there)));
            assert_eq!(
                back,
                Some(original),
                "version 2 changed by going down and up"
            );
        }
    }};
}

#[test]
fn lossless_pairs_survive_both_ways() {
    there_and_back!(
        AuthenticateRequest,
        LoginAuthRequest,
        auth::login_up,
        auth::login_down
    );
    there_and_back!(
        AuthenticateResponse,
        LoginAuthResponse,
        auth::login_response_up,
        auth::login_response_down
    );
    there_and_back!(
        LogoutRequest,
        LogoutAuthRequest,
        auth::logout_up,
        auth::logout_down
    );
    there_and_back!(
        LogoutResponse,
        LogoutAuthResponse,
        auth::logout_response_up,
        auth::logout_response_down
    );
    there_and_back!(
        ListSessionsRequest,
        ListSessionsRequest,
        session::list_up,
        session::list_down
    );
    there_and_back!(
        ListSessionsResponse,
        ListSessionsResponse,
        session::list_response_up,
        session::list_response_down
    );
    there_and_back!(
        CloseSessionRequest,
        CloseSessionRequest,
        session::close_up,
        session::close_down
    );
    there_and_back!(
        CloseSessionResponse,
        CloseSessionResponse,
        session::close_response_up,
        session::close_response_down
    );
    there_and_back!(
        DeleteSessionRequest,
        DeleteSessionRequest,
        session::delete_up,
        session::delete_down
    );
    there_and_back!(
        DeleteSessionResponse,
        DeleteSessionResponse,
        session::delete_response_up,
        session::delete_response_down
    );
    there_and_back!(
        CancelNotification,
        CancelSessionNotification,
        session::cancel_up,
        session::cancel_down
    );
    there_and_back!(
        CompleteElicitationNotification,
        CompleteElicitationNotification,
        elicitation::complete_up,
        elicitation::complete_down
    );
    there_and_back!(
        SetSessionConfigOptionResponse,
        SetSessionConfigOptionResponse,
        session::set_option_response_up,
        |m| session::set_option_response_down(m, Booleans::Native)
    );
    there_and_back!(Error, Error, error::up, error::down);
}

#[test]
fn unstable_session_messages_survive_both_ways() {
    there_and_back!(
        SessionStatusRequest,
        SessionStatusRequest,
        unstable::status_up,
        unstable::status_down
    );
    there_and_back!(
        SetSessionTitleRequest,
        SetSessionTitleRequest,
        unstable::set_title_up,
        unstable::set_title_down
    );
    there_and_back!(
        SetSessionTitleResponse,
        SetSessionTitleResponse,
        unstable::set_title_response_up,
        unstable::set_title_response_down
    );
    there_and_back!(
        ArchiveSessionRequest,
        ArchiveSessionRequest,
        unstable::archive_up,
        unstable::archive_down
    );
    there_and_back!(
        ArchiveSessionResponse,
        ArchiveSessionResponse,
        unstable::archive_response_up,
        unstable::archive_response_down
    );
    there_and_back!(
        UnarchiveSessionRequest,
        UnarchiveSessionRequest,
        unstable::unarchive_up,
        unstable::unarchive_down
    );
    there_and_back!(
        UnarchiveSessionResponse,
        UnarchiveSessionResponse,
        unstable::unarchive_response_up,
        unstable::unarchive_response_down
    );
    let name = "ForkSessionRequest";
    for (original, there) in convert_all((&V1, name), (&V2, name), |m| unstable::fork_up(m).ok()) {
        assert_eq!(unstable::fork_down(&there.unwrap()), Ok(original));
    }
    for (original, there) in convert_all((&V2, name), (&V1, name), |m| unstable::fork_down(m).ok())
    {
        assert_eq!(unstable::fork_up(&there.unwrap()), Ok(original));
    }
    let name = "ForkSessionResponse";
    for (original, there) in convert_all((&V1, name), (&V2, name), |m| {
        Some(unstable::fork_response_up(m))
    }) {
        let back = unstable::fork_response_down(&there.unwrap(), Booleans::Native);
        assert_eq!(back.0, original);
    }
    // Version 1 has no place for the state.
    let name = "SessionStatusResponse";
    for (original, there) in convert_all((&V1, name), (&V2, name), |m| {
        Some(unstable::status_response_up(m))
    }) {
        let there = there.unwrap();
        assert_eq!(there.state, None);
        assert_eq!(unstable::status_response_down(&there), original);
    }
    convert_all((&V2, name), (&V1, name), |m| {
        Some(unstable::status_response_down(m))
    });
}

#[test]
fn unstable_capabilities_survive_both_ways() {
    let capabilities = serde_json::json!({
        "fork": {"_meta": {"a": 1}},
        "status": {},
        "title": {},
        "archive": {}
    });
    let session: v2::SessionCapabilities = serde_json::from_value(capabilities.clone()).unwrap();
    let agent = v2::AgentCapabilities::new().session(session);
    let down = initialize::agent_capabilities_down(&agent);
    let shown = serde_json::to_value(&down.session_capabilities).unwrap();
    let back = initialize::agent_capabilities_up(&down).session.unwrap();
    let back = serde_json::to_value(&back).unwrap();
    for (name, capability) in capabilities.as_object().unwrap() {
        assert_eq!(shown[name], *capability, "{name}");
        assert_eq!(back[name], *capability, "{name}");
    }
}

#[test]
fn session_requests_that_convert_come_back_unchanged() {
    let up = convert_all(
        (&V1, "NewSessionRequest"),
        (&V2, "NewSessionRequest"),
        |m| session::new_up(m).ok(),
    );
    let down = convert_all(
        (&V2, "NewSessionRequest"),
        (&V1, "NewSessionRequest"),
        |m| session::new_down(m).ok(),
    );
    // The full samples hold an SSE server and a server of a custom transport.
    assert_eq!(up.iter().filter(|(_, there)| there.is_none()).count(), 1);
    assert_eq!(down.iter().filter(|(_, there)| there.is_none()).count(), 1);
    for (original, there) in up.into_iter().filter_map(|(o, t)| Some((o, t?))) {
        assert_eq!(session::new_down(&there).unwrap(), original);
    }
    let load = convert_all(
        (&V1, "LoadSessionRequest"),
        (&V2, "ResumeSessionRequest"),
        |m| session::load_up(m).ok(),
    );
    for (original, there) in load {
        let there = there.unwrap();
        assert!(matches!(there.replay_from, Some(v2::ReplayFrom::Start(_))));
        assert_eq!(session::load_down(&there).unwrap(), original);
    }
    let resume = convert_all(
        (&V1, "ResumeSessionRequest"),
        (&V2, "ResumeSessionRequest"),
        |m| session::resume_up(m).ok(),
    );
    for (original, there) in resume {
        let there = there.unwrap();
        assert_eq!(there.replay_from, None);
        assert_eq!(session::resume_down(&there).unwrap(), original);
    }
    convert_all(
        (&V2, "ResumeSessionRequest"),
        (&V1, "ResumeSessionRequest"),
        |m| session::resume_down(m).ok(),
    );
    convert_all(
        (&V2, "ResumeSessionRequest"),
        (&V1, "LoadSessionRequest"),
        |m| session::load_down(m).ok(),
    );
}

#[test]
fn setup_answers_fit_the_other_schema() {
    for booleans in [Booleans::Native, Booleans::AsSelect] {
        convert_all(
            (&V2, "NewSessionResponse"),
            (&V1, "NewSessionResponse"),
            |m| Some(session::new_response_down(m, booleans).0),
        );
        convert_all(
            (&V2, "ResumeSessionResponse"),
            (&V1, "ResumeSessionResponse"),
            |m| Some(session::resume_response_down(m, booleans).0),
        );
        convert_all(
            (&V2, "ResumeSessionResponse"),
            (&V1, "LoadSessionResponse"),
            |m| Some(session::load_response_down(m, booleans).0),
        );
    }
    convert_all(
        (&V1, "NewSessionResponse"),
        (&V2, "NewSessionResponse"),
        |m| Some(session::new_response_up(m)),
    );
    convert_all(
        (&V1, "LoadSessionResponse"),
        (&V2, "ResumeSessionResponse"),
        |m| Some(session::load_response_up(m)),
    );
    convert_all(
        (&V1, "ResumeSessionResponse"),
        (&V2, "ResumeSessionResponse"),
        |m| Some(session::resume_response_up(m)),
    );
}

#[test]
fn config_choices_come_back_unchanged() {
    let up = convert_all(
        (&V1, "SetSessionConfigOptionRequest"),
        (&V2, "SetSessionConfigOptionRequest"),
        |m| config::set_option_up(m, &[]),
    );
    for (original, there) in up {
        assert_eq!(config::set_option_down(&there.unwrap()), Some(original));
    }
    let down = convert_all(
        (&V2, "SetSessionConfigOptionRequest"),
        (&V1, "SetSessionConfigOptionRequest"),
        config::set_option_down,
    );
    assert_eq!(
        down.iter().filter(|(_, there)| there.is_none()).count(),
        1,
        "the custom value type"
    );
    for (original, there) in down.into_iter().filter_map(|(o, t)| Some((o, t?))) {
        assert_eq!(config::set_option_up(&there, &[]), Some(original));
    }
}

#[test]
fn initialize_fits_the_other_schema() {
    for terminal in [TerminalAuth::Keep, TerminalAuth::Drop] {
        convert_all(
            (&V1, "InitializeRequest"),
            (&V2, "InitializeRequest"),
            |m| Some(initialize::request_up(m, terminal)),
        );
        convert_all(
            (&V2, "InitializeRequest"),
            (&V1, "InitializeRequest"),
            |m| Some(initialize::request_down(m, terminal)),
        );
        convert_all(
            (&V1, "InitializeResponse"),
            (&V2, "InitializeResponse"),
            |m| Some(initialize::response_up(m, terminal)),
        );
        convert_all(
            (&V2, "InitializeResponse"),
            (&V1, "InitializeResponse"),
            |m| Some(initialize::response_down(m, terminal)),
        );
    }
}

#[test]
fn elicitations_come_back_unchanged() {
    let id_up = |id: &v1::RequestId| match id {
        v1::RequestId::Number(number) => Some(v2::RequestId::Number(*number)),
        v1::RequestId::Str(text) => Some(v2::RequestId::Str(text.clone())),
        _ => None,
    };
    let id_down = |id: &v2::RequestId| match id {
        v2::RequestId::Number(number) => Some(v1::RequestId::Number(*number)),
        v2::RequestId::Str(text) => Some(v1::RequestId::Str(text.clone())),
    };
    let name = "CreateElicitationRequest";
    for (original, there) in convert_all((&V1, name), (&V2, name), |m| {
        elicitation::request_up(m, id_up)
    }) {
        assert_eq!(
            elicitation::request_down(&there.unwrap(), id_down),
            Some(original)
        );
    }
    convert_all((&V2, name), (&V1, name), |m| {
        elicitation::request_down(m, id_down)
    });
    let name = "CreateElicitationResponse";
    convert_all((&V1, name), (&V2, name), |m| {
        Some(elicitation::response_up(m))
    });
    convert_all((&V2, name), (&V1, name), |m| {
        Some(elicitation::response_down(m))
    });
}
