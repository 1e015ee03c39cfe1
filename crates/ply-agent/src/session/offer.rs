//! Questions on their way to a client's user, and back.

use std::future::Future;
use std::pin::Pin;

use ply_rpc::{CallError, CallOptions};
use ply_session::{AskId, History, Question, Reply};
use ply_wire::link::Typed as _;
use ply_wire::negotiate::Version;
use ply_wire::project::{AskId as DownId, PermissionDown};
use ply_wire::{convert, v1, v2};

use super::Session;
use super::view::{Offered, Out, View};

/// A question in the form in which the client takes it.
#[derive(Debug)]
pub(super) struct Offer {
    ask: AskId,
    session: Session,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Permission(Box<v2::RequestPermissionRequest>),
    PermissionV1(DownId, Box<v1::RequestPermissionRequest>),
    Elicitation(Box<v2::CreateElicitationRequest>),
    ElicitationV1(Box<v1::CreateElicitationRequest>),
}

impl View {
    /// Puts a question to the client's user.
    pub(super) fn offer(
        &mut self,
        ask: AskId,
        question: &Question,
        history: &History,
        session: &Session,
    ) {
        let form = match (self.client.version, question) {
            (Version::V2, Question::Permission(request)) => Form::Permission(request.clone()),
            (Version::V2, Question::Elicitation(request)) => Form::Elicitation(request.clone()),
            (Version::V1, Question::Permission(request)) => {
                let down =
                    self.project(|projector, downs| projector.permission(request, history, downs));
                match down {
                    Some(PermissionDown::Ask(id, request)) => Form::PermissionV1(id, request),
                    // No option is left that this client could show.
                    _ => return session.answered(ask, self.id, Reply::Failed),
                }
            }
            (Version::V1, Question::Elicitation(request)) => {
                // Requests are named by the id they have on this link, which no agent code knows.
                match convert::elicitation::request_down(request, |_| None) {
                    Some(request) => Form::ElicitationV1(Box::new(request)),
                    None => return session.answered(ask, self.id, Reply::Failed),
                }
            }
            _ => return session.answered(ask, self.id, Reply::Failed),
        };
        let down = match &form {
            Form::PermissionV1(id, _) => Some(*id),
            _ => None,
        };
        self.offers.insert(ask, Offered { call: None, down });
        self.send(Out::Offer(Offer {
            ask,
            session: session.clone(),
            form,
        }));
    }

    /// Sends the question and waits for its answer in a task of its own; ending the task tells the
    /// client that no answer is wanted any more.
    pub(super) fn put(&mut self, offer: Offer) {
        let Some(offered) = self.offers.get_mut(&offer.ask) else {
            // It was taken back while it waited.
            return;
        };
        let (peer, view, ask) = (self.client.peer.clone(), self.id, offer.ask);
        // Nobody knows how long a person takes.
        let patient = CallOptions::default().patient();
        // Asked here and not in the task, so that the question keeps its place among the updates.
        let reply: Pin<Box<dyn Future<Output = Option<Reply>> + Send>> = match &offer.form {
            Form::Permission(request) => {
                let call = peer.ask_with(&**request, patient);
                Box::pin(async { reply_of(call.await, |answer| permission(&answer.outcome)) })
            }
            Form::PermissionV1(_, request) => {
                let call = peer.ask_with(&**request, patient);
                Box::pin(async { reply_of(call.await, |answer| permission_v1(&answer.outcome)) })
            }
            Form::Elicitation(request) => {
                let call = peer.ask_with(&**request, patient);
                Box::pin(async { reply_of(call.await, |answer| Reply::Elicited(answer.action)) })
            }
            Form::ElicitationV1(request) => {
                let call = peer.ask_with(&**request, patient);
                let up = |answer| convert::elicitation::response_up(&answer).action;
                Box::pin(async move { reply_of(call.await, |answer| Reply::Elicited(up(answer))) })
            }
        };
        let session = offer.session;
        let call = tokio::spawn(async move {
            if let Some(reply) = reply.await {
                session.answered(ask, view, reply);
            }
        });
        offered.call = Some(call.abort_handle());
    }

    /// Notes that this client answered.
    pub(super) fn answered(&mut self, ask: AskId, reply: &Reply) {
        let Some(offered) = self.offers.remove(&ask) else {
            return;
        };
        if let Some(down) = offered.down {
            let outcome = match reply {
                Reply::Selected(option) => v1::RequestPermissionOutcome::Selected(
                    v1::SelectedPermissionOutcome::new(option.0.clone()),
                ),
                _ => v1::RequestPermissionOutcome::Cancelled,
            };
            self.project(|projector, downs| projector.permission_answered(down, &outcome, downs));
        }
    }

    /// Takes a question back.
    pub(super) fn retract(&mut self, ask: AskId) {
        if let Some(call) = self
            .offers
            .get(&ask)
            .and_then(|offered| offered.call.as_ref())
        {
            call.abort();
        }
        self.answered(ask, &Reply::Dismissed);
    }
}

/// Returns nothing if the link is gone: the question is for the next client then.
fn reply_of<T>(answer: Result<T, CallError>, reply: impl FnOnce(T) -> Reply) -> Option<Reply> {
    match answer {
        Ok(answer) => Some(reply(answer)),
        Err(error) if error.is_closed() => None,
        Err(error) if error.is_cancelled() => Some(Reply::Dismissed),
        Err(_) => Some(Reply::Failed),
    }
}

fn permission(outcome: &v2::RequestPermissionOutcome) -> Reply {
    match outcome {
        v2::RequestPermissionOutcome::Selected(selected) => {
            Reply::Selected(selected.option_id.clone())
        }
        v2::RequestPermissionOutcome::Cancelled(_) => Reply::Dismissed,
        _ => Reply::Failed,
    }
}

fn permission_v1(outcome: &v1::RequestPermissionOutcome) -> Reply {
    match outcome {
        v1::RequestPermissionOutcome::Selected(selected) => {
            Reply::Selected(v2::PermissionOptionId::new(selected.option_id.0.clone()))
        }
        // In version 1 this is how a client says that it cancelled the turn (V1-CANCEL-12).
        v1::RequestPermissionOutcome::Cancelled => Reply::CancelTurn,
        _ => Reply::Failed,
    }
}
