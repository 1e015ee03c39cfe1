//! Tool calls: what they do, how far they are, and what came of it.

use std::io::Write;

use ply_client::transcript::ToolCall;
use ply_client::v2;
use ratatui::text::Span;

use super::fixed::{Fixed, size, time, title, titled};
use super::message::named;
use super::output::{Excerpt, Texts};
use super::unit::parent_of;
use super::{Fold, Scene, terminal};
use crate::diff::{self, LINE_BYTES_BRIEF, Sheet};
use crate::highlight;
use crate::markdown::{Pen, plain_lines};
use crate::theme::Theme;
use crate::wrap::{self, Margin};

/// Lines of output that are shown of a call that runs.
pub(super) const LINES_RUNNING: usize = 5;
/// Lines of output that are shown of a call that failed.
pub(super) const LINES_FAILED: usize = 12;
/// Lines of output that are shown of a command that went well.
pub(super) const LINES_DONE: usize = 3;
/// Lines of a diff that are shown until the card is opened.
const DIFF_LINES_BRIEF: usize = 16;
/// Lines of a diff that are shown when the card is opened.
const DIFF_LINES_OPEN: usize = 1_000;
/// Locations that are named.
const LOCATIONS_MAX: usize = 3;
/// Items that are not text and are shown.
const ITEMS_MAX: usize = 32;
/// Bytes of a raw value that are shown.
const RAW_BYTES_MAX: usize = 16 * 1024;
/// What stands before everything below the title.
pub(super) const MARGIN: &str = "  ";

/// How much of a card is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Title,
    Brief,
    All,
}

pub(super) fn lay_out(call: &ToolCall, scene: Scene<'_>, pen: &mut Pen<'_>) -> Fixed {
    let mut fixed = Fixed::default();
    let detail = match scene.look.asked.as_ref() == Some(&call.id) {
        true if scene.fold == Fold::Unset => Detail::Title,
        _ => detail(call, scene.fold),
    };
    let texts = Texts::of(&call.content);
    head(call, detail, &texts, scene, pen, &mut fixed);
    if detail == Detail::Title {
        return fixed;
    }
    locations(call, scene, pen, &mut fixed);
    if detail == Detail::All {
        raw("input", call.raw_input.as_ref(), pen, &mut fixed);
    }
    others(call, detail, scene, pen, &mut fixed);
    let lines = match &call.status {
        v2::ToolCallStatus::Failed => LINES_FAILED,
        _ => LINES_RUNNING,
    };
    match detail {
        Detail::All => excerpt(&texts.both_ends(), pen, &mut fixed),
        _ if call.kind == v2::ToolKind::Execute && is_done(call) => {
            excerpt(&texts.end(LINES_DONE), pen, &mut fixed);
        }
        // What an edit says about itself is in its diff.
        _ if is_done(call) => {}
        _ => excerpt(&texts.end(lines), pen, &mut fixed),
    }
    let says_nothing = call.content.is_empty() && call.status == v2::ToolCallStatus::Failed;
    if detail == Detail::All || says_nothing {
        raw("output", call.raw_output.as_ref(), pen, &mut fixed);
    }
    fixed
}

/// Returns whether a call ended, and not badly.
fn is_done(call: &ToolCall) -> bool {
    call.is_finished() && call.status != v2::ToolCallStatus::Failed
}

/// Returns the mark and the style for how far a call is.
pub(super) fn status<'a>(
    status: &v2::ToolCallStatus,
    theme: &'a Theme,
) -> (&'static str, &'a ratatui::style::Style) {
    match status {
        v2::ToolCallStatus::Pending => ("○", &theme.waiting),
        v2::ToolCallStatus::InProgress => ("◌", &theme.waiting),
        v2::ToolCallStatus::Paused => ("‖", &theme.waiting),
        v2::ToolCallStatus::Completed => ("✓", &theme.ok),
        v2::ToolCallStatus::Failed => ("✗", &theme.failed),
        v2::ToolCallStatus::Cancelled => ("⊘", &theme.dim),
        _ => ("?", &theme.waiting),
    }
}

/// Returns the mark for what sort of tool was called.
pub(super) fn glyph(kind: &v2::ToolKind) -> &'static str {
    match kind {
        v2::ToolKind::Read => "◎",
        v2::ToolKind::Edit => "±",
        v2::ToolKind::Delete => "−",
        v2::ToolKind::Move => "→",
        v2::ToolKind::Search => "⌕",
        v2::ToolKind::Execute => "$",
        v2::ToolKind::Think => "∴",
        v2::ToolKind::Fetch => "↓",
        v2::ToolKind::SwitchMode => "⇄",
        _ => "•",
    }
}

/// Returns the mark of a call that is a part of another one.
pub(super) fn inside(call: &ToolCall) -> &'static str {
    match parent_of(call) {
        Some(_) => "↳ ",
        None => "",
    }
}

/// Appends an output.
pub(super) fn excerpt(excerpt: &Excerpt<'_>, pen: &Pen<'_>, fixed: &mut Fixed) {
    let margin = Margin::of(MARGIN, pen.theme.dim);
    let mut lines = |of: &[&str]| {
        let of = of.iter().copied();
        plain_lines(of, pen.theme.dim, &margin, pen.width, &mut fixed.lines);
    };
    let left_out = excerpt.left_out();
    lines(&excerpt.head);
    lines(left_out.as_deref().as_slice());
    lines(&excerpt.tail);
}

fn detail(call: &ToolCall, fold: Fold) -> Detail {
    let has_diff = || {
        let mut items = call.content.iter().take(super::output::ITEMS_SEARCHED_MAX);
        items.any(|item| matches!(item, v2::ToolCallContent::Diff(_)))
    };
    match fold {
        Fold::Open => Detail::All,
        Fold::Closed => Detail::Title,
        Fold::Unset if !call.is_finished() => Detail::Brief,
        Fold::Unset if call.status == v2::ToolCallStatus::Failed || has_diff() => Detail::Brief,
        Fold::Unset if call.kind == v2::ToolKind::Execute => Detail::Brief,
        Fold::Unset => Detail::Title,
    }
}

fn head(
    call: &ToolCall,
    detail: Detail,
    texts: &Texts,
    scene: Scene<'_>,
    pen: &Pen<'_>,
    fixed: &mut Fixed,
) {
    let theme = pen.theme;
    let (mark, style) = status(&call.status, theme);
    if call.status == v2::ToolCallStatus::InProgress {
        fixed.spinner = Some((0, 0));
    }
    let mut spans = vec![
        Span::styled(format!("{mark} "), *style),
        Span::styled(inside(call), theme.dim),
        Span::styled(format!("{} ", glyph(&call.kind)), theme.accent),
    ];
    let words = scene.look.paths.shortened(&call.shown_title());
    spans.extend(titled(&words, theme));
    if let v2::ToolCallStatus::Other(status) = &call.status {
        spans.push(Span::styled(format!(" ({})", title(status)), theme.dim));
    }
    if call.status == v2::ToolCallStatus::Cancelled {
        spans.push(Span::styled(" (cancelled)", theme.dim));
    }
    if let Some(code) = exit_code(call, scene) {
        let style = if code == 0 { theme.dim } else { theme.failed };
        spans.push(Span::styled(format!(" · exit {code}"), style));
    }
    if let Some(time) = scene.took_ms.and_then(time) {
        spans.push(Span::styled(format!(" · {time}"), theme.dim));
    }
    if detail == Detail::Title && call.is_finished() && texts.bytes > 0 {
        spans.push(Span::styled(format!(" · {}", texts.length()), theme.dim));
    }
    fixed.line(&spans, pen);
}

/// Returns the exit code of the command that a call ran, if it ran one.
fn exit_code(call: &ToolCall, scene: Scene<'_>) -> Option<i64> {
    let items = call.content.iter().take(super::output::ITEMS_SEARCHED_MAX);
    let mut terminals = items.filter_map(|item| match item {
        v2::ToolCallContent::Terminal(of) => scene.transcript.terminal(&of.terminal_id),
        _ => None,
    });
    let status = terminals.find_map(|terminal| terminal.exit_status.as_ref())?;
    status.exit_code
}

fn locations(call: &ToolCall, scene: Scene<'_>, pen: &Pen<'_>, fixed: &mut Fixed) {
    let title = call.shown_title();
    let has_diff = call.content.iter().take(super::output::ITEMS_SEARCHED_MAX);
    if has_diff
        .into_iter()
        .any(|item| matches!(item, v2::ToolCallContent::Diff(_)))
    {
        return;
    }
    let unnamed = call.locations.iter().filter(|location| {
        let name = location
            .path
            .0
            .file_name()
            .map(|name| name.to_string_lossy());
        name.is_none_or(|name| !title.contains(name.as_ref()))
    });
    let free = pen.width.saturating_sub(wrap::columns(MARGIN)).max(1);
    let mut count = 0;
    for location in unnamed {
        count += 1;
        if count > LOCATIONS_MAX {
            continue;
        }
        let line = location
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let path = format!("{}{line}", scene.look.paths.shown(&location.path.0));
        let path = ply_client::text::end(&path, free).into_owned();
        fixed.line(&[Span::raw(MARGIN), Span::styled(path, pen.theme.dim)], pen);
    }
    if count > LOCATIONS_MAX {
        let more = format!("{MARGIN}… {} more places", count - LOCATIONS_MAX);
        fixed.line(&[Span::styled(more, pen.theme.dim)], pen);
    }
}

/// Appends what is not text: diffs, terminals, images.
fn others(call: &ToolCall, detail: Detail, scene: Scene<'_>, pen: &mut Pen<'_>, fixed: &mut Fixed) {
    let width = pen.width.saturating_sub(wrap::columns(MARGIN)).max(1);
    let columns = u16::try_from(width).unwrap_or(u16::MAX);
    let items = call.content.iter().filter(|item| match item {
        v2::ToolCallContent::Content(content) => {
            !matches!(content.content, v2::ContentBlock::Text(_))
        }
        _ => true,
    });
    for item in items.take(ITEMS_MAX) {
        let lines = match item {
            v2::ToolCallContent::Diff(changes) => {
                let rows = match detail {
                    Detail::All => DIFF_LINES_OPEN,
                    _ => DIFF_LINES_BRIEF,
                };
                pen.work.is_unfinished |= !highlight::is_loaded();
                let sheet = Sheet {
                    width: columns,
                    style: scene.look.diff_style,
                    theme: pen.theme,
                    paths: &scene.look.paths,
                    rows_max: rows,
                    line_bytes_max: LINE_BYTES_BRIEF,
                };
                let mut lines = diff::change_lines(changes, &sheet);
                if let [title] = &mut fixed.lines[..] {
                    diff::join_head(title, &mut lines, pen.width);
                }
                lines
            }
            v2::ToolCallContent::Terminal(of) => {
                match scene.transcript.terminal(&of.terminal_id) {
                    Some(terminal) => terminal::body(call, terminal, detail, pen, fixed),
                    None => {
                        let text = format!("{MARGIN}terminal {}", title(&of.terminal_id.0));
                        fixed.line(&[Span::styled(text, pen.theme.dim)], pen);
                    }
                }
                continue;
            }
            v2::ToolCallContent::Content(content) => {
                vec![named(&content.content, &pen.with(width, pen.theme))]
            }
            v2::ToolCallContent::Other(other) => {
                let text = format!("content of kind {}", title(&other.type_));
                vec![wrap::cut(&[Span::styled(text, pen.theme.dim)], width)]
            }
            _ => continue,
        };
        fixed.lines.extend(lines.into_iter().map(|mut line| {
            line.spans.insert(0, Span::raw(MARGIN));
            line
        }));
    }
}

fn raw(name: &str, value: Option<&serde_json::Value>, pen: &Pen<'_>, fixed: &mut Fixed) {
    let Some(value) = value else {
        return;
    };
    let heading = Span::styled(format!("{MARGIN}{name}:"), pen.theme.dim);
    fixed.line(&[heading], pen);
    let mut bounded = Bounded(Vec::new());
    // It fails where the bound is, and what was written until then is shown.
    let is_cut = write_members(&mut bounded, value).is_err();
    let text = String::from_utf8_lossy(&bounded.0);
    excerpt(
        &Excerpt::of(&text, super::output::LINES_OPEN, 0),
        pen,
        fixed,
    );
    if is_cut {
        let text = format!("{MARGIN}… cut after {}", size(RAW_BYTES_MAX));
        fixed.line(&[Span::styled(text, pen.theme.dim)], pen);
    }
}

/// Writes a value as people would: an object as a member per line, a text as itself, and all else as JSON.
fn write_members(out: &mut Bounded, value: &serde_json::Value) -> std::io::Result<()> {
    match value {
        serde_json::Value::String(text) => out.write_all(text.as_bytes()),
        serde_json::Value::Object(members) => {
            for (name, value) in members {
                match value {
                    serde_json::Value::String(text) => {
                        // Lines behind the first are indented, so that they are not taken for members.
                        writeln!(out, "{name}: {}", text.trim_end().replace('\n', "\n  "))?;
                    }
                    value => writeln!(out, "{name}: {value}")?,
                }
            }
            Ok(())
        }
        value => serde_json::to_writer_pretty(out, value).map_err(Into::into),
    }
}

/// Keeps the first bytes that are written, and then fails.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let free = RAW_BYTES_MAX - self.0.len();
        if free == 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.get(..free).unwrap_or(bytes);
        self.0.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
