//! What is shown of a tool call.

use std::path::Path;

use ply_session::Edit;
use ply_wire::{convert, v2};
use serde_json::Value;

use super::ToolCall;
use crate::Result;
use crate::turn::Context;

impl ToolCall {
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

    async fn add_item(&self, content: v2::ToolCallContent, edits: Vec<Edit>) -> Result<()> {
        let chunk = v2::ToolCallContentChunk::new(self.id.clone(), content);
        let chunk = v2::SessionUpdate::ToolCallContentChunk(chunk);
        let (session, turn) = (&self.context().session, self.context().turn);
        session.update_in(turn, chunk, edits).await
    }
}

pub(super) fn location(
    context: &Context,
    path: impl AsRef<Path>,
    line: impl Into<Option<u32>>,
) -> v2::ToolCallLocation {
    // Lines count from 1 (V1-RPC-14); there is no line 0 to point at.
    let line = line.into().filter(|line| *line > 0);
    v2::ToolCallLocation::new(context.absolute(path)).line(line)
}
