//! The output of the command that the user ran last.

use ratatui::text::Line;

use super::lines::{clean, span, styled, wrap};
use crate::app::App;
use crate::app::shell::ShellEnd;

/// Rows of one line of output.
const LINE_ROWS_MAX: usize = 50;

/// Returns the end of the output, or what is before it if the user went back, in at most so many rows.
pub(super) fn lines(app: &mut App, width: u16, rows_max: u16) -> Vec<Line<'static>> {
    let (now, theme) = (app.now, app.theme.clone());
    let Some(shell) = &mut app.shell else {
        return Vec::new();
    };
    let style = match &shell.end {
        None => theme.waiting,
        Some(ShellEnd::Exit(0)) => theme.ok,
        Some(_) => theme.failed,
    };
    let mut head = Line::from(vec![
        span(" ! ", theme.accent),
        span(clean(&shell.command), theme.strong),
        span(format!("  {}", clean(&shell.state(now))), style),
    ]);
    let room = usize::from(rows_max).saturating_sub(1);
    // One more, to know whether there is any.
    let wanted = room.saturating_add(shell.back).saturating_add(1);
    // From the end, so that a long output costs no more than what is shown of it.
    let mut rows: Vec<String> = Vec::new();
    if shell.is_truncated {
        rows.push("… the rest is not shown".to_owned());
    }
    for line in shell.output().trim_end().lines().rev() {
        if rows.len() >= wanted {
            break;
        }
        let wrapped = wrap(line, width.saturating_sub(4), LINE_ROWS_MAX);
        match wrapped.is_empty() {
            true => rows.push(String::new()),
            false => rows.extend(wrapped.into_iter().rev()),
        }
    }
    shell.back = shell.back.min(rows.len().saturating_sub(room));
    let is_cut = rows.len() > room + shell.back;
    let shown = rows.into_iter().skip(shell.back).take(room);
    let mut shown: Vec<_> = shown
        .map(|row| styled(format!("   {row}"), theme.text))
        .collect();
    if is_cut {
        head.push_span(span("  … more above: PgUp", theme.waiting));
    }
    shown.push(head);
    shown.reverse();
    shown
}
