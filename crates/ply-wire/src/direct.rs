//! The JSON of what comes most, read without a deserializer.
//!
//! Most messages of a session are chunks of plain text and reports on tool calls, the largest are prompts, and what a person waits
//! for are changes of options. [`Update`], [`PlainPrompt`] and [`config_options`] know these and nothing else: what they do not know they leave to the
//! official types, which also judge them in the tests.

mod call;
mod options;

use std::borrow::Cow;

use ply_json::Reader;

use self::call::Call;
pub use self::options::config_options;
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

/// A `session/update` notification of a kind that comes often: a chunk of plain text, and in version 1 a report on a tool call that has
/// nothing but plain fields and text, the options of a session, or its mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update<'a> {
    session: Cow<'a, str>,
    what: What<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What<'a> {
    Text {
        thought: bool,
        message: Option<Cow<'a, str>>,
        text: Cow<'a, str>,
    },
    Call(Call<'a>),
    Options(Vec<v1::SessionConfigOption>),
    Mode(Cow<'a, str>),
}

impl<'a> Update<'a> {
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
        let (mut session, mut what) = (None, None);
        reader.object(|reader, name| {
            match name {
                "sessionId" if session.is_none() => session = Some(reader.text()?),
                "update" if what.is_none() => what = Some(What::read(reader)?),
                _ => return None,
            }
            Some(())
        })?;
        Some(Self {
            session: session?,
            what: what?,
        })
    }

    /// Returns the session that it belongs to.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the update as version 1 has it.
    #[must_use]
    pub fn into_v1(self) -> v1::SessionUpdate {
        match self.what {
            What::Text {
                thought,
                message,
                text,
            } => {
                let text = v1::TextContent::new(text.into_owned());
                let id = message.map(v1::MessageId::new);
                let chunk = v1::ContentChunk::new(v1::ContentBlock::Text(text)).message_id(id);
                if thought {
                    v1::SessionUpdate::AgentThoughtChunk(chunk)
                } else {
                    v1::SessionUpdate::AgentMessageChunk(chunk)
                }
            }
            What::Call(call) => call.into_v1(),
            What::Options(options) => {
                v1::SessionUpdate::ConfigOptionUpdate(v1::ConfigOptionUpdate::new(options))
            }
            What::Mode(mode) => {
                let update = v1::CurrentModeUpdate::new(v1::SessionModeId::new(&*mode));
                v1::SessionUpdate::CurrentModeUpdate(update)
            }
        }
    }

    /// Returns the update as version 2 has it, if it is a chunk of a message; version 2 requires the message's id.
    #[must_use]
    pub fn into_v2(self) -> Option<v2::SessionUpdate> {
        let What::Text {
            thought,
            message: Some(message),
            text,
        } = self.what
        else {
            return None;
        };
        let text = v2::TextContent::new(text.into_owned());
        let id = v2::MessageId::new(message);
        let chunk = v2::ContentChunk::new(v2::ContentBlock::Text(text), id);
        Some(if thought {
            v2::SessionUpdate::AgentThoughtChunk(chunk)
        } else {
            v2::SessionUpdate::AgentMessageChunk(chunk)
        })
    }
}

impl<'a> What<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let (mut kind, mut message, mut text) = (None, None, None);
        let (mut options, mut mode, mut call) = (None, None, Call::default());
        reader.object(|reader, name| {
            match name {
                "sessionUpdate" if kind.is_none() => kind = Some(reader.plain_text()?),
                "messageId" if message.is_none() => message = Some(reader.text()?),
                // The two have a member of this name, and nobody writes it before the kind.
                "content" if is_call(kind) => call.content(reader)?,
                "content" if text.is_none() => text = Some(text_block(reader)?),
                "configOptions" if options.is_none() => options = Some(options::list(reader)?),
                "currentModeId" if mode.is_none() => mode = Some(reader.text()?),
                name => call.member(reader, name)?,
            }
            Some(())
        })?;
        let kind = kind?;
        if is_call(Some(kind)) {
            let is_else =
                message.is_some() || text.is_some() || options.is_some() || mode.is_some();
            return call
                .whole(kind == "tool_call")
                .filter(|_| !is_else)
                .map(Self::Call);
        }
        if call != Call::default() {
            return None;
        }
        let thought = kind == "agent_thought_chunk";
        match (kind, message, text, options, mode) {
            ("agent_message_chunk" | "agent_thought_chunk", message, Some(text), None, None) => {
                Some(Self::Text {
                    thought,
                    message,
                    text,
                })
            }
            ("config_option_update", None, None, Some(options), None) => {
                Some(Self::Options(options))
            }
            ("current_mode_update", None, None, None, Some(mode)) => Some(Self::Mode(mode)),
            _ => None,
        }
    }
}

fn is_call(kind: Option<&str>) -> bool {
    matches!(kind, Some("tool_call" | "tool_call_update"))
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
