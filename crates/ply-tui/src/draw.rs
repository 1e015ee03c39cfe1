//! What the app is, on a screen.

mod asks;
mod composer;
mod details;
mod frame;
mod lines;
mod overlay;
mod panes;
mod shell;
mod start;
mod status;
mod tour;
mod trouble;

use ply_client::Transcript;
use ratatui::Frame;
use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::{Position, Rect};

use self::lines::{put, put_lines};
use crate::app::ask::Ask;
use crate::app::tab::{Tab, ViewWork};
use crate::app::{App, Focus, TabId};
use crate::transcript_view::Look;

/// Columns from which the plan is beside the transcript.
const PLAN_BESIDE_COLUMNS_MIN: u16 = 110;
/// Columns of the plan beside the transcript.
const PLAN_COLUMNS: u16 = 38;
/// Columns from which the wire log is beside the transcript.
const LOG_BESIDE_COLUMNS_MIN: u16 = 120;
/// Columns of the wire log beside the transcript.
const LOG_COLUMNS_MAX: u16 = 90;
/// Rows of the output of a command.
const SHELL_ROWS_MAX: u16 = 20;
/// Columns in which an answer can be told from another.
const ANSWER_COLUMNS_MIN: u16 = 20;
/// Rows that a question gets before the transcript gets any.
const ASK_ROWS_MIN: u16 = 10;
/// Rows of the transcript that a long question leaves, to see where it comes from.
const ASK_LEAVES_ROWS: u16 = 3;
/// Queued prompts shown.
const CHIPS_MAX: usize = 4;

/// Who has the transcripts.
pub(crate) trait Transcripts {
    /// Shows the transcript of a tab to `look`; a tab that has none shows nothing.
    fn with(&self, tab: TabId, look: &mut dyn FnMut(&Transcript));
}

/// Draws everything.
pub(crate) fn draw(app: &mut App, frame: &mut Frame<'_>, transcripts: &dyn Transcripts) {
    let area = frame.area();
    if area.is_empty() {
        return;
    }
    let cursor = draw_on(app, area, frame.buffer_mut(), transcripts);
    rewrite_uncertain_rows(frame.buffer_mut());
    if let Some(cursor) = cursor.filter(|cursor| area.contains(*cursor)) {
        frame.set_cursor_position(cursor);
    }
}

/// Looks whether the open question is still about what is on the screen. To be called before a key is taken, which may answer it.
pub(crate) fn check_question(app: &mut App, transcripts: &dyn Transcripts) {
    details::check(app, transcripts);
}

/// Has rows written whole whose width terminals do not agree on: of a sequence of several characters, such as a family of emoji,
/// some terminals show each one, over the cells behind it, which would stay there for ever.
fn rewrite_uncertain_rows(buf: &mut Buffer) {
    let area = buf.area;
    let is_uncertain = |y: u16| {
        let mut symbols = (area.left()..area.right()).filter_map(|x| buf.cell((x, y)));
        symbols.any(|cell| cell.symbol().contains(is_joining))
    };
    let rows: Vec<u16> = (area.top()..area.bottom())
        .filter(|y| is_uncertain(*y))
        .collect();
    for y in rows {
        // What does not fit at the end of a row goes on in the next.
        for y in [y, y + 1] {
            for x in area.left()..area.right() {
                if let Some(cell) = buf.cell_mut((x, y)) {
                    cell.set_diff_option(CellDiffOption::AlwaysUpdate);
                }
            }
        }
    }
}

/// Returns whether a character makes one of several: joiners, variants, skin tones, flags and tags.
fn is_joining(char: char) -> bool {
    matches!(
        char,
        '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{1f1e6}'..='\u{1f1ff}'
            | '\u{e0020}'..='\u{e007f}' | '\u{20e3}'
    )
}

fn draw_on(
    app: &mut App,
    area: Rect,
    buf: &mut Buffer,
    transcripts: &dyn Transcripts,
) -> Option<Position> {
    buf.set_style(area, app.theme.text);
    let mut rest = Rows(area);
    // What a small screen must not lose is taken first.
    let rows = area.height;
    let composed = composer::lay_out(app, area.width);
    let composer_max = (rows / 3).max(1);
    let composer_rows = composed.rows().clamp(1, composer_max);
    let status = rest.bottom(u16::from(rows >= 3));
    let hint = rest.bottom(u16::from(rows >= 2));
    let composer_area = rest.bottom(composer_rows);
    let border = rest.bottom(u16::from(rows >= 8));
    let tour = tour::lines(app, area.width);
    let tour_rows = u16::try_from(tour.len()).unwrap_or(0);
    let tour_area = rest.top(if rows >= 16 { tour_rows } else { 0 });
    put_lines(buf, tour_area, &tour);
    let tabs = rest.top(u16::from(rows >= 10 && app.tabs.len() > 1));

    status::draw_status(app, status, buf);
    status::draw_tabs(app, tabs, buf);
    let cursor = composer::draw(app, &composed, composer_area, buf);
    let style = match app.focus {
        Focus::Composer => app.theme.accent,
        _ => app.theme.border,
    };
    put(buf, border, &"─".repeat(usize::from(border.width)), style);

    let mut are_answers_shown = false;
    if rows >= 6 {
        let chips = status::chip_lines(app, CHIPS_MAX);
        let chips_area = rest.bottom(u16::try_from(chips.len()).unwrap_or(0).min(rest.half()));
        put_lines(buf, chips_area, &chips);
        let notices = status::notice_lines(app, area.width, rest.half());
        let notices_area = rest.bottom(u16::try_from(notices.len()).unwrap_or(0).min(rest.half()));
        put_lines(buf, notices_area, &notices);
        let asks_max = rest.0.height.saturating_sub(ASK_LEAVES_ROWS);
        let asks_max = asks_max.max(ASK_ROWS_MIN.min(rest.0.height));
        let (asks, is_answerable) = asks::lines(app, area.width, asks_max, transcripts);
        let asks_area = rest.bottom(u16::try_from(asks.len()).unwrap_or(0));
        put_lines(buf, asks_area, &asks);
        are_answers_shown = is_answerable
            && usize::from(asks_area.height) == asks.len()
            && area.width >= ANSWER_COLUMNS_MIN;
        let shell = shell::lines(app, area.width, rest.half().min(SHELL_ROWS_MAX));
        let shell_area = rest.bottom(u16::try_from(shell.len()).unwrap_or(0));
        put_lines(buf, shell_area, &shell);
        let trouble = trouble::lines(app, area.width);
        let trouble_area = rest.bottom(u16::try_from(trouble.len()).unwrap_or(0).min(rest.half()));
        put_lines(buf, trouble_area, &trouble);
    }
    app.asks_drawn(are_answers_shown);
    // Not before it is known what of the question is on the screen.
    status::draw_hint(app, hint, buf);
    let is_beside = area.width >= LOG_BESIDE_COLUMNS_MIN;
    let log = match app.log_pane.is_open {
        true if is_beside => rest.right((area.width * 9 / 20).min(LOG_COLUMNS_MAX)),
        true => rest.bottom(rest.half()),
        false => Rect::default(),
    };
    panes::draw_log(app, log, is_beside, buf);
    draw_transcript(app, rest.0, buf, transcripts);

    let has_popup = app.popup.is_some() && app.overlay.is_none();
    if has_popup {
        overlay::draw_popup(
            app,
            Rect {
                height: border.y.saturating_sub(area.y),
                ..area
            },
            buf,
        );
    }
    if app.overlay.is_some() {
        return overlay::draw(app, area, buf);
    }
    cursor
}

fn draw_transcript(app: &mut App, mut area: Rect, buf: &mut Buffer, transcripts: &dyn Transcripts) {
    let mut look = Look {
        tick: app.now,
        diff_style: app.diff_style,
        show_thoughts: app.show_thoughts,
        paths: app.paths(),
        hides_last_plan: false,
        asked: app.tab().and_then(Tab::open_ask).and_then(Ask::tool_call),
    };
    let (theme, show_plan) = (app.theme.clone(), app.show_plan);
    let Some(tab) = app.tab_mut() else {
        return;
    };
    let (id, is_fresh) = (tab.id, tab.is_fresh());
    let view = &mut tab.view;
    let work = std::mem::take(&mut tab.view_work);
    let mut is_drawn = false;
    let mut is_empty = true;
    let mut is_unfinished = false;
    transcripts.with(id, &mut |transcript| {
        is_empty = transcript.entries().len() == 0;
        if show_plan {
            (area, look.hides_last_plan) = panes::draw_plan(transcript, area, buf, &theme);
        }
        for work in &work {
            match *work {
                ViewWork::Scroll(by) => view.scroll(transcript, by),
                ViewWork::FoldAt(row) => {
                    view.toggle_fold_at(transcript, row);
                }
                ViewWork::Folds => view.toggle_folds(transcript),
            }
        }
        if !area.is_empty() {
            view.render(transcript, area, buf, &theme, &look);
        }
        is_drawn = true;
        is_unfinished = view.is_unfinished();
        if !view.is_at_end() {
            let words = match view.new_below(transcript) {
                0 => " ↓ Ctrl-End ".to_owned(),
                new => format!(" ↓ {new} new below, Ctrl-End "),
            };
            let columns = u16::try_from(words.chars().count())
                .unwrap_or(0)
                .min(area.width);
            let place = Rect {
                x: area.right().saturating_sub(columns),
                y: area.bottom().saturating_sub(1),
                width: columns,
                height: 1.min(area.height),
            };
            put(buf, place, &words, theme.selection);
        }
    });
    if is_unfinished {
        app.draw_again();
    }
    if is_fresh && is_empty {
        start::draw(app, area, buf);
    }
    app.transcript_area = if is_drawn { area } else { Rect::default() };
}

/// The part of the screen that is not given away yet.
struct Rows(Rect);

impl Rows {
    fn bottom(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.0.height);
        self.0.height -= rows;
        Rect {
            y: self.0.bottom(),
            height: rows,
            ..self.0
        }
    }

    fn top(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.0.height);
        let top = Rect {
            height: rows,
            ..self.0
        };
        self.0.y += rows;
        self.0.height -= rows;
        top
    }

    fn right(&mut self, columns: u16) -> Rect {
        let columns = columns.min(self.0.width);
        self.0.width -= columns;
        Rect {
            x: self.0.right(),
            width: columns,
            ..self.0
        }
    }

    fn half(&self) -> u16 {
        self.0.height / 2
    }
}

#[cfg(test)]
mod tests;
