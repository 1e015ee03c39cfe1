//! What a transcript holds.

use std::sync::Arc;

use super::{
    Entry, Key, Message, MessageKind, Plan, SessionInfo, Stamp, State, Terminal, ToolCall,
    Transcript, Usage, content,
};
use crate::v2;

impl Transcript {
    /// Returns the entries in the order in which they were first seen.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> + DoubleEndedIterator {
        self.slots.iter().map(|slot| &*slot.entry)
    }

    /// Returns the same for whoever keeps an entry as it is now without copying it.
    pub fn shared_entries(
        &self,
    ) -> impl ExactSizeIterator<Item = &Arc<Entry>> + DoubleEndedIterator {
        self.slots.iter().map(|slot| &slot.entry)
    }

    /// Returns the entry at a place that a [`Change`](super::Change) named.
    #[must_use]
    pub fn entry(&self, place: usize) -> Option<&Entry> {
        self.slots.get(place).map(|slot| &*slot.entry)
    }

    /// Returns when the entry at a place last changed.
    #[must_use]
    pub fn stamp(&self, place: usize) -> Option<Stamp> {
        self.slots.get(place).map(|slot| slot.stamp)
    }

    /// Returns how many updates were applied, which is what a [`Stamp`] counts in.
    #[must_use]
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// Returns the places of the entries that changed after so many updates were applied.
    pub fn changed_since(&self, applied: u64) -> impl Iterator<Item = usize> {
        let slots = self.slots.iter().enumerate();
        let changed = slots.filter(move |(_, slot)| slot.stamp.changed_at > applied);
        changed.map(|(place, _)| place)
    }

    /// Returns a message by kind and id.
    #[must_use]
    pub fn message(&self, kind: MessageKind, id: &v2::MessageId) -> Option<&Message> {
        match self.get(&Key::Message(kind, id.clone()))? {
            Entry::Message(message) => Some(message),
            _ => None,
        }
    }

    /// Returns a tool call by id.
    #[must_use]
    pub fn tool_call(&self, id: &v2::ToolCallId) -> Option<&ToolCall> {
        match self.get(&Key::ToolCall(id.clone()))? {
            Entry::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// Returns a terminal by id.
    #[must_use]
    pub fn terminal(&self, id: &v2::TerminalId) -> Option<&Terminal> {
        match self.get(&Key::Terminal(id.clone()))? {
            Entry::Terminal(terminal) => Some(terminal),
            _ => None,
        }
    }

    /// Returns a plan by id.
    #[must_use]
    pub fn plan(&self, id: &v2::PlanId) -> Option<&Plan> {
        match self.get(&Key::Plan(id.clone()))? {
            Entry::Plan(plan) => Some(plan),
            _ => None,
        }
    }

    /// Returns the messages in order.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.entries().filter_map(Entry::as_message)
    }

    /// Returns the tool calls in order.
    pub fn tool_calls(&self) -> impl DoubleEndedIterator<Item = &ToolCall> {
        self.entries().filter_map(Entry::as_tool_call)
    }

    /// Returns the plans in order.
    pub fn plans(&self) -> impl DoubleEndedIterator<Item = &Plan> {
        self.entries().filter_map(|entry| match entry {
            Entry::Plan(plan) => Some(plan),
            _ => None,
        })
    }

    /// Returns the plan that was first seen last, without looking through the others.
    #[must_use]
    pub fn last_plan(&self) -> Option<&Plan> {
        match self.entry(self.last_plan?)? {
            Entry::Plan(plan) => Some(plan),
            _ => None,
        }
    }

    /// Returns the text of the last agent message, or nothing if there is none.
    #[must_use]
    pub fn last_agent_text(&self) -> String {
        let mut agent = self
            .messages()
            .filter(|message| message.kind == MessageKind::Agent);
        agent.next_back().map(Message::text).unwrap_or_default()
    }

    /// Returns whether the session is at work.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns why the last foreground work stopped, if the agent said so.
    #[must_use]
    pub fn stop_reason(&self) -> Option<&v2::StopReason> {
        self.stop_reason.as_ref()
    }

    /// Returns the work that runs beside the foreground; none if the agent does not report it.
    #[must_use]
    pub fn background(&self) -> Option<&[v2::BackgroundWork]> {
        self.background.as_deref()
    }

    /// Returns the config options with their current values.
    #[must_use]
    pub fn config_options(&self) -> &[v2::SessionConfigOption] {
        &self.config_options
    }

    /// Returns the commands that can be used now.
    #[must_use]
    pub fn commands(&self) -> &[v2::AvailableCommand] {
        &self.commands
    }

    /// Returns title, time and metadata of the session.
    #[must_use]
    pub fn info(&self) -> &SessionInfo {
        &self.info
    }

    /// Returns context size and cost, if reported.
    #[must_use]
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Returns the transcript with adjacent plain texts joined, so that two ways of cutting the
    /// same text into chunks compare equal.
    #[must_use]
    pub fn normalized(&self) -> Self {
        let mut transcript = self.clone();
        transcript.slots.for_each_mut(|slot| {
            if matches!(*slot.entry, Entry::Message(_) | Entry::Compaction(_)) {
                match slot.entry_mut() {
                    Entry::Message(message) => content::normalize(&mut message.content),
                    Entry::Compaction(compaction) => content::normalize(&mut compaction.summary),
                    _ => {}
                }
            }
        });
        transcript
    }

    fn get(&self, key: &Key) -> Option<&Entry> {
        self.entry(self.index.get(key)?)
    }
}
