//! Questions on their way to a client's user, and back.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ply_rpc::{CallError, CallOptions};
use ply_session::{AskId, Form, Reply, ViewId};
use ply_wire::link::Typed as _;
use ply_wire::{convert, v1, v2};
use tokio::task::AbortHandle;

use super::Session;
use crate::client::Client;

/// Sends a question and waits for its answer in a task of its own; ending the task tells the client that no answer is wanted
/// any more.
pub(super) fn put(
    session: &Session,
    client: &Arc<Client>,
    view: ViewId,
    ask: AskId,
    form: Form,
) -> AbortHandle {
    let peer = &client.peer;
    // Nobody knows how long a person takes.
    let patient = CallOptions::default().patient();
    // Asked here and not in the task, so that the question keeps its place among the updates.
    let reply: Pin<Box<dyn Future<Output = Option<Reply>> + Send>> = match form {
        Form::Permission(request) => {
            let call = peer.ask_with(&*request, patient);
            Box::pin(async { reply_of(call.await, |answer| permission(&answer.outcome)) })
        }
        Form::PermissionV1(request) => {
            let call = peer.ask_with(&*request, patient);
            Box::pin(async { reply_of(call.await, |answer| permission_v1(&answer.outcome)) })
        }
        Form::Elicitation(request) => {
            let call = peer.ask_with(&*request, patient);
            Box::pin(async { reply_of(call.await, |answer| Reply::Elicited(answer.action)) })
        }
        Form::ElicitationV1(request) => {
            let call = peer.ask_with(&*request, patient);
            let up = |answer| convert::elicitation::response_up(&answer).action;
            Box::pin(async move { reply_of(call.await, |answer| Reply::Elicited(up(answer))) })
        }
        _ => Box::pin(std::future::ready(Some(Reply::Failed))),
    };
    let session = session.clone();
    let call = tokio::spawn(async move {
        if let Some(reply) = reply.await {
            session.answered(ask, view, reply);
        }
    });
    call.abort_handle()
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
