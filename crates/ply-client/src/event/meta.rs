//! Metadata of updates.

use ply_wire::{MaybeUndefined, v2};

use super::Event;

impl Event {
    /// Returns the `_meta` that the agent put on the update behind the event, if any. That of content is in its blocks.
    #[must_use]
    pub fn meta(&self) -> Option<&v2::Meta> {
        match self {
            Self::Message(message) | Self::Thought(message) | Self::UserMessage(message) => {
                of_update(message.update())
            }
            Self::ToolCall(call) => of_update(call.update()),
            Self::Terminal(terminal) => of_update(terminal.update()),
            Self::Other(update) => of_update(update),
            Self::Plan(update) => update.meta.as_ref(),
            Self::ConfigOptions(update) => update.meta.as_ref(),
            Self::Commands(update) => update.meta.as_ref(),
            Self::Info(update) => patched(&update.meta),
            Self::Usage(update) => update.meta.as_ref(),
            Self::Notice(notice) => notice.meta.as_ref(),
            Self::State(v2::StateUpdate::Running(state)) => state.meta.as_ref(),
            Self::State(v2::StateUpdate::Idle(state)) => state.meta.as_ref(),
            Self::State(v2::StateUpdate::RequiresAction(state)) => state.meta.as_ref(),
            _ => None,
        }
    }
}

fn of_update(update: &v2::SessionUpdate) -> Option<&v2::Meta> {
    use v2::SessionUpdate as Update;
    match update {
        Update::UserMessageChunk(chunk)
        | Update::AgentMessageChunk(chunk)
        | Update::AgentThoughtChunk(chunk) => chunk.meta.as_ref(),
        Update::UserMessage(message) => patched(&message.meta),
        Update::AgentMessage(message) => patched(&message.meta),
        Update::AgentThought(message) => patched(&message.meta),
        Update::ToolCallUpdate(call) => patched(&call.meta),
        Update::ToolCallContentChunk(chunk) => chunk.meta.as_ref(),
        Update::TerminalUpdate(terminal) => patched(&terminal.meta),
        Update::TerminalOutputChunk(chunk) => chunk.meta.as_ref(),
        Update::CompactionUpdate(update) => patched(&update.meta),
        Update::CompactionSummaryChunk(chunk) => chunk.meta.as_ref(),
        Update::Other(other) => other.fields.get("_meta").and_then(|meta| meta.as_object()),
        _ => None,
    }
}

fn patched(meta: &MaybeUndefined<v2::Meta>) -> Option<&v2::Meta> {
    match meta {
        MaybeUndefined::Value(meta) => Some(meta),
        _ => None,
    }
}
