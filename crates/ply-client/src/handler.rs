//! What the client does with the agent's messages, on the task that reads them.

mod elicitation;
mod services;

use std::sync::Arc;

use ply_rpc::{Closed, Handler, Notification, Peer, Postbox, Request, Responder, RpcError};
use ply_wire::direct::{CallUpdate, TextChunk};
use ply_wire::method::v1 as methods_v1;
use ply_wire::method::{DecodeError, decode_params, is_extension};
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use serde::de::DeserializeOwned;

use crate::ask::{self, Answer, Pending, Question};
use crate::policy::Decision;
use crate::report::ReportKind;
use crate::routes::{RawUpdate, Route, Routes};
use crate::session::asking::Asked;
use crate::session::cell::SessionCell;
use crate::session::locked::Quiet;

/// The handler of one connection.
pub(crate) struct Inbound {
    routes: Arc<Routes>,
    /// Where notifications of extensions wait; made for the first one.
    postbox: Option<Postbox>,
    quiet: Quiet,
}

impl Handler for Inbound {
    fn request(&mut self, peer: &Peer, request: Request<'_>, responder: Responder) {
        let Some(version) = self.routes.version.get().copied() else {
            return self.too_early(peer, request, responder);
        };
        match (version, request.method) {
            (_, "session/request_permission") => self.permission(version, request, responder),
            (_, "elicitation/create") => self.elicitation(version, request, responder),
            (Version::V1, method) if method.starts_with("fs/") => self.file(request, responder),
            (Version::V1, method) if method.starts_with("terminal/") => {
                self.terminal(request, responder);
            }
            (_, method) if is_extension(method) => self.extension(request, responder),
            _ => self.not_offered(request, responder),
        }
    }

    fn line(&mut self, _: &Peer, line: &[u8]) -> bool {
        let Some(version) = self.routes.version.get() else {
            return false;
        };
        let Ok(text) = str::from_utf8(line) else {
            return false;
        };
        let chunk = TextChunk::read(text);
        let call = match (&chunk, version) {
            (None, Version::V1) => CallUpdate::read(text),
            _ => None,
        };
        let named = chunk.as_ref().map(TextChunk::session);
        let Some(named) = named.or(call.as_ref().map(CallUpdate::session)) else {
            return false;
        };
        // Only the usual: everything else about a session is for the longer way to find out.
        let Route::Session(session) = self.routes.find(named) else {
            return false;
        };
        let update = match (chunk, call, version) {
            (Some(chunk), _, Version::V1) => RawUpdate::V1(chunk.into_v1()),
            (Some(chunk), _, Version::V2) => match chunk.into_v2() {
                Some(update) => RawUpdate::V2(update),
                None => return false,
            },
            (None, Some(call), _) => RawUpdate::V1(call.into_v1()),
            (None, None, _) => return false,
        };
        self.quiet.add(&session);
        session.update(update, line.len(), &self.routes);
        true
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        if is_extension(notification.method) {
            return self.extension_notification(notification);
        }
        if notification.method == "elicitation/complete" {
            return self.visit_finished(notification);
        }
        if notification.method != "session/update" {
            return tracing::debug!(
                method = notification.method,
                "ignored a notification of the agent"
            );
        }
        let bytes = notification
            .raw_params
            .map_or(0, |params| params.get().len());
        let read = match self.routes.version.get() {
            Some(Version::V1) => read_v1(notification),
            Some(Version::V2) => read_v2(notification),
            None => {
                return self
                    .routes
                    .report(ReportKind::UnknownSession, notification.method);
            }
        };
        match read {
            Ok((id, update)) => match self.routes.find(&id.0) {
                Route::Session(session) => {
                    self.quiet.add(&session);
                    session.update(update, bytes, &self.routes);
                }
                Route::Nobody => {}
                Route::Unknown => self.routes.hold(id, update, bytes),
            },
            Err(error) => self
                .routes
                .report(ReportKind::MalformedUpdate, &error.to_string()),
        }
    }

    fn caught_up(&mut self) {
        self.quiet.end();
    }

    fn ended(&mut self, _: &Peer, reason: &Closed) {
        self.routes.end(reason);
    }
}

fn read_v1(notification: Notification<'_>) -> Result<(v2::SessionId, RawUpdate), DecodeError> {
    let id = |id: v1::SessionId| v2::SessionId::new(id.0);
    match methods_v1::lenient_session_update(notification.raw_params)? {
        methods_v1::LenientSessionUpdate::Known(known) => {
            Ok((id(known.session_id), RawUpdate::V1(known.update)))
        }
        methods_v1::LenientSessionUpdate::Unknown {
            session_id, update, ..
        } => {
            let other: v2::OtherSessionUpdate = decode_params(Some(&update))?;
            Ok((id(session_id), RawUpdate::UnknownV1(other)))
        }
        _ => Err(DecodeError::MethodNotFound),
    }
}

fn read_v2(notification: Notification<'_>) -> Result<(v2::SessionId, RawUpdate), DecodeError> {
    let update: v2::UpdateSessionNotification = decode_params(notification.raw_params)?;
    Ok((update.session_id, RawUpdate::V2(update.update)))
}

impl Inbound {
    pub(crate) fn new(routes: Arc<Routes>) -> Self {
        Self {
            routes,
            postbox: None,
            quiet: Quiet::default(),
        }
    }

    fn extension(&self, request: Request<'_>, responder: Responder) {
        let Some(extensions) = self.routes.settings.extensions.clone() else {
            return self.not_offered(request, responder);
        };
        responder.run(extensions.request(request.into()));
    }

    fn extension_notification(&mut self, notification: Notification<'_>) {
        let Some(extensions) = &self.routes.settings.extensions else {
            let method = notification.method;
            return tracing::debug!(method, "ignored a notification of the agent");
        };
        let postbox = self.postbox.get_or_insert_with(|| {
            let extensions = Arc::clone(extensions);
            Postbox::new(move |posted| Arc::clone(&extensions).notification(posted.into()))
        });
        if !postbox.post(notification) {
            self.routes
                .report(ReportKind::NotificationsDropped, notification.method);
        }
    }

    fn too_early(&self, peer: &Peer, request: Request<'_>, responder: Responder) {
        if request.method == "initialize" {
            // Our own request came back: this is `cat`, or a terminal that echoes.
            self.routes.report(ReportKind::Echo, request.method);
            self.routes
                .echoes
                .store(true, std::sync::atomic::Ordering::Relaxed);
            peer.close();
        }
        responder.respond::<()>(Err(RpcError::invalid_request(
            "the connection is not initialized",
        )));
    }

    fn not_offered(&self, request: Request<'_>, responder: Responder) {
        self.routes
            .report(ReportKind::UnknownMethod, request.method);
        responder.respond::<()>(Err(RpcError::method_not_found()));
    }

    /// Decodes the params of a request, or answers that they do not fit.
    fn params<T: DeserializeOwned>(
        &self,
        request: Request<'_>,
        responder: Responder,
    ) -> Option<(T, Responder)> {
        match decode_params(request.raw_params) {
            Ok(params) => Some((params, responder)),
            Err(error) => {
                self.routes
                    .report(ReportKind::MalformedRequest, request.method);
                responder.respond::<()>(Err(error.into()));
                None
            }
        }
    }

    fn session(&self, id: &str, method: &str) -> Option<Arc<SessionCell>> {
        match self.routes.find(id) {
            Route::Session(session) => Some(session),
            Route::Nobody => None,
            Route::Unknown => {
                self.routes.report(ReportKind::UnknownSession, method);
                None
            }
        }
    }

    fn permission(&mut self, version: Version, request: Request<'_>, responder: Responder) {
        let asked = match version {
            Version::V1 => methods_v1::lenient_permission_request(request.raw_params)
                .map(|asked| Asked::V1(Box::new(asked))),
            Version::V2 => {
                decode_params(request.raw_params).map(|asked| Asked::V2(Box::new(asked)))
            }
        };
        let asked = match asked {
            Ok(asked) => asked,
            Err(error) => {
                self.routes
                    .report(ReportKind::BogusPermission, &error.to_string());
                return responder.respond::<()>(Err(error.into()));
            }
        };
        let Some(session) = self.session(asked.session_id(), request.method) else {
            return responder.respond::<()>(Err(no_such_session()));
        };
        self.quiet.add(&session);
        let Some((ask, request)) = session.permission_asked(asked) else {
            self.routes
                .report(ReportKind::BogusPermission, "no options");
            let answer = Answer::Permission(ask::cancelled());
            return ask::send(responder, version, answer);
        };
        let request = Arc::new(request);
        // Before the policy is asked: if that panics, the question is dropped, which answers it.
        let question = Question::Permission(Arc::clone(&request));
        let holder = Arc::downgrade(&session);
        let pending = Pending::new(question, version, responder, holder, ask);
        let decision = if session.is_cancelling() {
            Decision::Cancel
        } else {
            // A copy, so that the policy may look at the session.
            let call = session.read(|transcript| ask::call_of(&request, transcript).cloned());
            let permissions = &self.routes.settings.permissions;
            permissions.decide(&request, call.as_ref())
        };
        let offered = |id: &v2::PermissionOptionId| {
            request.options.iter().any(|option| option.option_id == *id)
        };
        match decision {
            Decision::Ask => session.ask(&pending, &self.routes),
            Decision::LeaveToOthers => drop(pending.answer(Answer::NotMine)),
            // The turn may have been cancelled while the policy thought about it.
            Decision::Select(option) if offered(&option) && !session.is_cancelling() => {
                let outcome = v2::SelectedPermissionOutcome::new(option);
                let outcome = v2::RequestPermissionOutcome::Selected(outcome);
                pending.answer(Answer::Permission(outcome));
            }
            _ => {
                pending.cancel();
            }
        }
    }
}

fn no_such_session() -> RpcError {
    RpcError::invalid_params("no such session is open in this client")
}
