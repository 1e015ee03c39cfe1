//! Answers to the requests of clients.

use ply_wire::convert::session as convert;
use ply_wire::negotiate::Version;
use ply_wire::transcript::Transcript;
use ply_wire::{v1, v2};
use serde::Serialize;

use super::effect::{Effect, Message};
use super::view::View;
use super::{How, Viewer};
use crate::RequestId;
use crate::engine::Refusal;

/// An answer, in the version of its client.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Response {
    /// To `session/new` and `session/fork`.
    New(Box<v2::NewSessionResponse>),
    /// To `session/new` and `session/fork` of version 1.
    NewV1(Box<v1::NewSessionResponse>),
    /// To `session/load` of version 1.
    LoadV1(Box<v1::LoadSessionResponse>),
    /// To `session/resume`.
    Resume(Box<v2::ResumeSessionResponse>),
    /// To `session/resume` of version 1.
    ResumeV1(Box<v1::ResumeSessionResponse>),
    /// To `session/prompt`: it is part of the conversation.
    Prompt(v2::PromptResponse),
    /// To `session/prompt` of version 1: its work has ended.
    PromptV1(v1::PromptResponse),
    /// To `session/set_config_option`.
    Options(Box<v2::SetSessionConfigOptionResponse>),
    /// To `session/set_config_option` of version 1.
    OptionsV1(Box<v1::SetSessionConfigOptionResponse>),
    /// To `session/set_mode` of version 1.
    ModeV1(v1::SetSessionModeResponse),
    /// To `tool_call/cancel` and `terminal/cancel`: it is accepted.
    Cancelled(Empty),
    /// To `session/close`.
    Close(Empty),
    /// To `session/set_title`.
    Title(Title),
    /// To a decision or a change of the queue that came through no view: it counts.
    Decided(Empty),
}

/// The title that a session has now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Title {
    /// As it is stored.
    pub title: String,
}

/// An answer that says nothing but that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Empty {}

/// A change of an option, as the client asked for it. What it means depends on the options there are.
#[derive(Debug, Clone)]
pub enum OptionChange {
    /// `session/set_config_option` of version 1.
    V1(v1::SetSessionConfigOptionRequest),
    /// `session/set_mode` of version 1.
    V1Mode(v1::SetSessionModeRequest),
    /// `session/set_config_option`.
    V2(v2::SetSessionConfigOptionRequest),
}

/// The answer that a change of an option gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionAnswer {
    V1,
    V1Mode,
    V2,
}

impl OptionAnswer {
    pub(super) fn response(self, transcript: &Transcript, viewer: &Viewer) -> Response {
        let options = transcript.config_options();
        match self {
            Self::V2 => {
                let answer = v2::SetSessionConfigOptionResponse::new(options.to_vec());
                Response::Options(Box::new(answer))
            }
            Self::V1 => {
                let options =
                    ply_wire::convert::config::options_down(options, viewer.shows.booleans);
                let answer = v1::SetSessionConfigOptionResponse::new(options);
                Response::OptionsV1(Box::new(answer))
            }
            Self::V1Mode => Response::ModeV1(v1::SetSessionModeResponse::new()),
        }
    }

    /// Whether the client learns from it what the options are.
    pub(super) fn has_options(self) -> bool {
        match self {
            Self::V1 | Self::V2 => true,
            Self::V1Mode => false,
        }
    }
}

/// Returns the answer to the request that attached a client.
pub(super) fn setup(
    how: How,
    session: &v2::SessionId,
    transcript: &Transcript,
    viewer: &Viewer,
) -> Response {
    let (options, commands) = (transcript.config_options(), transcript.commands());
    let booleans = viewer.shows.booleans;
    let resumed = || {
        v2::ResumeSessionResponse::new()
            .config_options(options.to_vec())
            .available_commands(commands.to_vec())
    };
    match (viewer.version, how) {
        (version, How::New | How::Fork) => {
            let answer = v2::NewSessionResponse::new(session.clone())
                .config_options(options.to_vec())
                .available_commands(commands.to_vec());
            match version {
                Version::V2 => Response::New(Box::new(answer)),
                Version::V1 => {
                    Response::NewV1(Box::new(convert::new_response_down(&answer, booleans).0))
                }
            }
        }
        (Version::V2, How::Replay | How::Resume) => Response::Resume(Box::new(resumed())),
        (Version::V1, How::Replay) => Response::LoadV1(Box::new(
            convert::load_response_down(&resumed(), booleans).0,
        )),
        (Version::V1, How::Resume) => Response::ResumeV1(Box::new(
            convert::resume_response_down(&resumed(), booleans).0,
        )),
    }
}

/// Returns what a client is shown right after that answer: what the answer does not say, and what
/// was not replayed before it.
pub(super) fn after(how: How, transcript: &Transcript, version: Version) -> Vec<v2::SessionUpdate> {
    if how == How::Replay {
        return Vec::new();
    }
    let updates = transcript.updates().filter_map(|update| {
        let is_shown = match &update {
            v2::SessionUpdate::ConfigOptionUpdate(_) => false,
            v2::SessionUpdate::AvailableCommandsUpdate(_) => version == Version::V1,
            v2::SessionUpdate::SessionInfoUpdate(_) | v2::SessionUpdate::UsageUpdate(_) => true,
            v2::SessionUpdate::PlanUpdate(_) => true,
            v2::SessionUpdate::StateUpdate(state) => return state_after(how, state),
            // What the agent said while it prepared a new session.
            _ => how == How::New,
        };
        is_shown.then_some(update)
    });
    updates.collect()
}

/// Returns what is told of the state. A session that was just made counts as idle; one that was resumed has said its state. How
/// the last turn before a fork ended is no end of a turn of the fork.
fn state_after(how: How, state: &v2::StateUpdate) -> Option<v2::SessionUpdate> {
    let told = match (how, state) {
        (How::Resume | How::Replay, _) => return None,
        (How::Fork, v2::StateUpdate::Idle(idle)) => {
            v2::StateUpdate::Idle(idle.clone().stop_reason(None))
        }
        (_, state) => state.clone(),
    };
    let is_plain = matches!(&told, v2::StateUpdate::Idle(idle)
        if idle.stop_reason.is_none() && idle.background.is_none());
    (!is_plain).then_some(v2::SessionUpdate::StateUpdate(told))
}

/// Returns what a client is told about a prompt that was refused.
pub(super) fn refusal_error(refusal: Refusal) -> v2::Error {
    let code = match refusal {
        Refusal::Empty | Refusal::Unsupported(_) => v2::ErrorCode::InvalidParams,
        Refusal::Cancelled => v2::ErrorCode::RequestCancelled,
        Refusal::Closed => v2::ErrorCode::ResourceNotFound,
        Refusal::QueueFull => v2::ErrorCode::InternalError,
    };
    v2::Error::new(code.into(), refusal.to_string())
}

/// Returns what a client is told whose request was taken back, by itself or with its connection.
#[must_use]
pub fn request_cancelled() -> v2::Error {
    let code = v2::ErrorCode::RequestCancelled.into();
    v2::Error::new(code, "The request was cancelled.")
}

/// An answer for a client that may be there or not.
pub(super) fn respond(
    view: Option<&mut View>,
    request: RequestId,
    response: Result<Response, v2::Error>,
    out: &mut Vec<Effect>,
) {
    match view {
        Some(view) => view.urgent(Message::Respond { request, response }),
        None => out.push(Effect::Respond { request, response }),
    }
}
