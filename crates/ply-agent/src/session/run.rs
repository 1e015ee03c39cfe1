//! The agent's code for a turn, running in a task of its own.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use ply_session::{Outcome, Start, Stop, TurnId, ViewId};
use ply_wire::v2;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::Session;
use super::op::{Op, OwnWork};
use crate::cancel::Cancel;
use crate::client::Client;
use crate::host::DynAgent;
use crate::{Error, Prompt, Result, Turn};

/// A turn that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) turn: TurnId,
    cancel: Cancel,
    task: AbortHandle,
    /// Counts the turn while it runs.
    _counted: Arc<()>,
}

/// A turn that the agent wants for itself.
pub(super) struct Own {
    pub(super) work: Option<OwnWork>,
    pub(super) ended: oneshot::Sender<v2::StopReason>,
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Own")
    }
}

impl Running {
    /// Starts the code. Its end is its last report.
    pub(super) fn start(
        (start, meta): (Start, Option<v2::Meta>),
        session: &Session,
        id_prefix: String,
        client: Option<(Arc<Client>, ViewId)>,
        agent: Arc<dyn DynAgent>,
        own: Option<OwnWork>,
        counted: (Arc<()>, usize),
    ) -> Self {
        session.0.inbox.share_room(counted.1);
        let (turn, cancel) = (start.turn, Cancel::default());
        let prompt = Prompt::new(start, meta);
        let handle = Turn::new(
            session.clone(),
            turn,
            id_prefix,
            prompt,
            cancel.clone(),
            client,
        );
        let (session, until_end) = (session.clone(), handle.until_end.clone());
        let task = tokio::spawn(async move {
            let work = match own {
                Some(work) => work(handle),
                None => agent.prompt(handle),
            };
            let outcome = outcome(guarded(work).await);
            session.report_now(Op::Ended { turn, outcome });
            until_end.let_go();
        });
        Self {
            turn,
            cancel,
            task: task.abort_handle(),
            _counted: counted.0,
        }
    }

    pub(super) fn cancel(&self) {
        self.cancel.ask();
    }

    /// Drops the agent's code where it stands.
    pub(super) fn abandon(self) {
        self.cancel.ask();
        self.task.abort();
    }
}

/// Runs the agent's code; a panic in it is an error like any other.
pub(super) async fn guarded<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut work = Box::pin(work);
    std::future::poll_fn(move |cx| {
        // What the code shares with others it shares through `Session` and `Turn`, which a panic leaves whole.
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        polled.unwrap_or_else(|_| {
            tracing::error!("the agent's code panicked");
            Poll::Ready(Err(Error::broke_off()))
        })
    })
    .await
}

fn outcome(done: Result<Stop>) -> Outcome {
    match done {
        Ok(stop) => Outcome::Stopped(stop),
        Err(error) => Outcome::Failed(error.to_v2()),
    }
}
