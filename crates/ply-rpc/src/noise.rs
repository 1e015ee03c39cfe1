//! What the peer wrote that is no message: counted, and the first of it kept for display.

use crate::clean::for_display;
use crate::limits::{GARBAGE_ANSWERS_MAX, NOISE_LINE_CHARS_MAX, NOISE_LINES_KEPT};

/// The noise on a link so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Noise {
    /// Lines that were no message.
    pub lines: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The first of them, cut and made harmless to show.
    pub first_lines: Vec<String>,
}

impl Noise {
    pub(crate) fn add(&mut self, line: &[u8], bytes: u64) {
        self.lines += 1;
        self.bytes += bytes;
        if self.first_lines.len() < NOISE_LINES_KEPT {
            self.first_lines
                .push(for_display(line, NOISE_LINE_CHARS_MAX));
        }
    }
}

/// How many more lines that are no message get an error answer.
///
/// Two sides that answer each other's answers would never stop, so the answers are counted. A message that is one shows that
/// the peer is no echo, and earns an answer back.
#[derive(Debug)]
pub(crate) struct GarbageAnswers(u8);

impl Default for GarbageAnswers {
    fn default() -> Self {
        Self(GARBAGE_ANSWERS_MAX)
    }
}

impl GarbageAnswers {
    pub(crate) fn spend(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }

    pub(crate) fn earn(&mut self) {
        self.0 = GARBAGE_ANSWERS_MAX.min(self.0 + 1);
    }
}
