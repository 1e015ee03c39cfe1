//! JSON for programs, which may end in a terminal all the same.

use std::io::{self, Write};

use serde::Serialize;

use ply_client::text::is_harmless;

/// Writes a value, indented, and a line end.
pub(crate) fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(Harmless(&mut *out), value)?;
    out.write_all(b"\n")
}

/// Escapes what a terminal acts on, in JSON that is written to it.
///
/// The meaning stays: such characters are inside of strings, where `\u…` says the same. JSON itself
/// asks for that with fewer of them.
#[derive(Debug)]
pub(crate) struct Harmless<W>(pub(crate) W);

impl<W: Write> Write for Harmless<W> {
    /// Takes whole characters, as the serializer writes them.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_odd = |char: char| char != '\n' && !is_harmless(char);
        match std::str::from_utf8(bytes) {
            Ok(text) if text.contains(is_odd) => {
                let mut escaped = String::with_capacity(text.len());
                for char in text.chars() {
                    match is_odd(char) {
                        true => escape(char, &mut escaped),
                        false => escaped.push(char),
                    }
                }
                self.0.write_all(escaped.as_bytes())?;
            }
            _ => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn escape(char: char, out: &mut String) {
    for unit in char.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn j1_json_is_harmless_and_means_the_same() {
        let odd = "a\x1b\u{9b}2J\u{202e}b\u{7f}\u{e0041}é\n";
        let mut bytes = Vec::new();
        write(&mut bytes, &[odd]).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            "[\n  \"a\\u001b\\u009b2J\\u202eb\\u007f\\udb40\\udc41é\\n\"\n]\n"
        );
        let back: Vec<String> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, [odd]);
    }
}
