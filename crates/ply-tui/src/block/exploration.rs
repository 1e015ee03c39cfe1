//! Reads and searches in a row, of which mostly the number matters.

use ply_client::transcript::{Entry, ToolCall};
use ply_client::v2;
use ratatui::text::Span;

use super::card::{MARGIN, glyph, inside};
use super::fixed::{Fixed, title, titled};
use super::unit::Unit;
use super::{Fold, Scene};
use crate::markdown::Pen;

/// Lays out calls that all went well, as one line or as one line each.
pub(super) fn lay_out(unit: Unit, scene: Scene<'_>, pen: &Pen<'_>) -> Fixed {
    let theme = pen.theme;
    let calls = || {
        let entries = (unit.start..unit.end).filter_map(|place| scene.transcript.entry(place));
        entries.filter_map(Entry::as_tool_call)
    };
    let reads = calls()
        .filter(|call| call.kind == v2::ToolKind::Read)
        .count();
    let searches = calls().count() - reads;
    let mut counts = Vec::new();
    if reads > 0 {
        counts.push(counted(reads, "file", "files"));
    }
    if searches > 0 {
        counts.push(counted(searches, "search", "searches"));
    }
    let mut fixed = Fixed::default();
    let mut spans = vec![
        Span::styled("✓ ", theme.ok),
        Span::styled(calls().next().map_or("", inside), theme.dim),
        Span::styled("◎ ", theme.accent),
        Span::styled(format!("Explored {}", counts.join(", ")), theme.text),
    ];
    if scene.fold != Fold::Open {
        let names: Vec<String> = calls().map(name).collect();
        spans.push(Span::styled(format!(" · {}", names.join(", ")), theme.dim));
        fixed.line(&spans, pen);
        return fixed;
    }
    fixed.line(&spans, pen);
    for call in calls() {
        let words = scene.look.paths.shortened(&call.shown_title());
        let mut spans = vec![Span::raw(format!("{MARGIN}{} ", glyph(&call.kind)))];
        spans.extend(titled(&words, theme));
        for span in &mut spans {
            span.style = theme.dim;
        }
        fixed.line(&spans, pen);
    }
    fixed
}

fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// Returns the shortest name for a call: the file it reads, else its title.
fn name(call: &ToolCall) -> String {
    let file = call
        .locations
        .first()
        .and_then(|location| location.path.0.file_name());
    match file {
        Some(file) if call.kind == v2::ToolKind::Read => {
            ply_client::text::path(std::path::Path::new(file))
        }
        _ => title(&call.shown_title()).replace('`', ""),
    }
}
