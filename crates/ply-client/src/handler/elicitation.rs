//! Requests for information, and the ends of visits to URLs.

use std::sync::Arc;

use ply_rpc::{Notification, Request, Responder, RpcError};
use ply_wire::convert;
use ply_wire::method::v1 as methods_v1;
use ply_wire::method::{DecodeError, decode_params};
use ply_wire::negotiate::Version;
use ply_wire::v2;

use super::{Inbound, no_such_session};
use crate::ask::{Pending, Question, Serving};
use crate::report::ReportKind;
use crate::services::Scope;

impl Inbound {
    pub(super) fn elicitation(&self, version: Version, request: Request<'_>, responder: Responder) {
        let Some(service) = self.routes.settings.elicitation.clone() else {
            return self.not_offered(request, responder);
        };
        let decoded = match version {
            Version::V1 => methods_v1::ClientInbound::decode(request.method, request.raw_params)
                .and_then(|inbound| match inbound {
                    methods_v1::ClientInbound::CreateElicitation(asked) => {
                        // The ids of requests are the same in both readings of one connection.
                        convert::elicitation::request_up(&asked, |id| {
                            serde_json::to_value(id)
                                .ok()
                                .and_then(|id| serde_json::from_value(id).ok())
                        })
                        .ok_or(DecodeError::InvalidParams("it names no request".into()))
                    }
                    _ => Err(DecodeError::MethodNotFound),
                }),
            Version::V2 => decode_params(request.raw_params),
        };
        let mut asked: v2::CreateElicitationRequest = match decoded {
            Ok(asked) => asked,
            Err(error) => {
                self.routes
                    .report(ReportKind::MalformedRequest, request.method);
                return responder.respond::<()>(Err(error.into()));
            }
        };
        let is_nested = match &asked.mode {
            v2::ElicitationMode::Form(form) => {
                !convert::elicitation::is_flat(&form.requested_schema)
            }
            _ => false,
        };
        if is_nested {
            self.routes
                .report(ReportKind::MalformedRequest, request.method);
            let error = RpcError::invalid_params("a form holds plain values and choices only");
            return responder.respond::<()>(Err(error));
        }
        let scope = match &mut asked.mode {
            v2::ElicitationMode::Form(form) if service.takes_forms() => &mut form.scope,
            v2::ElicitationMode::Url(url) if service.takes_urls() => &mut url.scope,
            _ => {
                let error = RpcError::invalid_params("this client did not offer this mode");
                return responder.respond::<()>(Err(error));
            }
        };
        let session = match scope {
            v2::ElicitationScope::Session(scope) => {
                let Some(session) = self.session(&scope.session_id.0, request.method) else {
                    return responder.respond::<()>(Err(no_such_session()));
                };
                let call = scope.tool_call_id.take();
                scope.tool_call_id = call.and_then(|id| session.call_meant(id));
                Some(session)
            }
            _ => None,
        };
        if let v2::ElicitationMode::Url(url) = &asked.mode {
            let id = url.elicitation_id.clone();
            self.routes.add_visit(id, session.as_ref());
        }
        let ask = session.as_ref().and_then(|session| session.ask_opened());
        let holder = session.as_ref().map(Arc::downgrade).unwrap_or_default();
        let asked = Arc::new(asked);
        let question = Question::Elicitation(Arc::clone(&asked));
        // Before the service is asked: if that panics, the question is dropped, which answers it.
        let pending = Pending::new(question, version, responder, holder, ask);
        let serving = Serving::new(pending, session.clone(), Arc::clone(&self.routes));
        let work = service.elicit(session.map(Scope::new), asked);
        serving.run(work);
    }

    /// Tells the service and whoever reads the session that a visit to a URL is over. Ids that are unknown, or were told before, mean nothing
    /// (V1-ELIC-21). Both versions say it alike.
    pub(super) fn visit_finished(&self, notification: Notification<'_>) {
        match notification.params::<v2::CompleteElicitationNotification>() {
            Ok(complete) => {
                let id = &complete.elicitation_id;
                let Some(session) = self.routes.take_visit(id) else {
                    return;
                };
                if let Some(service) = &self.routes.settings.elicitation {
                    service.visit_finished(id);
                }
                if let Some(session) = session.upgrade() {
                    session.visit_finished(id);
                }
            }
            Err(error) => tracing::debug!(%error, "the end of a visit cannot be read"),
        }
    }
}
