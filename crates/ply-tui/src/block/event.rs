//! What happened to the session: compactions, and updates of a kind that is not known.

use ply_client::transcript::Compaction;
use ply_client::v2;
use ratatui::text::Span;

use super::Fold;
use super::fixed::{Fixed, title};
use super::message::named;
use super::output::{Excerpt, LINES_OPEN};
use crate::markdown::Pen;
use crate::wrap::Margin;

pub(super) fn compaction(compaction: &Compaction, fold: Fold, pen: &Pen<'_>) -> Fixed {
    let theme = pen.theme;
    let mut fixed = Fixed::default();
    let (text, style) = match &compaction.status {
        v2::CompactionStatus::InProgress => ("◌ Making room in the context", theme.waiting),
        v2::CompactionStatus::Completed => ("✓ Made room in the context", theme.dim),
        v2::CompactionStatus::Failed => ("✗ Making room in the context failed", theme.failed),
        v2::CompactionStatus::Cancelled => {
            ("⊘ Making room in the context was cancelled", theme.dim)
        }
        _ => ("? Making room in the context", theme.dim),
    };
    if compaction.status == v2::CompactionStatus::InProgress {
        fixed.spinner = Some((0, 0));
    }
    fixed.line(&[Span::styled(text, style)], pen);
    let margin = Margin::of("  ", theme.dim);
    if let Some(error) = &compaction.error {
        for line in Excerpt::of(error, LINES_OPEN, 0).head {
            fixed.text(line, theme.failed, &margin, pen);
        }
    }
    if fold != Fold::Open {
        return fixed;
    }
    for block in &compaction.summary {
        match block {
            v2::ContentBlock::Text(text) => {
                let excerpt = Excerpt::of(&text.text, LINES_OPEN, LINES_OPEN);
                let left_out = excerpt.left_out();
                let lines = excerpt.head.iter().copied();
                let lines = lines
                    .chain(left_out.as_deref())
                    .chain(excerpt.tail.iter().copied());
                for line in lines {
                    fixed.text(line, theme.dim, &margin, pen);
                }
            }
            block => fixed.lines.push(named(block, pen)),
        }
    }
    fixed
}

pub(super) fn unknown(update: &v2::OtherSessionUpdate, pen: &Pen<'_>) -> Fixed {
    let mut fixed = Fixed::default();
    let text = format!("? update of kind {}", title(&update.session_update));
    fixed.line(&[Span::styled(text, pen.theme.dim)], pen);
    fixed
}
