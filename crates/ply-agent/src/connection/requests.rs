//! Where each request goes.

use std::sync::Arc;

use ply_rpc::{Responder, RpcError};
use ply_session::{Close, Entity, Input, Keep, OptionChange, Prompt, RequestId, ViewId};
use ply_wire::convert::content::Malformed;
use ply_wire::method::{Extension, v1 as method_v1, v2 as method_v2};
use ply_wire::{convert, v2};

use super::Connection;
use super::ply;
use super::steering;
use super::views::{Attached, Leaving};
use crate::client::Client;
use crate::error::no_such_session;
use crate::session::control::{Control, Waiter};
use crate::session::{self, Session};
use crate::{Asker, NewPrompts};

/// How large the metadata of a prompt may be: it is kept while the prompt waits.
const META_BYTES_MAX: usize = 64 * 1024;

impl Connection {
    pub(super) fn request_v1(
        &self,
        client: &Arc<Client>,
        inbound: method_v1::AgentInbound,
        responder: Responder,
    ) {
        use method_v1::AgentInbound as In;
        match inbound {
            In::Authenticate(request) => {
                self.login(
                    client,
                    convert::auth::login_up(&request).method_id,
                    responder,
                );
            }
            In::Logout(_) => self.logout(responder),
            In::NewSession(request) => match convert::session::new_up(&request) {
                Ok(request) => self.new_session(client, request, responder),
                Err(error) => refuse_transport(&error, responder),
            },
            In::LoadSession(request) => match convert::session::load_up(&request) {
                Ok(request) => self.resume_session(client, request, responder),
                Err(error) => refuse_transport(&error, responder),
            },
            In::ResumeSession(request) => match convert::session::resume_up(&request) {
                Ok(request) => self.resume_session(client, request, responder),
                Err(error) => refuse_transport(&error, responder),
            },
            In::ListSessions(request) => {
                self.list(client, convert::session::list_up(&request), responder);
            }
            In::CloseSession(request) => {
                let id = convert::session::close_up(&request).session_id;
                match self.views.leave(&id) {
                    Some(leaving) => self.close(leaving, responder),
                    None => responder.respond::<()>(Err(no_such_session(&id))),
                }
            }
            In::DeleteSession(request) => {
                self.delete(&convert::session::delete_up(&request).session_id, responder);
            }
            In::Prompt(request) => {
                let id = v2::SessionId::new(request.session_id.0);
                let content = request
                    .prompt
                    .into_iter()
                    .map(convert::content::up)
                    .collect();
                self.prompt(client, &id, content, request.meta, responder);
            }
            In::SetSessionMode(request) => {
                let id = v2::SessionId::new(request.session_id.0.clone());
                self.set_option(client, &id, OptionChange::V1Mode(request), responder);
            }
            In::SetSessionConfigOption(request) => {
                let id = v2::SessionId::new(request.session_id.0.clone());
                self.set_option(client, &id, OptionChange::V1(request), responder);
            }
            #[cfg(feature = "unstable_session_fork")]
            In::ForkSession(request) => match convert::unstable::fork_up(&request) {
                Ok(request) => self.fork_session(client, request, responder),
                Err(error) => refuse_transport(&error, responder),
            },
            #[cfg(feature = "unstable_session_status")]
            In::SessionStatus(request) => {
                self.status(client, &convert::unstable::status_up(&request), responder)
            }
            #[cfg(feature = "unstable_session_set_title")]
            In::SetSessionTitle(request) => self.set_title(
                client,
                &convert::unstable::set_title_up(&request),
                responder,
            ),
            #[cfg(feature = "unstable_session_archive")]
            In::ArchiveSession(request) => self.archive(
                &convert::unstable::archive_up(&request).session_id,
                responder,
            ),
            #[cfg(feature = "unstable_session_archive")]
            In::UnarchiveSession(request) => self.unarchive(
                &convert::unstable::unarchive_up(&request).session_id,
                responder,
            ),
            In::Extension(extension) if self.steers(&extension) => {
                self.steer(client, &extension, responder);
            }
            In::Extension(extension) => self.extension(client, extension, responder),
            // Served before the version is known, or not a request.
            _ => responder.respond::<()>(Err(RpcError::method_not_found())),
        }
    }

    pub(super) fn request_v2(
        &self,
        client: &Arc<Client>,
        inbound: method_v2::AgentInbound,
        responder: Responder,
    ) {
        use method_v2::AgentInbound as In;
        match inbound {
            In::Login(request) => self.login(client, request.method_id, responder),
            In::Logout(_) => self.logout(responder),
            In::NewSession(request) => self.new_session(client, request, responder),
            In::ResumeSession(request) => self.resume_session(client, request, responder),
            In::ListSessions(request) => self.list(client, request, responder),
            // One that is not active here is closed as far as this client is concerned (V2-CLOSE-05).
            In::CloseSession(request) => match self.views.leave(&request.session_id) {
                Some(leaving) => self.close(leaving, responder),
                None => respond_empty(responder),
            },
            In::DeleteSession(request) => self.delete(&request.session_id, responder),
            In::Prompt(request) => {
                let id = &request.session_id;
                self.prompt(client, id, request.prompt, request.meta, responder);
            }
            In::SetSessionConfigOption(request) => {
                let id = request.session_id.clone();
                self.set_option(client, &id, OptionChange::V2(request), responder);
            }
            In::CancelToolCall(request) => {
                let entity = Entity::ToolCall(request.tool_call_id);
                self.cancel_entity(client, &request.session_id, entity, responder);
            }
            In::CancelTerminal(request) => {
                let entity = Entity::Terminal(request.terminal_id);
                self.cancel_entity(client, &request.session_id, entity, responder);
            }
            #[cfg(feature = "unstable_session_fork")]
            In::ForkSession(request) => self.fork_session(client, request, responder),
            #[cfg(feature = "unstable_session_status")]
            In::SessionStatus(request) => self.status(client, &request, responder),
            #[cfg(feature = "unstable_session_set_title")]
            In::SetSessionTitle(request) => self.set_title(client, &request, responder),
            #[cfg(feature = "unstable_session_archive")]
            In::ArchiveSession(request) => self.archive(&request.session_id, responder),
            #[cfg(feature = "unstable_session_archive")]
            In::UnarchiveSession(request) => self.unarchive(&request.session_id, responder),
            In::Extension(extension) if self.steers(&extension) => {
                self.steer(client, &extension, responder);
            }
            In::Extension(extension) => self.extension(client, extension, responder),
            // Served before the version is known, or not a request.
            _ => responder.respond::<()>(Err(RpcError::method_not_found())),
        }
    }

    pub(super) fn attached(&self, session: &v2::SessionId) -> Option<Attached> {
        self.views.get(session)
    }

    pub(super) fn prompt(
        &self,
        client: &Arc<Client>,
        id: &v2::SessionId,
        content: Vec<v2::ContentBlock>,
        meta: Option<v2::Meta>,
        responder: Responder,
    ) {
        match self.host.new_prompts() {
            NewPrompts::Taken => {}
            // Dropped when the client takes the prompt back, or its link ends.
            NewPrompts::Wait => return responder.run(std::future::pending::<Result<(), _>>()),
            NewPrompts::Refused(reason) => {
                let error = RpcError::new(RpcError::INTERNAL_ERROR, &*reason);
                return responder.respond::<()>(Err(error));
            }
        }
        if meta.as_ref().is_some_and(is_too_large) {
            let reason = format!("the `_meta` of a prompt has at most {META_BYTES_MAX} bytes");
            return responder.respond::<()>(Err(RpcError::invalid_params(reason)));
        }
        // A priority or an address that is odd costs nothing; data that cannot be read would fail later.
        let is_unreadable = |block| convert::content::check(block) == Err(Malformed::Data);
        if content.iter().any(is_unreadable) {
            let error = RpcError::invalid_params(Malformed::Data.to_string());
            return responder.respond::<()>(Err(error));
        }
        let operation = meta.as_ref();
        let operation = operation.and_then(|meta| meta.get(ply::OPERATION)?.as_str());
        let operation = operation.map(str::to_owned);
        let steers = meta.as_ref().is_some_and(steering::is_marked);
        let steers = steers && self.attached(id).is_some_and(|to| to.session.is_steered());
        self.request(client, id, (responder, meta), |view, request| {
            Input::Prompt(Prompt {
                request,
                view,
                content,
                operation,
                steers,
            })
        });
    }

    fn set_option(
        &self,
        client: &Arc<Client>,
        id: &v2::SessionId,
        change: OptionChange,
        responder: Responder,
    ) {
        let change = Box::new(change);
        self.request(client, id, (responder, None), |view, request| {
            Input::SetOption {
                request,
                view,
                change,
            }
        });
    }

    /// Passes a request on to its session.
    fn request(
        &self,
        client: &Arc<Client>,
        id: &v2::SessionId,
        (responder, meta): (Responder, Option<v2::Meta>),
        input: impl FnOnce(ViewId, RequestId) -> Input,
    ) {
        let Some(Attached { session, view, .. }) = self.attached(id) else {
            return responder.respond::<()>(Err(no_such_session(id)));
        };
        let request = self.host.next_request();
        withdraw_on_cancel(&session, request, client, &responder);
        let waiter = match meta {
            Some(meta) => Waiter::Prompter(responder, Box::new(meta)),
            None => Waiter::Client(responder),
        };
        let control = Control::Request(Box::new(input(view, request)), waiter);
        if let Err(control) = session.control(control) {
            session::refuse(control, &ply_session::no_such_session(id));
        }
    }

    fn close(&self, leaving: Leaving, responder: Responder) {
        let session = leaving.session().clone();
        let close = Close {
            request: Some(self.host.next_request()),
            view: Some(leaving.view),
            journal: Keep::All,
        };
        let waiter = Waiter::Leaver(responder, leaving);
        let control = Control::Request(Box::new(Input::Close(close)), waiter);
        if let Err(control) = session.control(control) {
            session::refuse(control, &ply_session::no_such_session(session.id()));
        }
    }

    fn delete(&self, id: &v2::SessionId, responder: Responder) {
        // It ends whatever comes of its journal, so the view is never taken up again.
        drop(self.views.leave(id));
        self.host.delete(id, responder);
    }

    fn cancel_entity(
        &self,
        client: &Arc<Client>,
        id: &v2::SessionId,
        entity: Entity,
        responder: Responder,
    ) {
        self.request(client, id, (responder, None), |view, request| {
            Input::CancelEntity {
                request,
                view,
                entity,
            }
        });
    }

    fn login(&self, client: &Arc<Client>, method: v2::AuthMethodId, responder: Responder) {
        let methods = &self.about().auth_methods;
        if methods.is_empty() {
            return responder.respond::<()>(Err(RpcError::method_not_found()));
        }
        // A terminal method is run by the client and never logged in with (V1-AUTH-07).
        let is_known = methods.iter().any(|known| match known {
            v2::AuthMethod::Terminal(_) => false,
            known => *known.method_id() == method,
        });
        if !is_known {
            let error = RpcError::invalid_params("there is no such way to log in");
            return responder.respond::<()>(Err(error));
        }
        let agent = self.host.agent();
        let request = serde_json::from_str(&responder.id().to_string()).unwrap_or_default();
        let user = Asker::new(Arc::clone(client), request);
        run_empty(async move { agent.login(method, user).await }, responder);
    }

    fn logout(&self, responder: Responder) {
        if self.about().auth_methods.is_empty() {
            return responder.respond::<()>(Err(RpcError::method_not_found()));
        }
        let agent = self.host.agent();
        run_empty(async move { agent.logout().await }, responder);
    }

    fn extension(&self, client: &Arc<Client>, extension: Extension, responder: Responder) {
        let agent = self.host.agent();
        let request = crate::Extension {
            method: extension.method,
            params: extension.params,
            client: crate::Client(Arc::clone(client)),
            views: self.views.clone(),
        };
        responder.run(async move {
            let done = agent.extension(request);
            done.await.map_err(|error| error.to_rpc())
        });
    }
}

/// Tells the session when the client no longer wants an answer.
pub(super) fn withdraw_on_cancel(
    session: &Session,
    request: RequestId,
    client: &Arc<Client>,
    responder: &Responder,
) {
    let (session, client) = (session.clone(), Arc::clone(client));
    responder.on_cancel(move || {
        // Nothing is left to take back once the session is over.
        drop(session.control(Control::Withdraw(request, client)));
    });
}

fn run_empty(work: impl Future<Output = crate::Result<()>> + Send + 'static, responder: Responder) {
    responder.run(async move {
        let done = work.await.map_err(|error| error.to_rpc());
        done.map(|()| serde_json::Map::new())
    });
}

/// Returns whether metadata would take too much memory while its prompt waits.
fn is_too_large(meta: &v2::Meta) -> bool {
    serde_json::to_vec(meta).is_ok_and(|json| json.len() > META_BYTES_MAX)
}

fn respond_empty(responder: Responder) {
    responder.respond(Ok(serde_json::Map::new()));
}

fn refuse_transport(error: &convert::mcp::UnsupportedTransport, responder: Responder) {
    responder.respond::<()>(Err(RpcError::invalid_params(error.to_string())));
}
