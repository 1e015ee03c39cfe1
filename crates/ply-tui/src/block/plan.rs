//! Plans: what is to be done, and what is.

use ply_client::transcript::Plan;
use ply_client::v2;
use ratatui::style::Modifier;
use ratatui::text::Span;

use super::Fold;
use super::fixed::{Fixed, title};
use crate::markdown::Pen;
use crate::wrap::{self, Breaks, Margin};

/// Items that are shown; a plan with more is no plan.
const ITEMS_MAX: usize = 200;

pub(super) fn lay_out(plan: &Plan, fold: Fold, pen: &Pen<'_>) -> Fixed {
    let theme = pen.theme;
    let mut fixed = Fixed::default();
    match &plan.content {
        v2::PlanUpdateContent::Items(items) => {
            let is_done = |entry: &&v2::PlanEntry| entry.status == v2::PlanEntryStatus::Completed;
            let done = items.entries.iter().filter(is_done).count();
            let count = items.entries.len();
            let text = format!("Plan {done}/{count}");
            // What is done needs no room, unless somebody asks for it.
            if fold == Fold::Closed || fold == Fold::Unset && done == count {
                let mark = if done == count { "✓ " } else { "▸ " };
                let line = [Span::styled(mark, theme.ok), Span::styled(text, theme.dim)];
                fixed.line(&line, pen);
                return fixed;
            }
            fixed.line(&[Span::styled(text, theme.heading)], pen);
            for entry in items.entries.iter().take(ITEMS_MAX) {
                item(entry, pen, &mut fixed);
            }
            if let Some(more) = items
                .entries
                .len()
                .checked_sub(ITEMS_MAX)
                .filter(|more| *more > 0)
            {
                fixed.line(&[Span::styled(format!("  … {more} more"), theme.dim)], pen);
            }
        }
        v2::PlanUpdateContent::Other(other) => {
            let text = format!("Plan of kind {}", title(&other.type_));
            fixed.line(&[Span::styled(text, theme.dim)], pen);
        }
        _ => fixed.line(&[Span::styled("Plan", theme.dim)], pen),
    }
    fixed
}

fn item(entry: &v2::PlanEntry, pen: &Pen<'_>, fixed: &mut Fixed) {
    let theme = pen.theme;
    let (mark, mark_style, style) = match &entry.status {
        v2::PlanEntryStatus::Pending => ("○ ", theme.dim, theme.text),
        v2::PlanEntryStatus::InProgress => {
            ("▸ ", theme.waiting, theme.text.add_modifier(Modifier::BOLD))
        }
        v2::PlanEntryStatus::Completed => ("✓ ", theme.ok, theme.dim),
        v2::PlanEntryStatus::Cancelled => ("⊘ ", theme.dim, theme.dim.patch(theme.struck)),
        _ => ("? ", theme.dim, theme.text),
    };
    let margin = Margin::hanging(mark, "  ", mark_style);
    let spans = [Span::styled(title(&entry.content), style)];
    wrap::wrap(&spans, pen.width, &margin, Breaks::Words, &mut fixed.lines);
}
