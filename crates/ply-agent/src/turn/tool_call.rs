//! Tool calls: announced once, and never left without a final status.

use std::future::{Future, IntoFuture};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use ply_session::{Edit, Entity};
use ply_wire::{convert, v2};
use serde_json::Value;

use super::stoppable::Stoppable;
use super::{Context, Turn};
use crate::{Decision, Error, Permission, Result};

/// A tool call to be announced. Await it.
#[derive(Debug)]
#[must_use = "a tool call is announced when this is awaited"]
pub struct NewToolCall<'t> {
    turn: &'t Turn,
    title: String,
    update: v2::ToolCallUpdate,
    locations: Vec<v2::ToolCallLocation>,
    can_be_cancelled: bool,
}

impl<'t> NewToolCall<'t> {
    pub(super) fn new(turn: &'t Turn, title: String) -> Self {
        let id = turn.fresh_id("call");
        let update = v2::ToolCallUpdate::new(id)
            .title(title.clone())
            .status(v2::ToolCallStatus::Pending);
        Self {
            turn,
            title,
            update,
            locations: Vec::new(),
            can_be_cancelled: false,
        }
    }

    /// Says what kind of tool it is.
    pub fn kind(mut self, kind: v2::ToolKind) -> Self {
        self.update = self.update.kind(kind);
        self
    }

    /// Says the tool's name for programs.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.update = self.update.name(name.into());
        self
    }

    /// Adds a file that the tool touches, and the line, counted from 1. A relative path is meant in
    /// the session's working directory.
    pub fn location(mut self, path: impl AsRef<Path>, line: impl Into<Option<u32>>) -> Self {
        self.locations
            .push(location(&self.turn.context, path, line));
        self
    }

    /// Shows what the tool was given.
    pub fn raw_input(mut self, input: Value) -> Self {
        self.update = self.update.raw_input(input);
        self
    }

    /// Lets the user cancel this call alone, where the client can; see [`ToolCall::cancelled`].
    pub fn cancellable(mut self) -> Self {
        let offers = v2::ToolCallCapabilities::new().cancel(v2::ToolCallCancelCapabilities::new());
        self.update = self.update.capabilities(offers);
        self.can_be_cancelled = true;
        self
    }

    /// Adds metadata of the agent's own.
    pub fn meta(mut self, meta: v2::Meta) -> Self {
        self.update = self.update.meta(meta);
        self
    }
}

impl<'t> IntoFuture for NewToolCall<'t> {
    type Output = Result<ToolCall>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 't>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut update = self.update;
            if !self.locations.is_empty() {
                update = update.locations(self.locations);
            }
            let id = update.tool_call_id.clone();
            let entity = Entity::ToolCall(id.clone());
            let work = Stoppable::new(self.turn, entity, self.can_be_cancelled);
            let update = v2::SessionUpdate::ToolCallUpdate(update);
            self.turn.update(update).await?;
            let call = ToolCall {
                work,
                id,
                title: Mutex::new(self.title),
                ended: false,
            };
            // What a tool does comes after the journal knows of it (D22).
            self.turn.unless_cancelled(call.context().kept()).await??;
            Ok(call)
        })
    }
}

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

    /// Reports anything else that goes with the call, such as the output of a terminal that it
    /// shows.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub async fn update(&self, update: v2::SessionUpdate) -> Result<()> {
        self.context().update(update).await
    }

    /// Changes the title.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub async fn set_title(&self, title: impl Into<String>) -> Result<()> {
        let title = title.into();
        self.lock_title().clone_from(&title);
        self.report(|update| update.title(title)).await
    }

    /// Sets the files that the tool touches, all of them.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub async fn set_locations<P: AsRef<Path>>(
        &self,
        locations: impl IntoIterator<Item = (P, Option<u32>)>,
    ) -> Result<()> {
        let locations = locations.into_iter();
        let locations = locations.map(|(path, line)| location(self.context(), path, line));
        let locations: Vec<_> = locations.collect();
        self.report(|update| update.locations(locations)).await
    }

    /// Shows what the tool was given.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub async fn set_raw_input(&self, input: Value) -> Result<()> {
        self.report(|update| update.raw_input(input)).await
    }

    /// Shows what the tool gave back.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub async fn set_raw_output(&self, output: Value) -> Result<()> {
        self.report(|update| update.raw_output(output)).await
    }

    /// Adds to what is shown of the call.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is added.
    pub async fn add(&self, content: impl Into<v2::ContentBlock>) -> Result<()> {
        let content = v2::ToolCallContent::Content(Box::new(v2::Content::new(content.into())));
        self.add_item(content, Vec::new()).await
    }

    /// Shows an edit of a text file. No old text means a new file, no new text a deleted one. A
    /// relative path is meant in the session's working directory.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is added.
    pub async fn add_diff(
        &self,
        path: impl AsRef<Path>,
        old: Option<&str>,
        new: Option<&str>,
    ) -> Result<()> {
        let path = self.context().absolute(path);
        let diff = v2::ToolCallContent::Diff(convert::diff::edit(&path, old, new));
        let edit = Edit {
            path,
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
        };
        self.add_item(diff, vec![edit]).await
    }

    /// Shows a terminal: one of the client's, before it is released, or one of the agent's own.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is added.
    pub async fn add_terminal(&self, terminal: &impl AsRef<v2::TerminalId>) -> Result<()> {
        let terminal = v2::Terminal::new(terminal.as_ref().clone());
        self.add_item(v2::ToolCallContent::Terminal(terminal), Vec::new())
            .await
    }

    /// Replaces all that is shown of the call.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is replaced.
    pub async fn set_content(&self, content: Vec<v2::ToolCallContent>) -> Result<()> {
        self.report(|update| update.content(content)).await
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

    async fn add_item(&self, content: v2::ToolCallContent, edits: Vec<Edit>) -> Result<()> {
        let chunk = v2::ToolCallContentChunk::new(self.id.clone(), content);
        let chunk = v2::SessionUpdate::ToolCallContentChunk(chunk);
        let (session, turn) = (&self.context().session, self.context().turn);
        session.update_in(turn, chunk, edits).await
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

fn location(
    context: &Context,
    path: impl AsRef<Path>,
    line: impl Into<Option<u32>>,
) -> v2::ToolCallLocation {
    // Lines count from 1 (V1-RPC-14); there is no line 0 to point at.
    let line = line.into().filter(|line| *line > 0);
    v2::ToolCallLocation::new(context.absolute(path)).line(line)
}
