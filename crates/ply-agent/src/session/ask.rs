//! Questions on their way to a client's user, and back.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use ply_rpc::{CallError, CallOptions};
use ply_session::{AskId, Form, Reply, ViewId};
use ply_wire::link::Typed as _;
use ply_wire::{convert, v1, v2};
use tokio::task::AbortHandle;

use super::Session;
use crate::client::Client;

type Waiting = Pin<Box<dyn Future<Output = Option<Reply>> + Send>>;

/// A question that a client was asked.
#[derive(Debug)]
pub(super) struct Asked {
    reply: Arc<Slot>,
    task: AbortHandle,
}

impl Asked {
    /// Tells the client that no answer is wanted any more, before anything that is sent after this (V2-CLOSE-07).
    pub(super) fn take_back(&self) {
        drop(self.reply.take());
        self.task.abort();
    }
}

/// Where the answer comes in. What waits for it can be dropped at once, though a task polls it.
struct Slot(Mutex<Option<Waiting>>);

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slot")
    }
}

impl Slot {
    fn take(&self) -> Option<Waiting> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the answer; there is none if the link is gone or the question was taken back.
    async fn answer(&self) -> Option<Reply> {
        std::future::poll_fn(|cx| match self.lock().as_mut() {
            Some(reply) => reply.as_mut().poll(cx),
            None => Poll::Ready(None),
        })
        .await
    }
}

/// Sends a question, and waits for its answer in a task of its own.
pub(super) fn put(
    session: &Session,
    client: &Arc<Client>,
    view: ViewId,
    ask: AskId,
    form: Form,
) -> Asked {
    let peer = &client.peer;
    // Nobody knows how long a person takes.
    let patient = CallOptions::default().patient();
    // Asked here and not in the task, so that the question keeps its place among the updates.
    let reply: Waiting = match form {
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
    let reply = Arc::new(Slot(Mutex::new(Some(reply))));
    let (session, slot) = (session.clone(), Arc::clone(&reply));
    let task = tokio::spawn(async move {
        if let Some(reply) = slot.answer().await {
            session.answered(ask, view, reply);
        }
    });
    let task = task.abort_handle();
    Asked { reply, task }
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
