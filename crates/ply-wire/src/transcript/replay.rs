//! A transcript as the shortest list of updates that folds to it.

use super::{Entry, Message, MessageKind, Transcript, entry::encode_output, state::State};
use crate::{MaybeUndefined, v2};

impl Transcript {
    /// Returns updates that fold to this transcript: one upsert per entry, then the rest, the state
    /// last.
    #[must_use]
    pub fn to_updates(&self) -> Vec<v2::SessionUpdate> {
        self.updates().collect()
    }

    /// Returns the same one at a time: a long history as updates is larger than itself.
    pub fn updates(&self) -> impl Iterator<Item = v2::SessionUpdate> {
        self.entries().map(entry_update).chain(self.rest())
    }

    /// Returns the update at a place of that list, so that it can be gone through with pauses.
    #[must_use]
    pub fn update_at(&self, place: usize) -> Option<v2::SessionUpdate> {
        match self.entry(place) {
            Some(entry) => Some(entry_update(entry)),
            None => {
                let place = place.checked_sub(self.entries().len())?;
                self.rest().into_iter().nth(place)
            }
        }
    }

    fn rest(&self) -> Vec<v2::SessionUpdate> {
        let mut updates = self.about_updates();
        if self.state.is_active() && self.stop_reason.is_some() {
            // Why the work before this one stopped; going from idle to idle completes nothing.
            let idle = v2::IdleStateUpdate::new().stop_reason(self.stop_reason.clone());
            updates.push(v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)));
        }
        updates.push(v2::SessionUpdate::StateUpdate(self.state_snapshot()));
        updates
    }

    /// Returns updates for what is neither an entry nor the state: options, commands, description and usage.
    #[must_use]
    pub fn about_updates(&self) -> Vec<v2::SessionUpdate> {
        let mut updates = Vec::new();
        if !self.config_options.is_empty() {
            let update = v2::ConfigOptionUpdate::new(self.config_options.to_vec());
            updates.push(v2::SessionUpdate::ConfigOptionUpdate(update));
        }
        if !self.commands.is_empty() {
            let update = v2::AvailableCommandsUpdate::new(self.commands.to_vec());
            updates.push(v2::SessionUpdate::AvailableCommandsUpdate(update));
        }
        if self.info != super::SessionInfo::default() {
            let update = v2::SessionInfoUpdate::new()
                .title(patch(self.info.title.as_ref()))
                .updated_at(patch(self.info.updated_at.as_ref()))
                .meta(meta(&self.info.meta));
            updates.push(v2::SessionUpdate::SessionInfoUpdate(update));
        }
        if let Some(usage) = &self.usage {
            let update = v2::UsageUpdate::new(usage.used, usage.size)
                .cost(patch(usage.cost.as_ref()))
                .meta(usage.meta.clone());
            updates.push(v2::SessionUpdate::UsageUpdate(update));
        }
        updates
    }

    /// Returns the state as an update, as v2 wants it before the answer to `session/resume`.
    #[must_use]
    pub fn state_snapshot(&self) -> v2::StateUpdate {
        let background = self.background.clone();
        match &self.state {
            State::Idle => v2::StateUpdate::Idle(
                v2::IdleStateUpdate::new()
                    .stop_reason(self.stop_reason.clone())
                    .background(background),
            ),
            State::Running => {
                v2::StateUpdate::Running(v2::RunningStateUpdate::new().background(background))
            }
            State::RequiresAction => v2::StateUpdate::RequiresAction(
                v2::RequiresActionStateUpdate::new().background(background),
            ),
            State::Unknown(state) => v2::StateUpdate::Other(v2::OtherStateUpdate::new(
                state.clone(),
                std::collections::BTreeMap::new(),
            )),
        }
    }
}

fn entry_update(entry: &Entry) -> v2::SessionUpdate {
    match entry {
        Entry::Message(message) => message_update(message),
        Entry::ToolCall(call) => v2::SessionUpdate::ToolCallUpdate(
            v2::ToolCallUpdate::new(call.id.clone())
                .name(patch(call.name.as_ref()))
                .title(patch(call.title.as_ref()))
                .kind(call.kind.clone())
                .status(call.status.clone())
                .content(list(&call.content))
                .locations(list(&call.locations))
                .raw_input(patch(call.raw_input.as_ref()))
                .raw_output(patch(call.raw_output.as_ref()))
                .capabilities(patch(call.capabilities.as_ref()))
                .meta(meta(&call.meta)),
        ),
        Entry::Terminal(terminal) => {
            let output = (!terminal.output.is_empty())
                .then(|| v2::TerminalOutput::new(encode_output(&terminal.output)));
            v2::SessionUpdate::TerminalUpdate(
                v2::TerminalUpdate::new(terminal.id.clone())
                    .command(patch(terminal.command.as_ref()))
                    .cwd(patch(terminal.cwd.as_ref()))
                    .output(patch(output.as_ref()))
                    .exit_status(patch(terminal.exit_status.as_ref()))
                    .size(patch(terminal.size.as_ref()))
                    .capabilities(patch(terminal.capabilities.as_ref()))
                    .meta(meta(&terminal.meta)),
            )
        }
        Entry::Plan(plan) => v2::SessionUpdate::PlanUpdate(
            v2::PlanUpdate::new(plan.content.clone()).meta(plan.meta.clone()),
        ),
        Entry::Compaction(compaction) => v2::SessionUpdate::CompactionUpdate(
            v2::CompactionUpdate::new(compaction.id.clone(), compaction.status.clone())
                .summary(list(&compaction.summary))
                .error(patch(compaction.error.as_ref()))
                .meta(meta(&compaction.meta)),
        ),
        Entry::Unknown(other) => v2::SessionUpdate::Other(other.clone()),
    }
}

fn message_update(message: &Message) -> v2::SessionUpdate {
    let id = message.id.clone();
    let (content, meta) = (list(&message.content), meta(&message.meta));
    match message.kind {
        MessageKind::User => {
            v2::SessionUpdate::UserMessage(v2::UserMessage::new(id).content(content).meta(meta))
        }
        MessageKind::Agent => {
            v2::SessionUpdate::AgentMessage(v2::AgentMessage::new(id).content(content).meta(meta))
        }
        MessageKind::Thought => {
            v2::SessionUpdate::AgentThought(v2::AgentThought::new(id).content(content).meta(meta))
        }
    }
}

fn patch<T: Clone>(value: Option<&T>) -> MaybeUndefined<T> {
    value
        .cloned()
        .map_or(MaybeUndefined::Undefined, MaybeUndefined::Value)
}

fn list<T: Clone>(values: &[T]) -> MaybeUndefined<Vec<T>> {
    if values.is_empty() {
        MaybeUndefined::Undefined
    } else {
        MaybeUndefined::Value(values.to_vec())
    }
}

fn meta(meta: &v2::Meta) -> MaybeUndefined<v2::Meta> {
    if meta.is_empty() {
        MaybeUndefined::Undefined
    } else {
        MaybeUndefined::Value(meta.clone())
    }
}
