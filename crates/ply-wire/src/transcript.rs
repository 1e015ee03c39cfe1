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
mod fold;
mod index;
mod output;
mod plain;
mod read;
mod replay;
mod slots;
mod state;
mod terminals;

use std::{collections::BTreeSet, sync::Arc};

pub use self::{
    carry::what_v1_can_carry,
    entry::{Compaction, Entry, Message, MessageKind, Plan, Terminal, ToolCall, is_final},
    output::{Output, TERMINAL_OUTPUT_BYTES_MAX},
    plain::PlainText,
    state::{SessionInfo, State, Usage},
};
pub(crate) use self::{
    content::{append as append_block, is_plain_text},
    entry::decode_output,
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
