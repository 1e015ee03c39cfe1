//! Terminals: v1 has none that belong to the agent, so their output is shown as a text in the tool
//! call.

use crate::{
    MaybeUndefined,
    transcript::{PlainText, Terminal, decode_output},
    v2,
};

/// How much of the end of a terminal's output is shown. Every growth sends all of it again.
const SHOWN_BYTES_MAX: usize = 32 * 1024;

const LEFT_OUT_NOTE: &str = "[earlier output left out]\n";

/// What the projector needs to know of a terminal.
#[derive(Debug, Default)]
pub(super) struct Screen {
    pub(super) command: Option<String>,
    output: PlainText,
    pub(super) exit_status: Option<v2::TerminalExitStatus>,
    /// The tool calls that show it.
    pub(super) shown_in: Vec<v2::ToolCallId>,
    /// Whether output was dropped.
    left_out: bool,
    /// Bytes that count as kept though no call shows them.
    pub(super) kept: usize,
    /// Whether it is a terminal of the client's own, which the client shows by itself.
    pub(super) is_clients: bool,
}

impl Screen {
    /// Returns a terminal of which nothing is known but that it was there.
    pub(super) fn forgotten() -> Self {
        Self {
            left_out: true,
            ..Self::default()
        }
    }

    /// Applies an update and returns by how many bytes what is shown changed; none if it did not.
    pub(super) fn apply(&mut self, update: &v2::TerminalUpdate) -> Option<usize> {
        let command = self.command.clone();
        let exit_status = self.exit_status.clone();
        update.command.clone().update_to(&mut self.command);
        update.exit_status.clone().update_to(&mut self.exit_status);
        let grown = match &update.output {
            MaybeUndefined::Undefined => Some(0),
            MaybeUndefined::Null => self.replace(&[]),
            MaybeUndefined::Value(output) => match decode_output(&output.data) {
                Some(bytes) => self.replace(&bytes),
                None => Some(0),
            },
        };
        if command != self.command || exit_status != self.exit_status {
            return Some(usize::MAX);
        }
        match grown {
            Some(0) => None,
            Some(bytes) => Some(bytes),
            None => Some(usize::MAX),
        }
    }

    /// Replaces the output and returns by how much it grew, or none if it is another one.
    fn replace(&mut self, bytes: &[u8]) -> Option<usize> {
        let before = std::mem::take(&mut self.output);
        let was_left_out = std::mem::take(&mut self.left_out);
        self.push(bytes);
        let rest = self.output.as_str().strip_prefix(before.as_str())?;
        (!was_left_out).then_some(rest.len())
    }

    /// Drops the output, which only a late change could need.
    pub(super) fn leave_out(&mut self) {
        self.left_out |= !self.output.as_str().is_empty();
        self.output = PlainText::new();
    }

    pub(super) fn text_bytes(&self) -> usize {
        self.output.as_str().len()
    }

    /// Adds a chunk of output and returns how many bytes it had.
    pub(super) fn append(&mut self, data: &str) -> usize {
        let bytes = decode_output(data).unwrap_or_default();
        self.push(&bytes);
        bytes.len()
    }

    /// Notes that a call shows it, and returns whether that is new.
    pub(super) fn show_in(&mut self, call: &v2::ToolCallId) -> bool {
        let is_new = !self.shown_in.contains(call);
        if is_new {
            self.shown_in.push(call.clone());
        }
        is_new
    }

    pub(super) fn failed(&self) -> bool {
        self.exit_status.as_ref().is_some_and(|exit| {
            exit.signal.is_some() || exit.exit_code.is_some_and(|code| code != 0)
        })
    }

    /// Returns whether no call shows it though there is something to show.
    pub(super) fn waits(&self) -> bool {
        self.shown_in.is_empty() && !self.is_blank()
    }

    /// Returns whether there is nothing to show yet.
    pub(super) fn is_blank(&self) -> bool {
        self.command.is_none()
            && self.output.as_str().is_empty()
            && !self.left_out
            && self.exit_status.is_none()
    }

    pub(super) fn text(&self) -> Option<String> {
        shown(
            self.command.as_deref(),
            self.output.as_str(),
            self.left_out,
            self.exit_status.as_ref(),
        )
    }

    fn push(&mut self, bytes: &[u8]) {
        self.output.push(bytes);
        // More than is shown is kept, so that not every chunk moves the text.
        if self.output.as_str().len() > 4 * SHOWN_BYTES_MAX {
            self.output.keep_last(2 * SHOWN_BYTES_MAX);
        }
    }
}

/// Returns the text that shows a terminal to a v1 client, or none if there is nothing to show yet.
pub(crate) fn text_of(terminal: &Terminal) -> Option<String> {
    shown(
        terminal.command.as_deref(),
        &terminal.text(),
        false,
        terminal.exit_status.as_ref(),
    )
}

fn shown(
    command: Option<&str>,
    output: &str,
    left_out: bool,
    exit: Option<&v2::TerminalExitStatus>,
) -> Option<String> {
    if command.is_none() && output.is_empty() && !left_out && exit.is_none() {
        return None;
    }
    let mut text = command
        .map(|command| format!("$ {command}\n"))
        .unwrap_or_default();
    match output.len().checked_sub(SHOWN_BYTES_MAX) {
        None | Some(0) => {
            if left_out {
                text.push_str(LEFT_OUT_NOTE);
            }
            text.push_str(output);
        }
        Some(cut) => {
            text.push_str(LEFT_OUT_NOTE);
            let tail = (cut..output.len())
                .find_map(|at| output.get(at..))
                .unwrap_or_default();
            text.push_str(
                tail.split_once('\n')
                    .map_or(tail, |(_, whole_lines)| whole_lines),
            );
        }
    }
    if let Some(exit) = exit {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&match (exit.exit_code, &exit.signal) {
            (_, Some(signal)) => format!("[ended by {signal}]"),
            (Some(code), None) => format!("[exit code {code}]"),
            (None, None) => "[exited]".to_owned(),
        });
    }
    Some(text)
}
