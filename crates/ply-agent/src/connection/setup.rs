//! Requests that make a session, or open one again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_rpc::{Responder, RpcError};
use ply_session::{After, Attach, How, Setup};
use ply_wire::negotiate::Version;
use ply_wire::v2;

use super::requests::withdraw_on_cancel;
use super::{Connection, Views, ply};
use crate::client::Client;
use crate::host::Host;
use crate::session::control::{Attaching, Control, Waiter};
use crate::session::{Origin, core_setup};
use crate::{About, Caller, SessionSetup};

/// How often a session is opened anew because it ends just then.
const OPEN_TRIES_MAX: usize = 16;

impl Connection {
    pub(super) fn new_session(
        &self,
        client: &Arc<Client>,
        request: v2::NewSessionRequest,
        responder: Responder,
    ) {
        let keyed = match ply::operation(request.meta.as_ref()) {
            Ok(key) => key.map(ply::session_of),
            Err(error) => return responder.respond::<()>(Err(error)),
        };
        let setup = SessionSetup {
            cwd: request.cwd.0,
            additional_directories: paths(request.additional_directories),
            mcp_servers: request.mcp_servers,
            reopened: false,
            #[cfg(feature = "unstable_session_fork")]
            forked_from: None,
            meta: request.meta,
            caller: Caller::clone(&self.caller),
            host: None,
            adopted: None,
        };
        let wanted = keyed.as_ref().map_or(Wanted::New, Wanted::Keyed);
        let how = (How::New, None);
        self.entry().set_up(client, wanted, how, setup, responder);
    }

    pub(super) fn resume_session(
        &self,
        client: &Arc<Client>,
        request: v2::ResumeSessionRequest,
        responder: Responder,
    ) {
        let after = match ply::after(&request) {
            Ok(after) => after,
            Err(error) => return responder.respond::<()>(Err(error)),
        };
        let how = match request.replay_from {
            Some(v2::ReplayFrom::Start(_)) => How::Replay,
            _ => How::Resume,
        };
        let how = (how, after);
        let setup = SessionSetup {
            cwd: request.cwd.0,
            additional_directories: paths(request.additional_directories),
            mcp_servers: request.mcp_servers,
            reopened: true,
            #[cfg(feature = "unstable_session_fork")]
            forked_from: None,
            meta: request.meta,
            caller: Caller::clone(&self.caller),
            host: None,
            adopted: None,
        };
        let wanted = Wanted::Known(&request.session_id);
        self.entry().set_up(client, wanted, how, setup, responder);
    }

    /// Returns the way into sessions, also for requests that take their time.
    pub(super) fn entry(&self) -> Entry {
        Entry {
            host: Arc::clone(&self.host),
            views: self.views.clone(),
        }
    }
}

/// The session that a client wants to see.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted<'a> {
    New,
    /// One that is made unless it exists.
    Keyed(&'a v2::SessionId),
    Known(&'a v2::SessionId),
    /// A copy that was just made.
    #[cfg(feature = "unstable_session_fork")]
    Fork(&'a v2::SessionId),
}

/// The way of a connection into its sessions.
pub(super) struct Entry {
    pub(super) host: Arc<Host>,
    views: Views,
}

impl Entry {
    /// Attaches the client to a session. It is in the session's inbox when this returns, so what the client sends next comes
    /// after it.
    pub(super) fn set_up(
        &self,
        client: &Arc<Client>,
        wanted: Wanted<'_>,
        (how, after): (How, Option<After>),
        setup: SessionSetup,
        responder: Responder,
    ) {
        let about = client.caller.about.as_deref();
        let about = about.unwrap_or(self.host.about());
        if let Err(error) = check(&setup, about, client.version) {
            return responder.respond::<()>(Err(error));
        }
        let core_setup = core_setup(&setup);
        let mut waiter = Waiter::Client(responder);
        for _ in 0..OPEN_TRIES_MAX {
            let session = match wanted {
                Wanted::New => self.host.create(setup.clone()),
                Wanted::Keyed(id) => self.host.open(id, setup.clone(), Origin::Keyed),
                Wanted::Known(id) => self.host.open(id, setup.clone(), Origin::Journal),
                #[cfg(feature = "unstable_session_fork")]
                Wanted::Fork(id) => self.host.open(id, setup.clone(), Origin::Fork),
            };
            let request = self.host.next_request();
            let view = self.views.attach(&session, self.host.next_view());
            if let Waiter::Client(responder) = &waiter {
                withdraw_on_cancel(&session, request, client, responder);
            }
            let attach = Attach {
                request,
                view,
                viewer: client.viewer(),
                how,
                setup: Arc::clone(&core_setup),
                after: after.clone(),
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
            #[cfg(feature = "unstable_session_fork")]
            forked_from: None,
            meta: None,
            caller: Caller::new(),
            host: None,
            adopted: None,
        }
    }
}

/// Checks what a session is to work with against what was advertised.
pub(super) fn check(setup: &SessionSetup, about: &About, version: Version) -> Result<(), RpcError> {
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

pub(super) fn paths(paths: Vec<v2::AbsolutePath>) -> Vec<PathBuf> {
    paths
        .into_iter()
        .map(|path| Path::to_path_buf(&path.0))
        .collect()
}
