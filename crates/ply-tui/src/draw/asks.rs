//! The agent's questions, with what they are about.

use ply_client::v2;
use ratatui::style::Style;
use ratatui::text::Line;

use super::details;
use super::lines::{clean, span, styled, wrap};
use crate::app::ask::{Ask, What};
use crate::app::form::{Form, Value};
use crate::app::{App, Focus};
use crate::theme::Theme;

/// Returns the questions of the session that is looked at, in at most so many rows. The answers are the last of them.
pub(super) fn lines(app: &mut App, width: u16, rows_max: u16) -> Vec<Line<'static>> {
    details::prepare(app, width);
    let app = &*app;
    let Some(tab) = app.tab().filter(|tab| !tab.asks.is_empty()) else {
        return Vec::new();
    };
    let theme = &app.theme;
    let rows_max = usize::from(rows_max);
    let is_focused = app.focus == Focus::Asks;
    let count = tab.asks.len();
    let style = if is_focused {
        theme.accent
    } else {
        theme.border
    };
    let head = match count {
        1 => "─ needs you ".to_owned(),
        count => format!("─ needs you: {} of {count} ", tab.ask + 1),
    };
    let filled = usize::from(width).saturating_sub(head.chars().count());
    let mut lines = vec![styled(format!("{head}{}", "─".repeat(filled)), style)];
    let Some(ask) = tab.open_ask() else {
        return lines;
    };
    let mut tail: Vec<Line<'static>> = match &ask.what {
        What::Permission(_) => options(ask, width, is_focused, theme),
        What::Form(form) => form_lines(form, width, is_focused, theme),
    };
    // The others by their titles, if there is room.
    let others = tab
        .asks
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != tab.ask);
    let others =
        others.map(|(_, other)| styled(format!(" also: {}", clean(other.title())), theme.dim));
    let room = rows_max.saturating_sub(lines.len() + tail.len() + 4);
    tail.extend(others.take(room.min(3)));

    lines.extend(
        wrap(ask.title(), width.saturating_sub(2), 3)
            .into_iter()
            .map(|row| styled(format!(" {row}"), theme.heading)),
    );
    if let Some(details) = ask.details.as_ref().map(|details| &details.lines) {
        let room = rows_max.saturating_sub(lines.len() + tail.len());
        let is_cut = details.len() > room;
        let room = room.saturating_sub(usize::from(is_cut));
        let first = ask.scroll.min(details.len().saturating_sub(room));
        let left = details.len().saturating_sub(first + room);
        lines.extend(details.iter().skip(first).take(room).cloned());
        if is_cut {
            let words = format!(" … {left} more lines; Tab, then PgDn");
            lines.push(styled(words, theme.dim));
        }
    }
    let kept = rows_max.saturating_sub(tail.len()).max(1);
    lines.truncate(kept);
    lines.extend(tail);
    lines
}

/// Returns the answers, in the agent's order, each with its number.
fn options(ask: &Ask, width: u16, is_focused: bool, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut parts = Vec::new();
    let mut columns = 0;
    for (place, option) in ask.options().iter().enumerate() {
        let number = match place {
            0..9 => format!("{}", place + 1),
            _ => "·".to_owned(),
        };
        let text = format!(" [{number}] {} ", clean(&option.name));
        let text = ply_client::text::beginning(&text, usize::from(width)).into_owned();
        let wide = ply_client::text::columns(&text);
        if columns + wide > usize::from(width) && !parts.is_empty() {
            lines.push(Line::from(std::mem::take(&mut parts)));
            columns = 0;
        }
        columns += wide;
        let style = match is_focused && place == ask.option {
            true => theme.selection,
            false => kind_style(&option.kind, theme),
        };
        parts.push(span(text, style));
    }
    lines.push(Line::from(parts));
    lines
}

fn kind_style(kind: &v2::PermissionOptionKind, theme: &Theme) -> Style {
    use v2::PermissionOptionKind as Kind;
    match kind {
        Kind::AllowOnce | Kind::AllowAlways => theme.ok,
        Kind::RejectOnce | Kind::RejectAlways => theme.failed,
        _ => theme.text,
    }
}

fn form_lines(form: &Form, width: u16, is_focused: bool, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (place, field) in form.fields.iter().enumerate() {
        let is_chosen = is_focused && place == form.field;
        let needed = if field.is_required { "*" } else { "" };
        let value = match &field.value {
            Value::Text(text) | Value::Number(text) | Value::Integer(text) => clean(text),
            Value::Flag(true) => "yes".to_owned(),
            Value::Flag(false) => "no".to_owned(),
            Value::One(choices, chosen) => {
                let chosen = chosen.and_then(|chosen| choices.get(chosen));
                let title = chosen.map_or("choose with Left and Right", |(_, title)| title);
                format!("‹ {} ›", clean(title))
            }
        };
        let mark = if is_chosen { "›" } else { " " };
        let style = if is_chosen {
            theme.selection
        } else {
            theme.text
        };
        let title = clean(&field.title);
        lines.push(styled(format!(" {mark} {title}{needed}: {value}"), style));
        if is_chosen && !field.description.is_empty() {
            let rows = wrap(&field.description, width.saturating_sub(6), 2).into_iter();
            lines.extend(rows.map(|row| styled(format!("     {row}"), theme.dim)));
        }
    }
    if let Some(problem) = &form.problem {
        lines.push(styled(format!(" {}", clean(problem)), theme.error));
    }
    lines
}
