//! What the user sent.

use ply_wire::v2;

/// The prompt of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    content: Vec<v2::ContentBlock>,
    message: Option<v2::MessageId>,
}

impl Prompt {
    pub(crate) fn new(content: Vec<v2::ContentBlock>, message: Option<v2::MessageId>) -> Self {
        Self { content, message }
    }

    /// Returns the text of the prompt: its text blocks, one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            v2::ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns everything in the prompt.
    #[must_use]
    pub fn content(&self) -> &[v2::ContentBlock] {
        &self.content
    }

    /// Returns the id of the prompt's message; none for a turn that the agent started itself.
    #[must_use]
    pub fn message_id(&self) -> Option<&v2::MessageId> {
        self.message.as_ref()
    }
}
