//! What keeps a session from going on, and what to do about it.

use ply_client::v2;
use ratatui::text::Line;

use super::lines::{clean, styled, wrap};
use crate::app::App;
use crate::app::hint::Enter;
use crate::app::tab::{Phase, Tab, Trouble};
use crate::block::spinner_frame;

/// Rows for words of others.
const WORDS_ROWS_MAX: usize = 8;

/// Returns what there is to say about the session that is looked at.
pub(super) fn lines(app: &App, width: u16) -> Vec<Line<'static>> {
    let Some(tab) = app.tab() else {
        return Vec::new();
    };
    let theme = &app.theme;
    let known = app.agent(tab.agent);
    let name = known.map_or_else(String::new, |known| clean(&known.name));
    let mut lines = Vec::new();
    let told = |words: &str, style| {
        let rows = wrap(words, width.saturating_sub(2), WORDS_ROWS_MAX);
        rows.into_iter()
            .map(move |row| styled(format!(" {row}"), style))
    };
    if let Some(end) = tab.trace.as_ref().filter(|_| !tab.is_working()) {
        let line = end.line(theme);
        lines.push(styled(format!(" {line}"), line.style));
    }
    if let Some(words) = &tab.died {
        lines.push(styled(format!(" {name} has stopped."), theme.error));
        lines.extend(told(words, theme.dim));
        lines.push(styled(" Your next prompt starts it again.", theme.text));
    } else if let Some(words) = &tab.last_end {
        lines.extend(told(words, theme.notice));
    }
    match &tab.phase {
        Phase::Starting(since) => {
            let seconds = app.now.saturating_sub(*since) / 1000;
            let spinner = spinner_frame(app.now);
            let what = match known.is_some_and(|known| known.facts.is_some()) {
                true => "Opening the session",
                false => "Starting",
            };
            let words = format!(" {spinner} {what} {name}… {seconds} s");
            lines.push(styled(words, theme.waiting));
        }
        Phase::Working(_) => {
            if let Some(since) = tab.quiet_since {
                let seconds = app.now.saturating_sub(since) / 1000;
                let words = format!(" Nothing heard from {name} for {seconds} s; Esc cancels.");
                lines.push(styled(words, theme.waiting));
            }
        }
        Phase::Cancelling {
            is_overdue: true, ..
        } => {
            let words = format!(" {name} goes on although the turn was cancelled; Alt-K kills it.");
            lines.push(styled(words, theme.error));
        }
        Phase::Stuck(trouble) => stuck(app, tab, trouble, &name, &mut lines, &told),
        Phase::Cancelling { .. } | Phase::Ready => {}
    }
    lines
}

fn stuck<I: Iterator<Item = Line<'static>>>(
    app: &App,
    tab: &Tab,
    trouble: &Trouble,
    name: &str,
    lines: &mut Vec<Line<'static>>,
    told: &impl Fn(&str, ratatui::style::Style) -> I,
) {
    let theme = &app.theme;
    match trouble {
        Trouble::Missing(words) => {
            lines.push(styled(format!(" {name} cannot be started."), theme.error));
            lines.extend(told(words, theme.dim));
            let install = app
                .agent(tab.agent)
                .and_then(|known| known.install.as_ref());
            if let Some(install) = install {
                lines.extend(told(&format!("To install it: {install}"), theme.text));
            }
            let retry = retry_words(app);
            let next = format!(" {retry}; /agents chooses another agent.");
            lines.push(styled(next, theme.text));
        }
        Trouble::Failed(words) => {
            lines.push(styled(format!(" {name}: no session."), theme.error));
            lines.extend(told(words, theme.dim));
            let retry = retry_words(app);
            let next =
                format!(" {retry}; Ctrl-N begins a new session; /agents chooses another agent.");
            lines.push(styled(next, theme.text));
        }
        Trouble::Auth {
            methods,
            chosen,
            since,
            failure,
        } => {
            let head = match failure {
                Some(_) => format!(" {name} could not log in."),
                None => format!(" {name} needs you to log in first."),
            };
            lines.push(styled(head, theme.waiting));
            if let Some(words) = failure {
                lines.extend(told(words, theme.error));
            }
            let program = app.agent(tab.agent).map_or("", |known| &known.program);
            for (place, method) in methods.iter().enumerate() {
                let is_chosen = place == *chosen;
                let style = if is_chosen {
                    theme.selection
                } else {
                    theme.text
                };
                let mark = if is_chosen { "›" } else { " " };
                lines.push(styled(
                    format!(" {mark} {}", clean(&method_words(method, program))),
                    style,
                ));
            }
            match since {
                Some(since) => {
                    let seconds = app.now.saturating_sub(*since) / 1000;
                    let words = format!(
                        " {} Logging in… {seconds} s; Esc stops waiting",
                        spinner_frame(app.now)
                    );
                    lines.push(styled(words, theme.waiting));
                }
                None => {
                    let is_told = failure.is_some();
                    let next = match (methods.is_empty(), app.enter()) {
                        (true, Enter::Login) if is_told => {
                            " Set the key and start again (/quit); Enter tries again with the same one."
                        }
                        (true, _) if is_told => " Set the key and start again (/quit).",
                        (true, Enter::Login) => {
                            " It names no way to log in; see its own help, then Enter tries again."
                        }
                        (true, _) => " It names no way to log in; see its own help.",
                        (false, Enter::Login) => {
                            " Up and Down choose; Enter logs in, or tries again after you did."
                        }
                        (false, _) => " Once nothing is written, Enter logs in.",
                    };
                    lines.push(styled(next, theme.text));
                }
            }
        }
    }
}

/// Says how to try again, which Enter only does when there is nothing to send.
fn retry_words(app: &App) -> &'static str {
    match app.enter() {
        Enter::Retry => "Enter tries again",
        _ => "Enter tries again once nothing is written",
    }
}

/// Says what a way to log in is and how it goes.
fn method_words(method: &v2::AuthMethod, program: &str) -> String {
    let with = |name: &str, how: String| format!("{name}: {how}");
    match method {
        v2::AuthMethod::Agent(agent) => {
            let more = agent.description.clone();
            with(
                &agent.name,
                more.unwrap_or_else(|| "the agent does it".to_owned()),
            )
        }
        v2::AuthMethod::Terminal(terminal) => {
            // As a person would type it, for a person to judge: it is not run here.
            let words = std::iter::once(program).chain(terminal.args.iter().map(String::as_str));
            let words = words.collect::<Vec<_>>().join(" ");
            let how = format!("run `{words}` in a terminal");
            with(&terminal.name, how)
        }
        v2::AuthMethod::Other(other) => {
            let variables = other.fields.get("vars").and_then(|vars| vars.as_array());
            let names = variables
                .into_iter()
                .flatten()
                .filter_map(|variable| variable.get("name").and_then(|name| name.as_str()));
            let names: Vec<_> = names.collect();
            match names.is_empty() {
                true => with(
                    &other.name,
                    format!("a way this client does not know ({})", other.type_),
                ),
                false => with(
                    &other.name,
                    format!("set {} and start again", names.join(", ")),
                ),
            }
        }
        _ => "a way this client does not know".to_owned(),
    }
}
