//! Terminals of the agent: what they printed, as plain text.

use std::hash::{DefaultHasher, Hash as _};

use ply_client::Transcript;
use ply_client::transcript::{PlainText, Terminal, ToolCall};
use ply_client::v2;
use ratatui::text::Span;

use super::Fold;
use super::card::{Detail, LINES_DONE, LINES_FAILED, LINES_RUNNING, excerpt};
use super::fixed::{Fixed, title};
use super::output::{Excerpt, ITEMS_SEARCHED_MAX, LINES_OPEN};
use crate::markdown::Pen;

/// Bytes of an output that are read for its last lines.
const TAIL_BYTES: usize = 16 * 1024;
/// Bytes of an output that tell whether it has changed.
const PRINT_BYTES: usize = 256;

/// Lays out a terminal that no tool call shows.
pub(super) fn lay_out(terminal: &Terminal, fold: Fold, pen: &Pen<'_>) -> Fixed {
    let mut fixed = Fixed::default();
    let detail = match fold {
        Fold::Open => Detail::All,
        Fold::Closed => Detail::Title,
        Fold::Unset if terminal.exit_status.as_ref().is_none_or(has_failed) => Detail::Brief,
        Fold::Unset => Detail::Title,
    };
    let (mark, style) = match &terminal.exit_status {
        None => ("◌ ", pen.theme.waiting),
        Some(status) if has_failed(status) => ("✗ ", pen.theme.failed),
        Some(_) => ("✓ ", pen.theme.ok),
    };
    if terminal.exit_status.is_none() {
        fixed.spinner = Some((0, 0));
    }
    let command = terminal.command.as_deref().map(title);
    let spans = [
        Span::styled(mark, style),
        Span::styled("$ ", pen.theme.accent),
        Span::styled(
            command.unwrap_or_else(|| "terminal".to_owned()),
            pen.theme.text,
        ),
    ];
    fixed.line(&spans, pen);
    if detail != Detail::Title {
        output(terminal, detail, pen, &mut fixed);
        end(terminal, detail, pen, &mut fixed);
    }
    fixed
}

/// Appends a terminal to the card of a tool call.
pub(super) fn body(
    call: &ToolCall,
    terminal: &Terminal,
    detail: Detail,
    pen: &Pen<'_>,
    fixed: &mut Fixed,
) {
    if let Some(command) = terminal.command.as_deref().map(title)
        && !call.shown_title().contains(&command)
    {
        let spans = [Span::styled(format!("  $ {command}"), pen.theme.code)];
        fixed.line(&spans, pen);
    }
    output(terminal, detail, pen, fixed);
    // An exit code is in the title of the card.
    let status = terminal.exit_status.as_ref();
    if status.is_some_and(|status| status.signal.is_some()) {
        end(terminal, detail, pen, fixed);
    }
}

/// Adds what tells whether the terminals of a card have changed.
pub(super) fn print(call: &ToolCall, transcript: &Transcript, hasher: &mut DefaultHasher) {
    for item in call.content.iter().take(ITEMS_SEARCHED_MAX) {
        let v2::ToolCallContent::Terminal(of) = item else {
            continue;
        };
        if let Some(terminal) = transcript.terminal(&of.terminal_id) {
            let output = terminal.output.as_bytes();
            let last = output.len().saturating_sub(PRINT_BYTES);
            (output.len(), output.get(last..), terminal.command.is_some()).hash(hasher);
            terminal.exit_status.is_some().hash(hasher);
        }
    }
}

fn output(terminal: &Terminal, detail: Detail, pen: &Pen<'_>, fixed: &mut Fixed) {
    let bytes = terminal.output.as_bytes();
    let start = match detail {
        Detail::All => 0,
        _ => bytes.len().saturating_sub(TAIL_BYTES),
    };
    let mut text = PlainText::new();
    text.push(bytes.get(start..).unwrap_or_default());
    let failed = terminal.exit_status.as_ref().is_some_and(has_failed);
    let shown = match detail {
        Detail::All => Excerpt::of(text.as_str(), LINES_OPEN, LINES_OPEN),
        _ if failed => Excerpt::of(text.as_str(), 0, LINES_FAILED),
        _ if terminal.exit_status.is_some() => Excerpt::of(text.as_str(), 0, LINES_DONE),
        _ => Excerpt::of(text.as_str(), 0, LINES_RUNNING),
    };
    excerpt(&shown, pen, fixed);
}

/// Says how the command ended.
fn end(terminal: &Terminal, detail: Detail, pen: &Pen<'_>, fixed: &mut Fixed) {
    let Some(status) = &terminal.exit_status else {
        return;
    };
    let (text, style) = match (&status.signal, status.exit_code) {
        (Some(signal), _) => (format!("  ended by {}", title(signal)), pen.theme.failed),
        (None, Some(code)) if code != 0 => (format!("  exit {code}"), pen.theme.failed),
        _ if detail == Detail::All => ("  ended".to_owned(), pen.theme.dim),
        _ => return,
    };
    fixed.line(&[Span::styled(text, style)], pen);
}

fn has_failed(status: &v2::TerminalExitStatus) -> bool {
    status.signal.is_some() || status.exit_code.is_some_and(|code| code != 0)
}
