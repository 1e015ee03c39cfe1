//! Tool calls: announced once, and never left without a final status.

mod new;
mod shown;

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use ply_wire::v2;

pub use self::new::NewToolCall;
use super::Context;
use super::stoppable::Stoppable;
use crate::{Decision, Error, Permission, Result};

/// A tool call that was announced.
///
/// Dropped before it is finished or failed, it counts as failed. Reports go through also after the
/// user cancelled, so that what a tool had done by then is kept.
#[derive(Debug)]
#[must_use = "a tool call that is dropped has failed"]
pub struct ToolCall {
    work: Stoppable,
    id: v2::ToolCallId,
    title: Mutex<String>,
    ended: bool,
}

impl ToolCall {
    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> &v2::ToolCallId {
        &self.id
    }

    /// Returns whether the user wants it to stop: the turn, or this call alone if it is
    /// [`cancellable`](NewToolCall::cancellable).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.work.is_cancelled()
    }

    /// Waits until the user wants it to stop. The turn goes on after a cancel of this call alone.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn cancelled(&self) {
        self.work.cancelled().await;
    }

    /// Waits for the tool's work, unless the user wants it to stop.
    ///
    /// # Errors
    ///
    /// The call or its turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// As for `work`.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = self.cancelled() => Err(Error::cancelled()),
        }
    }

    /// Lets the call go on after its turn, in the background: neither the turn's end nor its cancel ends it. Clients are told
    /// that it runs until it is finished; [`cancelled`](Self::cancelled) tells when the session closes.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the call counts as failed.
    pub async fn detach(mut self) -> Result<Self> {
        self.work.detach().await?;
        Ok(self)
    }

    /// Reports that the tool runs, and waits until that is written.
    ///
    /// # Errors
    ///
    /// The turn was cancelled, so the tool is better not run; or the session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub async fn start(&self) -> Result<()> {
        self.report(|update| update.status(v2::ToolCallStatus::InProgress))
            .await?;
        self.context().unless_cancelled(self.context().kept()).await
    }

    /// Asks whether the tool may run: under the call's own title, with the usual four options. For other words or options there
    /// is [`ask_with`](Self::ask_with).
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    #[doc(alias = "request_permission")]
    pub async fn ask(&self) -> Result<Decision> {
        let title = self.lock_title().clone();
        self.ask_with(Permission::new(title)).await
    }

    /// Asks whether the tool may run, with words or options of the agent's own: a title is enough, and a [`Permission`] says
    /// more.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    pub async fn ask_with(&self, permission: impl Into<Permission>) -> Result<Decision> {
        permission
            .into()
            .ask_about(self.context(), Some(self.id.clone()))
            .await
    }

    /// Reports that the tool has done its work.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the call counts as failed.
    pub async fn finish(self) -> Result<()> {
        self.end(v2::ToolCallStatus::Completed).await
    }

    /// Adds to what is shown of the call, and reports that the tool has done its work.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the call counts as failed.
    pub async fn finish_with(self, content: impl Into<v2::ContentBlock>) -> Result<()> {
        self.add(content).await?;
        self.finish().await
    }

    /// Reports that the tool failed, and why.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the call counts as failed without a reason.
    pub async fn fail(self, reason: impl Into<v2::ContentBlock>) -> Result<()> {
        self.add(reason).await?;
        self.end(v2::ToolCallStatus::Failed).await
    }

    /// Reports that the tool was stopped because the user cancelled.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the call counts as failed.
    pub async fn cancel(self) -> Result<()> {
        self.end(v2::ToolCallStatus::Cancelled).await
    }

    /// Reports the final status, with what is shown of the call as it is.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the call counts as failed.
    pub async fn end(mut self, status: v2::ToolCallStatus) -> Result<()> {
        self.report(|update| update.status(status)).await?;
        self.ended = true;
        Ok(())
    }

    pub(super) fn context(&self) -> &Context {
        &self.work.context
    }

    fn lock_title(&self) -> std::sync::MutexGuard<'_, String> {
        // No code that can panic runs under the lock, so a poisoned title is whole.
        self.title.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn report(
        &self,
        change: impl FnOnce(v2::ToolCallUpdate) -> v2::ToolCallUpdate,
    ) -> Result<()> {
        let update = change(v2::ToolCallUpdate::new(self.id.clone()));
        self.context()
            .update(v2::SessionUpdate::ToolCallUpdate(update))
            .await
    }
}

impl Drop for ToolCall {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let status = match self.is_cancelled() {
            true => v2::ToolCallStatus::Cancelled,
            false => v2::ToolCallStatus::Failed,
        };
        let update = v2::ToolCallUpdate::new(self.id.clone()).status(status);
        self.work
            .report_now(v2::SessionUpdate::ToolCallUpdate(update));
    }
}
