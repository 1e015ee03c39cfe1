//! Walks over JSON text and replaces values in place, so that everything else stays as it was sent.
//!
//! The text is known to be JSON, so the walk only has to know where strings and numbers are. It
//! keeps a level for each open bracket and does not recurse.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{is_marker, marker, names, shapes};

/// JSON that is inside of a string is looked at too, this deep.
const NESTED_MAX: u8 = 3;

/// Where the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is a message of the protocol.
    Message,
    /// It is in a string, so deep.
    Nested(u8),
}

/// What is known of a value from the names above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// An id or a method, which have to stay.
    Address,
    Secret,
    /// Variables or headers, by name or as a list of pairs.
    Pairs,
    /// One of a list of pairs.
    Pair,
}

#[derive(Debug)]
struct Level {
    is_object: bool,
    known: Known,
    /// What is known of the member whose value comes next.
    member: Known,
    awaits_key: bool,
    /// Whether the last string of the list was a flag that a secret follows.
    after_flag: bool,
}

/// Returns the text without secrets, or `None` if it has none.
pub(super) fn redact(text: &str, place: Place) -> Option<String> {
    let mut walk = Walk {
        text,
        place,
        at: 0,
        levels: Vec::new(),
        out: String::new(),
        copied: 0,
    };
    walk.run();
    walk.finish()
}

struct Walk<'a> {
    text: &'a str,
    place: Place,
    at: usize,
    levels: Vec<Level>,
    out: String,
    /// Up to where the text is in `out` already.
    copied: usize,
}

impl Walk<'_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'{' => self.open(true),
                b'[' => self.open(false),
                b'}' | b']' => drop(self.levels.pop()),
                b',' => {
                    if let Some(level) = self.levels.last_mut() {
                        level.awaits_key = level.is_object;
                    }
                }
                b'"' => {
                    self.string();
                    continue;
                }
                b'-' | b'0'..=b'9' => {
                    self.number();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn finish(mut self) -> Option<String> {
        if self.copied == 0 && self.out.is_empty() {
            return None;
        }
        self.out
            .push_str(self.text.get(self.copied..).unwrap_or_default());
        Some(self.out)
    }

    /// Returns what is known of the value that comes next.
    fn known(&self) -> Known {
        match self.levels.last() {
            None => Known::Nothing,
            Some(level) if level.is_object => level.member,
            Some(level) if level.known == Known::Pairs => Known::Pair,
            Some(level) => level.known,
        }
    }

    fn open(&mut self, is_object: bool) {
        let known = self.known();
        self.levels.push(Level {
            is_object,
            known,
            member: Known::Nothing,
            awaits_key: is_object,
            after_flag: false,
        });
    }

    /// Replaces a part of the text.
    fn replace(&mut self, from: usize, to: usize, with: &str) {
        self.out
            .push_str(self.text.get(self.copied..from).unwrap_or_default());
        self.out.push_str(with);
        self.copied = to;
    }

    fn number(&mut self) {
        let from = self.at;
        let rest = self.text.get(from..).unwrap_or_default();
        let end = rest.find(|char: char| !matches!(char, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        self.at = from + end.unwrap_or(rest.len());
        if self.known() == Known::Secret {
            self.replace(from, self.at, "0");
        }
    }

    fn string(&mut self) {
        let from = self.at;
        self.at = end_of_string(self.text, from);
        let raw = self.text.get(from..self.at).unwrap_or_default();
        let value = decoded(raw);
        let is_key = self.levels.last().is_some_and(|level| level.awaits_key);
        let redacted = match is_key {
            true => self.key(&value),
            false => self.value(&value),
        };
        if let Some(redacted) = redacted {
            let quoted = serde_json::to_string(&redacted).expect("a string can be written");
            let (from, to) = (from, self.at);
            self.replace(from, to, &quoted);
        }
    }

    fn key(&mut self, name: &str) -> Option<String> {
        let is_top = self.levels.len() == 1 && self.place == Place::Message;
        let level = self.levels.last_mut()?;
        level.awaits_key = false;
        level.member = match level.known {
            Known::Secret | Known::Pairs => Known::Secret,
            Known::Pair if name == "value" => Known::Secret,
            Known::Pair if name == "name" => Known::Nothing,
            _ if is_top && ["jsonrpc", "id", "method"].contains(&name) => Known::Address,
            _ if names::holds_pairs(name) => Known::Pairs,
            _ if names::is_secret(name) => Known::Secret,
            _ => Known::Nothing,
        };
        shapes::redact(name)
    }

    fn value(&mut self, value: &str) -> Option<String> {
        let known = self.known();
        let mut after_flag = false;
        if let Some(level) = self.levels.last_mut().filter(|level| !level.is_object) {
            let is_flag = names::is_secret_flag(value);
            after_flag = std::mem::replace(&mut level.after_flag, is_flag) && !is_flag;
        }
        // A list of variables may have them as `NAME=value`.
        let is_assignment = known == Known::Pair;
        match known {
            Known::Address => None,
            _ if value.is_empty() || is_marker(value) => None,
            Known::Secret => Some(marker(value.len())),
            _ if after_flag => Some(marker(value.len())),
            Known::Pairs => Some(marker(value.len())),
            _ if is_assignment => {
                let (name, value) = value.split_once('=')?;
                Some(format!("{name}={}", marker(value.len())))
            }
            _ => match self.nested(value) {
                Some(redacted) => Some(redacted),
                None => shapes::redact(value),
            },
        }
    }

    /// Looks into JSON that is inside of a string.
    fn nested(&self, value: &str) -> Option<String> {
        let depth = match self.place {
            Place::Message => 1,
            Place::Nested(depth) => depth + 1,
        };
        let start = value.trim_start();
        if depth > NESTED_MAX || !(start.starts_with('{') || start.starts_with('[')) {
            return None;
        }
        serde_json::from_str::<&RawValue>(value).ok()?;
        redact(value, Place::Nested(depth))
    }
}

/// Returns where the string that begins at `from` ends.
fn end_of_string(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns what a string says.
fn decoded(raw: &str) -> Cow<'_, str> {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    match serde_json::from_str(raw) {
        Ok(value) => Cow::Owned(value),
        // Half of a surrogate pair is JSON but no text; the rest of the string is looked at as it is.
        Err(_) => Cow::Borrowed(inner),
    }
}
