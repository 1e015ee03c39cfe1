//! The last lines between client and agent.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use ply_client::Direction;
use ply_client::text::Line;

/// Lines kept.
const LINES_MAX: usize = 1000;
/// Bytes kept of a line.
const LINE_BYTES_MAX: usize = 600;

/// A line that went over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Logged {
    /// Milliseconds since the client began.
    pub(crate) at_ms: u64,
    pub(crate) is_sent: bool,
    /// Cut and harmless.
    pub(crate) text: String,
    /// The length of the whole line.
    pub(crate) bytes: usize,
}

/// The last lines, shared with whoever adds to them.
#[derive(Debug, Clone, Default)]
pub(crate) struct WireLog(Arc<Mutex<VecDeque<Logged>>>);

impl WireLog {
    pub(crate) fn push(&self, at_ms: u64, direction: Direction, line: &[u8]) {
        let kept = line.get(..LINE_BYTES_MAX).unwrap_or(line);
        let logged = Logged {
            at_ms,
            is_sent: direction == Direction::ToAgent,
            text: Line(&String::from_utf8_lossy(kept)).to_string(),
            bytes: line.len(),
        };
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= LINES_MAX {
            lines.pop_front();
        }
        lines.push_back(logged);
    }

    /// Returns `count` lines that end `up` lines before the newest, the oldest first.
    pub(crate) fn last(&self, count: usize, up: usize) -> Vec<Logged> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = lines.len().saturating_sub(up).max(count.min(lines.len()));
        let start = end.saturating_sub(count);
        lines.range(start..end).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_cut_and_harmless() {
        let log = WireLog::default();
        for at in 0..1100 {
            log.push(at, Direction::ToAgent, b"\x1b[2J\xff");
        }
        log.push(2000, Direction::ToClient, &[b'x'; 5000]);
        let last = log.last(2, 0);
        assert_eq!(last[0].text, "\\u{1b}[2J\u{fffd}");
        assert_eq!((last[1].text.len(), last[1].bytes), (600, 5000));
        assert!(last[0].is_sent && !last[1].is_sent);
        assert_eq!(log.last(5000, 0).len(), LINES_MAX);
        assert_eq!(log.last(1, 5000).len(), 1);
        assert_eq!(WireLog::default().last(3, 2), []);
    }
}
