//! The agent's code for a turn.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use ply_session::{Outcome, Start, Stop, TurnId, ViewId};
use ply_wire::v2;
use tokio::sync::oneshot;

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
    /// Whether its code is to be dropped where it stands.
    is_given_up: Arc<AtomicBool>,
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

/// The code of a turn that runs, for whoever drives the session.
pub(super) struct Code {
    /// None once it is over.
    work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    is_given_up: Arc<AtomicBool>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Code")
    }
}

impl Code {
    /// Says whether the turn ended without it.
    pub(super) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Acquire)
    }

    /// Goes on with it.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(work) = &mut self.work else {
            return Poll::Ready(());
        };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let work = self.work.take();
        // What it drops is the author's, and may panic.
        if catch_unwind(AssertUnwindSafe(|| drop(work))).is_err() {
            tracing::error!("the agent's code panicked when it was dropped");
        }
    }
}

impl Running {
    /// Makes the code of a turn. Its end is its last report.
    pub(super) fn new(
        (start, meta): (Start, Option<v2::Meta>),
        session: &Session,
        id_prefix: String,
        client: Option<(Arc<Client>, ViewId)>,
        agent: Arc<dyn DynAgent>,
        own: Option<OwnWork>,
        counted: (Arc<()>, usize),
    ) -> (Self, Code) {
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
        let work = async move {
            // Also what comes before the future is the author's, and may panic.
            let work = async move {
                match own {
                    Some(work) => work(handle).await,
                    None => agent.prompt(handle).await,
                }
            };
            let outcome = outcome(guarded(work).await);
            session.report_now(Op::Ended { turn, outcome });
            until_end.let_go();
        };
        let is_given_up = Arc::<AtomicBool>::default();
        let code = Code {
            work: Some(Box::pin(work)),
            is_given_up: Arc::clone(&is_given_up),
        };
        let running = Self {
            turn,
            cancel,
            is_given_up,
            _counted: counted.0,
        };
        (running, code)
    }

    pub(super) fn cancel(&self) {
        self.cancel.ask();
    }

    /// Has the agent's code dropped where it stands.
    pub(super) fn abandon(self) {
        self.cancel.ask();
        self.is_given_up.store(true, Ordering::Release);
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
