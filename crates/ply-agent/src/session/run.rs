//! The agent's code for a turn, running in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use ply_rpc::RpcError;
use ply_session::{Outcome, PromptId, Start, Stop, TurnId};
use ply_wire::v2;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, Sleep};

use super::Session;
use super::op::OwnWork;
use crate::cancel::Cancel;
use crate::client::Client;
use crate::host::DynAgent;
use crate::{Prompt, Result, Turn};

/// A turn that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) turn: TurnId,
    cancel: Cancel,
    task: JoinHandle<Result<Stop>>,
    /// When the turn, once cancelled, is overdue.
    overdue: Option<std::pin::Pin<Box<Sleep>>>,
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

/// What became of a turn that runs.
#[derive(Debug)]
pub(super) enum Ended {
    Done(Outcome),
    Overdue,
}

impl Running {
    pub(super) fn start(
        start: &Start,
        content: Vec<v2::ContentBlock>,
        session: &Session,
        id_prefix: String,
        client: Option<Arc<Client>>,
        agent: &Arc<dyn DynAgent>,
        own: Option<OwnWork>,
    ) -> Self {
        let (turn, cancel) = (start.turn, Cancel::default());
        let prompt = Prompt::new(content, start.message.clone());
        let client = client.zip(start.view);
        let handle = Turn::new(
            session.clone(),
            turn,
            id_prefix,
            prompt,
            cancel.clone(),
            client,
        );
        let agent = Arc::clone(agent);
        let task = tokio::spawn(async move {
            match own {
                Some(work) => work(handle).await,
                None => agent.prompt(handle).await,
            }
        });
        Self {
            turn,
            cancel,
            task,
            overdue: None,
        }
    }

    pub(super) fn cancel(&mut self, time: Duration) {
        self.cancel.ask();
        self.overdue = Some(Box::pin(tokio::time::sleep_until(Instant::now() + time)));
    }

    /// Drops the agent's code where it stands.
    pub(super) fn abandon(self) {
        self.cancel.ask();
        self.task.abort();
    }

    /// Waits for the end of the agent's code, or until it is overdue.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub(super) async fn ended(&mut self) -> Ended {
        let overdue = async {
            match &mut self.overdue {
                Some(overdue) => overdue.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            done = &mut self.task => Ended::Done(outcome(done)),
            () = overdue => Ended::Overdue,
        }
    }

    /// Makes an overdue turn count as such once only.
    pub(super) fn was_overdue(&mut self) {
        self.overdue = None;
    }
}

fn outcome(done: Result<Result<Stop>, JoinError>) -> Outcome {
    match done {
        Ok(Ok(stop)) => Outcome::Stopped(stop),
        Ok(Err(error)) => Outcome::Failed(error.to_v2()),
        Err(error) => {
            // What the panic said went to standard error; it may hold anything, so no client sees it.
            tracing::error!(panicked = error.is_panic(), "the agent's code broke off");
            let code = i32::try_from(RpcError::INTERNAL_ERROR).unwrap_or(i32::MIN);
            let message = "The agent failed unexpectedly; see its log.";
            Outcome::Failed(v2::Error::new(code, message))
        }
    }
}

/// Numbers prompts and turns of the agent's own.
#[derive(Debug, Default)]
pub(super) struct PromptIds(u64);

impl PromptIds {
    pub(super) fn next(&mut self) -> PromptId {
        self.0 += 1;
        PromptId(self.0)
    }
}
