//! One connection to a server, from the handshake to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ply_rpc::transport::child::Child;
use rmcp::RoleClient;
use rmcp::service::{Peer, RunningService};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::host::{Host, Told};
use super::stdio;

/// How long a server may take over each of two steps of a polite end: its last answers, and its exit.
const POLITE_TIME_MAX: Duration = Duration::from_millis(500);
/// How long what a process wrote before it ended may take to be read.
const REST_TIME_MAX: Duration = Duration::from_millis(500);
/// How long the reason of an end is waited for, once a call noticed it.
const REASON_TIME_MAX: Duration = Duration::from_secs(2);

/// How a session wants its servers to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Closing {
    /// Not at all.
    Open,
    /// With a moment to tidy up.
    Politely,
    /// At once.
    Now,
}

/// A server that shook hands.
pub(super) struct Running {
    pub(super) service: RunningService<RoleClient, Host>,
    /// The process, where there is one.
    pub(super) child: Option<Child>,
    /// Whether it wrote a line without end.
    pub(super) flooded: Arc<AtomicBool>,
}

/// One connection to a server.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) peer: Peer<RoleClient>,
    pub(super) told: Arc<Told>,
    /// Whether a call found it to be of no use any more.
    broken: AtomicBool,
    /// Whether there is a process that may say why it ended.
    has_process: bool,
    /// Why it ended.
    ended: watch::Receiver<Option<String>>,
    /// Gone with the last who could use the connection.
    _in_use: oneshot::Sender<()>,
}

impl Link {
    /// Takes over a running server, and ends it when the session wants that.
    pub(super) fn new(
        running: Running,
        told: Arc<Told>,
        closing: watch::Receiver<Closing>,
    ) -> Arc<Self> {
        let (end, ended) = watch::channel(None);
        let (in_use, unused) = oneshot::channel();
        let link = Self {
            peer: running.service.peer().clone(),
            told,
            broken: AtomicBool::new(false),
            has_process: running.child.is_some(),
            ended,
            _in_use: in_use,
        };
        tokio::spawn(look_after(running, closing, unused, end));
        Arc::new(link)
    }

    /// Says whether calls can still be made.
    pub(super) fn is_usable(&self) -> bool {
        let ended = self.ended.borrow().is_some() || self.peer.is_transport_closed();
        !ended && !self.broken.load(Ordering::Acquire)
    }

    /// Makes the next call connect anew; those under way may go on.
    pub(super) fn give_up(&self) {
        self.broken.store(true, Ordering::Release);
    }

    /// Says why the process ended, if it did.
    pub(super) async fn reason(&self) -> Option<String> {
        if !self.has_process {
            return None;
        }
        let mut ended = self.ended.clone();
        let told = timeout(REASON_TIME_MAX, ended.wait_for(Option::is_some)).await;
        told.ok()?.ok()?.clone()
    }
}

/// Waits for the end of a server, whoever wants it, and tidies up.
async fn look_after(
    running: Running,
    closing: watch::Receiver<Closing>,
    unused: oneshot::Receiver<()>,
    end: watch::Sender<Option<String>>,
) {
    tokio::select! {
        reason = accompany(running, closing.clone(), unused) => {
            end.send_replace(Some(reason));
        }
        // Dropping the process kills it and all it started.
        () = wanted(closing, Closing::Now) => {}
    }
}

async fn accompany(
    running: Running,
    closing: watch::Receiver<Closing>,
    unused: oneshot::Receiver<()>,
) -> String {
    let Running {
        service,
        mut child,
        flooded,
    } = running;
    let stop = service.cancellation_token();
    let mut served = std::pin::pin!(service.waiting());
    let closed = tokio::select! {
        _ = &mut served => false,
        () = exited(child.as_mut()) => {
            // Its last answer may still be in the pipe, and somebody else may hold the pipe open.
            if timeout(REST_TIME_MAX, &mut served).await.is_err() {
                tracing::debug!("somebody holds the output of a server open that is gone");
            }
            false
        }
        () = wanted(closing, Closing::Politely) => true,
        // Another connection took its place.
        _ = unused => true,
    };
    stop.cancel();
    if closed {
        if timeout(POLITE_TIME_MAX, &mut served).await.is_err() {
            tracing::debug!("a server is ended in the middle of something");
        }
        if let Some(child) = &mut child
            && let Err(error) = child.end(stdio::grace(POLITE_TIME_MAX)).await
        {
            tracing::warn!(%error, "a server did not end");
        }
        return "the session ended".to_owned();
    }
    match &mut child {
        Some(child) => stdio::post_mortem(child, None, &flooded).await,
        None => "the connection ended".to_owned(),
    }
}

/// Waits until the session wants its servers to end, or is gone.
pub(super) async fn wanted(mut closing: watch::Receiver<Closing>, least: Closing) {
    drop(closing.wait_for(|closing| *closing >= least).await);
}

async fn exited(child: Option<&mut Child>) {
    match child {
        Some(child) => drop(child.wait().await),
        None => std::future::pending().await,
    }
}
