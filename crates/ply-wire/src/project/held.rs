//! User messages that wait until it is known whether they are the client's own prompt.

use super::prompt::{PromptTicket, Waiting};
use crate::{
    MaybeUndefined,
    transcript::{append_copy, is_plain_text},
    v2,
};

/// A prompt that was passed on and whose message is not known yet.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) waiting: Waiting,
    content: Vec<v2::ContentBlock>,
}

impl Expected {
    pub(super) fn new(prompt: PromptTicket, content: &[v2::ContentBlock]) -> Self {
        let mut joined = Vec::with_capacity(content.len());
        content.iter().for_each(|block| add(&mut joined, block));
        Self {
            waiting: Waiting {
                prompt,
                cancelled: false,
            },
            content: joined,
        }
    }
}

/// A user message of which nothing was shown.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) message: v2::MessageId,
    pub(super) updates: Vec<v2::SessionUpdate>,
    content: Vec<v2::ContentBlock>,
}

impl Held {
    pub(super) fn new(message: v2::MessageId) -> Self {
        Self {
            message,
            updates: Vec::new(),
            content: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, update: &v2::SessionUpdate) {
        match update {
            v2::SessionUpdate::UserMessageChunk(chunk) => add(&mut self.content, &chunk.content),
            v2::SessionUpdate::UserMessage(message) => match &message.content {
                MaybeUndefined::Undefined => {}
                MaybeUndefined::Null => self.content.clear(),
                MaybeUndefined::Value(blocks) => {
                    self.content.clear();
                    blocks
                        .iter()
                        .for_each(|block| add(&mut self.content, block));
                }
            },
            _ => {}
        }
        self.updates.push(update.clone());
    }

    /// Returns whether the message, if nothing more comes of it, is one of the prompts.
    pub(super) fn is_one_of(&self, prompts: &[Expected]) -> bool {
        prompts.iter().any(|prompt| prompt.content == self.content)
    }

    /// Returns whether one of the prompts begins with what is there of the message.
    pub(super) fn may_be_one_of(&self, prompts: &[Expected]) -> bool {
        prompts
            .iter()
            .any(|prompt| begins_with(&prompt.content, &self.content))
    }
}

/// Appends a block in the one form that content has however it is cut.
fn add(blocks: &mut Vec<v2::ContentBlock>, block: &v2::ContentBlock) {
    let is_empty = matches!(block, v2::ContentBlock::Text(text) if text.text.is_empty());
    if !(is_empty && is_plain_text(block)) {
        append_copy(blocks, block);
    }
}

fn begins_with(whole: &[v2::ContentBlock], part: &[v2::ContentBlock]) -> bool {
    let Some((last, full)) = part.split_last() else {
        return true;
    };
    let Some((head, [next, ..])) = whole.split_at_checked(full.len()) else {
        return false;
    };
    let last_fits = match (next, last) {
        (v2::ContentBlock::Text(next_text), v2::ContentBlock::Text(last_text))
            if is_plain_text(next) && is_plain_text(last) =>
        {
            next_text.text.starts_with(&last_text.text)
        }
        _ => next == last,
    };
    head == full && last_fits
}
