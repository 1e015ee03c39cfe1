//! `session/list`.

use std::sync::Arc;

use ply_rpc::{Responder, RpcError};
use ply_wire::negotiate::Version;
use ply_wire::{convert, v2};

use super::Connection;
use crate::client::Client;
use crate::{About, clock};

impl Connection {
    pub(super) fn list(
        &self,
        client: &Client,
        request: v2::ListSessionsRequest,
        responder: Responder,
    ) {
        let archived = match archived_filter(self.about(), &request) {
            Ok(archived) => archived,
            Err(error) => return responder.respond::<()>(Err(error)),
        };
        let cwd = request.cwd.map(|cwd| cwd.0);
        if cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
            let error = RpcError::invalid_params("cwd must be an absolute path");
            return responder.respond::<()>(Err(error));
        }
        let cursor = request.cursor.map(|cursor| cursor.0.to_string());
        let (host, version) = (Arc::clone(&self.host), client.version);
        let caller = Arc::clone(&self.caller);
        tokio::spawn(async move {
            let page = match host
                .list(cwd, cursor, archived, caller.host.as_deref())
                .await
            {
                Ok(page) => page,
                Err(error @ ply_journal::Error::BadCursor) => {
                    let error = RpcError::invalid_params(error.to_string());
                    return responder.respond::<()>(Err(error));
                }
                Err(error) => {
                    return responder.respond::<()>(Err(RpcError::internal(error.to_string())));
                }
            };
            let about = caller.about.as_deref().unwrap_or(host.about());
            let sessions = page.sessions.into_iter();
            let sessions = sessions.map(|head| info(about, head)).collect();
            let next = page.next.map(v2::SessionListCursor::new);
            let answer = v2::ListSessionsResponse::new(sessions).next_cursor(next);
            match version {
                Version::V2 => responder.respond(Ok(answer)),
                Version::V1 => {
                    responder.respond(Ok(convert::session::list_response_down(&answer)));
                }
            }
        });
    }
}

/// Returns which sessions are wanted: archived ones, others, or all.
#[cfg(feature = "unstable_session_archive")]
fn archived_filter(
    about: &About,
    request: &v2::ListSessionsRequest,
) -> Result<Option<bool>, RpcError> {
    if !about.session_archive {
        return Ok(None);
    }
    match &request.archived {
        None | Some(v2::SessionArchiveFilter::Exclude) => Ok(Some(false)),
        Some(v2::SessionArchiveFilter::Include) => Ok(None),
        Some(v2::SessionArchiveFilter::Only) => Ok(Some(true)),
        Some(_) => {
            let reason = "`archived` must be `exclude`, `include` or `only`";
            Err(RpcError::invalid_params(reason))
        }
    }
}

#[cfg(not(feature = "unstable_session_archive"))]
fn archived_filter(_: &About, _: &v2::ListSessionsRequest) -> Result<Option<bool>, RpcError> {
    Ok(None)
}

#[cfg_attr(
    not(feature = "unstable_session_archive"),
    expect(unused_variables, reason = "what is told does not depend on it")
)]
fn info(about: &About, head: ply_journal::Head) -> v2::SessionInfo {
    let info = v2::SessionInfo::new(head.id, head.cwd)
        .title(head.title)
        .updated_at(clock::rfc3339(head.updated_ms));
    #[cfg(feature = "unstable_session_archive")]
    let info = info.archived(about.session_archive.then_some(head.archived));
    info
}
