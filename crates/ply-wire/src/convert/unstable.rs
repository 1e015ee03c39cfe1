//! Session requests that the schema calls unstable, and their answers, each behind the feature of that name.

use std::sync::Arc;

#[cfg(feature = "unstable_session_fork")]
use super::config::Booleans;
#[cfg(feature = "unstable_session_fork")]
use super::mcp::{self, UnsupportedTransport};
#[cfg(feature = "unstable_session_fork")]
use super::session::{new_response_down, options_of, paths_down, paths_up};
use crate::{v1, v2};

/// Turns `session/fork` params into version 1. Nothing is lost.
///
/// # Errors
///
/// [`UnsupportedTransport`] for an MCP transport that version 1 does not have.
#[cfg(feature = "unstable_session_fork")]
pub fn fork_down(
    request: &v2::ForkSessionRequest,
) -> Result<v1::ForkSessionRequest, UnsupportedTransport> {
    let out = v1::ForkSessionRequest::new(Arc::clone(&request.session_id.0), request.cwd.0.clone());
    Ok(out
        .additional_directories(paths_down(&request.additional_directories))
        .mcp_servers(mcp::servers_down(&request.mcp_servers)?)
        .meta(request.meta.clone()))
}

/// Turns `session/fork` params into version 2. Nothing is lost.
///
/// # Errors
///
/// [`UnsupportedTransport`] for an MCP transport that version 2 does not have.
#[cfg(feature = "unstable_session_fork")]
pub fn fork_up(
    request: &v1::ForkSessionRequest,
) -> Result<v2::ForkSessionRequest, UnsupportedTransport> {
    let out = v2::ForkSessionRequest::new(Arc::clone(&request.session_id.0), request.cwd.clone());
    Ok(out
        .additional_directories(paths_up(&request.additional_directories))
        .mcp_servers(mcp::servers_up(&request.mcp_servers)?)
        .meta(request.meta.clone()))
}

/// Turns a `session/fork` answer into version 1, and returns the commands to send after it. Lost: as
/// for [`new_response_down`].
#[cfg(feature = "unstable_session_fork")]
#[must_use]
pub fn fork_response_down(
    response: &v2::ForkSessionResponse,
    booleans: Booleans,
) -> (v1::ForkSessionResponse, Vec<v1::AvailableCommand>) {
    // Both versions answer a fork as they answer `session/new`.
    let made = v2::NewSessionResponse::new(response.session_id.clone())
        .config_options(response.config_options.clone())
        .available_commands(response.available_commands.clone());
    let (made, commands) = new_response_down(&made, booleans);
    let out = v1::ForkSessionResponse::new(made.session_id)
        .modes(made.modes)
        .config_options(made.config_options)
        .meta(response.meta.clone());
    (out, commands)
}

/// Turns a `session/fork` answer into version 2. Nothing is lost; modes become an option.
#[cfg(feature = "unstable_session_fork")]
#[must_use]
pub fn fork_response_up(response: &v1::ForkSessionResponse) -> v2::ForkSessionResponse {
    let options = options_of(response.config_options.as_deref(), response.modes.as_ref());
    v2::ForkSessionResponse::new(Arc::clone(&response.session_id.0))
        .config_options(options)
        .meta(response.meta.clone())
}

/// Turns `session/status` params into version 1. Nothing is lost.
#[cfg(feature = "unstable_session_status")]
#[must_use]
pub fn status_down(request: &v2::SessionStatusRequest) -> v1::SessionStatusRequest {
    v1::SessionStatusRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns `session/status` params into version 2. Nothing is lost.
#[cfg(feature = "unstable_session_status")]
#[must_use]
pub fn status_up(request: &v1::SessionStatusRequest) -> v2::SessionStatusRequest {
    v2::SessionStatusRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns a `session/status` answer into version 1.
///
/// Lost: the foreground state, which version 1 has no place for.
#[cfg(feature = "unstable_session_status")]
#[must_use]
pub fn status_response_down(response: &v2::SessionStatusResponse) -> v1::SessionStatusResponse {
    let status = match &response.status {
        v2::SessionStatus::Open => v1::SessionStatus::Open,
        v2::SessionStatus::Saved => v1::SessionStatus::Saved,
        v2::SessionStatus::Other(other) => v1::SessionStatus::Other(other.clone()),
        // To be read as `saved`, like every status that is not known.
        _ => v1::SessionStatus::Saved,
    };
    v1::SessionStatusResponse::new(status).meta(response.meta.clone())
}

/// Turns a `session/status` answer into version 2. Nothing is lost; the foreground state is not known.
#[cfg(feature = "unstable_session_status")]
#[must_use]
pub fn status_response_up(response: &v1::SessionStatusResponse) -> v2::SessionStatusResponse {
    let status = match &response.status {
        v1::SessionStatus::Open => v2::SessionStatus::Open,
        v1::SessionStatus::Saved => v2::SessionStatus::Saved,
        v1::SessionStatus::Other(other) => v2::SessionStatus::Other(other.clone()),
        _ => v2::SessionStatus::Saved,
    };
    v2::SessionStatusResponse::new(status).meta(response.meta.clone())
}

/// Turns `session/set_title` params into version 1. Nothing is lost.
#[cfg(feature = "unstable_session_set_title")]
#[must_use]
pub fn set_title_down(request: &v2::SetSessionTitleRequest) -> v1::SetSessionTitleRequest {
    let id = Arc::clone(&request.session_id.0);
    v1::SetSessionTitleRequest::new(id, request.title.clone()).meta(request.meta.clone())
}

/// Turns `session/set_title` params into version 2. Nothing is lost.
#[cfg(feature = "unstable_session_set_title")]
#[must_use]
pub fn set_title_up(request: &v1::SetSessionTitleRequest) -> v2::SetSessionTitleRequest {
    let id = Arc::clone(&request.session_id.0);
    v2::SetSessionTitleRequest::new(id, request.title.clone()).meta(request.meta.clone())
}

/// Turns a `session/set_title` answer into version 1. Nothing is lost.
#[cfg(feature = "unstable_session_set_title")]
#[must_use]
pub fn set_title_response_down(
    response: &v2::SetSessionTitleResponse,
) -> v1::SetSessionTitleResponse {
    v1::SetSessionTitleResponse::new(response.title.clone()).meta(response.meta.clone())
}

/// Turns a `session/set_title` answer into version 2. Nothing is lost.
#[cfg(feature = "unstable_session_set_title")]
#[must_use]
pub fn set_title_response_up(
    response: &v1::SetSessionTitleResponse,
) -> v2::SetSessionTitleResponse {
    v2::SetSessionTitleResponse::new(response.title.clone()).meta(response.meta.clone())
}

/// Turns `session/archive` params into version 1. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn archive_down(request: &v2::ArchiveSessionRequest) -> v1::ArchiveSessionRequest {
    v1::ArchiveSessionRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns `session/archive` params into version 2. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn archive_up(request: &v1::ArchiveSessionRequest) -> v2::ArchiveSessionRequest {
    v2::ArchiveSessionRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns a `session/archive` answer into version 1. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn archive_response_down(response: &v2::ArchiveSessionResponse) -> v1::ArchiveSessionResponse {
    v1::ArchiveSessionResponse::new().meta(response.meta.clone())
}

/// Turns a `session/archive` answer into version 2. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn archive_response_up(response: &v1::ArchiveSessionResponse) -> v2::ArchiveSessionResponse {
    v2::ArchiveSessionResponse::new().meta(response.meta.clone())
}

/// Turns `session/unarchive` params into version 1. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn unarchive_down(request: &v2::UnarchiveSessionRequest) -> v1::UnarchiveSessionRequest {
    v1::UnarchiveSessionRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns `session/unarchive` params into version 2. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn unarchive_up(request: &v1::UnarchiveSessionRequest) -> v2::UnarchiveSessionRequest {
    v2::UnarchiveSessionRequest::new(Arc::clone(&request.session_id.0)).meta(request.meta.clone())
}

/// Turns a `session/unarchive` answer into version 1. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn unarchive_response_down(
    response: &v2::UnarchiveSessionResponse,
) -> v1::UnarchiveSessionResponse {
    v1::UnarchiveSessionResponse::new().meta(response.meta.clone())
}

/// Turns a `session/unarchive` answer into version 2. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn unarchive_response_up(
    response: &v1::UnarchiveSessionResponse,
) -> v2::UnarchiveSessionResponse {
    v2::UnarchiveSessionResponse::new().meta(response.meta.clone())
}

/// Turns the archive filter of `session/list` into version 1. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn archive_filter_down(filter: &v2::SessionArchiveFilter) -> v1::SessionArchiveFilter {
    match filter {
        v2::SessionArchiveFilter::Include => v1::SessionArchiveFilter::Include,
        v2::SessionArchiveFilter::Only => v1::SessionArchiveFilter::Only,
        v2::SessionArchiveFilter::Other(other) => v1::SessionArchiveFilter::Other(other.clone()),
        _ => v1::SessionArchiveFilter::Exclude,
    }
}

/// Turns the archive filter of `session/list` into version 2. Nothing is lost.
#[cfg(feature = "unstable_session_archive")]
#[must_use]
pub fn archive_filter_up(filter: &v1::SessionArchiveFilter) -> v2::SessionArchiveFilter {
    match filter {
        v1::SessionArchiveFilter::Include => v2::SessionArchiveFilter::Include,
        v1::SessionArchiveFilter::Only => v2::SessionArchiveFilter::Only,
        v1::SessionArchiveFilter::Other(other) => v2::SessionArchiveFilter::Other(other.clone()),
        _ => v2::SessionArchiveFilter::Exclude,
    }
}
