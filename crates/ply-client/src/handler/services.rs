//! Files and terminals for agents of version 1.

use std::sync::Arc;

use ply_rpc::{Request, Responder, RpcError};
use ply_wire::v1;

use super::{Inbound, no_such_session};
use crate::services::{DynTerminals, Scope};
use crate::session::cell::SessionCell;

impl Inbound {
    pub(super) fn file(&self, request: Request<'_>, responder: Responder) {
        let Some(files) = self.routes.settings.files.clone() else {
            return self.not_offered(request, responder);
        };
        match request.method {
            "fs/read_text_file" => {
                let Some((params, responder)) =
                    self.params::<v1::ReadTextFileRequest>(request, responder)
                else {
                    return;
                };
                let Some(session) = self.session(&params.session_id.0, request.method) else {
                    return responder.respond::<()>(Err(no_such_session()));
                };
                responder.run(files.read(Scope::new(session), params));
            }
            "fs/write_text_file" if files.can_write() => {
                let Some((params, responder)) =
                    self.params::<v1::WriteTextFileRequest>(request, responder)
                else {
                    return;
                };
                let Some(session) = self.session(&params.session_id.0, request.method) else {
                    return responder.respond::<()>(Err(no_such_session()));
                };
                responder.run(files.write(Scope::new(session), params));
            }
            _ => self.not_offered(request, responder),
        }
    }

    pub(super) fn terminal(&self, request: Request<'_>, responder: Responder) {
        let Some(terminals) = self.routes.terminals.clone() else {
            return self.not_offered(request, responder);
        };
        match request.method {
            "terminal/create" => {
                let Some((params, responder)) =
                    self.params::<v1::CreateTerminalRequest>(request, responder)
                else {
                    return;
                };
                let Some(session) = self.session(&params.session_id.0, request.method) else {
                    return responder.respond::<()>(Err(no_such_session()));
                };
                responder.run(async move { create(terminals, session, params).await });
            }
            "terminal/output" => {
                if let Some((params, responder)) = self.params(request, responder) {
                    responder.run(terminals.output(params));
                }
            }
            "terminal/wait_for_exit" => {
                if let Some((params, responder)) = self.params(request, responder) {
                    responder.run(terminals.wait_for_exit(params));
                }
            }
            "terminal/kill" => {
                if let Some((params, responder)) = self.params(request, responder) {
                    responder.run(terminals.kill(params));
                }
            }
            "terminal/release" => {
                if let Some((params, responder)) = self.params(request, responder) {
                    responder.run(terminals.release(params));
                }
            }
            _ => self.not_offered(request, responder),
        }
    }
}

async fn create(
    terminals: Arc<dyn DynTerminals>,
    session: Arc<SessionCell>,
    params: v1::CreateTerminalRequest,
) -> Result<v1::CreateTerminalResponse, RpcError> {
    let created = terminals
        .create(Scope::new(Arc::clone(&session)), params)
        .await?;
    // Before the agent learns the id, so that no update can name it earlier.
    session.terminal_created(created.terminal_id.clone());
    Ok(created)
}
