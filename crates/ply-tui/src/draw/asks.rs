//! The agent's questions, with what they are about.

use ply_client::v2;
use ratatui::style::Style;
use ratatui::text::Line;

use super::frame::Frame;
use super::lines::{clean, span, styled, wrap};
use super::{Transcripts, details};
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
pub(super) fn lines(
    app: &mut App,
    width: u16,
    rows_max: u16,
    transcripts: &dyn Transcripts,
) -> (Vec<Line<'static>>, bool) {
    let inside = Frame::inside(width);
    details::prepare(app, inside, transcripts);
    let is_covered = app.overlay.is_some() || app.popup.is_some();
    let is_focused = app.focus == Focus::Asks;
    let theme = app.theme.clone();
    let rows_max = usize::from(rows_max);
    let Some(tab) = app.tab_mut().filter(|tab| !tab.asks.is_empty()) else {
        return (Vec::new(), false);
    };
    let others = others(tab, &theme);
    let (open, count) = (tab.ask, tab.asks.len());
    let Some(ask) = tab.asks.get_mut(open) else {
        return (Vec::new(), false);
    };
    let answers = answers(ask, inside, is_focused, &theme);
    let frame = Frame::new(width, rows_max, answers.len(), is_focused, &theme);
    let (message, mut tail) = match &ask.what {
        What::Permission(_) if frame.is_drawn => (Vec::new(), answers),
        What::Permission(_) => (Vec::new(), options(ask, inside, is_focused, &theme)),
        What::Form(form) => {
            let rows = wrap(&form.message, inside, 3).into_iter();
            let message = rows.map(|row| styled(row, theme.heading));
            (message.collect(), answers)
        }
    };
    let details = ask.details.as_ref();
    let body_len = message.len() + details.map_or(0, |details| details.lines.len());
    let mut has_head = tail.len() < rows_max;
    let rows = |has_head: bool, tail: usize| usize::from(has_head) + tail + frame.foot();
    let mut room = rows_max.saturating_sub(rows(has_head, tail.len()));
    let is_form = matches!(ask.what, What::Form(_));
    let waits = !is_form && !ask.is_seen && body_len > room && room < BODY_ROWS_MIN;
    if waits {
        // Nothing can be answered yet, so that the room is better used for what there is to read.
        tail.clear();
        has_head = rows_max > BODY_ROWS_MIN + 1;
        room = rows_max.saturating_sub(rows(has_head, 0));
    }
    let is_cut = body_len > room;
    // With one row there is none for a mark.
    let is_marked = is_cut && room > 1;
    let shown = room.saturating_sub(usize::from(is_marked)).min(body_len);
    let first = ask.scroll.min(body_len.saturating_sub(shown));
    if !is_covered && (shown > 0 || body_len == 0) {
        ask.show(first, shown, body_len);
    }
    let details = ask.details.iter().flat_map(|details| &details.lines);
    let body = message.iter().chain(details);
    let mut lines: Vec<Line<'static>> = body.skip(first).take(shown).cloned().collect();
    if is_marked {
        let below = body_len.saturating_sub(first + shown);
        lines.push(styled(mark(below, first, inside), theme.waiting));
    }
    let is_there = !tail.is_empty() && lines.len() + rows(has_head, tail.len()) <= rows_max;
    let used = lines.len() + rows(has_head, tail.len());
    let free = rows_max.saturating_sub(used);
    if frame.is_drawn && free > others.len() {
        lines.push(Line::default());
    }
    lines.extend(tail);
    lines.extend(
        others
            .into_iter()
            .take(free.saturating_sub(1).min(OTHERS_MAX)),
    );
    let head = has_head.then(|| frame.head(open, count));
    let is_seen = is_form || ask.is_seen;
    (
        frame.around(head, lines),
        is_there && is_seen && !is_covered,
    )
}

/// Says how much of a question is not on the screen, and how to get there.
fn mark(below: usize, above: usize, width: u16) -> String {
    let lines = |count| if count == 1 { "line" } else { "lines" };
    let words = match below {
        0 => format!("… {above} {} above: PgUp", lines(above)),
        below => format!("… {below} more {}: PgDn", lines(below)),
    };
    match (words.chars().count() <= usize::from(width), below) {
        (true, _) => words,
        (false, 0) => "… above: PgUp".to_owned(),
        (false, below) => format!("… {below} more: PgDn"),
    }
}

/// Returns the questions that are not open, by their titles.
fn others(tab: &Tab, theme: &Theme) -> Vec<Line<'static>> {
    let others = tab.asks.iter().enumerate();
    let others = others.filter(|(place, _)| *place != tab.ask);
    let others =
        others.map(|(_, other)| styled(format!("also: {}", clean(other.title())), theme.dim));
    others.take(OTHERS_MAX).collect()
}

/// Returns what a question is answered with, a row for each: the agent's answers in its order, or the fields of a form.
fn answers(ask: &Ask, width: u16, is_focused: bool, theme: &Theme) -> Vec<Line<'static>> {
    if let What::Form(form) = &ask.what {
        return form_lines(form, width, is_focused, theme);
    }
    let options = ask.options().iter().enumerate();
    let rows = options.map(|(place, option)| {
        let is_chosen = is_focused && place == ask.option;
        let mark = if is_chosen { "›" } else { " " };
        let name = clean(&option.name).replace('`', "");
        let style = match is_chosen {
            true => theme.selection,
            false => kind_style(&option.kind, theme),
        };
        let text = format!("{mark} {}  {name}", number(place));
        let text = ply_client::text::beginning(&text, usize::from(width)).into_owned();
        styled(text, style)
    });
    rows.collect()
}

/// Returns the key of an answer.
fn number(place: usize) -> String {
    match place {
        0..9 => format!("{}", place + 1),
        _ => "·".to_owned(),
    }
}

/// Returns the answers side by side, for a small screen.
fn options(ask: &Ask, width: u16, is_focused: bool, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut parts = Vec::new();
    let mut columns = 0;
    for (place, option) in ask.options().iter().enumerate() {
        let name = clean(&option.name).replace('`', "");
        let text = format!("[{}] {name}  ", number(place));
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
        lines.push(styled(format!("{mark} {title}{needed}: {value}"), style));
        if is_chosen && !field.description.is_empty() {
            let rows = wrap(&field.description, width.saturating_sub(6), 2).into_iter();
            lines.extend(rows.map(|row| styled(format!("    {row}"), theme.dim)));
        }
    }
    if let Some(problem) = &form.problem {
        lines.push(styled(clean(problem), theme.error));
    }
    lines
}
