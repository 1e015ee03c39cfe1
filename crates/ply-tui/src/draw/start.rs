//! What is shown before anything was said: who is here, what to say, and where somebody left off.

use ply_client::v2::SessionConfigOptionCategory as Category;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::lines::{clean, put_lines, span};
use crate::app::start::PROMPTS;
use crate::app::tab::Tab;
use crate::app::{App, current_name};
use crate::theme::Theme;
use crate::wrap;

/// Columns that it takes at most.
const COLUMNS_MAX: u16 = 76;
/// Columns before everything, where there is room.
const INDENT_COLUMNS: u16 = 3;
/// Columns of the words before a fact.
const NAME_COLUMNS: usize = 11;
/// Columns of a time.
const TIME_COLUMNS: usize = 18;
/// Three layers, which is what the name means.
const MARK: [&str; 3] = ["━━━━━━━", " ━━━━━━━", "  ━━━━━━━"];

/// Draws it in the middle, as much as there is room for.
pub(super) fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    let Some(tab) = app.tab() else {
        return;
    };
    let width = area.width.saturating_sub(INDENT_COLUMNS).min(COLUMNS_MAX);
    let columns = usize::from(width);
    let mut lines: Vec<Line<'static>> = Vec::new();
    let blocks = [
        head(app, tab, columns),
        prompts(app, tab),
        recent(app, columns),
    ];
    for block in blocks.into_iter().filter(|block| !block.is_empty()) {
        let gap = usize::from(!lines.is_empty());
        // Half a block says less than none.
        if lines.len() + gap + block.len() > usize::from(area.height) {
            break;
        }
        lines.extend(std::iter::repeat_n(Line::default(), gap));
        lines.extend(block);
    }
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let free = area.height.saturating_sub(rows);
    let side = area.width.saturating_sub(width) / 2;
    let area = Rect {
        x: area.x + side.max(INDENT_COLUMNS.min(area.width)),
        // A little above the middle, where the eye is.
        y: area.y + free * 2 / 5,
        width,
        height: area.height - free * 2 / 5,
    };
    put_lines(buf, area, &lines);
}

fn head(app: &App, tab: &Tab, columns: usize) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let known = app.agent(tab.agent);
    let name = known.map_or_else(String::new, |known| clean(&known.name));
    let title = known.and_then(|known| known.facts.as_ref());
    let agent = match title.map(|facts| clean(&facts.title)) {
        // A name that the title begins with need not be said again.
        Some(title) if title.starts_with(&name) => title,
        Some(title) if !title.is_empty() => format!("{title} ({name})"),
        _ => name,
    };
    let [first, second, third] = MARK.map(|mark| span(format!("{mark:<13}"), theme.accent));
    let version = concat!(" ", env!("CARGO_PKG_VERSION"));
    let mut lines = vec![
        Line::from(vec![first]),
        Line::from(vec![
            second,
            span("Ply", theme.heading),
            span(version, theme.dim),
        ]),
        Line::from(vec![third]),
        Line::default(),
        fact("agent", agent, columns, theme),
    ];
    if let Some(model) = tab.option(&Category::Model) {
        lines.push(fact("model", clean(&current_name(model)), columns, theme));
    }
    let paths = app.paths();
    let directory = paths.beneath_home(paths.cwd());
    let place = match &app.start.branch {
        Some(branch) => format!("{directory} ({})", clean(branch)),
        None => directory,
    };
    lines.push(fact("directory", place, columns, theme));
    lines
}

fn fact(name: &str, value: String, columns: usize, theme: &Theme) -> Line<'static> {
    let spans = [
        span(format!("{name:NAME_COLUMNS$}"), theme.dim),
        span(value, theme.text),
    ];
    wrap::cut(&spans, columns)
}

fn prompts(app: &App, tab: &Tab) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let head = Line::from(vec![
        span("Try  ", theme.strong),
        span("Tab", theme.accent),
        span(" takes one, Enter sends it", theme.dim),
    ]);
    let prompts = PROMPTS.iter().map(|prompt| {
        let is_taken = tab.composer.text() == *prompt;
        let style = if is_taken {
            theme.selection
        } else {
            theme.user
        };
        Line::from(vec![span("  › ", theme.dim), span(*prompt, style)])
    });
    std::iter::once(head).chain(prompts).collect()
}

fn recent(app: &App, columns: usize) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let paths = app.paths();
    let sessions = app.start.recent.iter();
    let mut lines: Vec<Line<'static>> = sessions
        .map(|session| {
            let title = match session.title.as_str() {
                "" => clean(&session.id),
                title => clean(title),
            };
            let elsewhere = match session.cwd == *paths.cwd() {
                true => String::new(),
                false => format!("  {}", paths.beneath_home(&session.cwd)),
            };
            let time = clean(&app.ago(&session.updated_at));
            let spans = [
                span(format!("  {time:TIME_COLUMNS$}"), theme.dim),
                span(title, theme.text),
                span(elsewhere, theme.dim),
            ];
            wrap::cut(&spans, columns)
        })
        .collect();
    if !lines.is_empty() {
        let head = Line::from(vec![
            span("Recent  ", theme.strong),
            span("Ctrl-S", theme.accent),
            span(" lists all sessions", theme.dim),
        ]);
        lines.insert(0, head);
    }
    lines
}
