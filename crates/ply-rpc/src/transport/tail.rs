//! The last bytes of a stream, in bounded memory.

use std::collections::VecDeque;

/// Keeps the last `bytes_max` bytes pushed.
#[derive(Debug)]
pub struct Tail {
    kept: VecDeque<u8>,
    bytes_max: usize,
    total: u64,
}

impl Tail {
    /// Returns a tail that is empty.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            kept: VecDeque::new(),
            bytes_max,
            total: 0,
        }
    }

    /// Appends bytes, and drops as many from the front as are too many.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let fresh = bytes
            .get(bytes.len().saturating_sub(self.bytes_max)..)
            .unwrap_or(bytes);
        let surplus = (self.kept.len() + fresh.len()).saturating_sub(self.bytes_max);
        self.kept.drain(..surplus.min(self.kept.len()));
        self.kept.extend(fresh);
    }

    /// Returns what is kept.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.kept.iter().copied().collect()
    }

    /// Returns how many bytes were pushed in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c5_only_the_last_bytes_are_kept() {
        let mut tail = Tail::new(4);
        for (bytes, kept) in [
            ("ab", "ab"),
            ("cd", "abcd"),
            ("e", "bcde"),
            ("0123456", "3456"),
            ("", "3456"),
        ] {
            tail.push(bytes.as_bytes());
            assert_eq!(tail.bytes(), kept.as_bytes());
        }
        assert_eq!(tail.total(), 12);
    }
}
