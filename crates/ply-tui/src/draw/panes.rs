//! The plan and the wire log.

use ply_client::{Transcript, v2};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::lines::{clean, put, put_lines, span, styled, wrap};
use super::{PLAN_BESIDE_COLUMNS_MIN, PLAN_COLUMNS};
use crate::app::App;
use crate::theme::Theme;
use crate::wire_log::Logged;

/// Rows of a line of the wire that is shown whole.
const WHOLE_ROWS_MAX: usize = 5000;

/// Draws the plan, beside or in one line under the transcript, and returns what is left for the
/// transcript and whether the whole plan is beside it.
pub(super) fn draw_plan(
    transcript: &Transcript,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) -> (Rect, bool) {
    let Some(v2::PlanUpdateContent::Items(plan)) = transcript.last_plan().map(|plan| &plan.content)
    else {
        return (area, false);
    };
    let is_done = |entry: &&v2::PlanEntry| entry.status == v2::PlanEntryStatus::Completed;
    let done = plan.entries.iter().filter(is_done).count();
    let count = plan.entries.len();
    if count == 0 {
        return (area, false);
    }
    if area.width < PLAN_BESIDE_COLUMNS_MIN {
        if area.height < 8 || done == count {
            return (area, false);
        }
        let mut entries = plan.entries.iter();
        let now = entries.find(|entry| entry.status == v2::PlanEntryStatus::InProgress);
        let now = now.map_or_else(String::new, |entry| format!(": {}", clean(&entry.content)));
        let row = Rect {
            y: area.bottom() - 1,
            height: 1,
            ..area
        };
        put(buf, row, &format!(" plan {done}/{count}{now}"), theme.dim);
        let rest = Rect {
            height: area.height - 1,
            ..area
        };
        return (rest, false);
    }
    let side = Rect {
        x: area.right() - PLAN_COLUMNS,
        width: PLAN_COLUMNS,
        ..area
    };
    for y in side.top()..side.bottom() {
        put(
            buf,
            Rect {
                y,
                height: 1,
                ..side
            },
            "│",
            theme.border,
        );
    }
    let mut lines = vec![styled(format!("Plan {done}/{count}"), theme.heading)];
    let height = usize::from(side.height);
    for entry in &plan.entries {
        if lines.len() > height {
            break;
        }
        let (mark, style) = match entry.status {
            v2::PlanEntryStatus::Completed => ("✓", theme.dim),
            v2::PlanEntryStatus::InProgress => ("▸", theme.accent),
            v2::PlanEntryStatus::Cancelled => ("✗", theme.dim),
            _ => ("·", theme.text),
        };
        for (row, text) in wrap(&entry.content, PLAN_COLUMNS - 5, 3)
            .into_iter()
            .enumerate()
        {
            let mark = if row == 0 { mark } else { " " };
            lines.push(styled(format!("{mark} {text}"), style));
        }
    }
    let is_whole = lines.len() <= height;
    let inside = Rect {
        x: side.x + 2,
        width: side.width - 2,
        ..side
    };
    put_lines(buf, inside, &lines);
    let rest = Rect {
        width: area.width - PLAN_COLUMNS,
        ..area
    };
    (rest, is_whole)
}

/// Draws the last lines of the wire, those around a chosen one, or that one whole.
pub(super) fn draw_log(app: &mut App, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let inside = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    let chosen = app.log_pane.chosen;
    let whole = chosen.filter(|_| app.log_pane.whole.is_some());
    let (head, lines) = match whole.and_then(|chosen| app.log.get(chosen)) {
        Some(logged) => {
            let head = format!("─ wire log: {} bytes ", logged.bytes);
            (head, whole_lines(app, &logged, inside))
        }
        None => {
            let logged = app.log.around(chosen, usize::from(inside.height));
            let lines = logged.iter().map(|line| log_line(line, chosen, &app.theme));
            ("─ wire log ".to_owned(), lines.collect())
        }
    };
    let filled = usize::from(area.width).saturating_sub(head.chars().count());
    let head = format!("{head}{}", "─".repeat(filled));
    put(buf, area, &head, app.theme.border);
    put_lines(buf, inside, &lines);
}

/// Returns the rows of a line that is shown whole, and keeps the place in it within them.
fn whole_lines(app: &mut App, logged: &Logged, area: Rect) -> Vec<Line<'static>> {
    let rows = wrap(
        &logged.whole(),
        area.width.saturating_sub(2),
        WHOLE_ROWS_MAX,
    );
    let last = rows.len().saturating_sub(usize::from(area.height));
    let first = app.log_pane.whole.unwrap_or(0).min(last);
    app.log_pane.whole = Some(first);
    let shown = rows.into_iter().skip(first);
    shown
        .map(|row| styled(format!(" {row}"), app.theme.text))
        .collect()
}

fn log_line(line: &Logged, chosen: Option<u64>, theme: &Theme) -> Line<'static> {
    let (mark, style) = match line.is_sent {
        true => ("→", theme.user),
        false => ("←", theme.accent),
    };
    let (seconds, millis) = (line.at_ms / 1000, line.at_ms % 1000);
    let text = match chosen == Some(line.number) {
        true => theme.selection,
        false => theme.text,
    };
    Line::from(vec![
        span(format!(" {seconds:>5}.{millis:03} "), theme.dim),
        span(mark, style),
        span(format!(" {} ", clean(&line.what)), text),
        span(format!("({} bytes)", line.bytes), theme.dim),
    ])
}
