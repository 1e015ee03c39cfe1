//! The plan and the wire log.

use ply_client::{Transcript, v2};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::lines::{clean, put, put_lines, span, styled, wrap};
use super::{PLAN_BESIDE_COLUMNS_MIN, PLAN_COLUMNS};
use crate::app::App;
use crate::theme::Theme;

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

/// Draws the last lines of the wire.
pub(super) fn draw_log(app: &App, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let theme = &app.theme;
    let head = "─ wire log ";
    let filled = usize::from(area.width).saturating_sub(head.chars().count());
    put(
        buf,
        area,
        &format!("{head}{}", "─".repeat(filled)),
        theme.border,
    );
    let inside = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    let logged = app.log.last(usize::from(inside.height), app.log_pane.up);
    let lines: Vec<Line<'static>> = logged
        .into_iter()
        .map(|line| {
            let (mark, style) = match line.is_sent {
                true => ("→", theme.user),
                false => ("←", theme.accent),
            };
            let (seconds, millis) = (line.at_ms / 1000, line.at_ms % 1000);
            Line::from(vec![
                span(format!(" {seconds:>5}.{millis:03} "), theme.dim),
                span(mark, style),
                span(format!(" {} ", line.text), theme.text),
                span(format!("({} bytes)", line.bytes), theme.dim),
            ])
        })
        .collect();
    put_lines(buf, inside, &lines);
}
