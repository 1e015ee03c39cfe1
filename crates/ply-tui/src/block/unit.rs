//! Which entries of a transcript are shown as one, and which not at all.
//!
//! Everything here looks at a bounded number of entries, so that the length of a session costs
//! nothing.

use ply_client::Transcript;
use ply_client::transcript::{Entry, Message, MessageKind, ToolCall};
use ply_client::v2;

use super::Look;

/// Entries in a row that are shown as one never cross a multiple of this, so that their first is
/// found without going further back.
const GROUP_MAX: usize = 64;
/// How far from a terminal the tool call may be that shows it.
const TERMINAL_DISTANCE_MAX: usize = 16;

/// Entries that are shown as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Unit {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What can be folded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FoldKind {
    Thought,
    Card,
    Plan,
    User,
    Compaction,
}

impl Unit {
    /// Returns the unit that an entry belongs to.
    pub(crate) fn at(transcript: &Transcript, place: usize) -> Option<Self> {
        let entry = transcript.entry(place)?;
        let single = Self {
            start: place,
            end: place + 1,
        };
        if !is_explored(entry) {
            return Some(single);
        }
        // Whoever works for a sub-agent looks around by itself.
        let inside = parent(entry);
        let explored = |place: usize| {
            let entry = transcript.entry(place);
            entry.is_some_and(|entry| is_explored(entry) && parent(entry) == inside)
        };
        let first = place - place % GROUP_MAX;
        let before = (first..place).rev().take_while(|place| explored(*place));
        let after = (place + 1..first + GROUP_MAX).take_while(|place| explored(*place));
        Some(Self {
            start: place - before.count(),
            end: place + 1 + after.count(),
        })
    }

    pub(crate) fn next(self, transcript: &Transcript) -> Option<Self> {
        Self::at(transcript, self.end)
    }

    pub(crate) fn previous(self, transcript: &Transcript) -> Option<Self> {
        Self::at(transcript, self.start.checked_sub(1)?)
    }

    pub(crate) fn last(transcript: &Transcript) -> Option<Self> {
        Self::at(transcript, transcript.entries().len().checked_sub(1)?)
    }

    pub(super) fn is_group(self) -> bool {
        self.end - self.start > 1
    }

    /// Returns whether it is the one that the agent is at.
    pub(super) fn is_growing(self, transcript: &Transcript) -> bool {
        self.end == transcript.entries().len() && transcript.state().is_active()
    }

    pub(crate) fn is_prompt(self, transcript: &Transcript) -> bool {
        let message = transcript.entry(self.start).and_then(Entry::as_message);
        message.is_some_and(|message| message.kind == MessageKind::User)
    }

    /// Returns whether nothing of it is shown.
    pub(crate) fn is_hidden(self, transcript: &Transcript, look: &Look) -> bool {
        match transcript.entry(self.start) {
            Some(Entry::Message(message)) => {
                message.kind == MessageKind::Thought && !look.show_thoughts || is_empty(message)
            }
            Some(Entry::Terminal(terminal)) => self.is_shown_by_a_card(transcript, &terminal.id),
            Some(Entry::Plan(plan)) => {
                let is_last = transcript
                    .last_plan()
                    .is_some_and(|last| last.id == plan.id);
                look.hides_last_plan && is_last || plan.entries().is_some_and(<[_]>::is_empty)
            }
            Some(_) => false,
            None => true,
        }
    }

    /// Returns whether an empty line stands before it. Cards stand close together.
    pub(crate) fn has_gap(self, transcript: &Transcript) -> bool {
        let is_card = |place: usize| {
            let entry = transcript.entry(place);
            matches!(entry, Some(Entry::ToolCall(_) | Entry::Terminal(_)))
        };
        match self.start.checked_sub(1) {
            Some(before) => !(is_card(before) && is_card(self.start)),
            None => false,
        }
    }

    /// Returns what it is folded with, if it can be.
    pub(crate) fn fold_kind(self, transcript: &Transcript) -> Option<FoldKind> {
        match transcript.entry(self.start)? {
            Entry::Message(message) => match message.kind {
                MessageKind::Thought => Some(FoldKind::Thought),
                MessageKind::User => super::user::can_fold(message).then_some(FoldKind::User),
                MessageKind::Agent => None,
            },
            Entry::ToolCall(_) | Entry::Terminal(_) => Some(FoldKind::Card),
            Entry::Plan(_) => Some(FoldKind::Plan),
            Entry::Compaction(_) => Some(FoldKind::Compaction),
            _ => None,
        }
    }

    fn is_shown_by_a_card(self, transcript: &Transcript, id: &v2::TerminalId) -> bool {
        let near =
            self.start.saturating_sub(TERMINAL_DISTANCE_MAX)..=self.start + TERMINAL_DISTANCE_MAX;
        let shows = |call: &ToolCall| {
            let mut content = call.content.iter().take(super::output::ITEMS_SEARCHED_MAX);
            content.any(
                |item| matches!(item, v2::ToolCallContent::Terminal(of) if of.terminal_id == *id),
            )
        };
        let mut near = near.filter_map(|place| transcript.entry(place)?.as_tool_call());
        near.any(shows)
    }
}

/// Returns whether an entry is a look around that went well, of which only the number matters.
fn is_explored(entry: &Entry) -> bool {
    let Some(call) = entry.as_tool_call() else {
        return false;
    };
    matches!(call.kind, v2::ToolKind::Read | v2::ToolKind::Search)
        && call.status == v2::ToolCallStatus::Completed
}

/// Returns the call that an entry is a part of, such as that of the sub-agent that makes it.
fn parent(entry: &Entry) -> Option<&str> {
    entry.as_tool_call().and_then(parent_of)
}

/// Returns the call that another one is a part of, as agents say it.
pub(super) fn parent_of(call: &ToolCall) -> Option<&str> {
    call.meta.get("parentToolCallId")?.as_str()
}

/// Some agents send messages of nothing but line ends.
fn is_empty(message: &Message) -> bool {
    let is_blank = |block: &v2::ContentBlock| match block {
        v2::ContentBlock::Text(text) => text.text.len() < 64 && text.text.trim().is_empty(),
        _ => false,
    };
    message.content.len() < 8 && message.content.iter().all(is_blank)
}
