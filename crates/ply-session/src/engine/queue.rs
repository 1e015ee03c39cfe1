//! Prompts that wait for their turn, and what a prompt may hold.

use std::collections::VecDeque;

use ply_wire::v2;

use super::{Prompt, Refusal};
use crate::{Accepts, PROMPTS_HELD_BYTES_MAX, PROMPTS_HELD_MAX, PromptId, ViewId};

/// A prompt, or a wish of the agent for a turn of its own, whose turn has not come.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) prompt: PromptId,
    pub(crate) view: Option<ViewId>,
    pub(crate) content: Vec<v2::ContentBlock>,
}

impl Held {
    pub(crate) fn own(prompt: PromptId) -> Self {
        Self {
            prompt,
            view: None,
            content: Vec::new(),
        }
    }
}

impl From<Prompt> for Held {
    fn from(prompt: Prompt) -> Self {
        Self {
            prompt: prompt.id,
            view: Some(prompt.view),
            content: prompt.content,
        }
    }
}

impl Held {
    /// Returns about how much memory it takes.
    fn bytes(&self) -> usize {
        crate::size::content_bytes(&self.content)
    }
}

/// First come, first served.
#[derive(Debug, Default)]
pub(crate) struct Queue(VecDeque<Held>);

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn has(&self, prompt: PromptId) -> bool {
        self.0.iter().any(|held| held.prompt == prompt)
    }

    /// Gives the prompt back if there is no room.
    pub(crate) fn push(&mut self, held: Held) -> Result<(), Held> {
        let bytes: usize = self.0.iter().map(Held::bytes).sum();
        // One that is alone may be as large as a message can be.
        let is_too_much = !self.0.is_empty() && bytes + held.bytes() > PROMPTS_HELD_BYTES_MAX;
        if self.0.len() >= PROMPTS_HELD_MAX || is_too_much {
            return Err(held);
        }
        self.0.push_back(held);
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Option<Held> {
        self.0.pop_front()
    }

    pub(crate) fn remove(&mut self, prompt: PromptId) -> Option<Held> {
        let at = self.0.iter().position(|held| held.prompt == prompt)?;
        self.0.remove(at)
    }

    pub(crate) fn remove_of(&mut self, view: ViewId) -> VecDeque<Held> {
        let (removed, kept) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|held| held.view == Some(view));
        self.0 = kept;
        removed
    }

    pub(crate) fn drain(&mut self) -> VecDeque<Held> {
        std::mem::take(&mut self.0)
    }
}

impl Accepts {
    /// Returns why a prompt with this content is not taken, if it is not.
    pub(crate) fn refusal_of(self, content: &[v2::ContentBlock]) -> Option<Refusal> {
        if content.is_empty() {
            return Some(Refusal::Empty);
        }
        content.iter().find_map(|block| {
            let (taken, kind) = match block {
                v2::ContentBlock::Text(_) | v2::ContentBlock::ResourceLink(_) => return None,
                v2::ContentBlock::Image(_) => (self.image, "image"),
                v2::ContentBlock::Audio(_) => (self.audio, "audio"),
                v2::ContentBlock::Resource(_) => (self.embedded_context, "embedded resource"),
                _ => (false, "this kind of"),
            };
            (!taken).then_some(Refusal::Unsupported(kind))
        })
    }
}
