//! What the user sent.

use ply_wire::v2;

/// The prompt of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    content: Vec<v2::ContentBlock>,
    message: Option<v2::MessageId>,
    meta: Option<v2::Meta>,
}

impl Prompt {
    pub(crate) fn new(
        content: Vec<v2::ContentBlock>,
        message: Option<v2::MessageId>,
        meta: Option<v2::Meta>,
    ) -> Self {
        Self {
            content,
            message,
            meta,
        }
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

    /// Returns the `_meta` of the client's request. It is not part of the history.
    #[must_use]
    pub fn meta(&self) -> Option<&v2::Meta> {
        self.meta.as_ref()
    }

    /// Returns the id of the prompt's message; none for a turn that the agent started itself.
    #[must_use]
    pub fn message_id(&self) -> Option<&v2::MessageId> {
        self.message.as_ref()
    }
}
