//! A reader of JSON objects, arrays and strings, which gives up on everything else.

use std::borrow::Cow;

use crate::escape::first_special;

/// A place in a JSON text that is read by code which knows what comes.
///
/// All methods return none where something else comes; the text is then to be read by other means, from its beginning.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// Returns the beginning of a text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// Returns whether nothing but blanks is left.
    pub fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest.is_empty()
    }

    /// Reads an object, and has `member` read each value by its name. Gives up on an empty one, and on names with escapes.
    #[inline]
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.take(b'{')?;
        loop {
            let name = self.plain_text()?;
            self.take(b':')?;
            member(self, name)?;
            self.skip_blanks();
            let (first, rest) = self.rest.split_at_checked(1)?;
            self.rest = rest;
            match first {
                "," => {}
                "}" => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads an array, each item by `item`. Gives up on an empty one.
    pub fn array<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.take(b'[')?;
        let mut items = Vec::new();
        loop {
            items.push(item(self)?);
            self.skip_blanks();
            let (first, rest) = self.rest.split_at_checked(1)?;
            self.rest = rest;
            match first {
                "," => {}
                "]" => return Some(items),
                _ => return None,
            }
        }
    }

    /// Reads an array that may be empty, each item by `item`.
    pub fn list<T>(&mut self, item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut ahead = Self { rest: self.rest };
        ahead.take(b'[')?;
        if ahead.take(b']').is_some() {
            self.rest = ahead.rest;
            return Some(Vec::new());
        }
        self.array(item)
    }

    /// Reads a string that has no escapes.
    #[inline]
    pub fn plain_text(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let (text, rest) = self
            .rest
            .split_at_checked(first_special(self.rest.as_bytes())?)?;
        self.rest = rest.strip_prefix('"')?;
        Some(text)
    }

    /// Reads this one string, and gives up on any other: what is not told apart here must not be read past, or a member that
    /// occurs twice would go unnoticed.
    #[inline]
    pub fn word(&mut self, word: &str) -> Option<bool> {
        (self.plain_text()? == word).then_some(true)
    }

    /// Reads a string.
    #[inline]
    pub fn text(&mut self) -> Option<Cow<'a, str>> {
        self.take(b'"')?;
        let (text, rest) = self
            .rest
            .split_at_checked(first_special(self.rest.as_bytes())?)?;
        if let Some(rest) = rest.strip_prefix('"') {
            self.rest = rest;
            return Some(Cow::Borrowed(text));
        }
        self.escaped_text().map(Cow::Owned)
    }

    fn escaped_text(&mut self) -> Option<String> {
        // Measured first, so that a long text does not grow step by step.
        let mut out = String::with_capacity(unescaped_bytes(self.rest.as_bytes())?);
        loop {
            let at = first_special(self.rest.as_bytes())?;
            let (plain, special) = self.rest.split_at_checked(at)?;
            out.push_str(plain);
            let mut chars = special.chars();
            match chars.next()? {
                '"' => {
                    self.rest = chars.as_str();
                    return Some(out);
                }
                '\\' => {}
                // A control character, which no string may hold as it is.
                _ => return None,
            }
            let escape = chars.next()?;
            self.rest = chars.as_str();
            out.push(match escape {
                '"' | '\\' | '/' => escape,
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => self.code_point()?,
                _ => return None,
            });
        }
    }

    /// Reads what follows `\u`: four digits, or two halves of a character beyond the basic plane.
    fn code_point(&mut self) -> Option<char> {
        let first = self.digits()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        self.rest = self.rest.strip_prefix("\\u")?;
        let second = self.digits()?;
        let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + low)
    }

    fn digits(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        let mut value = 0;
        for digit in digits.chars() {
            value = value << 4 | digit.to_digit(16)?;
        }
        Some(value)
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        self.skip_blanks();
        self.rest = self.rest.strip_prefix(char::from(byte))?;
        Some(())
    }

    #[inline]
    fn skip_blanks(&mut self) {
        if self
            .rest
            .as_bytes()
            .first()
            .is_some_and(|byte| *byte <= b' ')
        {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        }
    }
}

/// Returns how many bytes the text of a string has at most, up to its closing quote.
fn unescaped_bytes(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut saved) = (0, 0);
    loop {
        let rest = bytes.get(at..)?;
        at += first_special(rest)?;
        saved += match (bytes.get(at)?, bytes.get(at + 1)) {
            (b'"', _) => return Some(at.saturating_sub(saved)),
            // Six bytes for a character of at most three, or twelve for one of four.
            (_, Some(b'u')) => 3,
            _ => 1,
        };
        at += 2;
    }
}
