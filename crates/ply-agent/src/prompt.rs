//! What the user sent.

use ply_session::Start;
use ply_wire::v2;

/// The prompt of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    start: Start,
    meta: Option<v2::Meta>,
}

impl Prompt {
    pub(crate) fn new(start: Start, meta: Option<v2::Meta>) -> Self {
        Self { start, meta }
    }

    /// Returns the text of the prompt: its text blocks, one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content().iter().filter_map(|block| match block {
            v2::ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the slash command that the prompt begins with, and what follows it: `("web", "agent protocol")` for
    /// `/web agent protocol`. Other content may stand beside it; see [`content`](Self::content).
    ///
    /// The name may be one that the agent does not have. Whether that is an error or words for a model is for the agent to say.
    #[must_use]
    pub fn command(&self) -> Option<(&str, &str)> {
        let mut texts = self.content().iter().filter_map(|block| match block {
            v2::ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let line = texts.next()?.trim_start().strip_prefix('/')?;
        let (name, input) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        (!name.is_empty()).then(|| (name, input.trim()))
    }

    /// Returns everything in the prompt.
    #[must_use]
    pub fn content(&self) -> &[v2::ContentBlock] {
        self.start.content()
    }

    /// Returns the `_meta` of the client's request. It is not part of the history.
    #[must_use]
    pub fn meta(&self) -> Option<&v2::Meta> {
        self.meta.as_ref()
    }

    /// Returns the id of the prompt's message; none for a turn that the agent started itself.
    #[must_use]
    pub fn message_id(&self) -> Option<&v2::MessageId> {
        self.start.message.as_ref()
    }
}
