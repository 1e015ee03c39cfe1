//! What a permission is about: the command, the paths, the changes. Somebody decides by it, so nothing is left out unsaid.

use std::io::{self, Write};

use ply_client::v2;
use ratatui::style::Style;
use ratatui::text::Line;

use super::lines::{styled, wrap_whole};
use crate::app::App;
use crate::app::ask::{Details, What};
use crate::diff::{DiffStyle, change_lines};
use crate::theme::Theme;

/// Rows that can be scrolled through.
const ROWS_MAX: usize = 2000;
/// Bytes of raw input that are written out.
const RAW_BYTES_MAX: usize = 64 * 1024;
/// What agents call the directory of a command.
const DIRECTORY_NAMES: [&str; 3] = ["cwd", "workdir", "working_directory"];
/// What agents say about a command besides.
const REMARK_NAMES: [&str; 7] = [
    "call_id",
    "description",
    "justification",
    "parsed_cmd",
    "reason",
    "timeout",
    "timeout_ms",
];
/// Paths that are named.
const LOCATIONS_MAX: usize = 20;

/// Lays out what the open question is about, unless that was done for the same width and look.
pub(super) fn prepare(app: &mut App, width: u16) {
    let (theme, diff_style) = (app.theme.clone(), app.diff_style);
    let Some(tab) = app.tab_mut() else {
        return;
    };
    let open = tab.ask;
    let Some(ask) = tab.asks.get_mut(open) else {
        return;
    };
    let What::Permission(request) = &ask.what else {
        return;
    };
    let is_there = ask.details.as_ref().is_some_and(|made| {
        made.width == width && made.diff_style == diff_style && made.theme == theme
    });
    if !is_there {
        // It is laid out anew, so its lines are others.
        ask.seen = 0;
        ask.scroll = 0;
        let mut paper = Paper {
            width,
            diff_style,
            theme: &theme,
            lines: Vec::new(),
        };
        paper.request(request);
        let lines = paper.lines;
        ask.details = Some(Details {
            width,
            diff_style,
            theme,
            lines,
        });
    }
}

struct Paper<'a> {
    width: u16,
    diff_style: DiffStyle,
    theme: &'a Theme,
    lines: Vec<Line<'static>>,
}

impl Paper<'_> {
    fn request(&mut self, request: &v2::RequestPermissionRequest) {
        self.text(" ", &request.title, self.theme.heading);
        match &request.subject {
            Some(v2::RequestPermissionSubject::Command(command)) => {
                self.text(" $ ", &command.command, self.theme.text);
                let cwd = ply_client::text::path(&command.cwd.0);
                self.text(" in ", &cwd, self.theme.dim);
            }
            Some(v2::RequestPermissionSubject::ToolCall(subject)) => self.call(&subject.tool_call),
            _ => {}
        }
        // Behind what will be done: these are only words about it.
        if let Some(more) = &request.description {
            self.text(" ", more, self.theme.text);
        }
        if self.lines.len() > ROWS_MAX {
            self.lines.truncate(ROWS_MAX);
            self.say_cut();
        }
    }

    fn call(&mut self, call: &v2::ToolCallUpdate) {
        let locations = call.locations.value().map_or(&[][..], Vec::as_slice);
        for location in locations.iter().take(LOCATIONS_MAX) {
            let path = ply_client::text::path(&location.path.0);
            let line = location.line.map(|line| format!(":{line}"));
            self.text(
                " ",
                &format!("{path}{}", line.unwrap_or_default()),
                self.theme.dim,
            );
        }
        if let Some(more) = locations.len().checked_sub(LOCATIONS_MAX + 1) {
            let words = format!("… and {} more paths", more + 1);
            self.text(" ", &words, self.theme.dim);
        }
        let content = call.content.value().map_or(&[][..], Vec::as_slice);
        let has_diff = content
            .iter()
            .any(|item| matches!(item, v2::ToolCallContent::Diff(_)));
        // A diff says all that the input of an edit does; words say nothing for certain.
        let input = call.raw_input.value();
        let input = input.filter(|input| !has_diff || input.get("command").is_some());
        if let Some(input) = input {
            self.raw_input(input);
        }
        for item in content {
            match item {
                v2::ToolCallContent::Diff(diff) => {
                    let rows =
                        change_lines(diff, self.width, self.diff_style, self.theme, ROWS_MAX);
                    self.lines.extend(rows);
                }
                v2::ToolCallContent::Content(content) => {
                    if let v2::ContentBlock::Text(text) = &content.content {
                        self.text(" ", &text.text, self.theme.text);
                    }
                }
                _ => {}
            }
            if self.lines.len() > ROWS_MAX {
                return;
            }
        }
    }

    /// Writes a command and its directory as a person would, and everything else as it is: arguments or variables change
    /// what a command does.
    fn raw_input(&mut self, input: &serde_json::Value) {
        let mut rest = input.clone();
        if let Some(fields) = rest.as_object_mut()
            && fields.keys().all(|name| is_beside_the_command(name))
            && let Some(command) = fields.get("command").and_then(command_line)
        {
            fields.remove("command");
            self.text(" $ ", &command, self.theme.text);
            for name in DIRECTORY_NAMES {
                if let Some(directory) = fields.get(name).and_then(|value| value.as_str()) {
                    self.text(" in ", directory, self.theme.dim);
                    fields.remove(name);
                }
            }
            if fields.is_empty() {
                return;
            }
        }
        let input = &rest;
        let mut bounded = Bounded::default();
        let is_whole = serde_json::to_writer_pretty(&mut bounded, input).is_ok();
        let text = String::from_utf8_lossy(&bounded.0).into_owned();
        self.text(" ", &text, self.theme.text);
        if !is_whole {
            self.say_cut();
        }
    }

    /// Writes a text of others behind a mark. Rows after the first are indented, so that they are not taken for another.
    fn text(&mut self, mark: &'static str, text: &str, style: Style) {
        let indent = mark.chars().count();
        let columns = u16::try_from(indent + 1).unwrap_or(u16::MAX);
        let room = (ROWS_MAX + 1).saturating_sub(self.lines.len());
        let (rows, is_whole) = wrap_whole(text, self.width.saturating_sub(columns), room);
        for (place, row) in rows.into_iter().enumerate() {
            let line = match place {
                0 => format!("{mark}{row}"),
                _ => format!("{}{row}", " ".repeat(indent)),
            };
            self.lines.push(styled(line, style));
        }
        if !is_whole && room > 0 {
            self.say_cut();
        }
    }

    fn say_cut(&mut self) {
        let words = " … there is more, which is too long to be shown here";
        self.lines.push(styled(words, self.theme.error));
    }
}

/// Returns whether what a command does is the same whatever this member of its input says.
fn is_beside_the_command(name: &str) -> bool {
    name == "command" || DIRECTORY_NAMES.contains(&name) || REMARK_NAMES.contains(&name)
}

/// Returns a command as a line for a shell, from a line or from its words.
fn command_line(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(line) => Some(line.clone()),
        serde_json::Value::Array(words) if !words.is_empty() => {
            let words: Option<Vec<_>> = words
                .iter()
                .map(|word| Some(quoted(word.as_str()?)))
                .collect();
            Some(words?.join(" "))
        }
        _ => None,
    }
}

/// Returns a word as a shell has to be given it.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,@%+".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Bytes up to a bound; whatever comes then fails.
#[derive(Default)]
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let free = RAW_BYTES_MAX.saturating_sub(self.0.len());
        let kept = bytes.get(..bytes.len().min(free)).unwrap_or_default();
        self.0.extend_from_slice(kept);
        match kept.len() {
            0 if !bytes.is_empty() => Err(io::ErrorKind::WriteZero.into()),
            kept => Ok(kept),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
