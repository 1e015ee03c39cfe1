//! What a permission is about: the command, the paths, the changes. Somebody decides by it, so nothing is left out unsaid.

use std::io::{self, Write};
use std::path::Path;

use ply_client::transcript::ToolCall;
use ply_client::v2;
use ratatui::style::Style;
use ratatui::text::Line;

use super::Transcripts;
use super::lines::{styled, wrap_whole};
use crate::app::App;
use crate::app::ask::{Details, What};
use crate::app::tab::Tab;
use crate::diff::{DiffStyle, Sheet, change_lines, join_head};
use crate::highlight;
use crate::paths::Paths;
use crate::theme::Theme;

/// Rows that can be scrolled through.
const ROWS_MAX: usize = 2000;
/// Bytes of raw input that are written out.
const RAW_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a line of a diff, which fill more rows than can be scrolled through on most screens.
const DIFF_LINE_BYTES_MAX: usize = 256 * 1024;
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

/// Lays out what the open question is about, unless that was done for the same width, look and tool call.
pub(super) fn prepare(app: &mut App, width: u16, transcripts: &dyn Transcripts) {
    let (theme, diff_style) = (app.theme.clone(), app.diff_style);
    let paths = app.paths();
    let Some(tab) = app.tab_mut() else {
        return;
    };
    let (id, open) = (tab.id, tab.ask);
    let Some(ask) = tab.asks.get_mut(open) else {
        return;
    };
    let What::Permission(request) = &ask.what else {
        return;
    };
    let made = ask
        .details
        .as_ref()
        .filter(|made| made.width == width && made.diff_style == diff_style && made.theme == theme)
        .filter(|made| !made.is_plain || highlight::is_loading());
    // Many agents ask with the id of a call alone, and what it does is in its updates, also in those that come later.
    let mut call = None;
    let mut is_made = made.is_some_and(|made| made.call.is_none());
    if let Some(asked) = asked_call(request) {
        transcripts.with(id, &mut |transcript| {
            let known = transcript.tool_call(&asked.tool_call_id);
            is_made = made.is_some_and(|made| made.call.as_ref() == known);
            if !is_made {
                call = known.cloned();
            }
        });
    }
    if is_made {
        let is_plain = made.is_some_and(|made| made.is_plain);
        if is_plain {
            app.draw_again();
        }
        return;
    }
    let mut paper = Paper {
        width,
        diff_style,
        theme: &theme,
        paths: &paths,
        lines: Vec::new(),
    };
    paper.request(request, call.as_ref());
    let lines = paper.lines;
    let is_plain = highlight::is_loading();
    ask.set_details(Details {
        width,
        diff_style,
        theme,
        call,
        lines,
        is_plain,
    });
    if is_plain {
        app.draw_again();
    }
}

/// Lays out the open question again if it is now about something else than what is on the screen, so that no key answers what
/// nobody saw.
pub(super) fn check(app: &mut App, transcripts: &dyn Transcripts) {
    let ask = app.tab().and_then(Tab::open_ask);
    let details = ask.and_then(|ask| ask.details.as_ref());
    if let Some(width) = details.map(|details| details.width) {
        prepare(app, width, transcripts);
    }
}

/// Returns what a request says of the tool call it is about.
fn asked_call(request: &v2::RequestPermissionRequest) -> Option<&v2::ToolCallUpdate> {
    match &request.subject {
        Some(v2::RequestPermissionSubject::ToolCall(subject)) => Some(&subject.tool_call),
        _ => None,
    }
}

/// What is known of the tool call that a request is about.
#[derive(Clone, Copy, Default)]
struct Call<'a> {
    title: Option<&'a str>,
    content: &'a [v2::ToolCallContent],
    locations: &'a [v2::ToolCallLocation],
    input: Option<&'a serde_json::Value>,
}

impl<'a> Call<'a> {
    /// Returns what the session knows, which has what the request said in it, and without that what the request says.
    fn of(asked: &'a v2::ToolCallUpdate, known: Option<&'a ToolCall>) -> Self {
        match known {
            Some(known) => Self {
                title: known.title.as_deref(),
                content: &known.content,
                locations: &known.locations,
                input: known.raw_input.as_ref(),
            },
            None => Self {
                title: asked.title.value().map(String::as_str),
                content: asked.content.value().map_or(&[], Vec::as_slice),
                locations: asked.locations.value().map_or(&[], Vec::as_slice),
                input: asked.raw_input.value(),
            },
        }
    }

    fn has_diff(&self) -> bool {
        let mut content = self.content.iter();
        content.any(|item| matches!(item, v2::ToolCallContent::Diff(_)))
    }
}

struct Paper<'a> {
    width: u16,
    diff_style: DiffStyle,
    theme: &'a Theme,
    paths: &'a Paths,
    lines: Vec<Line<'static>>,
}

impl Paper<'_> {
    fn request(&mut self, request: &v2::RequestPermissionRequest, known: Option<&ToolCall>) {
        let call = asked_call(request).map(|asked| Call::of(asked, known));
        let title = self.title(request, call.as_ref());
        self.text("", &title, self.theme.heading);
        if let Some(v2::RequestPermissionSubject::Command(command)) = &request.subject {
            self.text("$ ", &command.command, self.theme.text);
            self.directory(&command.cwd.0);
        }
        if let Some(call) = &call {
            self.call(call, &title);
        }
        // Behind what will be done: these are only words about it.
        if let Some(more) = &request.description {
            let more = self.paths.shortened(more);
            let is_new = |line: &&str| line.replace('`', "").trim_end_matches('.') != title;
            let new: Vec<&str> = more.lines().filter(is_new).collect();
            self.text("", &new.join("\n"), self.theme.text);
        }
        if self.lines.len() > ROWS_MAX {
            self.lines.truncate(ROWS_MAX);
            self.say_cut();
        }
    }

    /// Returns the title without what is shown below it: the command, and the directory in its paths. If nothing is shown below
    /// it, the title is all there is, and only the marks around a path are left out: others may be part of a command.
    fn title(&self, request: &v2::RequestPermissionRequest, call: Option<&Call<'_>>) -> String {
        let command = match (&request.subject, call) {
            (Some(v2::RequestPermissionSubject::Command(command)), _) => {
                Some(command.command.clone())
            }
            (_, Some(call)) if call.input.is_some() || !call.locations.is_empty() => {
                call.input.and_then(|input| Some(read_command(input)?.0))
            }
            _ => return without_marks(&self.paths.shortened(&request.title)),
        };
        let title = self.paths.shortened(&request.title).replace('`', "");
        let named = command.as_deref().map(|command| command.replace('`', ""));
        match named.and_then(|command| Some(title.strip_suffix(command.trim())?.len())) {
            Some(0..=4) => "Run this command?".to_owned(),
            _ => title,
        }
    }

    /// Names the directory of a command, unless it is the session's.
    fn directory(&mut self, directory: &Path) {
        if directory != self.paths.cwd() {
            let directory = self.paths.shown(directory);
            self.text("in ", &directory, self.theme.dim);
        }
    }

    fn call(&mut self, call: &Call<'_>, title: &str) {
        // Without an input and a diff, the title of the call may be all that says what will be done.
        let is_bare = call.input.is_none() && !call.has_diff();
        if let Some(of_call) = call.title.filter(|_| is_bare) {
            let of_call = without_marks(&self.paths.shortened(of_call));
            if !title.contains(&of_call.replace('`', "")) {
                self.text("", &of_call, self.theme.text);
            }
        }
        let content = call.content;
        let changed = content.iter().flat_map(changed_paths);
        let changed: Vec<&Path> = changed.collect();
        // A diff names its files itself.
        let locations = call.locations.iter();
        let locations = locations.filter(|it| !changed.contains(&it.path.0.as_path()));
        let locations: Vec<&v2::ToolCallLocation> = locations.collect();
        for location in locations.iter().take(LOCATIONS_MAX) {
            let line = location.line.map(|line| format!(":{line}"));
            let path = self.paths.shown(&location.path.0);
            let path = format!("{path}{}", line.unwrap_or_default());
            // What the title ends with need not be said again.
            if title.split_whitespace().next_back() != Some(path.as_str()) {
                self.text("", &path, self.theme.dim);
            }
        }
        if let Some(more) = locations.len().checked_sub(LOCATIONS_MAX + 1) {
            let words = format!("… and {} more paths", more + 1);
            self.text("", &words, self.theme.dim);
        }
        // A diff says all that the input of an edit does; words say nothing for certain.
        let input = call.input;
        let input = input.filter(|input| !call.has_diff() || input.get("command").is_some());
        if let Some(input) = input {
            self.raw_input(input);
        }
        // A file that the title ends with is not named again.
        let is_title_alone = self.lines.len() == 1;
        for (place, item) in content.iter().enumerate() {
            let is_named_above = place == 0 && is_title_alone;
            match item {
                v2::ToolCallContent::Diff(diff) => {
                    let sheet = Sheet {
                        width: self.width,
                        style: self.diff_style,
                        theme: self.theme,
                        paths: self.paths,
                        rows_max: ROWS_MAX,
                        line_bytes_max: DIFF_LINE_BYTES_MAX,
                    };
                    let mut lines = change_lines(diff, &sheet);
                    if let Some(title) = self.lines.last_mut().filter(|_| is_named_above) {
                        join_head(title, &mut lines, self.width.into());
                    }
                    self.lines.extend(lines);
                }
                v2::ToolCallContent::Content(content) => match &content.content {
                    v2::ContentBlock::Text(text) => {
                        self.text("", &text.text, self.theme.text);
                    }
                    other => {
                        let line = crate::block::named_in(other, self.theme, self.width.into());
                        self.lines.push(line);
                    }
                },
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
        let mut rest = None;
        if let Some((command, directory, others)) = read_command(input) {
            self.text("$ ", &command, self.theme.text);
            if let Some(directory) = directory {
                self.directory(Path::new(&directory));
            }
            if others.is_empty() {
                return;
            }
            rest = Some(serde_json::Value::Object(others));
        }
        let input = rest.as_ref().unwrap_or(input);
        let mut bounded = Bounded::default();
        let is_whole = serde_json::to_writer_pretty(&mut bounded, input).is_ok();
        let text = String::from_utf8_lossy(&bounded.0).into_owned();
        self.text("", &text, self.theme.text);
        if !is_whole {
            self.say_cut();
        }
    }

    /// Writes a text of others behind a mark. Rows after the first are indented, so that they are not taken for another.
    fn text(&mut self, mark: &'static str, text: &str, style: Style) {
        let indent = mark.chars().count();
        let columns = u16::try_from(indent).unwrap_or(u16::MAX);
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
        let words = "… there is more, too long to show here";
        self.lines.push(styled(words, self.theme.error));
    }
}

/// Returns words without the backticks around a path.
fn without_marks(words: &str) -> String {
    let [before, path, after] = words.split('`').collect::<Vec<_>>()[..] else {
        return words.to_owned();
    };
    match path.contains(['/', '.']) && !path.contains(char::is_whitespace) {
        true => format!("{before}{path}{after}"),
        false => words.to_owned(),
    }
}

/// Returns the files that a diff changes.
fn changed_paths(item: &v2::ToolCallContent) -> Vec<&Path> {
    use v2::DiffChangeOperation as Operation;
    let v2::ToolCallContent::Diff(diff) = item else {
        return Vec::new();
    };
    let paths = diff.changes.iter().filter_map(|it| match &it.operation {
        Operation::Add(change) => Some(change.path.0.as_path()),
        Operation::Delete(change) => Some(change.path.0.as_path()),
        Operation::Modify(change) => Some(change.path.0.as_path()),
        Operation::Move(pair) | Operation::Copy(pair) => Some(pair.path.0.as_path()),
        _ => None,
    });
    paths.collect()
}

/// What an input says besides its command.
type Others = serde_json::Map<String, serde_json::Value>;

/// Returns the command, its directory and what else there is of an input that runs one and has nothing that changes what it does.
fn read_command(input: &serde_json::Value) -> Option<(String, Option<String>, Others)> {
    let mut others = input.as_object()?.clone();
    if !others.keys().all(|name| is_beside_the_command(name)) {
        return None;
    }
    let command = others.get("command").and_then(command_line)?;
    others.remove("command");
    let name = DIRECTORY_NAMES.into_iter().find(|name| {
        let directory = others.get(*name);
        directory.is_some_and(serde_json::Value::is_string)
    });
    let directory = name.and_then(|name| others.remove(name));
    let directory = directory.and_then(|directory| Some(directory.as_str()?.to_owned()));
    Some((command, directory, others))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_around_a_path_go_and_those_of_a_command_stay() {
        assert_eq!(without_marks("Write `src/a.rs`"), "Write src/a.rs");
        assert_eq!(without_marks("echo `whoami`"), "echo `whoami`");
        assert_eq!(
            without_marks("Run `cat /etc/passwd`"),
            "Run `cat /etc/passwd`"
        );
        assert_eq!(without_marks("a ` b"), "a ` b");
    }
}
