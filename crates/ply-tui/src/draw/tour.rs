//! What a tour says about what it shows.

use ratatui::text::Line;

use super::lines::{span, wrap};
use crate::app::App;
use crate::wrap as fit;

/// Rows of a caption.
const CAPTION_ROWS_MAX: usize = 3;

/// Returns the caption of the tour, if there is one.
pub(super) fn lines(app: &App, width: u16) -> Vec<Line<'static>> {
    let Some(tour) = &app.tour else {
        return Vec::new();
    };
    let (theme, columns) = (&app.theme, usize::from(width));
    let head = format!(" Tour {} of {} · scripted ", tour.place, tour.count);
    let keys = "→ skips ahead · Esc leaves ";
    let gap = columns.saturating_sub(fit::columns(&head) + fit::columns(keys));
    let head = [
        span(head, theme.heading),
        span(" ".repeat(gap), theme.dim),
        span(keys, theme.dim),
    ];
    let mut lines = vec![fit::cut(&head, columns)];
    let rows = wrap(&tour.caption, width.saturating_sub(2), CAPTION_ROWS_MAX);
    let rows = rows.into_iter();
    lines.extend(rows.map(|row| Line::from(vec![span(format!(" {row}"), theme.text)])));
    let tinted = lines.into_iter();
    tinted
        .map(|line| fit::tinted(line, columns, theme.panel))
        .collect()
}
