//! Lines for the agent that are on their way to its input.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::Bytes;

/// Bytes of lines that wait to be written before no more are read from the hub.
///
/// So many because acknowledgements wait behind them: an agent that reads nothing while its output is full must not be kept
/// from getting on by lines that it cannot take.
pub(super) const GIVEN_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What a line costs besides its bytes.
const LINE_COST_BYTES: usize = 64;

/// Lines from hubs. Each is here as a whole before its first byte is written, so that it can be finished without the hub.
#[derive(Debug, Default)]
pub(super) struct Given {
    waiting: VecDeque<(u64, Bytes)>,
    bytes: usize,
    /// Bytes of the first line, its line feed included, that are written.
    offset: usize,
    taken: u64,
    written: u64,
    /// The agent has closed its input.
    closed: bool,
}

impl Given {
    /// Takes a line, unless it or a later one was taken before.
    pub(super) fn take(&mut self, number: u64, line: Bytes) {
        if number <= self.taken {
            return;
        }
        self.taken = number;
        if !self.closed {
            self.bytes += line.len() + LINE_COST_BYTES;
            self.waiting.push_back((number, line));
        }
    }

    /// Returns the number of the last line that was written as a whole.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Returns how much waits.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes >= GIVEN_BYTES_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns what to write next, if anything.
    pub(super) fn unwritten(&self) -> Option<[IoSlice<'_>; 2]> {
        let (_, line) = self.waiting.front()?;
        let feed = if self.offset > line.len() {
            b""
        } else {
            b"\n".as_slice()
        };
        let rest = line.get(self.offset..).unwrap_or_default();
        Some([IoSlice::new(rest), IoSlice::new(feed)])
    }

    /// Notes that so many bytes of what is [unwritten](Self::unwritten) were written, and returns whether a line is through.
    pub(super) fn wrote(&mut self, bytes: usize) -> bool {
        self.offset += bytes;
        let Some((number, line)) = self.waiting.front() else {
            return false;
        };
        if self.offset <= line.len() {
            return false;
        }
        self.written = *number;
        self.bytes -= line.len() + LINE_COST_BYTES;
        self.offset = 0;
        self.waiting.pop_front();
        true
    }

    /// Drops what waits and what comes: nobody reads it any more.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.waiting.clear();
        self.bytes = 0;
        self.offset = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn write(given: &mut Given, bytes_max: usize, out: &mut Vec<u8>) -> bool {
        let Some(slices) = given.unwritten() else {
            return false;
        };
        let all: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
        let some = all.get(..bytes_max).unwrap_or(&all);
        assert!(!some.is_empty());
        out.extend_from_slice(some);
        given.wrote(some.len());
        true
    }

    proptest! {
        #[test]
        fn lines_that_hubs_send_again_are_written_once(
            sends in prop::collection::vec((0_u64..30, 1_u64..8, prop::collection::vec(1_usize..9, 0..12)), 1..30),
        ) {
            let mut given = Given::default();
            let (mut out, mut expected, mut next) = (Vec::new(), Vec::new(), 1);
            for (back, count, writes) in sends {
                // Each hub begins somewhere in what was taken, and never after it.
                let first = next.max(back + 1) - back;
                for number in first..first + count {
                    given.take(number, Bytes::from(format!("{number}")));
                    if number >= next {
                        expected.extend(format!("{number}\n").into_bytes());
                        next = number + 1;
                    }
                }
                for bytes in writes {
                    write(&mut given, bytes, &mut out);
                }
            }
            while write(&mut given, 3, &mut out) {}
            prop_assert_eq!(out, expected);
            prop_assert_eq!((given.written(), given.bytes), (next - 1, 0));
        }
    }

    #[test]
    fn an_agent_that_closed_its_input_is_given_nothing() {
        let mut given = Given::default();
        given.take(1, Bytes::from_static(b"half"));
        assert!(!given.wrote(2));
        given.close();
        given.take(2, Bytes::from_static(b"late"));
        assert!(given.is_empty() && !given.is_full() && given.unwritten().is_none());
        assert_eq!(given.written(), 0);
    }

    #[test]
    fn empty_lines_are_lines_and_count_towards_the_limit() {
        let mut given = Given::default();
        for number in 1..=u64::try_from(GIVEN_BYTES_MAX / LINE_COST_BYTES).unwrap() {
            assert!(!given.is_full());
            given.take(number, Bytes::new());
        }
        assert!(given.is_full());
        assert!(given.wrote(1));
        assert_eq!(given.written(), 1);
        assert!(!given.is_full());
    }
}
