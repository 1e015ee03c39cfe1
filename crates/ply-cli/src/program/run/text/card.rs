//! Tool calls: one line each, and below it what they changed or printed.

use std::path::Path;

use ply_agent::transcript::{ToolCall, Transcript, is_final};
use ply_client::text::{self, Line};
use ply_client::v2;
use tokio::time::Instant;

use super::{Block, Text};
use crate::program::run::paint::Look;
use crate::program::sessions::content;

/// Lines of a diff that are shown.
const DIFF_LINES_MAX: usize = 80;
/// Lines of output that are shown of a command.
const OUTPUT_LINES_MAX: usize = 12;
/// Lines of output that are shown of a call that failed.
const FAILURE_LINES_MAX: usize = 8;
/// Columns by which what belongs to a call is moved in.
const INDENT: &str = "    ";
/// Bytes at the end of an output in which its last lines are looked for.
const TAIL_BYTES: usize = 16 * 1024;

/// How much of a call was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Not,
    Running,
    Done,
}

/// What is known of a call, as far as it is shown.
#[derive(Debug)]
pub(super) struct Card {
    title: String,
    kind: String,
    place: Option<String>,
    status: v2::ToolCallStatus,
    pub(super) shown: Shown,
    pub(super) since: Instant,
}

impl Card {
    fn new(now: Instant) -> Self {
        Self {
            title: String::new(),
            kind: String::new(),
            place: None,
            status: v2::ToolCallStatus::Pending,
            shown: Shown::Not,
            since: now,
        }
    }

    /// Takes what is to be shown on the line of the call, none of what it produced.
    pub(super) fn read(&mut self, call: &ToolCall, cwd: &Path) {
        self.title = call.shown_title();
        self.kind = content::name(&call.kind);
        self.status = call.status.clone();
        self.place = call.locations.first().map(|place| {
            let path = place.path.0.strip_prefix(cwd).unwrap_or(&place.path.0);
            match place.line {
                Some(line) => format!("{}:{line}", text::path(path)),
                None => text::path(path),
            }
        });
    }

    fn mark(&self) -> (&'static str, Look) {
        match self.status {
            v2::ToolCallStatus::Completed => ("✓", Look::Good),
            v2::ToolCallStatus::Failed => ("✗", Look::Bad),
            v2::ToolCallStatus::Cancelled => ("○", Look::Dim),
            _ => ("●", Look::Running),
        }
    }
}

/// Returns whether an update says that its call is over. The transcript may say so earlier, but then the end would be shown before
/// what was told in between.
fn ends(update: &v2::SessionUpdate) -> bool {
    let v2::SessionUpdate::ToolCallUpdate(update) = update else {
        return false;
    };
    update.status.value().is_some_and(is_final)
}

impl Text {
    /// Shows a change of a call, unless it can wait for the next one.
    pub(super) fn call(
        &mut self,
        id: &v2::ToolCallId,
        update: &v2::SessionUpdate,
        transcript: &Transcript,
        now: Instant,
    ) {
        self.note_terminals(id, update);
        // Pieces of the content change nothing on the line, and may be many.
        if matches!(update, v2::SessionUpdate::ToolCallContentChunk(_))
            && self.cards.contains_key(id)
        {
            return;
        }
        let Some(call) = transcript.tool_call(id) else {
            return;
        };
        let is_new = !self.cards.contains_key(id);
        let card = self
            .cards
            .entry(id.clone())
            .or_insert_with(|| Card::new(now));
        let was_done = card.shown == Shown::Done;
        card.read(call, &self.cwd);
        if is_new {
            self.waiting.push_back(id.clone());
        }
        if ends(update) && call.is_finished() && !was_done {
            self.done(id, call, transcript);
        }
    }

    fn note_terminals(&mut self, id: &v2::ToolCallId, update: &v2::SessionUpdate) {
        let items = match update {
            v2::SessionUpdate::ToolCallUpdate(update) => update
                .content
                .value()
                .map(Vec::as_slice)
                .unwrap_or_default(),
            v2::SessionUpdate::ToolCallContentChunk(chunk) => std::slice::from_ref(&chunk.content),
            _ => &[],
        };
        for item in items {
            if let v2::ToolCallContent::Terminal(shown) = item {
                let live = self.terminals.entry(shown.terminal_id.clone()).or_default();
                live.call = Some(id.clone());
            }
        }
    }

    /// Writes the line of a call.
    pub(super) fn headline(&mut self, id: &v2::ToolCallId) {
        self.block(Block::Calls);
        let Some(card) = self.cards.get_mut(id) else {
            return;
        };
        card.shown = match card.status {
            v2::ToolCallStatus::Completed
            | v2::ToolCallStatus::Failed
            | v2::ToolCallStatus::Cancelled => Shown::Done,
            _ => Shown::Running,
        };
        let (mark, look) = card.mark();
        let title = Line(&card.title).to_string();
        let kind = Line(&card.kind).to_string();
        let place = card
            .place
            .clone()
            .filter(|place| !title.contains(place.as_str()));
        let mut about = match kind.as_str() {
            "other" => String::new(),
            kind => format!("  {kind}"),
        };
        if let Some(place) = place {
            about.push_str(&format!("  {place}"));
        }
        let paint = self.manner.paint;
        // The mark and its blank take two columns.
        let width = self.manner.width.unwrap_or(usize::MAX).saturating_sub(2);
        let title = text::beginning(&title, width).into_owned();
        let room = width.saturating_sub(text::columns(&title));
        let about = match room > 8 {
            true => text::beginning(&about, room).into_owned(),
            false => String::new(),
        };
        let title = paint.inline(&title);
        let line = format!(
            "{} {title}{}",
            paint.paint(look, mark),
            paint.paint(Look::Dim, &about)
        );
        self.line(&line);
        self.headline = Some(id.clone());
    }

    /// Shows how a call ended.
    fn done(&mut self, id: &v2::ToolCallId, call: &ToolCall, transcript: &Transcript) {
        let is_below = self.last == Block::Calls && self.headline.as_ref() == Some(id);
        match self.cards.get_mut(id) {
            // Its line is right above: it needs no second one.
            Some(card) if card.shown == Shown::Running && is_below => {
                card.shown = Shown::Done;
                let (mark, look) = card.mark();
                let status = Line(&content::name(&card.status)).to_string();
                self.body(call, transcript);
                let paint = self.manner.paint;
                let status = paint.paint(Look::Dim, &status);
                self.line(&format!("  {} {status}", paint.paint(look, mark)));
            }
            // What an agent does in its own head, such as keeping the plan, shows itself elsewhere.
            Some(card)
                if call.kind == v2::ToolKind::Think
                    && call.status == v2::ToolCallStatus::Completed
                    && card.shown == Shown::Not =>
            {
                card.shown = Shown::Done;
            }
            Some(_) => {
                self.headline(id);
                self.body(call, transcript);
            }
            None => {}
        }
    }

    /// Shows what a call changed and printed.
    fn body(&mut self, call: &ToolCall, transcript: &Transcript) {
        let has_failed = call.status == v2::ToolCallStatus::Failed;
        let mut has_terminal = false;
        for item in &call.content {
            match item {
                v2::ToolCallContent::Diff(diff) => self.diff(diff),
                v2::ToolCallContent::Terminal(shown) => {
                    has_terminal = true;
                    if let Some(terminal) = transcript.terminal(&shown.terminal_id) {
                        self.end_terminal(terminal);
                    }
                }
                _ => {}
            }
        }
        if has_terminal {
            return;
        }
        let is_command = call.kind == v2::ToolKind::Execute;
        if has_failed {
            self.output(call, FAILURE_LINES_MAX);
        } else if is_command {
            self.output(call, OUTPUT_LINES_MAX);
        }
    }

    /// Shows the last lines that a call produced.
    fn output(&mut self, call: &ToolCall, lines_max: usize) {
        let last = call.content.iter().rev().find_map(|item| match item {
            v2::ToolCallContent::Content(content) => match &content.content {
                v2::ContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            },
            _ => None,
        });
        let text = last.unwrap_or_default().trim_end();
        let (text, is_cut) = tail(text);
        let lines: Vec<String> = text::lines(text).collect();
        let left_out = lines.len().saturating_sub(lines_max);
        if left_out > 0 || is_cut {
            self.dim("…");
        }
        for line in lines.iter().skip(left_out) {
            self.dim(line);
        }
    }

    /// Writes a harmless line that belongs to a call.
    pub(super) fn dim(&mut self, line: &str) {
        let line = self.fit(&format!("{INDENT}{}", line.replace('\t', "    ")));
        self.line(&self.manner.paint.paint(Look::Dim, &line));
    }

    fn diff(&mut self, diff: &v2::Diff) {
        let lines = diff_lines(diff);
        for (line, look) in lines.iter().take(DIFF_LINES_MAX) {
            let line = self.fit(&format!("{INDENT}{line}"));
            let line = match look {
                Some(look) => self.manner.paint.paint(*look, &line),
                None => line,
            };
            self.line(&line);
        }
        let left = lines.len().saturating_sub(DIFF_LINES_MAX);
        if left > 0 {
            self.dim(&format!("… {left} more lines"));
        }
    }
}

/// Returns the end of a text, cut between characters, and whether there was more.
fn tail(text: &str) -> (&str, bool) {
    let mut start = text.len().saturating_sub(TAIL_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    (text.get(start..).unwrap_or_default(), start > 0)
}

/// Returns the lines of a diff, harmless, and how they look.
pub(in crate::program::run) fn diff_lines(diff: &v2::Diff) -> Vec<(String, Option<Look>)> {
    let Some(patch) = &diff.patch else {
        let changes = diff.changes.iter().filter_map(|change| {
            let files = super::super::subject::changed(&change.operation);
            let files: Vec<_> = files.iter().map(|path| text::path(path)).collect();
            (!files.is_empty()).then(|| (files.join(" → "), Some(Look::Dim)))
        });
        return changes.collect();
    };
    let lines = text::lines(&patch.text).filter(|line| {
        // Facts for programs that apply it.
        ![
            "diff --git ",
            "index ",
            "new file mode ",
            "old mode ",
            "new mode ",
        ]
        .iter()
        .any(|noise| line.starts_with(noise))
    });
    lines
        .map(|line| {
            let look = match line.as_bytes() {
                [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => Some(Look::Bold),
                [b'@', b'@', ..] => Some(Look::Hunk),
                [b'+', ..] => Some(Look::Added),
                [b'-', ..] => Some(Look::Removed),
                _ => None,
            };
            (line.replace('\t', "    "), look)
        })
        .collect()
}
