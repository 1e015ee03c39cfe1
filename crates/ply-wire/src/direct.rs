//! The JSON of what comes most, read without a deserializer.
//!
//! Most messages of a session are chunks of plain text and reports on tool calls, and the largest are prompts. [`TextChunk`],
//! [`CallUpdate`] and [`PlainPrompt`] know these and nothing else: what they do not know they leave to the official types, which
//! also judge them in the tests.

mod call;
mod json;

use std::borrow::Cow;

pub use self::call::CallUpdate;
use self::json::Reader;
use crate::{v1, v2};

/// The params of a `session/prompt` that is plain text. Both versions write it alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainPrompt<'a> {
    session: Cow<'a, str>,
    texts: Vec<Cow<'a, str>>,
}

impl<'a> PlainPrompt<'a> {
    /// Reads the params, if they are such a prompt and have no member that this does not know.
    #[must_use]
    pub fn read(params: &'a str) -> Option<Self> {
        let mut reader = Reader::new(params);
        let (mut session, mut texts) = (None, None);
        reader.object(|reader, name| {
            match name {
                "sessionId" if session.is_none() => session = Some(reader.text()?),
                "prompt" if texts.is_none() => texts = Some(reader.array(text_block)?),
                _ => return None,
            }
            Some(())
        })?;
        let (session, texts) = (session?, texts?);
        reader.is_at_end().then_some(Self { session, texts })
    }

    /// Returns the session that it is for.
    #[must_use]
    pub fn session(&self) -> v2::SessionId {
        v2::SessionId::new(&*self.session)
    }

    /// Returns what it says.
    #[must_use]
    pub fn into_content(self) -> Vec<v2::ContentBlock> {
        let block = |text: Cow<'_, str>| v2::TextContent::new(text.into_owned());
        let blocks = self.texts.into_iter().map(block);
        blocks.map(v2::ContentBlock::Text).collect()
    }
}

/// A `session/update` notification with a chunk of plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChunk<'a> {
    session: Cow<'a, str>,
    kind: Kind,
    message: Option<Cow<'a, str>>,
    text: Cow<'a, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Thought,
}

impl<'a> TextChunk<'a> {
    /// Reads a whole line, if it is such a notification and has no member that this does not know.
    #[must_use]
    pub fn read(line: &'a str) -> Option<Self> {
        let mut reader = Reader::new(line);
        let (mut is_rpc, mut is_update, mut params) = (false, false, None);
        reader.object(|reader, name| {
            match name {
                "jsonrpc" if !is_rpc => is_rpc = reader.word("2.0")?,
                "method" if !is_update => is_update = reader.word("session/update")?,
                "params" if params.is_none() => params = Some(Self::params(reader)?),
                _ => return None,
            }
            Some(())
        })?;
        params.filter(|_| is_rpc && is_update && reader.is_at_end())
    }

    fn params(reader: &mut Reader<'a>) -> Option<Self> {
        let (mut session, mut update) = (None, None);
        reader.object(|reader, name| {
            match name {
                "sessionId" if session.is_none() => session = Some(reader.text()?),
                "update" if update.is_none() => update = Some(Self::update(reader)?),
                _ => return None,
            }
            Some(())
        })?;
        let (kind, message, text) = update?;
        Some(Self {
            session: session?,
            kind,
            message,
            text,
        })
    }

    fn update(reader: &mut Reader<'a>) -> Option<(Kind, Option<Cow<'a, str>>, Cow<'a, str>)> {
        let (mut kind, mut message, mut text) = (None, None, None);
        reader.object(|reader, name| {
            match name {
                "sessionUpdate" if kind.is_none() => {
                    kind = Some(match reader.plain_text()? {
                        "agent_message_chunk" => Kind::Message,
                        "agent_thought_chunk" => Kind::Thought,
                        _ => return None,
                    });
                }
                "messageId" if message.is_none() => message = Some(reader.text()?),
                "content" if text.is_none() => text = Some(text_block(reader)?),
                _ => return None,
            }
            Some(())
        })?;
        Some((kind?, message, text?))
    }

    /// Returns the session that it belongs to.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the update as version 1 has it.
    #[must_use]
    pub fn into_v1(self) -> v1::SessionUpdate {
        let text = v1::TextContent::new(self.text.into_owned());
        let id = self.message.map(v1::MessageId::new);
        let chunk = v1::ContentChunk::new(v1::ContentBlock::Text(text)).message_id(id);
        match self.kind {
            Kind::Message => v1::SessionUpdate::AgentMessageChunk(chunk),
            Kind::Thought => v1::SessionUpdate::AgentThoughtChunk(chunk),
        }
    }

    /// Returns the update as version 2 has it; none without the message's id, which version 2 requires.
    #[must_use]
    pub fn into_v2(self) -> Option<v2::SessionUpdate> {
        let text = v2::TextContent::new(self.text.into_owned());
        let id = v2::MessageId::new(self.message?);
        let chunk = v2::ContentChunk::new(v2::ContentBlock::Text(text), id);
        Some(match self.kind {
            Kind::Message => v2::SessionUpdate::AgentMessageChunk(chunk),
            Kind::Thought => v2::SessionUpdate::AgentThoughtChunk(chunk),
        })
    }
}

/// Reads a content block of plain text.
fn text_block<'a>(reader: &mut Reader<'a>) -> Option<Cow<'a, str>> {
    let (mut is_text, mut text) = (false, None);
    reader.object(|reader, name| {
        match name {
            "type" if !is_text => is_text = reader.word("text")?,
            "text" if text.is_none() => text = Some(reader.text()?),
            _ => return None,
        }
        Some(())
    })?;
    text.filter(|_| is_text)
}

#[cfg(test)]
mod tests;
