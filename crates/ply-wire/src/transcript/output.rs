//! The output of a terminal, of which only the end is kept.

use std::ops::Deref;

/// How much of the end of a terminal's output is kept. What a program prints has no end, and no one
/// reads further back.
pub const TERMINAL_OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// The last bytes that a terminal has printed, at most [`TERMINAL_OUTPUT_BYTES_MAX`]. They may begin
/// inside a character or an escape.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// Up to twice as much as is shown, so that not every chunk moves all bytes.
    bytes: Vec<u8>,
}

impl Output {
    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let start = self.bytes.len().saturating_sub(TERMINAL_OUTPUT_BYTES_MAX);
        self.bytes.get(start..).unwrap_or_default()
    }

    /// Appends bytes. What is kept is the end of all of them, however they were cut into chunks.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        let start = bytes.len().saturating_sub(TERMINAL_OUTPUT_BYTES_MAX);
        self.bytes
            .extend_from_slice(bytes.get(start..).unwrap_or_default());
        if self.bytes.len() > 2 * TERMINAL_OUTPUT_BYTES_MAX {
            let start = self.bytes.len() - TERMINAL_OUTPUT_BYTES_MAX;
            self.bytes.drain(..start);
        }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }
}

impl Deref for Output {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for Output {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Output {}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Output {
        let mut output = Output::default();
        for chunk in chunks {
            output.append(chunk);
            assert!(output.bytes.len() <= 2 * TERMINAL_OUTPUT_BYTES_MAX);
        }
        output
    }

    #[test]
    fn the_same_end_is_kept_however_the_output_is_cut() {
        let numbers = (0..800_000_u32).flat_map(u32::to_be_bytes);
        let printed: Vec<u8> = numbers.collect();
        let whole = of([printed.as_slice()]);
        assert_eq!(whole.len(), TERMINAL_OUTPUT_BYTES_MAX);
        assert!(printed.ends_with(&whole));
        for size in [1_000, 70_001, TERMINAL_OUTPUT_BYTES_MAX, 3_000_000] {
            assert_eq!(of(printed.chunks(size)), whole, "{size}");
        }
        assert_eq!(of([whole.as_bytes()]), whole);
    }
}
