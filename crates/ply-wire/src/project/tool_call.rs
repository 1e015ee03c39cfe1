//! Tool calls: what a v1 client is shown of them.

use serde_json::Value;

use super::{mark, terminal::Screen};
use crate::{
    MaybeUndefined,
    convert::{content, diff, tool_call as convert},
    transcript::ToolCall,
    v1, v2,
};

/// The text that a cancelled call ends with, since v1 can only call it failed.
const CANCELLED_NOTE: &str = "cancelled";
/// What stands for content that was dropped before more came.
const LEFT_OUT_NOTE: &str = "[earlier content left out]";
/// Up to this size every growth of a call's content is sent at once.
const UNTHROTTLED_BYTES_MAX: usize = 4 * 1024;
/// Larger content is sent again when it grew by this part of its size; so all sends together cost a
/// small multiple of the content, where sending on each chunk would cost its square.
const GROWTH_PART: usize = 8;

/// A tool call as the projector knows it.
#[derive(Debug)]
pub(super) struct Call {
    /// All fields but the content.
    pub(super) fields: ToolCall,
    pub(super) items: Vec<Item>,
    /// The terminals that were ever among them.
    pub(super) shown: Vec<v2::TerminalId>,
    pub(super) sent: bool,
    /// Bytes of content that came since the content was last sent; none if it is up to date.
    pub(super) unsent: Option<usize>,
    sent_bytes: usize,
    /// Bytes that count as kept though the call has finished.
    pub(super) kept: usize,
    /// Whether it is among the finished calls that are remembered.
    pub(super) is_remembered: bool,
    /// Whether content was dropped that the client still has.
    pub(super) left_out: bool,
}

#[derive(Debug)]
pub(super) enum Item {
    /// What one content item of v2 looks like in v1.
    Shown(Vec<v1::ToolCallContent>),
    /// A terminal, looked up when the content is sent.
    Terminal(v2::TerminalId),
}

impl Item {
    pub(super) fn new(
        call: &v2::ToolCallId,
        item: &v2::ToolCallContent,
        edits: &dyn diff::EditTexts,
    ) -> Self {
        match item {
            v2::ToolCallContent::Terminal(terminal) => Self::Terminal(terminal.terminal_id.clone()),
            other => Self::Shown(item_down(call, other, edits)),
        }
    }

    pub(super) fn terminal(&self) -> Option<&v2::TerminalId> {
        match self {
            Self::Terminal(id) => Some(id),
            Self::Shown(_) => None,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Terminal(_) => 0,
            Self::Shown(items) => items.iter().map(bytes).sum(),
        }
    }
}

/// Returns the v1 items for a content item that is no terminal.
pub(crate) fn item_down(
    call: &v2::ToolCallId,
    item: &v2::ToolCallContent,
    edits: &dyn diff::EditTexts,
) -> Vec<v1::ToolCallContent> {
    match item {
        v2::ToolCallContent::Content(item) => {
            let content =
                v1::Content::new(content::down(item.content.clone())).meta(item.meta.clone());
            vec![v1::ToolCallContent::Content(content)]
        }
        v2::ToolCallContent::Diff(diff) => diff::down(call, diff, edits),
        v2::ToolCallContent::Other(other) => vec![content::placeholder(&other.type_).into()],
        _ => vec![content::placeholder("unknown").into()],
    }
}

/// Returns the item that ends the content of a cancelled call.
pub(crate) fn cancelled_item() -> v1::ToolCallContent {
    CANCELLED_NOTE.into()
}

fn bytes(item: &v1::ToolCallContent) -> usize {
    match item {
        v1::ToolCallContent::Content(content) => match &content.content {
            v1::ContentBlock::Text(text) => text.text.len(),
            v1::ContentBlock::Image(image) => image.data.len(),
            v1::ContentBlock::Audio(audio) => audio.data.len(),
            v1::ContentBlock::Resource(resource) => match &resource.resource {
                v1::EmbeddedResourceResource::TextResourceContents(text) => text.text.len(),
                v1::EmbeddedResourceResource::BlobResourceContents(blob) => blob.blob.len(),
                _ => 256,
            },
            _ => 256,
        },
        v1::ToolCallContent::Diff(diff) => {
            diff.new_text.len() + diff.old_text.as_ref().map_or(0, String::len)
        }
        _ => 0,
    }
}

impl Call {
    pub(super) fn new(id: v2::ToolCallId) -> Self {
        Self {
            fields: ToolCall::new(id),
            items: Vec::new(),
            shown: Vec::new(),
            sent: false,
            unsent: None,
            sent_bytes: 0,
            kept: 0,
            is_remembered: false,
            left_out: false,
        }
    }

    pub(super) fn terminals(&self) -> impl Iterator<Item = &v2::TerminalId> {
        self.items.iter().filter_map(Item::terminal)
    }

    pub(super) fn has_unsent(&self) -> bool {
        self.sent && self.unsent.is_some()
    }

    /// Appends an item and returns whether the content should be sent now.
    pub(super) fn push(&mut self, item: Item) -> bool {
        let bytes = item.bytes();
        self.items.push(item);
        self.grew(bytes)
    }

    /// Notes that the content grew and returns whether it should be sent now.
    pub(super) fn grew(&mut self, bytes: usize) -> bool {
        let unsent = self.unsent.unwrap_or(0).saturating_add(bytes);
        self.unsent = Some(unsent);
        !self.sent
            || self.sent_bytes <= UNTHROTTLED_BYTES_MAX
            || unsent >= self.sent_bytes / GROWTH_PART
    }

    /// Applies an update and returns what to send for it: the whole call at first sight, else the
    /// changed fields.
    pub(super) fn update(
        &mut self,
        update: &v2::ToolCallUpdate,
        items: Option<Vec<Item>>,
        screens: &super::Screens,
    ) -> Option<v1::SessionUpdate> {
        let title = self.fields.shown_title();
        let was_cancelled = self.is_cancelled();
        let meta = meta_patch(&self.fields.meta, &update.meta);
        self.fields.apply_fields(update);
        // A final status carries the content it ends with (V1-TOOL-11). Any other change leaves
        // content that waits where it is: all of it would have to be sent.
        let is_content_due = items.is_some() || !update.status.is_undefined();
        if let Some(items) = items {
            self.items = items;
            self.left_out = false;
            self.unsent = Some(0);
        }
        if was_cancelled != self.is_cancelled() {
            self.unsent = Some(0);
        }
        if !self.sent {
            return Some(self.announce(screens));
        }
        let content = if is_content_due && self.unsent.is_some() {
            self.content(screens)
        } else {
            None
        };
        let new_title = self.fields.shown_title();
        // What a forgotten call was called is not known, so any word about it counts.
        let is_renamed = title != new_title || (self.left_out && !update.title.is_undefined());
        let mut cleared = Vec::new();
        let name = set_or_cleared(&update.name, "name", &mut cleared);
        let raw_input = set_or_cleared(&non_null(&update.raw_input), "rawInput", &mut cleared);
        let raw_output = set_or_cleared(&non_null(&update.raw_output), "rawOutput", &mut cleared);
        let fields = v1::ToolCallUpdateFields::new()
            .title(is_renamed.then_some(new_title))
            .name(name)
            .kind((!update.kind.is_undefined()).then(|| convert::kind_down(&self.fields.kind)))
            .status(
                (!update.status.is_undefined()).then(|| convert::status_down(&self.fields.status)),
            )
            .content(content)
            .locations(
                (!update.locations.is_undefined())
                    .then(|| convert::locations_down(&self.fields.locations)),
            )
            .raw_input(raw_input)
            .raw_output(raw_output);
        let meta = mark::with_cleared(meta, &cleared);
        if fields == v1::ToolCallUpdateFields::new() && meta.is_none() {
            return None;
        }
        let id = self.id_down();
        Some(v1::SessionUpdate::ToolCallUpdate(
            v1::ToolCallUpdate::new(id, fields).meta(meta),
        ))
    }

    /// Returns the update that brings the client's copy of the content up to date.
    pub(super) fn send_content(&mut self, screens: &super::Screens) -> Option<v1::SessionUpdate> {
        if !self.sent {
            return Some(self.announce(screens));
        }
        let fields = v1::ToolCallUpdateFields::new().content(self.content(screens)?);
        let update = v1::ToolCallUpdate::new(self.id_down(), fields);
        Some(v1::SessionUpdate::ToolCallUpdate(update))
    }

    /// Returns title and content as they are, for a client that was shown others for a while.
    pub(super) fn restore(&mut self, screens: &super::Screens) -> v1::SessionUpdate {
        let title = self.fields.shown_title();
        let fields = v1::ToolCallUpdateFields::new()
            .title(title)
            .content(self.content(screens));
        v1::SessionUpdate::ToolCallUpdate(v1::ToolCallUpdate::new(self.id_down(), fields))
    }

    /// Returns the content as v1 shows it, and counts it as sent. There is none if it was dropped:
    /// the client still has it.
    pub(super) fn content(&mut self, screens: &super::Screens) -> Option<Vec<v1::ToolCallContent>> {
        self.unsent = None;
        if self.left_out && self.items.is_empty() {
            return None;
        }
        let mut content: Vec<v1::ToolCallContent> = Vec::with_capacity(self.items.len() + 1);
        if self.left_out {
            content.push(LEFT_OUT_NOTE.into());
        }
        for item in &self.items {
            match item {
                Item::Shown(items) => content.extend(items.iter().cloned()),
                Item::Terminal(id) => match screens.get(id) {
                    Some(screen) if screen.is_clients => {
                        let terminal = v1::Terminal::new(v1::TerminalId::new(id.0.clone()));
                        content.push(v1::ToolCallContent::Terminal(terminal));
                    }
                    screen => content.extend(screen.and_then(Screen::text).map(Into::into)),
                },
            }
        }
        if self.is_cancelled() {
            content.push(cancelled_item());
        }
        self.sent_bytes = content.iter().map(bytes).sum();
        Some(content)
    }

    fn announce(&mut self, screens: &super::Screens) -> v1::SessionUpdate {
        self.sent = true;
        let content = self.content(screens).unwrap_or_default();
        let fields = &self.fields;
        let meta = mark::without_marks(Some(&fields.meta)).filter(|meta| !meta.is_empty());
        v1::SessionUpdate::ToolCall(
            v1::ToolCall::new(self.id_down(), fields.shown_title())
                .name(fields.name.clone())
                .kind(convert::kind_down(&fields.kind))
                .status(convert::status_down(&fields.status))
                .content(content)
                .locations(convert::locations_down(&fields.locations))
                .raw_input(fields.raw_input.clone())
                .raw_output(fields.raw_output.clone())
                .meta(meta),
        )
    }

    fn is_cancelled(&self) -> bool {
        self.fields.status == v2::ToolCallStatus::Cancelled
    }

    fn id_down(&self) -> v1::ToolCallId {
        v1::ToolCallId::new(self.fields.id.0.clone())
    }
}

/// Returns the metadata patch with "clear all" spelled out, since v1 has no null for it.
fn meta_patch(stored: &v2::Meta, patch: &MaybeUndefined<v2::Meta>) -> Option<v1::Meta> {
    let patch = match patch {
        MaybeUndefined::Undefined => return None,
        MaybeUndefined::Null => stored
            .keys()
            .map(|key| (key.clone(), Value::Null))
            .collect(),
        MaybeUndefined::Value(patch) => patch.clone(),
    };
    mark::without_marks(Some(&patch)).filter(|patch| !patch.is_empty())
}

fn non_null(value: &MaybeUndefined<Value>) -> MaybeUndefined<Value> {
    match value {
        MaybeUndefined::Value(Value::Null) => MaybeUndefined::Null,
        other => other.clone(),
    }
}

fn set_or_cleared<T: Clone>(
    patch: &MaybeUndefined<T>,
    field: &'static str,
    cleared: &mut Vec<&'static str>,
) -> Option<T> {
    if patch.is_null() {
        cleared.push(field);
    }
    patch.value().cloned()
}
