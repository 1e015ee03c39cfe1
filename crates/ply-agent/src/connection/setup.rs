//! Requests that make a session, or open one again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_rpc::{Responder, RpcError};
use ply_session::{Attach, How, Setup};
use ply_wire::negotiate::Version;
use ply_wire::v2;

use super::Connection;
use crate::client::Client;
use crate::session::control::{Attaching, Control, Waiter};
use crate::session::core_setup;
use crate::{About, SessionSetup};

/// How often a session is opened anew because it ends just then.
const OPEN_TRIES_MAX: usize = 16;

impl Connection {
    pub(super) fn new_session(
        &self,
        client: &Arc<Client>,
        request: v2::NewSessionRequest,
        responder: Responder,
    ) {
        let setup = SessionSetup {
            cwd: request.cwd.0,
            additional_directories: paths(request.additional_directories),
            mcp_servers: request.mcp_servers,
            reopened: false,
            meta: request.meta,
        };
        self.set_up(client, None, How::New, setup, responder);
    }

    pub(super) fn resume_session(
        &self,
        client: &Arc<Client>,
        request: v2::ResumeSessionRequest,
        responder: Responder,
    ) {
        let how = match request.replay_from {
            None => How::Resume,
            Some(v2::ReplayFrom::Start(_)) => How::Replay,
            // Never replaced or ignored (V2-RESUME-05).
            Some(_) => {
                let error = RpcError::invalid_params("there is no such place to replay from");
                return responder.respond::<()>(Err(error));
            }
        };
        let setup = SessionSetup {
            cwd: request.cwd.0,
            additional_directories: paths(request.additional_directories),
            mcp_servers: request.mcp_servers,
            reopened: true,
            meta: request.meta,
        };
        self.set_up(client, Some(&request.session_id), how, setup, responder);
    }

    /// Attaches the client to a session. It is in the session's inbox when this returns, so what the client sends next comes
    /// after it.
    fn set_up(
        &self,
        client: &Arc<Client>,
        id: Option<&v2::SessionId>,
        how: How,
        setup: SessionSetup,
        responder: Responder,
    ) {
        if let Err(error) = check(&setup, self.host.about(), client.version) {
            return responder.respond::<()>(Err(error));
        }
        let core_setup = core_setup(&setup);
        let mut waiter = Waiter::Client(responder);
        for _ in 0..OPEN_TRIES_MAX {
            let session = match id {
                None => self.host.create(setup.clone()),
                Some(id) => self.host.open(id, setup.clone()),
            };
            let request = self.host.next_request();
            let view = self.views.attach(&session, self.host.next_view());
            if let Waiter::Client(responder) = &waiter {
                self.withdraw_on_cancel(&session, request, client, responder);
            }
            let attach = Attach {
                request,
                view,
                viewer: client.viewer(),
                how,
                setup: Arc::clone(&core_setup),
            };
            let attaching = Attaching {
                attach,
                client: Arc::clone(client),
                waiter,
                views: self.views.clone(),
            };
            match session.control(Control::Attach(Box::new(attaching))) {
                Err(Control::Attach(given_back)) => waiter = given_back.waiter,
                Ok(()) => return self.views.detach_if_gone(&session, view),
                Err(_) => return,
            }
        }
        if let Waiter::Client(responder) = waiter {
            let error = RpcError::internal("the session was closed at once; see the agent's log");
            responder.respond::<()>(Err(error));
        }
    }
}

impl SessionSetup {
    /// Returns the setup of a session that is opened again.
    pub(crate) fn from_core(setup: &Setup) -> Self {
        Self {
            cwd: setup.cwd.clone(),
            additional_directories: setup.additional_directories.clone(),
            mcp_servers: setup.mcp_servers.clone(),
            reopened: true,
            meta: None,
        }
    }
}

/// Checks what a session is to work with against what was advertised.
fn check(setup: &SessionSetup, about: &About, version: Version) -> Result<(), RpcError> {
    let roots = setup.additional_directories.iter();
    if !roots.chain([&setup.cwd]).all(|path| path.is_absolute()) {
        return Err(RpcError::invalid_params(
            "every directory must be an absolute path",
        ));
    }
    if !setup.additional_directories.is_empty() && !about.additional_directories {
        let reason = "this agent takes no additional directories";
        return Err(RpcError::invalid_params(reason));
    }
    for server in &setup.mcp_servers {
        let taken = match server {
            // Version 1 has no way to say that an agent does not take them.
            v2::McpServer::Stdio(_) => about.mcp.stdio || version == Version::V1,
            v2::McpServer::Http(_) => about.mcp.http,
            _ => false,
        };
        if !taken {
            let reason = "this agent does not take MCP servers of this transport";
            return Err(RpcError::invalid_params(reason));
        }
    }
    Ok(())
}

fn paths(paths: Vec<v2::AbsolutePath>) -> Vec<PathBuf> {
    paths
        .into_iter()
        .map(|path| Path::to_path_buf(&path.0))
        .collect()
}
