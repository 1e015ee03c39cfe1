//! About how much memory things take.

use ply_wire::v2;

use crate::Edit;

/// What is counted for things whose size cannot be told without encoding them. They are rare.
const UNKNOWN_BYTES: usize = 1024;

/// Returns about how much memory a block of content takes.
#[must_use]
pub fn block_bytes(block: &v2::ContentBlock) -> usize {
    match block {
        v2::ContentBlock::Text(text) => text.text.len(),
        v2::ContentBlock::Image(image) => image.data.len(),
        v2::ContentBlock::Audio(audio) => audio.data.len(),
        v2::ContentBlock::Resource(resource) => match &resource.resource {
            v2::EmbeddedResourceResource::TextResourceContents(text) => text.text.len(),
            v2::EmbeddedResourceResource::BlobResourceContents(blob) => blob.blob.len(),
            _ => UNKNOWN_BYTES,
        },
        v2::ContentBlock::ResourceLink(link) => {
            let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
            UNKNOWN_BYTES
                + link.uri.len()
                + link.name.len()
                + text(&link.title)
                + text(&link.description)
        }
        _ => UNKNOWN_BYTES,
    }
}

/// Returns about how much memory the content of a prompt takes.
pub(crate) fn content_bytes(content: &[v2::ContentBlock]) -> usize {
    content.iter().map(block_bytes).sum()
}

/// Returns about how much memory an update takes.
#[must_use]
pub fn update_bytes(update: &v2::SessionUpdate) -> usize {
    match update {
        v2::SessionUpdate::AgentMessageChunk(chunk)
        | v2::SessionUpdate::AgentThoughtChunk(chunk) => block_bytes(&chunk.content),
        v2::SessionUpdate::TerminalOutputChunk(chunk) => chunk.data.len(),
        v2::SessionUpdate::ToolCallContentChunk(chunk) => match &chunk.content {
            v2::ToolCallContent::Content(content) => block_bytes(&content.content),
            _ => UNKNOWN_BYTES,
        },
        _ => UNKNOWN_BYTES,
    }
}

impl Edit {
    /// Returns about how much memory it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        text(&self.old) + text(&self.new)
    }
}
