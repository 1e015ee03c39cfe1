//! Prompts that wait for their turn, and what a prompt may hold.

use std::collections::VecDeque;

use ply_wire::v2;

use super::{Prompt, Refusal};
use crate::{
    Accepts, PROMPTS_QUEUED_BYTES_MAX, PROMPTS_QUEUED_MAX, PromptId, QueuedPrompt, ViewId,
};

/// A prompt whose turn has not come, or a turn that the agent wants for itself.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) prompt: PromptId,
    /// None for a turn that the agent wants for itself.
    pub(crate) view: Option<ViewId>,
    pub(crate) content: Vec<v2::ContentBlock>,
    /// Its name in the journal, if it is there.
    pub(crate) key: Option<String>,
    /// Its sender's key, to be written down with it.
    pub(crate) operation: Option<String>,
}

/// Stands for a sender that is gone: no client has this number.
pub(super) const NOBODY: ViewId = ViewId(u64::MAX);

impl Queued {
    pub(crate) fn own(prompt: PromptId) -> Self {
        Self {
            prompt,
            view: None,
            content: Vec::new(),
            key: None,
            operation: None,
        }
    }

    /// Returns a prompt of an earlier process.
    pub(crate) fn kept(kept: &QueuedPrompt, prompt: PromptId) -> Self {
        Self {
            prompt,
            view: Some(NOBODY),
            content: kept.content.clone(),
            key: Some(kept.key.clone()),
            operation: None,
        }
    }
}

impl From<Prompt> for Queued {
    fn from(prompt: Prompt) -> Self {
        Self {
            prompt: prompt.id,
            view: Some(prompt.view),
            content: prompt.content,
            key: None,
            operation: prompt.operation,
        }
    }
}

impl Queued {
    /// Returns about how much memory it takes.
    fn bytes(&self) -> usize {
        crate::size::content_bytes(&self.content)
    }
}

/// First come, first served.
#[derive(Debug, Default)]
pub(crate) struct Queue(VecDeque<Queued>);

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn has(&self, prompt: PromptId) -> bool {
        self.0.iter().any(|queued| queued.prompt == prompt)
    }

    /// Takes what the journal has, in its order. A prompt without a name there, such as a turn of the agent's own, comes first.
    pub(crate) fn arrange(&mut self, kept: &[QueuedPrompt]) {
        let was = std::mem::take(&mut self.0).into_iter();
        let (named, others) = was.partition(|queued| queued.key.is_some());
        self.0 = others;
        let mut named: Vec<Queued> = VecDeque::into(named);
        for kept in kept {
            let is_it = |queued: &Queued| queued.key.as_deref() == Some(&kept.key);
            if let Some(at) = named.iter().position(is_it) {
                let mut queued = named.swap_remove(at);
                queued.content.clone_from(&kept.content);
                self.0.push_back(queued);
            }
        }
    }

    /// Takes prompts of an earlier process.
    pub(crate) fn adopt(&mut self, kept: Queued) {
        self.0.push_back(kept);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the one that was put in last.
    pub(crate) fn last_mut(&mut self) -> Option<&mut Queued> {
        self.0.back_mut()
    }

    pub(crate) fn content(&self, prompt: PromptId) -> Option<&Vec<v2::ContentBlock>> {
        let mut queued = self.0.iter();
        let found = queued.find(|queued| queued.prompt == prompt);
        found.map(|queued| &queued.content)
    }

    /// Returns the prompt with this name in the journal.
    pub(crate) fn named(&self, key: &str) -> Option<PromptId> {
        let mut queued = self.0.iter();
        let found = queued.find(|queued| queued.key.as_deref() == Some(key))?;
        Some(found.prompt)
    }

    /// Gives the prompt back if there is no room.
    pub(crate) fn push(&mut self, queued: Queued) -> Result<(), Queued> {
        let bytes: usize = self.0.iter().map(Queued::bytes).sum();
        // One that is alone may be as large as a message can be.
        let is_too_much = !self.0.is_empty() && bytes + queued.bytes() > PROMPTS_QUEUED_BYTES_MAX;
        if self.0.len() >= PROMPTS_QUEUED_MAX || is_too_much {
            return Err(queued);
        }
        self.0.push_back(queued);
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Option<Queued> {
        self.0.pop_front()
    }

    pub(crate) fn remove(&mut self, prompt: PromptId) -> Option<Queued> {
        let at = self.0.iter().position(|queued| queued.prompt == prompt)?;
        self.0.remove(at)
    }

    pub(crate) fn remove_of(&mut self, view: ViewId) -> VecDeque<Queued> {
        let (removed, kept) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|queued| queued.view == Some(view));
        self.0 = kept;
        removed
    }

    pub(crate) fn drain(&mut self) -> VecDeque<Queued> {
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
