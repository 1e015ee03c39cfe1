//! The JSON of what is sent most, written without a serializer.

use std::ops::Range;

use crate::transcript::is_plain_text;
use crate::v2;

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

/// Appends a text as it stands between the quotes of a JSON string. Runs without anything to escape are copied whole.
pub fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = first_special(rest.as_bytes()) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = special.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(other) => {
                let code = u32::from(other);
                let digit = |value: u32| char::from_digit(value & 0xf, 16).unwrap_or('0');
                out.push_str("\\u00");
                out.push(digit(code >> 4));
                out.push(digit(code));
            }
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

/// Returns where the first byte is that cannot stand in a JSON string as it is.
///
/// Eight bytes are looked at at once: most strings are short, and long ones are mostly text.
#[inline]
pub(crate) fn first_special(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let found = specials(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(at * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    let is_special = |byte: &u8| (*byte < 0x20) | (*byte == b'"') | (*byte == b'\\');
    Some(words.len() * 8 + rest.iter().position(is_special)?)
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
}
