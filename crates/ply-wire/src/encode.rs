//! The JSON of what is sent most, written without a serializer.

use std::ops::Range;

use ply_json::{Sink, escape};

use crate::transcript::is_plain_text;
use crate::{MaybeUndefined, v2};

/// A chunk of plain text that the agent says or thinks.
#[derive(Debug, Clone, Copy)]
pub struct PlainChunk<'a> {
    thought: bool,
    message: &'a v2::MessageId,
    text: &'a str,
}

impl<'a> PlainChunk<'a> {
    /// Returns the chunk that an update is, if it is one.
    #[must_use]
    pub fn of(update: &'a v2::SessionUpdate) -> Option<Self> {
        let (thought, chunk) = match update {
            v2::SessionUpdate::AgentMessageChunk(chunk) => (false, chunk),
            v2::SessionUpdate::AgentThoughtChunk(chunk) => (true, chunk),
            _ => return None,
        };
        match &chunk.content {
            v2::ContentBlock::Text(text)
                if chunk.meta.is_none() && is_plain_text(&chunk.content) =>
            {
                Some(Self {
                    thought,
                    message: &chunk.message_id,
                    text: &text.text,
                })
            }
            _ => None,
        }
    }

    /// Returns the message that it belongs to.
    #[must_use]
    pub fn message(&self) -> &'a v2::MessageId {
        self.message
    }

    /// Returns whether it is thought and not said.
    #[must_use]
    pub fn is_thought(&self) -> bool {
        self.thought
    }

    /// Writes the JSON of the update, and returns where in `out` the escaped text is.
    pub fn write(&self, out: &mut String) -> Range<usize> {
        out.reserve(self.text.len() + 128);
        out.push_str(if self.thought {
            "{\"sessionUpdate\":\"agent_thought_chunk\",\"messageId\":\""
        } else {
            "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\""
        });
        escape(&self.message.0, out);
        out.push_str("\",\"content\":{\"type\":\"text\",\"text\":\"");
        let start = out.len();
        escape(self.text, out);
        let text = start..out.len();
        out.push_str("\"}}");
        text
    }
}

/// Content that is plain text and nothing else, which both versions write alike.
#[derive(Debug, Clone, Copy)]
pub struct PlainContent<'a>(&'a [v2::ContentBlock]);

impl<'a> PlainContent<'a> {
    /// Returns the content, if all of its blocks are plain text.
    #[must_use]
    pub fn of(blocks: &'a [v2::ContentBlock]) -> Option<Self> {
        blocks.iter().all(is_plain_text).then_some(Self(blocks))
    }

    /// Returns about how many bytes its JSON has: more only if very much of it has to be escaped.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let blocks = self.0.iter().map(|block| match block {
            v2::ContentBlock::Text(text) => 32 + text.text.len() + text.text.len() / 16,
            _ => 0,
        });
        blocks.sum()
    }

    /// Writes the params of the `session/prompt` that it is.
    pub fn write_prompt(&self, session: &v2::SessionId, out: &mut impl Sink) {
        out.put("{\"sessionId\":\"");
        escape(&session.0, out);
        out.put("\",\"prompt\":");
        self.write(out);
        out.put("}");
    }

    fn write(&self, out: &mut impl Sink) {
        let mut before = "[";
        for block in self.0 {
            out.put(before);
            before = ",";
            if let v2::ContentBlock::Text(text) = block {
                out.put("{\"type\":\"text\",\"text\":\"");
                escape(&text.text, out);
                out.put("\"}");
            }
        }
        out.put(if self.0.is_empty() { "[]" } else { "]" });
    }
}

/// Writes the JSON of a message of the user that is plain text; returns whether it is one.
pub fn write_user_message(update: &v2::SessionUpdate, out: &mut impl Sink) -> bool {
    let v2::SessionUpdate::UserMessage(message) = update else {
        return false;
    };
    let MaybeUndefined::Value(content) = &message.content else {
        return false;
    };
    let content = PlainContent::of(content).filter(|_| message.meta == MaybeUndefined::Undefined);
    let Some(content) = content else {
        return false;
    };
    out.put("{\"sessionUpdate\":\"user_message\",\"messageId\":\"");
    escape(&message.message_id.0, out);
    out.put("\",\"content\":");
    content.write(out);
    out.put("}");
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_chunk_is_written_as_the_official_type_writes_it() {
        let every: String = (0..0x300).filter_map(char::from_u32).collect();
        // One to escape at every distance from the last, over the ends of several blocks.
        let around_blocks: String = (0..100).map(|plain| "ä".repeat(plain) + "\n").collect();
        for text in [
            "",
            "hi",
            "a\"b\\c\n\r\t\u{8}\u{c}\u{1f}\u{7f}é\u{2028}",
            &every,
            &around_blocks,
        ] {
            for thought in [false, true] {
                let chunk = v2::ContentChunk::new(text.into(), "m\"1\"");
                let update = match thought {
                    true => v2::SessionUpdate::AgentThoughtChunk(chunk),
                    false => v2::SessionUpdate::AgentMessageChunk(chunk),
                };
                let mut written = String::new();
                let plain = PlainChunk::of(&update).expect("it is plain");
                let at = plain.write(&mut written);
                assert_eq!(written, serde_json::to_string(&update).expect("JSON"));
                let quoted = format!("\"{}\"", &written[at]);
                assert_eq!(quoted, serde_json::to_string(text).expect("JSON"));
            }
        }
    }

    #[test]
    fn plain_prompts_are_written_as_the_official_types_write_them() {
        let session = v2::SessionId::new("s\"1\"");
        for texts in [&[][..], &["a\n\"b\""], &["", "é", "c\\"]] {
            let blocks: Vec<v2::ContentBlock> = texts.iter().map(|text| (*text).into()).collect();
            let plain = PlainContent::of(&blocks).expect("it is plain");
            let mut written = Vec::new();
            plain.write_prompt(&session, &mut written);
            let written = String::from_utf8(written).expect("UTF-8");
            let request = v2::PromptRequest::new(session.clone(), blocks.clone());
            assert_eq!(written, serde_json::to_string(&request).expect("JSON"));
            let down = blocks.iter().cloned().map(crate::convert::content::down);
            let request = crate::v1::PromptRequest::new(session.0.clone(), down.collect());
            assert_eq!(written, serde_json::to_string(&request).expect("JSON"));

            let message = v2::UserMessage::new("m\"1\"").content(blocks.clone());
            let update = v2::SessionUpdate::UserMessage(message.clone());
            let mut written = String::new();
            assert!(write_user_message(&update, &mut written));
            assert_eq!(written, serde_json::to_string(&update).expect("JSON"));

            let odd = message.meta(v2::Meta::new());
            let odd = v2::SessionUpdate::UserMessage(odd);
            assert!(!write_user_message(&odd, &mut written));
        }
        let image = v2::ContentBlock::Image(v2::ImageContent::new("aGk=", "image/png"));
        assert!(PlainContent::of(&[image]).is_none());
    }
}
