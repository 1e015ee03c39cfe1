//! The agent's questions, with what they are about.

use ply_client::v2;
use ratatui::style::Style;
use ratatui::text::Line;

use super::details;
use super::lines::{clean, span, styled, wrap};
use crate::app::ask::{Ask, What};
use crate::app::form::{Form, Value};
use crate::app::tab::Tab;
use crate::app::{App, Focus};
use crate::theme::Theme;

/// Other questions that are named.
const OTHERS_MAX: usize = 3;
/// Rows of a long question that are shown together with its answers, at least; with fewer, the answers wait until it was read.
const BODY_ROWS_MIN: usize = 2;

/// Returns the questions of the session that is looked at, in at most so many rows, and whether the open one can be answered:
/// its answers are there, and all of what it is about was.
pub(super) fn lines(app: &mut App, width: u16, rows_max: u16) -> (Vec<Line<'static>>, bool) {
    details::prepare(app, width);
    let is_covered = app.overlay.is_some() || app.popup.is_some();
    let is_focused = app.focus == Focus::Asks;
    let theme = app.theme.clone();
    let rows_max = usize::from(rows_max);
    let Some(tab) = app.tab_mut().filter(|tab| !tab.asks.is_empty()) else {
        return (Vec::new(), false);
    };
    let head = head(tab.ask, tab.asks.len(), width, is_focused, &theme);
    let others = others(tab, &theme);
    let open = tab.ask;
    let Some(ask) = tab.asks.get_mut(open) else {
        return (vec![head], false);
    };
    let (message, mut tail) = match &ask.what {
        What::Permission(_) => (Vec::new(), options(ask, width, is_focused, &theme)),
        What::Form(form) => {
            let rows = wrap(&form.message, width.saturating_sub(2), 3).into_iter();
            let message = rows.map(|row| styled(format!(" {row}"), theme.heading));
            (
                message.collect(),
                form_lines(form, width, is_focused, &theme),
            )
        }
    };
    let details = ask.details.as_ref();
    let count = message.len() + details.map_or(0, |details| details.lines.len());
    let mut lines = vec![head];
    if tail.len() >= rows_max {
        lines.clear();
    }
    let mut room = rows_max.saturating_sub(lines.len() + tail.len());
    let is_form = matches!(ask.what, What::Form(_));
    let waits = !is_form && !ask.is_seen && count > room && room < BODY_ROWS_MIN;
    if waits {
        // Nothing can be answered yet, so that the room is better used for what there is to read.
        tail.clear();
        lines.truncate(usize::from(rows_max > BODY_ROWS_MIN + 1));
        room = rows_max.saturating_sub(lines.len());
    }
    let is_cut = count > room;
    // With one row there is none for a mark.
    let is_marked = is_cut && room > 1;
    let shown = room.saturating_sub(usize::from(is_marked)).min(count);
    let first = ask.scroll.min(count.saturating_sub(shown));
    if !is_covered && (shown > 0 || count == 0) {
        ask.show(first, shown, count);
    }
    let details = ask.details.iter().flat_map(|details| &details.lines);
    let body = message.iter().chain(details);
    lines.extend(body.skip(first).take(shown).cloned());
    if is_marked {
        let below = count.saturating_sub(first + shown);
        lines.push(styled(mark(below, first, width), theme.waiting));
    }
    let free = rows_max.saturating_sub(lines.len() + tail.len() + 1);
    let is_there = !tail.is_empty() && lines.len() + tail.len() <= rows_max;
    lines.extend(tail);
    lines.extend(others.into_iter().take(free.min(OTHERS_MAX)));
    let is_seen = is_form || ask.is_seen;
    (lines, is_there && is_seen && !is_covered)
}

/// Says how much of a question is not on the screen, and how to get there.
fn mark(below: usize, above: usize, width: u16) -> String {
    let lines = |count| if count == 1 { "line" } else { "lines" };
    let words = match below {
        0 => format!(" … {above} {} above: PgUp", lines(above)),
        below => format!(" … {below} more {}: PgDn", lines(below)),
    };
    match (words.chars().count() <= usize::from(width), below) {
        (true, _) => words,
        (false, 0) => " … above: PgUp".to_owned(),
        (false, below) => format!(" … {below} more: PgDn"),
    }
}

fn head(place: usize, count: usize, width: u16, is_focused: bool, theme: &Theme) -> Line<'static> {
    let style = if is_focused {
        theme.accent
    } else {
        theme.waiting
    };
    let head = match count {
        1 => "─ needs you ".to_owned(),
        count => format!("─ needs you: {} of {count} ", place + 1),
    };
    let filled = usize::from(width).saturating_sub(head.chars().count());
    styled(format!("{head}{}", "─".repeat(filled)), style)
}

/// Returns the questions that are not open, by their titles.
fn others(tab: &Tab, theme: &Theme) -> Vec<Line<'static>> {
    let others = tab.asks.iter().enumerate();
    let others = others.filter(|(place, _)| *place != tab.ask);
    let others =
        others.map(|(_, other)| styled(format!(" also: {}", clean(other.title())), theme.dim));
    others.take(OTHERS_MAX).collect()
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
