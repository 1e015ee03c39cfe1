//! Takes secrets out of a recording, and nothing else.
//!
//! It looks at one line at a time. What it cannot see: a secret that is streamed in pieces, of which
//! none looks like one; one that is encoded (base64 of terminals and pictures); one without a known
//! shape under a harmless name. Ids and methods of messages are left alone, or nothing would match.

mod json;
mod names;
mod shapes;

use serde_json::value::RawValue;

use super::{Entry, Event};

/// Takes secrets out of entries.
#[derive(Debug, Clone, Copy, Default)]
pub struct Redactor;

impl Redactor {
    /// Returns a redactor.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    /// Returns a JSON text without its secrets, or `None` if it has none.
    ///
    /// The text is changed where a secret was and nowhere else.
    #[must_use]
    pub fn frame(&self, frame: &str) -> Option<String> {
        json::redact(frame, json::Place::Message)
    }

    /// Returns a text without its secrets, or `None` if it has none.
    #[must_use]
    pub fn text(&self, text: &str) -> Option<String> {
        shapes::redact(text)
    }

    /// Returns a command without its secrets.
    #[must_use]
    pub fn command(&self, command: &[String]) -> Vec<String> {
        let mut is_value = false;
        let redacted = command.iter().map(|word| {
            let was_value = std::mem::replace(&mut is_value, names::is_secret_flag(word));
            match was_value && !is_value {
                true => marker(word.len()),
                false => self.text(word).unwrap_or_else(|| word.clone()),
            }
        });
        redacted.collect()
    }

    /// Returns an entry without its secrets, or `None` if it has none.
    pub(super) fn entry(&self, entry: &Entry) -> Option<Entry> {
        let event = match &entry.event {
            Event::Frame { dir, frame } => Event::Frame {
                dir: *dir,
                frame: RawValue::from_string(self.frame(frame.get())?)
                    .expect("strings in JSON were replaced by strings"),
            },
            Event::Text { dir, text } => Event::Text {
                dir: *dir,
                text: self.text(text)?,
            },
            // Neither text nor JSON; whatever is legible in it is looked at, and the rest is kept.
            Event::Bytes { dir, bytes } => Event::Text {
                dir: *dir,
                text: self.text(&String::from_utf8_lossy(bytes))?,
            },
            Event::Stderr(text) => Event::Stderr(self.text(text)?),
            _ => return None,
        };
        Some(Entry::new(entry.t, event))
    }
}

/// Returns what stands for a secret: that it was a string, and about how long.
fn marker(bytes: usize) -> String {
    const SHORTEST: usize = 8;
    const LONGEST: usize = 1024;
    match bytes {
        0..=SHORTEST => format!("[redacted 1-{SHORTEST} bytes]"),
        _ if bytes > LONGEST => format!("[redacted over {LONGEST} bytes]"),
        _ => {
            let most = bytes.next_power_of_two();
            format!("[redacted {}-{most} bytes]", most / 2 + 1)
        }
    }
}

/// Returns whether a text is what this module put there.
fn is_marker(text: &str) -> bool {
    text.starts_with("[redacted ") && text.ends_with(" bytes]")
}
