//! How updates change a transcript.

use std::sync::Arc;

use super::{
    Change, Compaction, Entry, Key, Message, MessageKind, Plan, Slot, Stamp, State, ToolCall,
    Transcript, content,
};
use crate::v2;

impl Transcript {
    /// Adds one update and returns what it changed. A chunk costs its own size, however long the
    /// session is.
    pub fn apply(&mut self, update: &v2::SessionUpdate) -> Change {
        self.applied += 1;
        match update {
            v2::SessionUpdate::UserMessageChunk(chunk) => self.chunk(MessageKind::User, chunk),
            v2::SessionUpdate::AgentMessageChunk(chunk) => self.chunk(MessageKind::Agent, chunk),
            v2::SessionUpdate::AgentThoughtChunk(chunk) => self.chunk(MessageKind::Thought, chunk),
            v2::SessionUpdate::UserMessage(message) => self.message_update(
                MessageKind::User,
                &message.message_id,
                &message.content,
                &message.meta,
            ),
            v2::SessionUpdate::AgentMessage(message) => self.message_update(
                MessageKind::Agent,
                &message.message_id,
                &message.content,
                &message.meta,
            ),
            v2::SessionUpdate::AgentThought(message) => self.message_update(
                MessageKind::Thought,
                &message.message_id,
                &message.content,
                &message.meta,
            ),
            v2::SessionUpdate::ToolCallUpdate(update) => {
                let id = &update.tool_call_id;
                self.change(
                    Key::ToolCall(id.clone()),
                    || ToolCall::new(id.clone()).into(),
                    |entry| entry.as_tool_call_mut().map(|call| call.apply(update)),
                )
            }
            v2::SessionUpdate::ToolCallContentChunk(chunk) => {
                let id = &chunk.tool_call_id;
                self.extend(
                    Key::ToolCall(id.clone()),
                    || ToolCall::new(id.clone()).into(),
                    |entry| {
                        entry
                            .as_tool_call_mut()
                            .map(|call| call.content.push(chunk.content.clone()))
                    },
                )
            }
            v2::SessionUpdate::TerminalUpdate(update) => self.terminal_update(update),
            v2::SessionUpdate::TerminalOutputChunk(chunk) => self.terminal_output(chunk),
            v2::SessionUpdate::PlanUpdate(update) => self.plan_update(update),
            v2::SessionUpdate::CompactionUpdate(update) => {
                let id = &update.compaction_id;
                self.change(
                    Key::Compaction(id.clone()),
                    || Compaction::new(id.clone()).into(),
                    |entry| {
                        entry
                            .as_compaction_mut()
                            .map(|compaction| compaction.apply(update))
                    },
                )
            }
            v2::SessionUpdate::CompactionSummaryChunk(chunk) => {
                let id = &chunk.compaction_id;
                self.extend(
                    Key::Compaction(id.clone()),
                    || Compaction::new(id.clone()).into(),
                    |entry| {
                        entry.as_compaction_mut().map(|compaction| {
                            content::append_copy(&mut compaction.summary, &chunk.content)
                        })
                    },
                )
            }
            v2::SessionUpdate::StateUpdate(update) => self.state_update(update),
            v2::SessionUpdate::ConfigOptionUpdate(update) => {
                self.config_options = update.config_options.as_slice().into();
                Change::ConfigOptions
            }
            v2::SessionUpdate::AvailableCommandsUpdate(update) => {
                self.commands = update.available_commands.as_slice().into();
                Change::Commands
            }
            v2::SessionUpdate::SessionInfoUpdate(update) => {
                self.info.apply(update);
                Change::Info
            }
            v2::SessionUpdate::UsageUpdate(update) => {
                self.usage.get_or_insert_default().apply(update);
                Change::Usage
            }
            v2::SessionUpdate::Notice(_) => Change::Notice,
            v2::SessionUpdate::Other(other) => self.push(Entry::Unknown(other.clone())),
            _ => Change::Nothing,
        }
    }

    /// Adds the tool call that a permission request is about, as if it were an update (V2-PERM-03).
    /// The text of the request is for its dialog and changes nothing here (V2-PERM-02).
    pub fn permission_requested(&mut self, request: &v2::RequestPermissionRequest) -> Change {
        match &request.subject {
            Some(v2::RequestPermissionSubject::ToolCall(subject)) => self.apply(
                &v2::SessionUpdate::ToolCallUpdate(subject.tool_call.clone()),
            ),
            _ => Change::Nothing,
        }
    }

    /// Shows unfinished tool calls as cancelled, as a client does at once when it sends
    /// `session/cancel` (V1-CANCEL-02), and returns their places. A later update with a status
    /// still wins (V1-CANCEL-08).
    pub fn mark_cancelled(&mut self) -> Vec<usize> {
        let mut marked = Vec::new();
        self.applied += 1;
        // Finished calls may be shared, and stay so.
        let unfinished = self.entries().enumerate().filter(|(_, entry)| {
            let call = entry.as_tool_call();
            call.is_some_and(|call| !call.is_finished())
        });
        let unfinished: Vec<usize> = unfinished.map(|(place, _)| place).collect();
        for place in unfinished {
            if let Some(slot) = self.slots.get_mut(place)
                && let Some(call) = slot.entry_mut().as_tool_call_mut()
            {
                call.status = v2::ToolCallStatus::Cancelled;
                slot.stamp.changed_at = self.applied;
                slot.stamp.rewritten_at = self.applied;
                marked.push(place);
            }
        }
        marked
    }

    fn chunk(&mut self, kind: MessageKind, chunk: &v2::ContentChunk) -> Change {
        let id = &chunk.message_id;
        self.extend(
            Key::Message(kind, id.clone()),
            || Message::new(kind, id.clone()).into(),
            |entry| {
                entry
                    .as_message_mut()
                    .map(|message| content::append_copy(&mut message.content, &chunk.content))
            },
        )
    }

    fn message_update(
        &mut self,
        kind: MessageKind,
        id: &v2::MessageId,
        content: &crate::MaybeUndefined<Vec<v2::ContentBlock>>,
        meta: &crate::MaybeUndefined<v2::Meta>,
    ) -> Change {
        self.change(
            Key::Message(kind, id.clone()),
            || Message::new(kind, id.clone()).into(),
            |entry| {
                entry
                    .as_message_mut()
                    .map(|message| message.apply(content, meta))
            },
        )
    }

    fn plan_update(&mut self, update: &v2::PlanUpdate) -> Change {
        let Some(plan) = Plan::new(update) else {
            return Change::Nothing;
        };
        let change = self.change(
            Key::Plan(plan.id.clone()),
            || plan.clone().into(),
            |entry| {
                *entry = plan.clone().into();
                Some(())
            },
        );
        if let Change::Added(place) = change {
            self.last_plan = Some(place);
        }
        change
    }

    fn state_update(&mut self, update: &v2::StateUpdate) -> Change {
        let was_active = self.state.is_active();
        self.state = State::from(update);
        self.background = update.background().map(<[_]>::to_vec);
        let v2::StateUpdate::Idle(idle) = update else {
            return Change::State;
        };
        if was_active {
            self.stop_reason.clone_from(&idle.stop_reason);
            return Change::Completed;
        }
        // A repeated snapshot may name the last stop reason; without one it takes nothing back.
        if idle.stop_reason.is_some() {
            self.stop_reason.clone_from(&idle.stop_reason);
        }
        Change::State
    }

    pub(super) fn change(
        &mut self,
        key: Key,
        new: impl FnOnce() -> Entry,
        edit: impl FnOnce(&mut Entry) -> Option<()>,
    ) -> Change {
        self.edit(key, new, edit, Change::Changed)
    }

    pub(super) fn extend(
        &mut self,
        key: Key,
        new: impl FnOnce() -> Entry,
        edit: impl FnOnce(&mut Entry) -> Option<()>,
    ) -> Change {
        self.edit(key, new, edit, Change::Extended)
    }

    fn edit(
        &mut self,
        key: Key,
        new: impl FnOnce() -> Entry,
        edit: impl FnOnce(&mut Entry) -> Option<()>,
        known: impl FnOnce(usize) -> Change,
    ) -> Change {
        let (place, change) = match self.index.find(&key) {
            Some(place) => (place, known(place)),
            None => {
                let place = self.slots.len();
                self.index.insert(key, place);
                self.slots.push(Slot {
                    entry: Arc::new(new()),
                    shown_at: None,
                    stamp: Stamp::default(),
                });
                (place, Change::Added(place))
            }
        };
        let Some(slot) = self.slots.get_mut(place) else {
            return Change::Nothing;
        };
        if edit(slot.entry_mut()).is_none() {
            return Change::Nothing;
        }
        slot.stamp.changed_at = self.applied;
        if !matches!(change, Change::Extended(_)) {
            slot.stamp.rewritten_at = self.applied;
        }
        if slot.shown_at.is_none() && !slot.entry.is_blank() {
            slot.shown_at = Some(self.applied);
        }
        change
    }

    /// Finds the entries again after they were moved.
    pub(super) fn reindex(&mut self) {
        let index = self.entries().enumerate();
        let index = index.filter_map(|(place, entry)| Some((Key::of(entry)?, place)));
        self.index = index.collect();
        let is_plan = |slot: &Slot| matches!(*slot.entry, Entry::Plan(_));
        self.last_plan = self.slots.iter().rposition(is_plan);
        self.find_open_terminals();
    }

    fn push(&mut self, entry: Entry) -> Change {
        let place = self.slots.len();
        self.slots.push(Slot {
            entry: Arc::new(entry),
            shown_at: Some(self.applied),
            stamp: Stamp {
                changed_at: self.applied,
                rewritten_at: self.applied,
            },
        });
        Change::Added(place)
    }
}
