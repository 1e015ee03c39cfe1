//! The things a transcript is made of.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use super::{content, output::Output, plain::PlainText};
use crate::{MaybeUndefined, convert, v2};

/// One thing in a transcript.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Entry {
    /// A message of the user, the agent, or the agent's thoughts.
    Message(Message),
    /// A tool call. Boxed, since it is much larger than the rest.
    ToolCall(Box<ToolCall>),
    /// A terminal of the agent; tool calls refer to it by id.
    Terminal(Box<Terminal>),
    /// A plan.
    Plan(Plan),
    /// A compaction of the context.
    Compaction(Compaction),
    /// An update of a kind this version does not know, kept as it came.
    Unknown(v2::OtherSessionUpdate),
}

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// The user.
    User,
    /// The agent.
    Agent,
    /// The agent, thinking.
    Thought,
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// Who it is from.
    pub kind: MessageKind,
    /// Its id, unique among messages of its kind.
    pub id: v2::MessageId,
    /// What it says; plain text chunks in a row are one block.
    pub content: Vec<v2::ContentBlock>,
    /// Metadata, patched by key; metadata of chunks is not part of it (V2-MSG-08).
    pub meta: v2::Meta,
}

impl Message {
    pub(super) fn new(kind: MessageKind, id: v2::MessageId) -> Self {
        Self {
            kind,
            id,
            content: Vec::new(),
            meta: v2::Meta::new(),
        }
    }

    /// Returns the text of the message, other blocks left out.
    #[must_use]
    pub fn text(&self) -> String {
        content::text(&self.content)
    }

    pub(super) fn apply(
        &mut self,
        content: &MaybeUndefined<Vec<v2::ContentBlock>>,
        meta: &MaybeUndefined<v2::Meta>,
    ) {
        patch_list(&mut self.content, content);
        patch_meta(&mut self.meta, meta);
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// Its id, unique in the session.
    pub id: v2::ToolCallId,
    /// The name of the tool, for programs.
    pub name: Option<String>,
    /// What the call does, for people.
    pub title: Option<String>,
    /// What sort of tool it is.
    pub kind: v2::ToolKind,
    /// How far it is.
    pub status: v2::ToolCallStatus,
    /// What it produced.
    pub content: Vec<v2::ToolCallContent>,
    /// Where in the files it works.
    pub locations: Vec<v2::ToolCallLocation>,
    /// What the tool was given.
    pub raw_input: Option<serde_json::Value>,
    /// What the tool returned.
    pub raw_output: Option<serde_json::Value>,
    /// What the client may ask of it, such as to stop.
    pub capabilities: Option<v2::ToolCallCapabilities>,
    /// Metadata, patched by key.
    pub meta: v2::Meta,
}

impl ToolCall {
    /// Returns whether a client may cancel it by itself now, with `tool_call/cancel` (V2-ECANCEL-01).
    #[must_use]
    pub fn can_be_cancelled(&self) -> bool {
        let offers = self.capabilities.as_ref();
        !self.is_finished() && offers.is_some_and(|offers| offers.cancel.is_some())
    }

    /// Returns a call of which only the id is known (V2-TOOL-04).
    pub(crate) fn new(id: v2::ToolCallId) -> Self {
        Self {
            id,
            name: None,
            title: None,
            kind: v2::ToolKind::Other,
            status: v2::ToolCallStatus::Pending,
            content: Vec::new(),
            locations: Vec::new(),
            raw_input: None,
            raw_output: None,
            capabilities: None,
            meta: v2::Meta::new(),
        }
    }

    /// Returns whether the status is a final one; an unknown status is not (V2-TOOL-07).
    #[must_use]
    pub fn is_finished(&self) -> bool {
        is_final(&self.status)
    }

    /// Returns what to call it: its title, else its name, else its kind.
    #[must_use]
    pub fn shown_title(&self) -> String {
        convert::tool_call::shown_title(self.title.as_deref(), self.name.as_deref(), &self.kind)
    }

    /// Returns the texts among its content, one per line.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|item| match item {
                v2::ToolCallContent::Content(content) => match &content.content {
                    v2::ContentBlock::Text(text) => Some(text.text.as_str()),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        texts.join("\n")
    }

    pub(super) fn apply(&mut self, update: &v2::ToolCallUpdate) {
        self.apply_fields(update);
        patch_list(&mut self.content, &update.content);
    }

    /// Applies everything but the content, which the projector keeps in another form.
    pub(crate) fn apply_fields(&mut self, update: &v2::ToolCallUpdate) {
        update.name.clone().update_to(&mut self.name);
        update.title.clone().update_to(&mut self.title);
        match &update.kind {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.kind = v2::ToolKind::Other,
            MaybeUndefined::Value(kind) => self.kind = kind.clone(),
        }
        match &update.status {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.status = v2::ToolCallStatus::Pending,
            MaybeUndefined::Value(status) => self.status = status.clone(),
        }
        patch_list(&mut self.locations, &update.locations);
        patch_value(&mut self.raw_input, &update.raw_input);
        patch_value(&mut self.raw_output, &update.raw_output);
        update
            .capabilities
            .clone()
            .update_to(&mut self.capabilities);
        patch_meta(&mut self.meta, &update.meta);
    }
}

/// A terminal of the agent, for showing only.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Terminal {
    /// Its id, unrelated to the ids of tool calls.
    pub id: v2::TerminalId,
    /// The command that runs in it.
    pub command: Option<String>,
    /// Where the command runs.
    pub cwd: Option<v2::AbsolutePath>,
    /// The last bytes it has printed. They may hold escapes; show [`Terminal::text`] or use an
    /// isolated emulator.
    pub output: Output,
    /// How it ended; being there at all means that it has (V2-TERM-09).
    pub exit_status: Option<v2::TerminalExitStatus>,
    /// Its size in cells.
    pub size: Option<v2::TerminalSize>,
    /// What the client may ask of it, such as to stop.
    pub capabilities: Option<v2::TerminalCapabilities>,
    /// Metadata, patched by key.
    pub meta: v2::Meta,
}

impl Terminal {
    /// Returns whether a client may cancel it by itself now, with `terminal/cancel` (V2-ECANCEL-01).
    #[must_use]
    pub fn can_be_cancelled(&self) -> bool {
        let offers = self.capabilities.as_ref();
        self.exit_status.is_none() && offers.is_some_and(|offers| offers.cancel.is_some())
    }

    pub(super) fn new(id: v2::TerminalId) -> Self {
        Self {
            id,
            command: None,
            cwd: None,
            output: Output::default(),
            exit_status: None,
            size: None,
            capabilities: None,
            meta: v2::Meta::new(),
        }
    }

    /// Returns the output as text that is safe to show: escapes, controls and invalid bytes
    /// removed.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = PlainText::new();
        text.push(&self.output);
        text.as_str().to_owned()
    }

    pub(super) fn apply(&mut self, update: &v2::TerminalUpdate) {
        update.command.clone().update_to(&mut self.command);
        // A relative directory says nothing, since there is none that it is meant from (V2-TERM-04).
        let is_given = |cwd: &v2::AbsolutePath| convert::path::is_absolute(&cwd.0);
        if update.cwd.value().is_none_or(is_given) {
            update.cwd.clone().update_to(&mut self.cwd);
        }
        match &update.output {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.output.clear(),
            MaybeUndefined::Value(output) => {
                if let Some(bytes) = decode_output(&output.data) {
                    self.output.clear();
                    self.output.append(&bytes);
                }
            }
        }
        update.exit_status.clone().update_to(&mut self.exit_status);
        update.size.clone().update_to(&mut self.size);
        update
            .capabilities
            .clone()
            .update_to(&mut self.capabilities);
        patch_meta(&mut self.meta, &update.meta);
    }

    /// Appends a chunk, decoded by itself (V2-TERM-07); one that is not base64 is ignored.
    pub(super) fn append(&mut self, data: &str) {
        if let Some(bytes) = decode_output(data) {
            self.output.append(&bytes);
        }
    }
}

/// A plan. Every update of a plan replaces all of it, whatever its type (V2-PLAN-05).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Its id.
    pub id: v2::PlanId,
    /// What it says.
    pub content: v2::PlanUpdateContent,
    /// Metadata of the last update.
    pub meta: Option<v2::Meta>,
}

impl Plan {
    pub(super) fn new(update: &v2::PlanUpdate) -> Option<Self> {
        let id = match &update.plan {
            v2::PlanUpdateContent::Items(items) => items.plan_id.clone(),
            v2::PlanUpdateContent::Other(other) => other.plan_id.clone(),
            _ => return None,
        };
        Some(Self {
            id,
            content: update.plan.clone(),
            meta: update.meta.clone(),
        })
    }

    /// Returns the entries, or none if the plan is of a type without entries.
    #[must_use]
    pub fn entries(&self) -> Option<&[v2::PlanEntry]> {
        match &self.content {
            v2::PlanUpdateContent::Items(items) => Some(&items.entries),
            _ => None,
        }
    }
}

/// A compaction of the context.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compaction {
    /// Its id.
    pub id: v2::CompactionId,
    /// How far it is.
    pub status: v2::CompactionStatus,
    /// What was kept, for people.
    pub summary: Vec<v2::ContentBlock>,
    /// What went wrong.
    pub error: Option<String>,
    /// Metadata, patched by key.
    pub meta: v2::Meta,
}

impl Compaction {
    pub(super) fn new(id: v2::CompactionId) -> Self {
        let status = v2::CompactionStatus::InProgress;
        Self {
            id,
            status,
            summary: Vec::new(),
            error: None,
            meta: v2::Meta::new(),
        }
    }

    pub(super) fn apply(&mut self, update: &v2::CompactionUpdate) {
        self.status = update.status.clone();
        patch_list(&mut self.summary, &update.summary);
        update.error.clone().update_to(&mut self.error);
        patch_meta(&mut self.meta, &update.meta);
    }
}

impl Entry {
    /// Returns the message, if this is one.
    #[must_use]
    pub fn as_message(&self) -> Option<&Message> {
        match self {
            Self::Message(message) => Some(message),
            _ => None,
        }
    }

    /// Returns the tool call, if this is one.
    #[must_use]
    pub fn as_tool_call(&self) -> Option<&ToolCall> {
        match self {
            Self::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    pub(super) fn as_message_mut(&mut self) -> Option<&mut Message> {
        match self {
            Self::Message(message) => Some(message),
            _ => None,
        }
    }

    pub(super) fn as_tool_call_mut(&mut self) -> Option<&mut ToolCall> {
        match self {
            Self::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    pub(super) fn as_terminal_mut(&mut self) -> Option<&mut Terminal> {
        match self {
            Self::Terminal(terminal) => Some(terminal),
            _ => None,
        }
    }

    pub(super) fn as_compaction_mut(&mut self) -> Option<&mut Compaction> {
        match self {
            Self::Compaction(compaction) => Some(compaction),
            _ => None,
        }
    }

    /// Returns whether there is nothing in it that a v1 client could have been sent.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self, Self::Message(message) if message.content.is_empty())
    }
}

impl From<Message> for Entry {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

impl From<ToolCall> for Entry {
    fn from(call: ToolCall) -> Self {
        Self::ToolCall(Box::new(call))
    }
}

impl From<Terminal> for Entry {
    fn from(terminal: Terminal) -> Self {
        Self::Terminal(Box::new(terminal))
    }
}

impl From<Plan> for Entry {
    fn from(plan: Plan) -> Self {
        Self::Plan(plan)
    }
}

impl From<Compaction> for Entry {
    fn from(compaction: Compaction) -> Self {
        Self::Compaction(compaction)
    }
}

/// Returns whether a tool call with this status has ended; an unknown status is not an end (V2-TOOL-07).
#[must_use]
pub fn is_final(status: &v2::ToolCallStatus) -> bool {
    matches!(
        status,
        v2::ToolCallStatus::Completed | v2::ToolCallStatus::Failed | v2::ToolCallStatus::Cancelled
    )
}

pub(crate) fn decode_output(data: &str) -> Option<Vec<u8>> {
    STANDARD.decode(data).ok()
}

pub(super) fn encode_output(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Patches metadata by key, without merging nested objects (V2-MSG-07).
pub(crate) fn patch_meta(stored: &mut v2::Meta, patch: &MaybeUndefined<v2::Meta>) {
    match patch {
        MaybeUndefined::Undefined => {}
        MaybeUndefined::Null => stored.clear(),
        MaybeUndefined::Value(patch) => {
            for (key, value) in patch {
                if value.is_null() {
                    stored.remove(key);
                } else {
                    stored.insert(key.clone(), value.clone());
                }
            }
        }
    }
}

/// A raw value of JSON null is the same as none, since the wire cannot tell them apart.
fn patch_value(stored: &mut Option<serde_json::Value>, patch: &MaybeUndefined<serde_json::Value>) {
    patch.clone().update_to(stored);
    if stored.as_ref().is_some_and(serde_json::Value::is_null) {
        *stored = None;
    }
}

fn patch_list<T: Clone>(stored: &mut Vec<T>, patch: &MaybeUndefined<Vec<T>>) {
    match patch {
        MaybeUndefined::Undefined => {}
        MaybeUndefined::Null => stored.clear(),
        // A clone has no room to spare, and items are large.
        MaybeUndefined::Value(list) if stored.capacity() < list.len() => *stored = list.clone(),
        MaybeUndefined::Value(list) => stored.clone_from(list),
    }
}
