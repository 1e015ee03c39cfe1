//! What terminals of the agent print, as it comes, up to a limit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ply_agent::transcript::{PlainText, Terminal, Transcript};
use ply_client::text;
use ply_client::v2;

use super::card::Shown;
use super::{Block, Text};

/// Lines of a terminal that are shown as they come.
const LIVE_LINES_MAX: usize = 30;
/// Bytes of a terminal that are looked at as they come.
const LIVE_BYTES_MAX: usize = 64 * 1024;
/// Lines at the end of a terminal that are shown when not all were.
const LAST_LINES: usize = 8;

/// A terminal that prints.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// The call that shows it.
    pub(super) call: Option<v2::ToolCallId>,
    plain: PlainText,
    bytes: usize,
    /// Lines that were shown.
    lines: usize,
    is_ended: bool,
}

impl Text {
    /// Shows what a terminal printed.
    pub(super) fn terminal(&mut self, update: &v2::SessionUpdate, transcript: &Transcript) {
        match update {
            v2::SessionUpdate::TerminalOutputChunk(chunk) => {
                if let Ok(bytes) = STANDARD.decode(&chunk.data) {
                    self.print(&chunk.terminal_id, &bytes);
                }
            }
            v2::SessionUpdate::TerminalUpdate(update) => {
                // One that no call shows is shown by itself, when it has ended.
                let id = &update.terminal_id;
                let has_call = |live: &Live| live.call.is_some();
                if update.exit_status.value().is_some()
                    && !self.terminals.get(id).is_some_and(has_call)
                    && let Some(terminal) = transcript.terminal(id)
                {
                    self.block(Block::Calls);
                    self.end_terminal(terminal);
                }
            }
            _ => {}
        }
    }

    fn print(&mut self, id: &v2::TerminalId, bytes: &[u8]) {
        let live = self.terminals.entry(id.clone()).or_default();
        let room = LIVE_BYTES_MAX.saturating_sub(live.bytes);
        live.bytes += bytes.len();
        live.plain.push(bytes.get(..room).unwrap_or(bytes));
        let call = live.call.clone();
        let lines = live.new_lines();
        if lines.is_empty() {
            return;
        }
        if let Some(call) = &call {
            let is_shown = |card: &super::Card| card.shown != Shown::Not;
            if self.last != Block::Calls
                || self.headline.as_ref() != Some(call)
                || !self.cards.get(call).is_some_and(is_shown)
            {
                self.headline(call);
            }
        } else {
            self.block(Block::Calls);
        }
        lines.iter().for_each(|line| self.dim(line));
    }

    /// Shows the rest of a terminal that has ended.
    pub(super) fn end_terminal(&mut self, terminal: &Terminal) {
        let live = self.terminals.entry(terminal.id.clone()).or_default();
        if std::mem::replace(&mut live.is_ended, true) {
            return;
        }
        let shown = live.lines;
        let text = terminal.text();
        let all: Vec<String> = text::lines(text.trim_end()).collect();
        let rest = all.get(shown..).unwrap_or_default();
        // What fits is shown whole; else the end, which most often says the most.
        let left_out = match shown + rest.len() <= LIVE_LINES_MAX + LAST_LINES {
            true => 0,
            false => rest.len().saturating_sub(LAST_LINES),
        };
        if left_out > 0 {
            self.dim(&format!("… {left_out} more lines"));
        }
        for line in rest.iter().skip(left_out) {
            self.dim(line);
        }
        let ended = terminal.exit_status.as_ref();
        let ended = ended.and_then(|status| match (&status.signal, status.exit_code) {
            (Some(signal), _) => Some(format!("ended by {}", text::Line(signal))),
            (None, Some(code)) if code != 0 => Some(format!("exit code {code}")),
            _ => None,
        });
        if let Some(ended) = ended {
            self.dim(&ended);
        }
    }
}

impl Live {
    /// Returns lines that are whole and were not shown, while there is room for them.
    fn new_lines(&mut self) -> Vec<String> {
        let text = self.plain.as_str();
        let whole = text
            .rfind('\n')
            .map_or("", |end| text.get(..=end).unwrap_or(""));
        let room = LIVE_LINES_MAX.saturating_sub(self.lines);
        let new: Vec<String> = text::lines(whole).skip(self.lines).take(room).collect();
        self.lines += new.len();
        new
    }
}
