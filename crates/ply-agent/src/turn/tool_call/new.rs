//! Announcing a tool call.

use std::future::{Future, IntoFuture};
use std::path::Path;
use std::pin::Pin;
use std::sync::Mutex;

use ply_session::Entity;
use ply_wire::v2;
use serde_json::Value;

use super::ToolCall;
use super::shown::location;
use crate::Result;
use crate::turn::Turn;
use crate::turn::stoppable::Stoppable;

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
    pub(in crate::turn) fn new(turn: &'t Turn, title: String) -> Self {
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
