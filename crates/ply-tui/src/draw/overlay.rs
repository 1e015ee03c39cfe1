//! What covers the rest: help, lists, and the popup at the composer.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget as _};

use super::lines::{clean, put, put_lines, span, styled};
use crate::app::picker::Picker;
use crate::app::popup::Kind;
use crate::app::{App, Overlay};
use crate::help::{COMMANDS, KEYS};
use crate::keymap::Keys;
use crate::theme::Theme;
use crate::wrap::{self, Breaks, Margin};

/// Columns of lists.
const LIST_COLUMNS_MAX: u16 = 100;
/// Columns of keys in the help.
const KEY_COLUMNS: usize = 24;
/// Entries of the popup that are shown together.
const POPUP_ROWS_MAX: usize = 8;

/// Draws what covers the rest and returns where the cursor is.
pub(super) fn draw(app: &mut App, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let (theme, keys) = (app.theme.clone(), app.keys.clone());
    // The last two rows keep saying what the keys do.
    let area = Rect {
        height: area.height.saturating_sub(2).max(1).min(area.height),
        ..area
    };
    match &mut app.overlay {
        Some(Overlay::Help { scroll }) => {
            let inside = frame(
                area,
                "Help: Up and Down scroll, any other key closes",
                buf,
                &theme,
            );
            let lines = help_lines(&theme, &keys, usize::from(inside.width));
            let last = u16::try_from(lines.len())
                .unwrap_or(u16::MAX)
                .saturating_sub(inside.height);
            *scroll = (*scroll).min(last);
            let shown = lines.get(usize::from(*scroll)..).unwrap_or_default();
            put_lines(buf, inside, shown);
            None
        }
        Some(Overlay::Picker(picker)) => draw_picker(picker, area, buf, &theme),
        None => None,
    }
}

fn help_lines(theme: &Theme, user: &Keys, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (group, keys) in KEYS {
        lines.push(styled(*group, theme.heading));
        for (key, what) in *keys {
            pair(&user.shown(key), what, width, theme, &mut lines);
        }
    }
    lines.push(styled("Commands", theme.heading));
    for command in COMMANDS {
        let name = format!("/{}", command.name);
        pair(&name, command.what, width, theme, &mut lines);
    }
    lines
}

/// Appends a key and what it does, in as many rows as that takes.
fn pair(key: &str, what: &str, width: usize, theme: &Theme, lines: &mut Vec<Line<'static>>) {
    let margin = Margin {
        first: vec![span(format!("  {key:<KEY_COLUMNS$}"), theme.accent)],
        rest: vec![span(" ".repeat(2 + KEY_COLUMNS), theme.text)],
    };
    let what = [span(what.to_owned(), theme.text)];
    wrap::wrap(&what, width, &margin, Breaks::Words, lines);
}

fn draw_picker(picker: &Picker, area: Rect, buf: &mut Buffer, theme: &Theme) -> Option<Position> {
    let width = area.width.min(LIST_COLUMNS_MAX);
    let area = Rect {
        x: area.x + (area.width - width) / 2,
        width,
        ..area
    };
    let inside = frame(area, &clean(&picker.title), buf, theme);
    if inside.is_empty() {
        return None;
    }
    let filter = format!("filter: {}", clean(&picker.filter));
    put(buf, inside, &filter, theme.accent);
    let columns = u16::try_from(ply_client::text::columns(&filter)).unwrap_or(0);
    let note = clean(&picker.note);
    let wide = u16::try_from(ply_client::text::columns(&note)).unwrap_or(0);
    if columns + wide + 2 <= inside.width {
        let x = inside.right() - wide;
        put(
            buf,
            Rect {
                x,
                width: wide,
                ..inside
            },
            &note,
            theme.dim,
        );
    }
    let list = Rect {
        y: inside.y + 1,
        height: inside.height - 1,
        ..inside
    };
    let first = (picker.selected + 1).saturating_sub(usize::from(list.height));
    let shown = picker.shown.iter().enumerate().skip(first);
    let lines: Vec<Line<'static>> = shown
        .take(usize::from(list.height))
        .filter_map(|(place, item)| Some((place, picker.items.get(*item)?)))
        .map(|(place, item)| {
            let is_chosen = place == picker.selected;
            let mark = if is_chosen { "› " } else { "  " };
            let style = if is_chosen {
                theme.selection
            } else {
                theme.text
            };
            let room = usize::from(list.width);
            let detail = clean(&item.detail);
            let label = format!("{mark}{}", clean(&item.label));
            let free = room
                .saturating_sub(ply_client::text::columns(&detail) + 2)
                .max(room / 2);
            let label = ply_client::text::beginning(&label, free).into_owned();
            let gap = room
                .saturating_sub(ply_client::text::columns(&label))
                .saturating_sub(ply_client::text::columns(&detail))
                .max(2);
            Line::from(vec![
                span(label, style),
                span(format!("{}{detail}", " ".repeat(gap)), theme.dim),
            ])
        })
        .collect();
    put_lines(buf, list, &lines);
    Some(Position::new(inside.x.saturating_add(columns), inside.y))
}

/// Draws the popup right above the composer.
pub(super) fn draw_popup(app: &App, above: Rect, buf: &mut Buffer) {
    let Some(popup) = &app.popup else {
        return;
    };
    let theme = &app.theme;
    let sign = match popup.kind {
        Kind::File => '@',
        Kind::Command => '/',
        Kind::LocalCommand => ':',
    };
    let shown = POPUP_ROWS_MAX.min(usize::from(above.height));
    let first = (popup.selected + 1).saturating_sub(shown);
    let entries = popup.entries.iter().enumerate().skip(first).take(shown);
    let below = popup.entries.len().saturating_sub(first + shown);
    let width = usize::from(above.width);
    // What is said about names begins in one column.
    let names = popup.entries.iter();
    let names = names.map(|(name, _)| ply_client::text::columns(&clean(name)));
    let column = names.max().unwrap_or(0).min(width / 2);
    let mut lines: Vec<Line<'static>> = entries
        .map(|(place, (name, what))| {
            let is_chosen = place == popup.selected;
            let style = if is_chosen {
                theme.selection
            } else {
                theme.text
            };
            let mark = if is_chosen { "›" } else { " " };
            let name = clean(name);
            let gap = column.saturating_sub(ply_client::text::columns(&name));
            let gap = if what.is_empty() { 0 } else { gap };
            let spans = [
                span(format!(" {mark} {sign}{name}"), style),
                span(format!("{}  {}", " ".repeat(gap), clean(what)), theme.dim),
            ];
            wrap::tinted(wrap::cut(&spans, width), width, theme.panel)
        })
        .collect();
    if below > 0 && lines.len() < usize::from(above.height) {
        let more = styled(format!("   … {below} more"), theme.dim);
        lines.push(wrap::tinted(more, width, theme.panel));
    }
    let rows = u16::try_from(lines.len()).unwrap_or(0).min(above.height);
    let area = Rect {
        y: above.bottom() - rows,
        height: rows,
        ..above
    };
    Clear.render(area.intersection(buf.area), buf);
    put_lines(buf, area, &lines);
}

/// Clears a place, draws a border with a title, and returns the inside.
fn frame(area: Rect, title: &str, buf: &mut Buffer, theme: &Theme) -> Rect {
    use ratatui::widgets::Block;
    let area = area.intersection(buf.area);
    Clear.render(area, buf);
    let block = Block::bordered()
        .border_style(theme.border)
        .title(format!(" {title} "));
    let inside = block.inner(area);
    block.render(area, buf);
    inside
}
