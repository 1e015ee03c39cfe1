//! Requests that the schema calls unstable. Each is served if the agent's author wants it to be.

#[cfg(any(
    feature = "unstable_session_fork",
    feature = "unstable_session_set_title"
))]
use std::sync::Arc;

use ply_rpc::Responder;
use ply_wire::v2;

use super::Connection;
#[cfg(any(
    feature = "unstable_session_fork",
    feature = "unstable_session_status",
    feature = "unstable_session_set_title"
))]
use crate::client::Client;

impl Connection {
    /// Copies a session, and attaches the client to the copy.
    #[cfg(feature = "unstable_session_fork")]
    pub(super) fn fork_session(
        &self,
        client: &Arc<Client>,
        request: v2::ForkSessionRequest,
        responder: Responder,
    ) {
        use ply_session::How;

        use super::setup::{Wanted, check, paths};
        let setup = crate::SessionSetup {
            cwd: request.cwd.0,
            additional_directories: paths(request.additional_directories),
            mcp_servers: request.mcp_servers,
            reopened: true,
            forked_from: Some(request.session_id.clone()),
            meta: request.meta,
            caller: crate::Caller::clone(&self.caller),
            host: None,
            adopted: None,
        };
        // Before anything is copied.
        if let Err(error) = check(&setup, self.about(), client.version) {
            return responder.respond::<()>(Err(error));
        }
        let source = request.session_id;
        // Now, so that what the client sends next is not part of it.
        let asked = self.host.ask_for_records(&source);
        let (entry, client) = (self.entry(), Arc::clone(client));
        tokio::spawn(async move {
            let (host, cwd) = (&entry.host, setup.cwd.clone());
            match host.fork(&source, asked, cwd, &responder).await {
                Ok(fork) if responder.is_cancelled() => {
                    entry.host.delete_unknown(&fork);
                    responder.respond::<()>(Err(ply_rpc::RpcError::cancelled()));
                }
                Ok(fork) => {
                    let wanted = Wanted::Fork(&fork);
                    entry.set_up(&client, wanted, (How::Fork, None), setup, responder);
                }
                Err(error) => responder.respond::<()>(Err(error)),
            }
        });
    }

    /// Tells whether a session is open, and what it does.
    #[cfg(feature = "unstable_session_status")]
    pub(super) fn status(
        &self,
        client: &Client,
        request: &v2::SessionStatusRequest,
        responder: Responder,
    ) {
        let version = client.version;
        let asked = crate::host::StatusAsked { version, responder };
        self.host.status(&request.session_id, asked);
    }

    /// Names a session.
    #[cfg(feature = "unstable_session_set_title")]
    pub(super) fn set_title(
        &self,
        client: &Arc<Client>,
        request: &v2::SetSessionTitleRequest,
        responder: Responder,
    ) {
        let id = &request.session_id;
        match ply_session::title_of(&request.title) {
            Ok(title) => self.host.set_title(id, title, client, responder),
            Err(error) => {
                responder.respond::<()>(Err(ply_wire::link::rpc_error_v2(&error)));
            }
        }
    }

    /// Closes a session and leaves it out of default listings.
    #[cfg(feature = "unstable_session_archive")]
    pub(super) fn archive(&self, id: &v2::SessionId, responder: Responder) {
        // It ends whatever comes of its journal, so the view is never taken up again.
        drop(self.views.leave(id));
        self.host.archive(id, responder);
    }

    /// Returns a session to default listings.
    #[cfg(feature = "unstable_session_archive")]
    pub(super) fn unarchive(&self, id: &v2::SessionId, responder: Responder) {
        self.host.unarchive(id, responder);
    }
}
