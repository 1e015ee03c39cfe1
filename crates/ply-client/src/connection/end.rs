//! How a life of an agent ends: the connection, the sessions, the process tree.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ply_rpc::Closed;
use ply_rpc::transport::child::{Child, Grace};

use super::Parts;
use crate::PostMortem;
use crate::fate::Fate;
use crate::limits::LAST_WORDS_TIME_MAX;
use crate::report::ReportKind;

/// Watches a connection to its end, tells the sessions, and ends the process tree.
pub(super) async fn keep(parts: Arc<Parts>, mut child: Option<Child>, fate: Arc<Fate>) {
    let reason = match &mut child {
        Some(child) => over_or_exited(&parts, child).await,
        None => parts.over().await,
    };
    let is_ours = matches!(reason, Closed::Local);
    let mut end = PostMortem {
        reason: Some(reason),
        noise: parts.peer.noise(),
        ..PostMortem::default()
    };
    if let Some(child) = &mut child {
        if !is_ours {
            last_words(child, &mut end, &parts).await;
        }
        end.set_stderr(&child.stderr_tail());
    }
    // Before anybody learns of the end, and could open the sessions on another connection.
    for session in parts.routes.sessions() {
        session.gone(parts.epoch, &end);
    }
    parts.tell(&parts.end, &end);
    fate.life_ended();
    if let Some(child) = &mut child {
        let settings = &parts.routes.settings;
        let ended = tokio::select! {
            biased;
            () = killed(&parts) => None,
            ended = child.end(settings.grace) => Some(ended),
        };
        let ended = match ended {
            Some(ended) => ended,
            None => child.end(at_once()).await,
        };
        match ended {
            Ok(status) => end.status = Some(status),
            Err(error) => tracing::warn!(%error, "the agent's processes cannot be ended"),
        }
        end.set_stderr(&child.stderr_tail());
    }
    if let Some(terminals) = &parts.routes.terminals {
        Arc::clone(terminals).end_all().await;
    }
    parts.tell(&parts.last, &end);
}

/// Waits for the end of the connection, which an agent that exits may not bring about: what it started can hold its output open.
async fn over_or_exited(parts: &Parts, child: &mut Child) -> Closed {
    tokio::select! {
        biased;
        reason = parts.over() => return reason,
        _ = child.wait() => {}
    }
    if let Some(reason) = over_soon(parts).await {
        return reason;
    }
    // With whoever holds the output gone it ends by itself, after all that was written to it.
    if let Err(error) = child.end(at_once()).await {
        tracing::debug!(%error, "what the agent left behind cannot be ended");
    }
    if let Some(reason) = over_soon(parts).await {
        return reason;
    }
    parts.peer.close();
    match parts.over().await {
        // The agent went first.
        Closed::Local if !parts.killed.load(Ordering::SeqCst) => Closed::Eof,
        reason => reason,
    }
}

/// Waits a moment for the end of the connection of an agent that has exited.
async fn over_soon(parts: &Parts) -> Option<Closed> {
    let over = tokio::time::timeout(LAST_WORDS_TIME_MAX, parts.over());
    over.await.ok()
}

/// Waits a moment for the exit of a process that closed its output, and for the end of what it wrote.
async fn last_words(child: &mut Child, end: &mut PostMortem, parts: &Parts) {
    let ended = tokio::time::timeout(LAST_WORDS_TIME_MAX, async {
        match child.wait().await {
            Ok(status) => end.status = Some(status),
            Err(error) => tracing::debug!(%error, "the agent's exit status cannot be read"),
        }
        // Nobody is left to be graceful to, and the rest of standard error comes with the end.
        child.end(at_once()).await
    });
    if ended.await.is_err() && end.status.is_none() {
        parts.routes.report(ReportKind::ClosedOutput, "");
    }
}

async fn killed(parts: &Parts) {
    while !parts.killed.load(Ordering::SeqCst) {
        parts.kill.notified().await;
    }
}

fn at_once() -> Grace {
    let mut grace = Grace::default();
    grace.after_close = Duration::ZERO;
    grace.after_term = Duration::from_millis(200);
    grace
}
