//! Answers to a client's requests about a session.

use ply_rpc::{Responder, RpcError};
use ply_session::Refusal;
use ply_wire::convert::session as convert;
use ply_wire::negotiate::Version;
use ply_wire::transcript::Transcript;
use ply_wire::{v1, v2};

use super::control::{How, OptionAnswer};
use crate::client::Client;

/// An answer, kept until everything before it is written.
#[derive(Debug)]
pub(crate) enum Answer {
    New(v2::NewSessionResponse),
    NewV1(v1::NewSessionResponse),
    LoadV1(v1::LoadSessionResponse),
    Resume(v2::ResumeSessionResponse),
    ResumeV1(v1::ResumeSessionResponse),
    Prompted(v2::PromptResponse),
    Settled(v1::PromptResponse),
    Options(v2::SetSessionConfigOptionResponse),
    OptionsV1(v1::SetSessionConfigOptionResponse),
    ModeV1(v1::SetSessionModeResponse),
    /// Of requests whose answer says nothing but that it is done.
    Done,
    Error(RpcError),
}

impl Answer {
    pub(crate) fn give(self, responder: Responder) {
        match self {
            Self::New(answer) => responder.respond(Ok(answer)),
            Self::NewV1(answer) => responder.respond(Ok(answer)),
            Self::LoadV1(answer) => responder.respond(Ok(answer)),
            Self::Resume(answer) => responder.respond(Ok(answer)),
            Self::ResumeV1(answer) => responder.respond(Ok(answer)),
            Self::Prompted(answer) => responder.respond(Ok(answer)),
            Self::Settled(answer) => responder.respond(Ok(answer)),
            Self::Options(answer) => responder.respond(Ok(answer)),
            Self::OptionsV1(answer) => responder.respond(Ok(answer)),
            Self::ModeV1(answer) => responder.respond(Ok(answer)),
            Self::Done => responder.respond(Ok(serde_json::Map::new())),
            Self::Error(error) => responder.respond::<()>(Err(error)),
        }
    }

    pub(crate) fn options(kind: OptionAnswer, transcript: &Transcript, client: &Client) -> Self {
        let options = transcript.config_options().to_vec();
        let answer = v2::SetSessionConfigOptionResponse::new(options);
        match kind {
            OptionAnswer::V2 => Self::Options(answer),
            OptionAnswer::V1 => Self::OptionsV1(convert::set_option_response_down(
                &answer,
                client.shows.booleans,
            )),
            OptionAnswer::V1Mode => Self::ModeV1(convert::set_mode_response_down(&answer)),
        }
    }
}

/// Returns the answer to the request that attached a client.
pub(super) fn setup(
    how: How,
    session: &v2::SessionId,
    transcript: &Transcript,
    client: &Client,
) -> Answer {
    let (options, commands) = (transcript.config_options(), transcript.commands());
    let resumed = v2::ResumeSessionResponse::new()
        .config_options(options.to_vec())
        .available_commands(commands.to_vec());
    let booleans = client.shows.booleans;
    match (client.version, how) {
        (version, How::New) => {
            let answer = v2::NewSessionResponse::new(session.clone())
                .config_options(options.to_vec())
                .available_commands(commands.to_vec());
            match version {
                Version::V2 => Answer::New(answer),
                Version::V1 => Answer::NewV1(convert::new_response_down(&answer, booleans).0),
            }
        }
        (Version::V2, How::Replay | How::Resume) => Answer::Resume(resumed),
        (Version::V1, How::Replay) => {
            Answer::LoadV1(convert::load_response_down(&resumed, booleans).0)
        }
        (Version::V1, How::Resume) => {
            Answer::ResumeV1(convert::resume_response_down(&resumed, booleans).0)
        }
    }
}

/// Returns what a client is shown right after that answer: what the answer does not say, and what
/// was not replayed before it.
pub(super) fn after(how: How, transcript: &Transcript, version: Version) -> Vec<v2::SessionUpdate> {
    if how == How::Replay {
        return Vec::new();
    }
    let updates = transcript.updates().filter(|update| match update {
        v2::SessionUpdate::ConfigOptionUpdate(_) => false,
        v2::SessionUpdate::AvailableCommandsUpdate(_) => version == Version::V1,
        v2::SessionUpdate::SessionInfoUpdate(_) | v2::SessionUpdate::UsageUpdate(_) => true,
        v2::SessionUpdate::PlanUpdate(_) => true,
        // A session that was just made counts as idle; one that was resumed has said its state.
        v2::SessionUpdate::StateUpdate(state) => {
            how == How::New && !matches!(state, v2::StateUpdate::Idle(_))
        }
        // What the agent said while it prepared a new session.
        _ => how == How::New,
    });
    updates.collect()
}

/// Returns what a client is told about a prompt that was refused.
pub(super) fn refusal_error(refusal: Refusal) -> v2::Error {
    let code = match refusal {
        Refusal::Empty | Refusal::Unsupported(_) => v2::ErrorCode::InvalidParams,
        Refusal::Cancelled => v2::ErrorCode::RequestCancelled,
        Refusal::Closed => v2::ErrorCode::ResourceNotFound,
        _ => v2::ErrorCode::InternalError,
    };
    v2::Error::new(code.into(), refusal.to_string())
}
