//! The lines around the composer: status, hints, tabs, queued prompts and notices.

use ply_client::text::{beginning, columns};
use ply_client::v2::SessionConfigOptionCategory as Category;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::lines::{self, clean, put, put_lines, span, styled};
use crate::app::tab::trace::money;
use crate::app::tab::{Attention, Phase, Tab, Trouble};
use crate::app::{App, Care, Focus, Tick};
use crate::block::spinner_frame;
use crate::wrap;

/// What stands between two parts of a line.
const SEPARATOR: &str = " · ";
/// Rows of a notice.
const NOTICE_ROWS_MAX: usize = 3;
/// Columns of a title in the row of tabs.
const TAB_COLUMNS_MAX: usize = 24;

/// Says who is talked to and what they do: agent, model, mode, state; context and cost on the right.
pub(super) fn draw_status(app: &App, area: Rect, buf: &mut Buffer) {
    let Some(tab) = app.tab() else {
        put(buf, area, " no session", app.theme.dim);
        return;
    };
    let name = app.agent(tab.agent).map_or("", |known| known.name.as_str());
    let mut parts = vec![span(format!(" {}", clean(name)), app.theme.accent)];
    let (state, state_style) = state(app, tab);
    // The state first, where there is no room for everything: it says whether somebody waits for the user.
    let mut room = usize::from(area.width);
    room = room.saturating_sub(columns(&state) + columns(SEPARATOR) + columns(name) + 1);
    for category in [Category::Model, Category::Mode] {
        if let Some(option) = tab.option(&category) {
            let value = clean(&crate::app::current_name(option));
            let wide = columns(&value) + columns(SEPARATOR);
            if wide > room {
                continue;
            }
            room -= wide;
            let style = match (&category, Care::of_current(option)) {
                (Category::Mode, Care::Looks) => app.theme.ok,
                (Category::Mode, Care::Edits) => app.theme.waiting,
                (Category::Mode, Care::All) => app.theme.error,
                _ => app.theme.text,
            };
            parts.push(span(SEPARATOR, app.theme.dim));
            parts.push(span(value, style));
        }
    }
    parts.push(span(SEPARATOR, app.theme.dim));
    parts.push(span(state, state_style));
    let left = wrap::cut(&parts, usize::from(area.width));
    put_lines(buf, area, std::slice::from_ref(&left));
    let right = usage(tab);
    let room = usize::from(area.width).saturating_sub(left.width() + 1);
    let wide = columns(&right);
    if wide <= room {
        let x = area
            .right()
            .saturating_sub(u16::try_from(wide).unwrap_or(0));
        put(
            buf,
            Rect {
                x,
                width: area.right() - x,
                ..area
            },
            &right,
            app.theme.dim,
        );
    }
}

fn state(app: &App, tab: &Tab) -> (String, ratatui::style::Style) {
    let theme = &app.theme;
    let seconds = |since: Tick| app.now.saturating_sub(since) / 1000;
    let spinner = spinner_frame(app.now);
    match &tab.phase {
        _ if !tab.asks.is_empty() => (format!("needs you ({})", tab.asks.len()), theme.waiting),
        Phase::Starting(since) => (
            format!("{spinner} starting {} s", seconds(*since)),
            theme.waiting,
        ),
        Phase::Ready if tab.is_busy_alone => {
            (format!("{spinner} working by itself"), theme.waiting)
        }
        Phase::Ready if tab.died.is_some() => ("stopped".to_owned(), theme.error),
        Phase::Ready => ("ready".to_owned(), theme.ok),
        Phase::Working(since) => (
            format!("{spinner} working {} s", seconds(*since)),
            theme.accent,
        ),
        Phase::Cancelling { since, .. } => (
            format!("{spinner} cancelling {} s", seconds(*since)),
            theme.waiting,
        ),
        Phase::Stuck(Trouble::Auth { .. }) => ("login needed".to_owned(), theme.waiting),
        Phase::Stuck(_) => ("not started".to_owned(), theme.error),
    }
}

fn usage(tab: &Tab) -> String {
    let Some(usage) = &tab.usage else {
        return String::new();
    };
    let mut parts = Vec::new();
    if let Some(percent) = (usage.used.saturating_mul(100)).checked_div(usage.size) {
        parts.push(format!("context {percent}%"));
    }
    if let Some((amount, currency)) = &usage.cost {
        parts.push(money(*amount, currency));
    }
    format!("{} ", parts.join(" · "))
}

/// Says what the keys do.
pub(super) fn draw_hint(app: &App, area: Rect, buf: &mut Buffer) {
    let width = usize::from(area.width);
    let mut parts = vec![span(" ", app.theme.dim)];
    let mut taken = 1;
    for (place, (key, what)) in app.hint().into_iter().enumerate() {
        let key = span(key, app.theme.accent);
        let what = span(format!(" {what}"), app.theme.dim);
        let wide = key.width() + what.width();
        if place > 0 {
            // Whole or not at all: half of what a key does is wrong.
            taken += columns(SEPARATOR) + wide;
            if taken > width {
                break;
            }
            parts.push(span(SEPARATOR, app.theme.dim));
        } else {
            taken += wide;
        }
        parts.extend([key, what]);
    }
    put_lines(buf, area, &[wrap::cut(&parts, width)]);
}

/// Shows the open sessions with their marks.
pub(super) fn draw_tabs(app: &App, area: Rect, buf: &mut Buffer) {
    let mut parts = Vec::new();
    for (place, tab) in app.tabs.iter().enumerate() {
        let mark = match tab.attention {
            _ if !tab.asks.is_empty() => "!",
            Some(Attention::NeedsYou) => "!",
            Some(Attention::Finished) => "●",
            None if tab.is_working() => "…",
            None => " ",
        };
        let name = match tab.name() {
            "" => app.agent(tab.agent).map_or("", |known| &known.name),
            title => title,
        };
        let name = clean(name);
        let name = beginning(&name, TAB_COLUMNS_MAX);
        let style = match place == app.current {
            true => app.theme.selection,
            false if mark == "!" => app.theme.waiting,
            false => app.theme.dim,
        };
        parts.push(span(format!(" {}{mark}{name} ", place + 1), style));
    }
    put_lines(buf, area, &[Line::from(parts)]);
}

/// Shows the prompts that wait.
pub(super) fn chip_lines(app: &App, max: usize) -> Vec<Line<'static>> {
    let Some(tab) = app.tab() else {
        return Vec::new();
    };
    let chosen = match app.focus {
        Focus::Queue(place) => Some(place),
        _ => None,
    };
    let held = if tab.is_held { "held" } else { "queued" };
    // The chosen one is among those that are shown.
    let skip = chosen.map_or(0, |place| (place + 1).saturating_sub(max));
    let shown = tab.queue.iter().enumerate().skip(skip).take(max);
    let mut lines: Vec<Line<'static>> = shown
        .map(|(place, prompt)| {
            let style = match chosen == Some(place) {
                true => app.theme.selection,
                false => app.theme.user,
            };
            let mut words = String::new();
            for char in prompt.text().chars().take(200) {
                match prompt.piece(char) {
                    Some(piece) => words.push_str(&piece.label()),
                    None => words.push(if char == '\n' { ' ' } else { char }),
                }
            }
            styled(format!(" ▸ {held} {}: {}", place + 1, clean(&words)), style)
        })
        .collect();
    let more = tab.queue.len().saturating_sub(skip + max);
    if more > 0 {
        lines.push(styled(format!("   and {more} more"), app.theme.dim));
    }
    lines
}

/// Shows what was to be said, each notice in at most so many rows.
pub(super) fn notice_lines(app: &App, width: u16, rows_max: u16) -> Vec<Line<'static>> {
    let rows_max = usize::from(rows_max).clamp(1, NOTICE_ROWS_MAX);
    let notices = app.notices.iter().flat_map(|notice| {
        let style = match notice.is_error {
            true => app.theme.error,
            false => app.theme.notice,
        };
        let rows = lines::wrap(&notice.text, width.saturating_sub(3), rows_max);
        rows.into_iter()
            .map(move |row| styled(format!(" ! {row}"), style))
    });
    notices.collect()
}
