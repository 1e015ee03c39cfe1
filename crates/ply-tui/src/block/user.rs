//! Messages of the user: as they were typed, with what was attached.

use ply_client::transcript::Message;
use ply_client::v2;
use ratatui::text::Span;

use super::Fold;
use super::fixed::Fixed;
use super::message::named;
use super::output::{Excerpt, LINES_OPEN};
use crate::markdown::Pen;
use crate::wrap::{self, Breaks, Margin};

/// Lines of a long message that are shown until it is opened.
const LINES_CLOSED: usize = 20;
/// Bytes above which a message may be long enough to be folded.
const FOLDED_BYTES_MIN: usize = 400;

pub(super) fn lay_out(message: &Message, fold: Fold, pen: &mut Pen<'_>) -> Fixed {
    let mut fixed = Fixed::default();
    let margin = Margin::of("▌ ", pen.theme.user);
    let width = pen.width.saturating_sub(2).max(1);
    for block in &message.content {
        let v2::ContentBlock::Text(text) = block else {
            let line = named(block, &pen.with(width, pen.theme));
            wrap::wrap(
                &line.spans,
                pen.width,
                &margin,
                Breaks::Anywhere,
                &mut fixed.lines,
            );
            continue;
        };
        let text = text.text.trim_end_matches('\n');
        let excerpt = match fold {
            Fold::Open => Excerpt::of(text, LINES_OPEN, LINES_OPEN),
            _ => Excerpt::of(text, LINES_CLOSED, 0),
        };
        for line in excerpt.head.iter() {
            push(line, &margin, pen, &mut fixed);
        }
        if let Some(left_out) = excerpt.left_out() {
            let spans = [Span::styled(left_out, pen.theme.dim)];
            wrap::wrap(&spans, pen.width, &margin, Breaks::Words, &mut fixed.lines);
        }
        for line in excerpt.tail.iter() {
            push(line, &margin, pen, &mut fixed);
        }
    }
    for line in &mut fixed.lines {
        *line = wrap::tinted(std::mem::take(line), pen.width, pen.theme.panel);
    }
    fixed
}

/// Returns whether there may be more of a message than is shown at first.
pub(super) fn can_fold(message: &Message) -> bool {
    let is_long = |block: &v2::ContentBlock| match block {
        v2::ContentBlock::Text(text) => text.text.len() >= FOLDED_BYTES_MIN,
        _ => false,
    };
    message.content.iter().any(is_long)
}

fn push(line: &str, margin: &Margin, pen: &Pen<'_>, fixed: &mut Fixed) {
    let span = Span::styled(wrap::clean(line), pen.theme.user);
    wrap::wrap(&[span], pen.width, margin, Breaks::Words, &mut fixed.lines);
}
