//! Requests that make a session, or open one again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_rpc::{Responder, RpcError};
use ply_session::ViewId;
use ply_wire::negotiate::Version;
use ply_wire::v2;
use tokio::sync::oneshot;

use super::Connection;
use super::requests::pass;
use super::views::{Attached, Views};
use crate::client::Client;
use crate::host::Host;
use crate::session::control::{Attach, Control, How};
use crate::{About, SessionSetup};

/// How often a session is opened anew because it closes just then.
const OPEN_TRIES_MAX: usize = 16;

/// A session to be set up.
#[derive(Clone)]
struct Setup {
    id: Option<v2::SessionId>,
    how: How,
    setup: Arc<SessionSetup>,
}

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
        };
        let (id, how, setup) = (None, How::New, Arc::new(setup));
        self.set_up(client, Setup { id, how, setup }, responder);
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
        };
        let (id, setup) = (Some(request.session_id), Arc::new(setup));
        self.set_up(client, Setup { id, how, setup }, responder);
    }

    fn set_up(&self, client: &Arc<Client>, setup: Setup, responder: Responder) {
        if let Err(error) = check(&setup.setup, self.host.about(), client.version) {
            return responder.respond::<()>(Err(error));
        }
        let (host, views, client) = (
            Arc::clone(&self.host),
            self.views.clone(),
            Arc::clone(client),
        );
        tokio::spawn(async move {
            let mut responder = responder;
            for _ in 0..OPEN_TRIES_MAX {
                let session = match open(&host, &setup, &responder).await {
                    Ok(session) => session,
                    Err(error) => return responder.respond::<()>(Err(error.to_rpc())),
                };
                let failure = session.clone();
                let asked = Some(responder);
                let attached = attach(&host, &views, &client, session, &setup, asked);
                match attached.await {
                    Err(Some(refused)) => responder = refused,
                    Ok(()) | Err(None) => return,
                }
                if let Some(error) = failure.failure() {
                    return responder.respond::<()>(Err(error.clone()));
                }
                if setup.id.is_none() {
                    // A session that was only just made and is closed already has a reason to be.
                    break;
                }
            }
            responder.respond::<()>(Err(RpcError::internal(
                "the session was closed at once; see the agent's log",
            )));
        });
    }
}

/// Opens a session whose journal failed, attaches the client as it was, and passes its wish on. While the journal still
/// fails, the wish is answered with that.
pub(super) async fn revive(
    host: Arc<Host>,
    views: Views,
    client: Arc<Client>,
    (id, given): (v2::SessionId, Arc<SessionSetup>),
    responder: Responder,
    wish: impl FnOnce(ViewId, Responder) -> Control,
) {
    let setup = Setup {
        id: Some(id.clone()),
        how: How::Resume,
        setup: given,
    };
    let session = match open(&host, &setup, &responder).await {
        Ok(session) => session,
        Err(error) => return responder.respond::<()>(Err(error.to_rpc())),
    };
    if let Some(Attached { session, view, .. }) = views.get(&id) {
        // A wish before this one has done it.
        return pass(&session, wish(view, responder));
    }
    let fresh = host.next_view();
    let attached = views.attach(&session, &setup.setup, fresh, |view| {
        // If the session closes instead, the wish that follows hears of it.
        let (refused, _) = oneshot::channel();
        let attach = Attach {
            view,
            client,
            how: setup.how,
            responder: None,
            refused,
        };
        pass(&session, Control::Attach(Box::new(attach)));
        pass(&session, wish(view, responder));
    });
    if attached.is_none() {
        // The client is gone; a view that nobody sees lets the session end.
        session.control_if_open(Control::Detach(fresh));
    }
}

async fn open(
    host: &Arc<Host>,
    setup: &Setup,
    request: &Responder,
) -> crate::Result<crate::Session> {
    let given = SessionSetup::clone(&setup.setup);
    match &setup.id {
        None => host.create(given, request).await,
        Some(id) => host.open(id, given, request).await,
    }
}

/// Attaches the client; gives the request back if the session closed before that could be done.
async fn attach(
    host: &Host,
    views: &Views,
    client: &Arc<Client>,
    session: crate::Session,
    setup: &Setup,
    responder: Option<Responder>,
) -> Result<(), Option<Responder>> {
    let fresh = host.next_view();
    let (refused, refusal) = oneshot::channel();
    let how = setup.how;
    let attached = views.attach(&session, &setup.setup, fresh, |view| {
        let attach = Attach {
            view,
            client: Arc::clone(client),
            how,
            responder,
            refused,
        };
        pass(&session, Control::Attach(Box::new(attach)));
    });
    let Some(view) = attached else {
        // The client is gone; a view that nobody sees lets the session end.
        session.control_if_open(Control::Detach(fresh));
        return Ok(());
    };
    match refusal.await {
        Ok(responder) => {
            views.remove_view(session.id(), view);
            Err(responder)
        }
        // The session has taken it.
        Err(_) => Ok(()),
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
