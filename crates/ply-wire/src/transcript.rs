//! The transcript: what a session's updates add up to.
//!
//! [`Transcript::apply`] folds v2 updates by the rules of the protocol: an omitted field keeps,
//! null clears, a value replaces, chunks append, and everything stays where it was first seen.
//! Updates of a v1 agent are folded after [`crate::lift`] has made v2 updates of them. The fold is
//! total: no update is refused and none panics.
//!
//! ```
//! use ply_wire::{transcript::{Change, Transcript}, v2};
//!
//! let mut transcript = Transcript::new();
//! let chunk = |text: &str| {
//!     v2::SessionUpdate::AgentMessageChunk(v2::ContentChunk::new(text.into(), "m1"))
//! };
//! assert_eq!(transcript.apply(&chunk("Hello, ")), Change::Added(0));
//! assert_eq!(transcript.apply(&chunk("world")), Change::Extended(0));
//! assert_eq!(transcript.last_agent_text(), "Hello, world");
//! ```

mod carry;
mod content;
mod entry;
mod index;
mod output;
mod plain;
mod replay;
mod slots;
mod state;
mod terminals;

use std::{collections::BTreeSet, sync::Arc};

pub use self::{
    carry::what_v1_can_carry,
    entry::{Compaction, Entry, Message, MessageKind, Plan, Terminal, ToolCall},
    output::{Output, TERMINAL_OUTPUT_BYTES_MAX},
    plain::PlainText,
    state::{SessionInfo, State, Usage},
};
pub(crate) use self::{
    content::{append as append_block, is_plain_text},
    entry::{decode_output, is_final},
};
use self::{index::Index, slots::Slots};
use crate::v2;

/// Everything a client knows about a session, in the order in which it was first seen.
///
/// A clone shares its entries with the original, so it costs little however long the session is; an
/// entry is copied when one of the two changes it, and a new one costs about the same with a clone as
/// without.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    slots: Slots,
    index: Index,
    /// The places of terminals without an exit status, so that nobody has to look for them.
    open_terminals: BTreeSet<usize>,
    /// The place of the last plan, so that nobody has to look for it.
    last_plan: Option<usize>,
    applied: u64,
    state: State,
    stop_reason: Option<v2::StopReason>,
    background: Option<Vec<v2::BackgroundWork>>,
    config_options: Arc<[v2::SessionConfigOption]>,
    commands: Arc<[v2::AvailableCommand]>,
    info: SessionInfo,
    usage: Option<Usage>,
}

/// What an update changed, so that a view redraws no more than that. Numbers are places in
/// [`Transcript::entries`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Nothing that the transcript holds.
    Nothing,
    /// A new last entry.
    Added(usize),
    /// Something was appended to the content or output of an entry.
    Extended(usize),
    /// An entry changed in some other way.
    Changed(usize),
    /// The state, its stop reason or the list of background work.
    State,
    /// Foreground work ended: the one change that answers a prompt. Repeated idle states are not
    /// this.
    Completed,
    /// The config options.
    ConfigOptions,
    /// The available commands.
    Commands,
    /// Title, time or metadata of the session.
    Info,
    /// Context size or cost.
    Usage,
    /// A notice, which is for showing now and not part of the history.
    Notice,
}

/// An entry and the update that first gave it something to show.
#[derive(Debug, Clone)]
struct Slot {
    entry: Arc<Entry>,
    shown_at: Option<u64>,
    stamp: Stamp,
}

impl Slot {
    /// Returns the entry to change it; one that is shared is copied first.
    fn entry_mut(&mut self) -> &mut Entry {
        Arc::make_mut(&mut self.entry)
    }
}

/// When an entry last changed, counted in updates of its transcript.
///
/// Whoever keeps something that was made from an entry, such as its lines on a screen, keeps the
/// stamp with it: an equal one means that it is still true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stamp {
    /// The last change of any kind.
    pub changed_at: u64,
    /// The last change that did more than append to the content or the output.
    pub rewritten_at: u64,
}

/// Ids are unique per kind of entry, and per kind of message (V2-MSG-05).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Message(MessageKind, v2::MessageId),
    ToolCall(v2::ToolCallId),
    Terminal(v2::TerminalId),
    Plan(v2::PlanId),
    Compaction(v2::CompactionId),
}

impl Key {
    fn of(entry: &Entry) -> Option<Self> {
        Some(match entry {
            Entry::Message(message) => Self::Message(message.kind, message.id.clone()),
            Entry::ToolCall(call) => Self::ToolCall(call.id.clone()),
            Entry::Terminal(terminal) => Self::Terminal(terminal.id.clone()),
            Entry::Plan(plan) => Self::Plan(plan.id.clone()),
            Entry::Compaction(compaction) => Self::Compaction(compaction.id.clone()),
            Entry::Unknown(_) => return None,
        })
    }
}

impl Transcript {
    /// Returns the transcript of a session nothing is known about: empty and idle.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the fold of the updates.
    #[must_use]
    pub fn fold<'a>(updates: impl IntoIterator<Item = &'a v2::SessionUpdate>) -> Self {
        let mut transcript = Self::new();
        for update in updates {
            transcript.apply(update);
        }
        transcript
    }

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

    /// Returns the entry at a place that a [`Change`] named.
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

    fn change(
        &mut self,
        key: Key,
        new: impl FnOnce() -> Entry,
        edit: impl FnOnce(&mut Entry) -> Option<()>,
    ) -> Change {
        self.edit(key, new, edit, Change::Changed)
    }

    fn extend(
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
    fn reindex(&mut self) {
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

/// Two transcripts are equal if everything a reader can see of them is.
impl PartialEq for Transcript {
    fn eq(&self, other: &Self) -> bool {
        self.entries().eq(other.entries())
            && self.state == other.state
            && self.stop_reason == other.stop_reason
            && self.background == other.background
            && self.config_options == other.config_options
            && self.commands == other.commands
            && self.info == other.info
            && self.usage == other.usage
    }
}
