//! The last lines between client and agents.

mod summary;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use ply_client::Direction;

use self::summary::Said;
use crate::app::AgentId;

/// Lines kept.
const LINES_MAX: usize = 1000;
/// Bytes kept of a line.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Bytes kept of all lines.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a line whose memory is used again for another.
const REUSED_BYTES_MAX: usize = 1024;
/// Requests remembered until they are answered.
const ASKED_MAX: usize = 1000;

/// A line that went over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Logged {
    /// Counted from the first line there was.
    pub(crate) number: u64,
    /// Milliseconds since the client began.
    pub(crate) at_ms: u64,
    pub(crate) is_sent: bool,
    /// What it says in a few words; not harmless. Empty until somebody looks.
    pub(crate) what: String,
    /// How long an answer took, in milliseconds.
    pub(crate) took_ms: Option<u64>,
    agent: AgentId,
    /// The line itself, cut.
    line: Vec<u8>,
    /// The length of the whole line.
    pub(crate) bytes: usize,
}

impl Logged {
    /// Returns the line for reading, as far as it was kept; not harmless.
    pub(crate) fn whole(&self) -> String {
        let value = serde_json::from_slice::<serde_json::Value>(&self.line);
        let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
        let text = || String::from_utf8_lossy(&self.line);
        match pretty {
            Ok(pretty) => pretty,
            Err(_) if self.bytes > LINE_BYTES_MAX => format!("{}\n…", text()),
            Err(_) => text().into_owned(),
        }
    }
}

#[derive(Debug, Default)]
struct Lines {
    kept: VecDeque<Logged>,
    next: u64,
    /// The last line that was read.
    read_to: Option<u64>,
    bytes: usize,
    /// The methods of requests without an answer and when they were sent, by agent, direction and id.
    asked: HashMap<(AgentId, bool, String), (String, u64)>,
}

/// The last lines, shared with whoever adds to them.
#[derive(Debug, Clone, Default)]
pub(crate) struct WireLog(Arc<Mutex<Lines>>);

impl WireLog {
    /// Adds a line. Nobody may ever look at it, so it is only kept: a long session comes in one go.
    pub(crate) fn push(&self, at_ms: u64, agent: AgentId, direction: Direction, line: &[u8]) {
        let is_sent = direction == Direction::ToAgent;
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = lines.next;
        lines.next += 1;
        // What is cut can be read now and never again.
        let (what, took_ms) = match line.len() > LINE_BYTES_MAX {
            true => lines.say((agent, is_sent), at_ms, line),
            false => (String::new(), None),
        };
        let mut kept = lines.room();
        kept.extend_from_slice(line.get(..LINE_BYTES_MAX).unwrap_or(line));
        let logged = Logged {
            number,
            at_ms,
            is_sent,
            what,
            took_ms,
            agent,
            line: kept,
            bytes: line.len(),
        };
        lines.bytes += logged.line.len();
        lines.kept.push_back(logged);
        // What is sent is little, and an answer may come when its request is long gone.
        if is_sent {
            lines.read();
        }
        while lines.kept.len() > LINES_MAX || lines.bytes > BYTES_MAX {
            if lines.forget_oldest().is_none() {
                break;
            }
        }
    }

    /// Returns `count` lines, the oldest first: the newest ones, or those around one that is chosen.
    pub(crate) fn around(&self, chosen: Option<u64>, count: usize) -> Vec<Logged> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.read();
        let kept = lines.kept.len();
        let place = chosen.map(|chosen| lines.place(chosen));
        let end = place.map_or(kept, |place| (place + 1 + count / 2).max(count).min(kept));
        let start = end.saturating_sub(count);
        lines.kept.range(start..end).cloned().collect()
    }

    /// Returns the number of the line that is so many lines after a chosen one, or after the newest.
    pub(crate) fn step(&self, chosen: Option<u64>, by: isize) -> Option<u64> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = lines.kept.len().checked_sub(1)?;
        let place = match chosen {
            Some(chosen) => lines.place(chosen).saturating_add_signed(by).min(last),
            // The first step chooses the newest itself.
            None => last
                .saturating_add_signed(by.min(0).saturating_add(1))
                .min(last),
        };
        Some(lines.kept.get(place)?.number)
    }

    /// Returns the line with a number, or the nearest that is still kept.
    pub(crate) fn get(&self, number: u64) -> Option<Logged> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.kept.get(lines.place(number)).cloned()
    }
}

impl Lines {
    /// Returns memory for a line: that of the oldest where it has to go, since a long session is a hundred thousand lines.
    fn room(&mut self) -> Vec<u8> {
        let oldest = match self.kept.len() < LINES_MAX {
            true => None,
            false => self.forget_oldest(),
        };
        let mut room = oldest.map_or_else(Vec::new, |oldest| oldest.line);
        room.clear();
        match room.capacity() <= REUSED_BYTES_MAX {
            true => room,
            false => Vec::new(),
        }
    }

    fn forget_oldest(&mut self) -> Option<Logged> {
        let oldest = self.kept.pop_front()?;
        self.bytes = self.bytes.saturating_sub(oldest.line.len());
        Some(oldest)
    }

    /// Says of each line what it is, if nobody has yet.
    fn read(&mut self) {
        let mut kept = std::mem::take(&mut self.kept);
        let is_read = |line: &Logged| self.read_to.is_some_and(|read| line.number <= read);
        let first = kept.partition_point(is_read);
        for line in kept.range_mut(first..).filter(|line| line.what.is_empty()) {
            let said = self.say((line.agent, line.is_sent), line.at_ms, &line.line);
            (line.what, line.took_ms) = said;
        }
        self.read_to = kept.back().map(|line| line.number);
        self.kept = kept;
    }

    /// Says what a line of an agent is, in a direction, and how long an answer took.
    fn say(
        &mut self,
        (agent, is_sent): (AgentId, bool),
        at_ms: u64,
        line: &[u8],
    ) -> (String, Option<u64>) {
        match summary::read(line) {
            Said::Told(words) => (words, None),
            Said::Noise => {
                let text = String::from_utf8_lossy(line);
                let what = format!("no message: {}", summary::beginning(&text));
                (what, None)
            }
            Said::Asked(id, method) => {
                let what = format!("{id} {method}");
                if self.asked.len() >= ASKED_MAX {
                    self.asked.clear();
                }
                self.asked.insert((agent, is_sent, id), (method, at_ms));
                (what, None)
            }
            Said::Answered(id, how) => {
                let asked = self.asked.remove(&(agent, !is_sent, id.clone()));
                let method = asked.as_ref().map_or("?", |(method, _)| method);
                let what = format!("{id} {method} {how}");
                (
                    what,
                    asked.map(|(_, asked_ms)| at_ms.saturating_sub(asked_ms)),
                )
            }
        }
    }

    fn place(&self, number: u64) -> usize {
        let first = self.kept.front().map_or(0, |line| line.number);
        let place = usize::try_from(number.saturating_sub(first)).unwrap_or(usize::MAX);
        place.min(self.kept.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: AgentId = AgentId(0);

    #[test]
    fn lines_are_bounded_and_cut() {
        let log = WireLog::default();
        for at in 0..1100 {
            log.push(at, AGENT, Direction::ToAgent, b"\x1b[2J\xff");
        }
        log.push(2000, AGENT, Direction::ToClient, &[b'x'; 100_000]);
        let last = log.around(None, 2);
        assert_eq!(last[0].what, "no message: \u{1b}[2J\u{fffd}");
        assert_eq!((last[1].line.len(), last[1].bytes), (65_536, 100_000));
        assert!(last[1].whole().ends_with("x\n…"));
        assert!(last[0].is_sent && !last[1].is_sent);
        assert_eq!(log.around(None, 5000).len(), LINES_MAX);
        for at in 0..200 {
            log.push(at, AGENT, Direction::ToClient, &[b'x'; 100_000]);
        }
        assert!(log.around(None, 5000).len() <= BYTES_MAX / LINE_BYTES_MAX);
        assert_eq!(WireLog::default().around(Some(3), 2), []);
        assert_eq!(WireLog::default().step(None, -1), None);
    }

    #[test]
    fn a_line_says_what_it_is() {
        let log = WireLog::default();
        let what = |agent, direction, line: &str| {
            log.push(0, AgentId(agent), direction, line.as_bytes());
            log.around(None, 1).remove(0).what
        };
        let (to, from) = (Direction::ToAgent, Direction::ToClient);
        let asks = r#"{"id":1,"method":"session/prompt","params":{}}"#;
        assert_eq!(what(0, to, asks), "1 session/prompt");
        let update = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","status":"failed","title":"Look","toolCallId":"t"}}}"#;
        assert_eq!(what(0, from, update), "tool_call_update failed Look");
        let chunk = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}}}"#;
        assert_eq!(what(0, from, chunk), "agent_message_chunk \"Hi\"");
        let other = r#"{"method":"session/cancel","params":[1]}"#;
        assert_eq!(what(0, to, other), "session/cancel");
        // Another agent's request of the same id is another one.
        assert_eq!(what(1, from, r#"{"id":1,"result":{}}"#), "1 ? ok");
        let answer = r#"{"id":1,"result":{"stopReason":"end_turn"}}"#;
        assert_eq!(what(0, from, answer), "1 session/prompt ok, end_turn");
        assert_eq!(what(0, to, asks), "1 session/prompt");
        let error = r#"{"id":1,"error":{"code":-32603,"message":"No"}}"#;
        let said = "1 session/prompt error: No (-32603)";
        assert_eq!(what(0, from, error), said);
    }

    #[test]
    fn an_answer_says_how_long_it_took() {
        let log = WireLog::default();
        let (to, from) = (Direction::ToAgent, Direction::ToClient);
        log.push(100, AGENT, to, br#"{"id":1,"method":"initialize"}"#);
        log.push(
            110,
            AGENT,
            from,
            br#"{"id":1,"method":"fs/read_text_file"}"#,
        );
        log.push(150, AGENT, from, br#"{"id":1,"result":{}}"#);
        log.push(180, AGENT, to, br#"{"id":1,"result":{}}"#);
        let lines = log.around(None, 9);
        let took: Vec<_> = lines.iter().map(|line| line.took_ms).collect();
        assert_eq!(took, [None, None, Some(50), Some(70)]);
    }

    #[test]
    fn lines_are_chosen_from_the_newest_up() {
        let log = WireLog::default();
        for at in 0..10 {
            log.push(at, AGENT, Direction::ToAgent, b"{}");
        }
        assert_eq!(log.step(None, -1), Some(9));
        assert_eq!(log.step(Some(9), -1), Some(8));
        assert_eq!(log.step(Some(9), 1), Some(9));
        assert_eq!(log.step(Some(3), -10), Some(0));
        let numbers = |chosen| {
            let lines = log.around(chosen, 4).into_iter();
            lines.map(|line| line.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(None), [6, 7, 8, 9]);
        assert_eq!(numbers(Some(0)), [0, 1, 2, 3]);
        assert_eq!(numbers(Some(5)), [4, 5, 6, 7]);
    }
}
