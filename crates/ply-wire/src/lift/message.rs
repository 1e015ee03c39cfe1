//! Message chunks: giving each an id, and dropping the echo of a prompt.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::pairs;
use crate::{
    convert::content,
    project::mark,
    transcript::{MessageKind, append_block, is_plain_text},
    v1, v2,
};

/// Which message the chunks of an agent belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Segments {
    prefix: String,
    made: u64,
    /// The message that chunks without an id go on with.
    current: Option<(MessageKind, v2::MessageId)>,
    /// Ids of the agent that stand for another message: the echo of a prompt, or a marked
    /// replacement.
    #[serde(with = "pairs")]
    aliases: HashMap<(MessageKind, v1::MessageId), v2::MessageId>,
    echo: Option<Echo>,
}

/// The live prompt, while the agent may still be repeating it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Echo {
    message: v2::MessageId,
    prompt: Vec<v2::ContentBlock>,
    /// How many blocks of the prompt were repeated, and how many bytes of the text after them.
    blocks: usize,
    bytes: usize,
    /// What was taken for the echo, in case it turns out to be something else.
    swallowed: Vec<v1::ContentChunk>,
}

impl Segments {
    pub(super) fn new(prefix: String) -> Self {
        Self {
            prefix,
            made: 0,
            current: None,
            aliases: HashMap::new(),
            echo: None,
        }
    }

    /// Starts a new message for the next chunk without an id: after a tool call, and at each turn
    /// (V1-MSGID-03).
    pub(super) fn end_segment(&mut self) {
        self.current = None;
    }

    pub(super) fn begin_turn(&mut self, message: v2::MessageId, prompt: &[v2::ContentBlock]) {
        self.end_segment();
        // The agent got the prompt in v1 form, so that is what it can repeat.
        let mut joined: Vec<v2::ContentBlock> = Vec::new();
        for block in prompt {
            append_block(&mut joined, content::up(content::down(block.clone())));
        }
        self.echo = Some(Echo {
            message,
            prompt: joined,
            blocks: 0,
            bytes: 0,
            swallowed: Vec::new(),
        });
    }

    /// An echo comes first in a turn; what was swallowed of one that stops short was still an echo.
    pub(super) fn echo_ends(&mut self) {
        self.echo = None;
    }

    pub(super) fn user_chunk(&mut self, chunk: v1::ContentChunk, out: &mut Vec<v2::SessionUpdate>) {
        let Some(echo) = &mut self.echo else {
            return self.chunk(MessageKind::User, chunk, out);
        };
        if echo.swallow(&chunk) {
            if let Some(id) = &chunk.message_id {
                self.aliases
                    .insert((MessageKind::User, id.clone()), echo.message.clone());
            }
            if echo.is_whole() {
                self.echo = None;
            }
            return;
        }
        // Not the prompt after all: what was taken for it is a message of its own.
        let swallowed = std::mem::take(&mut echo.swallowed);
        self.echo = None;
        for chunk in &swallowed {
            if let Some(id) = &chunk.message_id {
                self.aliases.remove(&(MessageKind::User, id.clone()));
            }
        }
        for chunk in swallowed.into_iter().chain([chunk]) {
            self.chunk(MessageKind::User, chunk, out);
        }
    }

    pub(super) fn chunk(
        &mut self,
        kind: MessageKind,
        chunk: v1::ContentChunk,
        out: &mut Vec<v2::SessionUpdate>,
    ) {
        if let Some(update) = self.replacement(kind, &chunk) {
            out.push(update);
            return;
        }
        let content = content::up(chunk.content);
        let id = self.message_id(kind, chunk.message_id.as_ref());
        let meta = mark::without_marks(chunk.meta.as_ref());
        let chunk = v2::ContentChunk::new(content, id).meta(meta);
        out.push(match kind {
            MessageKind::User => v2::SessionUpdate::UserMessageChunk(chunk),
            MessageKind::Agent => v2::SessionUpdate::AgentMessageChunk(chunk),
            MessageKind::Thought => v2::SessionUpdate::AgentThoughtChunk(chunk),
        });
    }

    fn message_id(&mut self, kind: MessageKind, given: Option<&v1::MessageId>) -> v2::MessageId {
        if let Some(given) = given {
            // A later chunk without an id is not part of a message that has one.
            self.current = None;
            let alias = self.aliases.get(&(kind, given.clone()));
            return alias
                .cloned()
                .unwrap_or_else(|| v2::MessageId::new(given.0.clone()));
        }
        match &self.current {
            Some((current, id)) if *current == kind => id.clone(),
            _ => {
                self.made += 1;
                let id = v2::MessageId::new(format!("{}{}", self.prefix, self.made));
                self.current = Some((kind, id.clone()));
                id
            }
        }
    }

    /// Reads the mark of a replaced message as the message update it was made of.
    fn replacement(
        &mut self,
        kind: MessageKind,
        chunk: &v1::ContentChunk,
    ) -> Option<v2::SessionUpdate> {
        let meta = chunk.meta.as_ref()?;
        let replaced = meta.get(mark::REPLACES)?.as_str()?;
        let id = v2::MessageId::new(replaced);
        self.aliases
            .insert((kind, chunk.message_id.clone()?), id.clone());
        let withdrawn = meta.contains_key(mark::WITHDRAWN);
        let content = if withdrawn {
            Vec::new()
        } else {
            vec![content::up(chunk.content.clone())]
        };
        Some(match kind {
            MessageKind::User => {
                v2::SessionUpdate::UserMessage(v2::UserMessage::new(id).content(content))
            }
            MessageKind::Agent => {
                v2::SessionUpdate::AgentMessage(v2::AgentMessage::new(id).content(content))
            }
            MessageKind::Thought => {
                v2::SessionUpdate::AgentThought(v2::AgentThought::new(id).content(content))
            }
        })
    }
}

impl Echo {
    /// Takes a chunk if the prompt goes on with it.
    fn swallow(&mut self, chunk: &v1::ContentChunk) -> bool {
        let content = content::up(chunk.content.clone());
        let Some(next) = self.prompt.get(self.blocks) else {
            return false;
        };
        let is_block_done = match (next, &content) {
            (v2::ContentBlock::Text(next), v2::ContentBlock::Text(text))
                if is_plain_text(&content) =>
            {
                let rest = next.text.get(self.bytes..).unwrap_or_default();
                if !rest.starts_with(&text.text) {
                    return false;
                }
                self.bytes += text.text.len();
                self.bytes == next.text.len()
            }
            (next, content) if next == content => true,
            _ => return false,
        };
        if is_block_done {
            self.blocks += 1;
            self.bytes = 0;
        }
        self.swallowed.push(chunk.clone());
        true
    }

    fn is_whole(&self) -> bool {
        self.blocks == self.prompt.len()
    }
}
