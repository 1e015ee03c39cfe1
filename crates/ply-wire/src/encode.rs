//! The JSON of what is sent most, written without a serializer.

use std::ops::Range;

use crate::transcript::is_plain_text;
use crate::{MaybeUndefined, v2};

/// Something that JSON is appended to.
pub trait Sink {
    /// Appends a text.
    fn put(&mut self, text: &str);
}

impl Sink for String {
    #[inline]
    fn put(&mut self, text: &str) {
        self.push_str(text);
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }
}

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

/// Appends a text as it stands between the quotes of a JSON string. Runs without anything to escape are copied whole.
pub fn escape(text: &str, out: &mut impl Sink) {
    let mut rest = text;
    while let Some(at) = first_special(rest.as_bytes()) {
        let (plain, special) = rest.split_at(at);
        out.put(plain);
        let mut chars = special.chars();
        match chars.next() {
            Some('"') => out.put("\\\""),
            Some('\\') => out.put("\\\\"),
            Some('\n') => out.put("\\n"),
            Some('\r') => out.put("\\r"),
            Some('\t') => out.put("\\t"),
            Some('\u{8}') => out.put("\\b"),
            Some('\u{c}') => out.put("\\f"),
            Some(other) => {
                let code = u32::from(other);
                let digit = |value: u32| char::from_digit(value & 0xf, 16).unwrap_or('0');
                out.put("\\u00");
                out.put(digit(code >> 4).encode_utf8(&mut [0; 4]));
                out.put(digit(code).encode_utf8(&mut [0; 4]));
            }
            None => {}
        }
        rest = chars.as_str();
    }
    out.put(rest);
}

/// Returns where the first byte is that cannot stand in a JSON string as it is.
#[inline]
pub(crate) fn first_special(bytes: &[u8]) -> Option<usize> {
    /// As many bytes as are looked at at once in long texts, without a branch between them.
    const BLOCK: usize = 32;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (at, block) in blocks.iter().enumerate() {
        let found = block
            .iter()
            .fold(0, |found, byte| found | u8::from(is_special(*byte)));
        if found != 0 {
            return Some(at * BLOCK + first_in_words(block)?);
        }
    }
    Some(blocks.len() * BLOCK + first_in_words(rest)?)
}

/// Does the same eight bytes at a time, which suits short texts.
#[inline]
fn first_in_words(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let found = specials(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(at * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    let within = rest.iter().position(|byte| is_special(*byte))?;
    Some(words.len() * 8 + within)
}

#[inline]
const fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Sets the top bit of each byte of a word that is a control character, a quote or a backslash. Above the first such byte there
/// may be others that are not.
#[inline]
const fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = ONES << 7;
    let quotes = word ^ (ONES * b'"' as u64);
    let backslashes = word ^ (ONES * b'\\' as u64);
    let is_low = word.wrapping_sub(ONES * 0x20) & !word;
    let is_quote = quotes.wrapping_sub(ONES) & !quotes;
    let is_backslash = backslashes.wrapping_sub(ONES) & !backslashes;
    (is_low | is_quote | is_backslash) & TOPS
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
