//! Strings: what has to be escaped is looked for many bytes at a time, and everything else is copied.

/// Something that JSON is appended to.
pub trait Sink {
    /// Appends a text.
    fn put(&mut self, text: &str);

    /// Appends a text without anything to escape as a JSON string.
    #[inline]
    fn put_quoted(&mut self, text: &str) {
        self.put("\"");
        self.put(text);
        self.put("\"");
    }
}

impl Sink for String {
    #[inline]
    fn put(&mut self, text: &str) {
        self.push_str(text);
    }

    #[inline]
    fn put_quoted(&mut self, text: &str) {
        self.reserve(text.len() + 2);
        self.push('"');
        self.push_str(text);
        self.push('"');
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn put_quoted(&mut self, text: &str) {
        self.reserve(text.len() + 2);
        self.push(b'"');
        self.extend_from_slice(text.as_bytes());
        self.push(b'"');
    }
}

/// Appends a text as it stands between the quotes of a JSON string. Runs without anything to escape are copied whole.
#[inline]
pub fn escape(text: &str, out: &mut impl Sink) {
    if is_short_and_plain(text.as_bytes()) {
        out.put(text);
    } else {
        escape_runs(text, out);
    }
}

/// Appends a text as a JSON string.
#[inline]
pub(crate) fn string(text: &str, out: &mut impl Sink) {
    if is_short_and_plain(text.as_bytes()) {
        out.put_quoted(text);
    } else {
        out.put("\"");
        escape_runs(text, out);
        out.put("\"");
    }
}

fn escape_runs(text: &str, out: &mut impl Sink) {
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

/// Returns whether a text is no longer than two words and has nothing to escape, as nearly all names and ids are. The words
/// overlap where the text does not fill them.
#[inline]
fn is_short_and_plain(bytes: &[u8]) -> bool {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return bytes.len() <= 16
            && specials(u64::from_le_bytes(*first)) | specials(u64::from_le_bytes(*last)) == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return specials(u64::from(first) << 32 | u64::from(last)) == 0;
    }
    !bytes.iter().any(|byte| is_special(*byte))
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
