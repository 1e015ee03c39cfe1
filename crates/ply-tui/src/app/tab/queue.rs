//! Prompts that wait for their turn, and the one of them that is being edited.

use super::{Phase, Tab};
use crate::composer::Composer;

/// Prompts that can wait for their turn.
pub(crate) const QUEUE_PROMPTS_MAX: usize = 64;

/// A queued prompt that was taken into the composer.
pub(super) struct Editing {
    /// Where it stood, and goes back to.
    pub(super) place: usize,
    /// What it was.
    prompt: Composer,
}

impl Tab {
    pub(crate) fn can_queue(&self) -> bool {
        self.queue.len() < QUEUE_PROMPTS_MAX
    }

    pub(crate) fn is_editing(&self) -> bool {
        self.editing.is_some()
    }

    /// Puts something into the empty composer that is no queued prompt.
    pub(super) fn write(&mut self, prompt: Composer) {
        self.put_back();
        self.composer = prompt;
    }

    /// Takes what is written, to be sent.
    pub(crate) fn take_written(&mut self) -> Composer {
        self.editing = None;
        self.composer.take()
    }

    /// Takes away what is written and returns it.
    pub(crate) fn clear(&mut self) -> String {
        self.editing = None;
        let text = self.composer.plain();
        self.composer.kill();
        text
    }

    /// Takes the queued prompt at a place back for editing. Returns false while something else is being written.
    pub(crate) fn edit_queued(&mut self, place: usize) -> bool {
        if !self.composer.is_blank() {
            return false;
        }
        // One that was emptied goes back first, before the wanted one or after it.
        let place = match &self.editing {
            Some(editing) if editing.place <= place => place + 1,
            _ => place,
        };
        self.put_back();
        if let Some(prompt) = self.queue.remove(place) {
            self.editing = Some(Editing {
                place,
                prompt: prompt.clone(),
            });
            self.composer = prompt;
        }
        true
    }

    /// Queues what is written: in its old place if it was queued before.
    pub(crate) fn enqueue(&mut self) -> Composer {
        let prompt = self.composer.take();
        let last = self.queue.len();
        let place = self.editing.take().map_or(last, |it| it.place.min(last));
        self.queue.insert(place, prompt.clone());
        prompt
    }

    /// Puts the prompt that is being edited back into its place, as it is written now; one that was emptied, as it was.
    pub(crate) fn put_back(&mut self) {
        let Some(Editing { place, prompt }) = self.editing.take() else {
            return;
        };
        let written = self.composer.take();
        let prompt = match written.is_blank() {
            true => prompt,
            false => written,
        };
        self.queue.insert(place.min(self.queue.len()), prompt);
        // Whoever takes their hands off it has not sent it.
        self.is_held |= self.phase == Phase::Ready;
    }
}
