//! Session requests and their answers.
//!
//! Paths are passed on as they are; whether they are absolute is for the receiver to check.
//! Answers that introduce a session carry its commands in version 2. Version 1 has them only as
//! an update, which must follow the answer, so they are returned beside it.

use std::path::PathBuf;
use std::sync::Arc;

use super::commands;
use super::config::{self, Booleans};
use super::mcp::{self, UnsupportedTransport};
#[cfg(feature = "unstable_session_archive")]
use super::unstable::{archive_filter_down, archive_filter_up};
use crate::{v1, v2};

/// Turns `session/new` params into version 1. Nothing is lost.
///
/// # Errors
///
/// [`UnsupportedTransport`] for an MCP transport that version 1 does not have.
pub fn new_down(
    request: &v2::NewSessionRequest,
) -> Result<v1::NewSessionRequest, UnsupportedTransport> {
    Ok(v1::NewSessionRequest::new(request.cwd.0.clone())
        .additional_directories(paths_down(&request.additional_directories))
        .mcp_servers(mcp::servers_down(&request.mcp_servers)?)
        .meta(request.meta.clone()))
}

/// Turns `session/new` params into version 2. Nothing is lost.
///
/// # Errors
///
/// [`UnsupportedTransport`] for an MCP transport that version 2 does not have.
pub fn new_up(
    request: &v1::NewSessionRequest,
) -> Result<v2::NewSessionRequest, UnsupportedTransport> {
    Ok(v2::NewSessionRequest::new(request.cwd.clone())
        .additional_directories(paths_up(&request.additional_directories))
        .mcp_servers(mcp::servers_up(&request.mcp_servers)?)
        .meta(request.meta.clone()))
}

/// Turns a `session/new` answer into version 1, and returns the commands to send after it.
///
/// Lost: see [`config::options_down`] and [`commands::down`].
#[must_use]
pub fn new_response_down(
    response: &v2::NewSessionResponse,
    booleans: Booleans,
) -> (v1::NewSessionResponse, Vec<v1::AvailableCommand>) {
    let out = v1::NewSessionResponse::new(Arc::clone(&response.session_id.0))
        .modes(config::modes_down(&response.config_options))
        .config_options(given_options(&response.config_options, booleans))
        .meta(response.meta.clone());
    (out, commands::down(&response.available_commands))
}

/// Turns a `session/new` answer into version 2. Modes become an option; see [`options_of`].
///
/// Nothing is lost. Version 1 sends the commands later, as an update.
#[must_use]
pub fn new_response_up(response: &v1::NewSessionResponse) -> v2::NewSessionResponse {
    let options = options_of(response.config_options.as_deref(), response.modes.as_ref());
    v2::NewSessionResponse::new(Arc::clone(&response.session_id.0))
        .config_options(options)
        .meta(response.meta.clone())
}

/// Turns `session/load` params into resuming with a replay from the start. Nothing is lost.
///
/// # Errors
///
/// [`UnsupportedTransport`] for an MCP transport that version 2 does not have.
pub fn load_up(
    request: &v1::LoadSessionRequest,
) -> Result<v2::ResumeSessionRequest, UnsupportedTransport> {
    let out = v2::ResumeSessionRequest::new(Arc::clone(&request.session_id.0), request.cwd.clone());
    Ok(out
        .additional_directories(paths_up(&request.additional_directories))
        .mcp_servers(mcp::servers_up(&request.mcp_servers)?)
        .replay_from(v2::ReplayFrom::Start(v2::ReplayFromStart::new()))
        .meta(request.meta.clone()))
}

/// Turns resuming into `session/load`, for an agent that has only that.
///
/// Lost: where to replay from. Version 1 always replays all, so the caller drops what the client
/// did not ask for.
///
/// # Errors
///
/// [`UnsupportedTransport`] for an MCP transport that version 1 does not have.
pub fn load_down(
    request: &v2::ResumeSessionRequest,
) -> Result<v1::LoadSessionRequest, UnsupportedTransport> {
    let out = v1::LoadSessionRequest::new(Arc::clone(&request.session_id.0), request.cwd.0.clone());
    Ok(out
        .additional_directories(paths_down(&request.additional_directories))
        .mcp_servers(mcp::servers_down(&request.mcp_servers)?)
        .meta(request.meta.clone()))
}

/// Turns `session/resume` params into version 2, without any replay. Nothing is lost.
///
/// # Errors
///
/// [`UnsupportedTransport`] for an MCP transport that version 2 does not have.
pub fn resume_up(
    request: &v1::ResumeSessionRequest,
) -> Result<v2::ResumeSessionRequest, UnsupportedTransport> {
    let out = v2::ResumeSessionRequest::new(Arc::clone(&request.session_id.0), request.cwd.clone());
    Ok(out
        .additional_directories(paths_up(&request.additional_directories))
        .mcp_servers(mcp::servers_up(&request.mcp_servers)?)
        .meta(request.meta.clone()))
}

/// Turns `session/resume` params into version 1.
///
/// Lost: `replayFrom`, which version 1 does not have. The caller replays, or uses [`load_down`].
///
/// # Errors
///
/// [`UnsupportedTransport`] for an MCP transport that version 1 does not have.
pub fn resume_down(
    request: &v2::ResumeSessionRequest,
) -> Result<v1::ResumeSessionRequest, UnsupportedTransport> {
    let out =
        v1::ResumeSessionRequest::new(Arc::clone(&request.session_id.0), request.cwd.0.clone());
    Ok(out
        .additional_directories(paths_down(&request.additional_directories))
        .mcp_servers(mcp::servers_down(&request.mcp_servers)?)
        .meta(request.meta.clone()))
}

/// Turns a `session/resume` answer into that of `session/load`, and returns the commands to send
/// after it. Lost: as for [`new_response_down`].
#[must_use]
pub fn load_response_down(
    response: &v2::ResumeSessionResponse,
    booleans: Booleans,
) -> (v1::LoadSessionResponse, Vec<v1::AvailableCommand>) {
    let out = v1::LoadSessionResponse::new()
        .modes(config::modes_down(&response.config_options))
        .config_options(given_options(&response.config_options, booleans))
        .meta(response.meta.clone());
    (out, commands::down(&response.available_commands))
}

/// Turns a `session/resume` answer into version 1, and returns the commands to send after it.
/// Lost: as for [`new_response_down`].
#[must_use]
pub fn resume_response_down(
    response: &v2::ResumeSessionResponse,
    booleans: Booleans,
) -> (v1::ResumeSessionResponse, Vec<v1::AvailableCommand>) {
    let out = v1::ResumeSessionResponse::new()
        .modes(config::modes_down(&response.config_options))
        .config_options(given_options(&response.config_options, booleans))
        .meta(response.meta.clone());
    (out, commands::down(&response.available_commands))
}

/// Turns a `session/load` answer into that of resuming. Nothing is lost.
#[must_use]
pub fn load_response_up(response: &v1::LoadSessionResponse) -> v2::ResumeSessionResponse {
    let options = options_of(response.config_options.as_deref(), response.modes.as_ref());
    v2::ResumeSessionResponse::new()
        .config_options(options)
        .meta(response.meta.clone())
}

/// Turns a `session/resume` answer into version 2. Nothing is lost.
#[must_use]
pub fn resume_response_up(response: &v1::ResumeSessionResponse) -> v2::ResumeSessionResponse {
    let options = options_of(response.config_options.as_deref(), response.modes.as_ref());
    v2::ResumeSessionResponse::new()
        .config_options(options)
        .meta(response.meta.clone())
}

/// Makes the version 2 options of a version 1 setup answer.
///
/// Given options stand alone, as version 1 tells its clients to read them; modes count only where
/// there is no option at all.
#[must_use]
pub fn options_of(
    options: Option<&[v1::SessionConfigOption]>,
    modes: Option<&v1::SessionModeState>,
) -> Vec<v2::SessionConfigOption> {
    match (options, modes) {
        (None | Some([]), Some(modes)) => vec![config::modes_up(modes, &[])],
        (options, _) => config::options_up(options.unwrap_or_default()),
    }
}

/// Turns `session/list` params into version 1. Nothing is lost.
#[must_use]
pub fn list_down(request: &v2::ListSessionsRequest) -> v1::ListSessionsRequest {
    let out = v1::ListSessionsRequest::new()
        .cwd(request.cwd.as_ref().map(|cwd| cwd.0.clone()))
        .cursor(
            request
                .cursor
                .as_ref()
                .map(|cursor| String::from(&*cursor.0)),
        )
        .meta(request.meta.clone());
    #[cfg(feature = "unstable_session_archive")]
    let out = out.archived(request.archived.as_ref().map(archive_filter_down));
    out
}

/// Turns `session/list` params into version 2. Nothing is lost.
#[must_use]
pub fn list_up(request: &v1::ListSessionsRequest) -> v2::ListSessionsRequest {
    let out = v2::ListSessionsRequest::new()
        .cwd(request.cwd.clone().map(v2::AbsolutePath::new))
        .cursor(request.cursor.as_deref().map(v2::SessionListCursor::new))
        .meta(request.meta.clone());
    #[cfg(feature = "unstable_session_archive")]
    let out = out.archived(request.archived.as_ref().map(archive_filter_up));
    out
}

/// Turns a `session/list` answer into version 1. Nothing is lost.
#[must_use]
pub fn list_response_down(response: &v2::ListSessionsResponse) -> v1::ListSessionsResponse {
    let sessions = response.sessions.iter().map(|info| {
        let out = v1::SessionInfo::new(Arc::clone(&info.session_id.0), info.cwd.0.clone())
            .additional_directories(paths_down(&info.additional_directories))
            .title(info.title.clone())
            .updated_at(info.updated_at.clone())
            .meta(info.meta.clone());
        #[cfg(feature = "unstable_session_archive")]
        let out = out.archived(info.archived);
        out
    });
    v1::ListSessionsResponse::new(sessions.collect())
        .next_cursor(
            response
                .next_cursor
                .as_ref()
                .map(|cursor| String::from(&*cursor.0)),
        )
        .meta(response.meta.clone())
}

/// Turns a `session/list` answer into version 2. Nothing is lost.
#[must_use]
pub fn list_response_up(response: &v1::ListSessionsResponse) -> v2::ListSessionsResponse {
    let sessions = response.sessions.iter().map(|info| {
        let out = v2::SessionInfo::new(Arc::clone(&info.session_id.0), info.cwd.clone())
            .additional_directories(paths_up(&info.additional_directories))
            .title(info.title.clone())
            .updated_at(info.updated_at.clone())
            .meta(info.meta.clone());
        #[cfg(feature = "unstable_session_archive")]
        let out = out.archived(info.archived);
        out
    });
    v2::ListSessionsResponse::new(sessions.collect())
        .next_cursor(
            response
                .next_cursor
                .as_deref()
                .map(v2::SessionListCursor::new),
        )
        .meta(response.meta.clone())
}

/// Turns `session/close` params into version 1. Nothing is lost.
#[must_use]
pub fn close_down(request: &v2::CloseSessionRequest) -> v1::CloseSessionRequest {
    v1::CloseSessionRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns `session/close` params into version 2. Nothing is lost.
#[must_use]
pub fn close_up(request: &v1::CloseSessionRequest) -> v2::CloseSessionRequest {
    v2::CloseSessionRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns a `session/close` answer into version 1. Nothing is lost.
#[must_use]
pub fn close_response_down(response: &v2::CloseSessionResponse) -> v1::CloseSessionResponse {
    v1::CloseSessionResponse::new().meta(response.meta.clone())
}

/// Turns a `session/close` answer into version 2. Nothing is lost.
#[must_use]
pub fn close_response_up(response: &v1::CloseSessionResponse) -> v2::CloseSessionResponse {
    v2::CloseSessionResponse::new().meta(response.meta.clone())
}

/// Turns `session/delete` params into version 1. Nothing is lost.
#[must_use]
pub fn delete_down(request: &v2::DeleteSessionRequest) -> v1::DeleteSessionRequest {
    v1::DeleteSessionRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns `session/delete` params into version 2. Nothing is lost.
#[must_use]
pub fn delete_up(request: &v1::DeleteSessionRequest) -> v2::DeleteSessionRequest {
    v2::DeleteSessionRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns a `session/delete` answer into version 1. Nothing is lost.
#[must_use]
pub fn delete_response_down(response: &v2::DeleteSessionResponse) -> v1::DeleteSessionResponse {
    v1::DeleteSessionResponse::new().meta(response.meta.clone())
}

/// Turns a `session/delete` answer into version 2. Nothing is lost.
#[must_use]
pub fn delete_response_up(response: &v1::DeleteSessionResponse) -> v2::DeleteSessionResponse {
    v2::DeleteSessionResponse::new().meta(response.meta.clone())
}

/// Turns a `session/set_config_option` answer into version 1. Lost: as for
/// [`config::options_down`].
#[must_use]
pub fn set_option_response_down(
    response: &v2::SetSessionConfigOptionResponse,
    booleans: Booleans,
) -> v1::SetSessionConfigOptionResponse {
    let options = config::options_down(&response.config_options, booleans);
    v1::SetSessionConfigOptionResponse::new(options).meta(response.meta.clone())
}

/// Turns a `session/set_config_option` answer into version 2. Nothing is lost.
#[must_use]
pub fn set_option_response_up(
    response: &v1::SetSessionConfigOptionResponse,
) -> v2::SetSessionConfigOptionResponse {
    let options = config::options_up(&response.config_options);
    v2::SetSessionConfigOptionResponse::new(options).meta(response.meta.clone())
}

/// Turns a `session/cancel` notification into version 1. Nothing is lost.
#[must_use]
pub fn cancel_down(cancel: &v2::CancelSessionNotification) -> v1::CancelNotification {
    v1::CancelNotification::new(Arc::clone(&cancel.session_id.0)).meta(cancel.meta.clone())
}

/// Turns a `session/cancel` notification into version 2. Nothing is lost.
#[must_use]
pub fn cancel_up(cancel: &v1::CancelNotification) -> v2::CancelSessionNotification {
    v2::CancelSessionNotification::new(Arc::clone(&cancel.session_id.0)).meta(cancel.meta.clone())
}

/// An agent without options says nothing in version 1, where a list, even empty, hides modes.
fn given_options(
    options: &[v2::SessionConfigOption],
    booleans: Booleans,
) -> Option<Vec<v1::SessionConfigOption>> {
    let options = config::options_down(options, booleans);
    (!options.is_empty()).then_some(options)
}

pub(super) fn paths_down(paths: &[v2::AbsolutePath]) -> Vec<PathBuf> {
    paths.iter().map(|path| path.0.clone()).collect()
}

pub(super) fn paths_up(paths: &[PathBuf]) -> Vec<v2::AbsolutePath> {
    paths.iter().cloned().map(v2::AbsolutePath::new).collect()
}
