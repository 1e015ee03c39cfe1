//! Questions on their way to a client's user, and back.

use std::sync::Arc;

use ply_rpc::{CallOptions, OrderedCall, RawAnswer};
use ply_session::{AskId, Form, Reply, ViewId};
use ply_wire::convert::permission::is_unattended;
use ply_wire::method::Request;
use ply_wire::{convert, v1, v2};

use super::Session;
use crate::client::Client;

/// A question that a client was asked.
#[derive(Debug)]
pub(super) struct Asked(Option<OrderedCall>);

impl Asked {
    /// Tells the client that no answer is wanted any more, before anything that is sent after this (V2-CLOSE-07).
    pub(super) fn take_back(&self) {
        if let Some(call) = &self.0 {
            call.abandon();
        }
    }
}

/// Sends a question, in its place among the updates. Its answer goes to the session from the link's task.
pub(super) fn put(
    session: &Session,
    client: &Arc<Client>,
    view: ViewId,
    ask: AskId,
    form: Form,
) -> Asked {
    let to = To {
        session: session.clone(),
        ask,
        view,
    };
    Asked(match form {
        Form::Permission(request) => {
            Some(to.send(client, &*request, |answer| permission(&answer.outcome)))
        }
        Form::PermissionV1(request) => {
            Some(to.send(client, &*request, |answer| permission_v1(&answer.outcome)))
        }
        Form::Elicitation(request) => {
            Some(to.send(client, &*request, |answer| Reply::Elicited(answer.action)))
        }
        Form::ElicitationV1(request) => Some(to.send(client, &*request, |answer| {
            Reply::Elicited(convert::elicitation::response_up(&answer).action)
        })),
        _ => {
            to.session.answered(ask, view, Reply::Failed);
            None
        }
    })
}

/// Who hears the answer.
struct To {
    session: Session,
    ask: AskId,
    view: ViewId,
}

impl To {
    fn send<Q: Request>(
        self,
        client: &Client,
        request: &Q,
        reply: impl FnOnce(Q::Response) -> Reply + Send + 'static,
    ) -> OrderedCall {
        // Nobody knows how long a person takes.
        let patient = CallOptions::default().patient();
        client
            .peer
            .call_then(Q::METHOD, request, patient, move |answer| {
                if let Some(reply) = reply_of::<Q>(answer, reply) {
                    self.session.answered(self.ask, self.view, reply);
                }
            })
    }
}

/// Returns nothing if the link is gone: the question is for the next client then.
fn reply_of<Q: Request>(
    answer: RawAnswer,
    reply: impl FnOnce(Q::Response) -> Reply,
) -> Option<Reply> {
    match answer {
        Ok(answer) => Some(serde_json::from_str(answer.get()).map_or(Reply::Failed, reply)),
        Err(error) if error.is_closed() => None,
        Err(error) if error.is_cancelled() => Some(Reply::Dismissed),
        Err(_) => Some(Reply::Failed),
    }
}

fn permission(outcome: &v2::RequestPermissionOutcome) -> Reply {
    match outcome {
        // Nobody was asked, so nobody has decided: other clients still may.
        v2::RequestPermissionOutcome::Selected(selected)
            if is_unattended(selected.meta.as_ref()) =>
        {
            Reply::Failed
        }
        v2::RequestPermissionOutcome::Selected(selected) => {
            Reply::Selected(selected.option_id.clone())
        }
        v2::RequestPermissionOutcome::Cancelled(_) => Reply::Dismissed,
        _ => Reply::Failed,
    }
}

fn permission_v1(outcome: &v1::RequestPermissionOutcome) -> Reply {
    match outcome {
        v1::RequestPermissionOutcome::Selected(selected)
            if is_unattended(selected.meta.as_ref()) =>
        {
            Reply::Failed
        }
        v1::RequestPermissionOutcome::Selected(selected) => {
            Reply::Selected(v2::PermissionOptionId::new(selected.option_id.0.clone()))
        }
        // In version 1 this is how a client says that it cancelled the turn (V1-CANCEL-12).
        v1::RequestPermissionOutcome::Cancelled => Reply::CancelTurn,
        _ => Reply::Failed,
    }
}
