//! Terminals: v1 has none that belong to the agent, so their output is shown as a text in the tool
//! call.

use crate::{
    MaybeUndefined,
    transcript::{PlainText, Terminal, decode_output},
    v2,
};

/// How much of the end of a terminal's output is shown. Every growth sends all of it again.
const SHOWN_BYTES_MAX: usize = 32 * 1024;

/// What the projector needs to know of a terminal.
#[derive(Debug, Default)]
pub(super) struct Screen {
    pub(super) command: Option<String>,
    output: PlainText,
    pub(super) exit_status: Option<v2::TerminalExitStatus>,
    /// The tool calls that show it.
    pub(super) shown_in: Vec<v2::ToolCallId>,
}

impl Screen {
    pub(super) fn apply(&mut self, update: &v2::TerminalUpdate) {
        update.command.clone().update_to(&mut self.command);
        update.exit_status.clone().update_to(&mut self.exit_status);
        match &update.output {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.output = PlainText::new(),
            MaybeUndefined::Value(output) => {
                if let Some(bytes) = decode_output(&output.data) {
                    self.output = PlainText::new();
                    self.push(&bytes);
                }
            }
        }
    }

    /// Adds a chunk of output and returns how many bytes it had.
    pub(super) fn append(&mut self, data: &str) -> usize {
        let bytes = decode_output(data).unwrap_or_default();
        self.push(&bytes);
        bytes.len()
    }

    pub(super) fn show_in(&mut self, call: &v2::ToolCallId) {
        if !self.shown_in.contains(call) {
            self.shown_in.push(call.clone());
        }
    }

    pub(super) fn failed(&self) -> bool {
        self.exit_status.as_ref().is_some_and(|exit| {
            exit.signal.is_some() || exit.exit_code.is_some_and(|code| code != 0)
        })
    }

    pub(super) fn text(&self) -> Option<String> {
        shown(
            self.command.as_deref(),
            self.output.as_str(),
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
        terminal.exit_status.as_ref(),
    )
}

fn shown(
    command: Option<&str>,
    output: &str,
    exit: Option<&v2::TerminalExitStatus>,
) -> Option<String> {
    if command.is_none() && output.is_empty() && exit.is_none() {
        return None;
    }
    let mut text = command
        .map(|command| format!("$ {command}\n"))
        .unwrap_or_default();
    match output.len().checked_sub(SHOWN_BYTES_MAX) {
        None | Some(0) => text.push_str(output),
        Some(cut) => {
            text.push_str("[earlier output left out]\n");
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
