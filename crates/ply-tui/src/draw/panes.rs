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
    // What is done is one line of the transcript.
    if done == count {
        return (area, false);
    }
    if area.width < PLAN_BESIDE_COLUMNS_MIN {
        if area.height < 8 {
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
    let inside = bordered(side, buf, theme);
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
        x: inside.x + 1,
        width: inside.width - 1,
        ..inside
    };
    put_lines(buf, inside, &lines);
    let rest = Rect {
        width: area.width - PLAN_COLUMNS,
        ..area
    };
    (rest, is_whole)
}

/// Draws the last lines of the wire, those around a chosen one, or that one whole: under a rule, or beside the transcript.
pub(super) fn draw_log(app: &mut App, area: Rect, is_beside: bool, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let area = match is_beside {
        true => bordered(area, buf, &app.theme),
        false => area,
    };
    let inside = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    let chosen = app.log_pane.chosen;
    let whole = chosen.filter(|_| app.log_pane.whole.is_some());
    let (head, lines) = match whole.and_then(|chosen| app.log.get(chosen)) {
        Some(logged) => {
            let head = format!("wire log: {} bytes", logged.bytes);
            (head, whole_lines(app, &logged, inside))
        }
        None => {
            let logged = app.log.around(chosen, usize::from(inside.height));
            let width = usize::from(inside.width);
            let lines = logged.iter();
            let lines = lines.map(|line| log_line(line, chosen, width, &app.theme));
            ("wire log".to_owned(), lines.collect())
        }
    };
    match is_beside {
        true => put(buf, area, &format!(" {head}"), app.theme.heading),
        false => {
            let filled = usize::from(area.width).saturating_sub(head.chars().count() + 3);
            let head = format!("─ {head} {}", "─".repeat(filled));
            put(buf, area, &head, app.theme.border);
        }
    }
    put_lines(buf, inside, &lines);
}

/// Draws a line at the left of an area and returns what is behind it.
fn bordered(area: Rect, buf: &mut Buffer, theme: &Theme) -> Rect {
    for y in area.top()..area.bottom() {
        let row = Rect {
            y,
            height: 1,
            ..area
        };
        put(buf, row, "│", theme.border);
    }
    Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(1),
        ..area
    }
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

/// Returns a line of the log. What it says is cut, so that its time and its length are always there.
fn log_line(line: &Logged, chosen: Option<u64>, width: usize, theme: &Theme) -> Line<'static> {
    let (mark, style) = match line.is_sent {
        true => ("→", theme.user),
        false => ("←", theme.accent),
    };
    let (seconds, millis) = (line.at_ms / 1000, line.at_ms % 1000);
    let text = match chosen == Some(line.number) {
        true => theme.selection,
        false => theme.text,
    };
    let took = line.took_ms.map_or_else(String::new, |took| match took {
        0..1000 => format!("{took} ms "),
        _ => format!("{}.{} s ", took / 1000, took % 1000 / 100),
    });
    let at = format!(" {seconds:>5}.{millis:03} ");
    let bytes = format!("({} bytes)", line.bytes);
    let others = [at.as_str(), mark, "  ", &took, &bytes];
    let others: usize = others.into_iter().map(ply_client::text::columns).sum();
    let what = clean(&line.what);
    let what = ply_client::text::beginning(&what, width.saturating_sub(others).max(1));
    Line::from(vec![
        span(at, theme.dim),
        span(mark, style),
        span(format!(" {what} "), text),
        span(took, theme.accent),
        span(bytes, theme.dim),
    ])
}
