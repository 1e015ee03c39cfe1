//! What happens, for people to read as it happens.

mod card;
mod live;

pub(super) use self::card::diff_lines;

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ply_agent::transcript::{MessageKind, Transcript};
use ply_client::text::{self, Line};
use ply_client::{Event, Message, v2};
use tokio::time::Instant;

use self::card::{Card, Shown};
use self::live::Live;
use super::paint::{Look, Paint};
use super::prose::Prose;
use crate::program::sessions::content::{self, Piece};

/// Characters of a thought that are kept to be shown.
const THOUGHT_CHARS_MAX: usize = 400;

/// How long nothing is said before the last word is shown, whether it is whole or not.
const QUIET: Duration = Duration::from_secs(1);

/// How it is to be shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) paint: Paint,
    /// Columns of the terminal; none if it is not one.
    pub(super) width: Option<usize>,
    /// How long a call may run before it is shown as running.
    pub(super) patience: Duration,
}

/// What the last lines are, so that different things are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Nothing,
    Message,
    Thought,
    Plan,
    /// Progress of the plan, above the calls that make it.
    Step,
    Calls,
    Notice,
}

/// The view of a turn on a stream that only grows.
#[derive(Debug)]
pub(super) struct Text {
    manner: Manner,
    cwd: PathBuf,
    out: String,
    last: Block,
    prose: Prose,
    /// The message that is being said.
    message: Option<v2::MessageId>,
    /// What was said of each message, so that one that is told again is not shown again.
    said: HashMap<(MessageKind, v2::MessageId), String>,
    thought: Thought,
    plan: Vec<(char, String)>,
    cards: HashMap<v2::ToolCallId, Card>,
    /// Calls that run and are not shown yet, in their order.
    waiting: VecDeque<v2::ToolCallId>,
    /// The call whose headline or output was shown last.
    headline: Option<v2::ToolCallId>,
    /// When something was said last.
    heard_at: Option<Instant>,
    terminals: HashMap<v2::TerminalId, Live>,
}

#[derive(Debug, Default)]
struct Thought {
    text: String,
    lines: usize,
    is_cut: bool,
}

impl Text {
    pub(super) fn new(manner: Manner, cwd: &Path) -> Self {
        Self {
            manner,
            cwd: cwd.to_owned(),
            out: String::new(),
            last: Block::Nothing,
            prose: Prose::new(manner.paint, manner.width),
            message: None,
            said: HashMap::new(),
            thought: Thought::default(),
            plan: Vec::new(),
            cards: HashMap::new(),
            waiting: VecDeque::new(),
            headline: None,
            heard_at: None,
            terminals: HashMap::new(),
        }
    }

    /// Takes what is to be written.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// Whether a line stands open, so that nothing else may write on the terminal.
    pub(super) fn is_mid_line(&self) -> bool {
        !self.prose.is_at_line_start()
    }

    /// Shows an event. The transcript has it already.
    pub(super) fn event(&mut self, event: &Event, transcript: &Transcript, now: Instant) {
        self.heard_at = Some(now);
        match event {
            Event::Message(message) => self.message(message),
            Event::Thought(thought) => {
                let new = self.new_text(thought);
                self.think(&new);
            }
            Event::Plan(update) => self.plan(update),
            Event::ToolCall(call) => {
                if let Some(id) = call.id() {
                    self.call(id, call.update(), transcript, now);
                }
            }
            Event::Terminal(terminal) => self.terminal(terminal.update(), transcript),
            Event::Notice(notice) => {
                let mark = match notice.severity {
                    v2::NoticeSeverity::Error => "error",
                    v2::NoticeSeverity::Warning => "warning",
                    _ => "note",
                };
                let about = notice.description.as_deref();
                let about = about.map(|about| format!(": {about}")).unwrap_or_default();
                self.notice(&format!("{mark}: {}{about}", notice.title));
            }
            Event::Other(v2::SessionUpdate::CompactionUpdate(update)) => {
                let status = content::name(&update.status);
                self.notice(&format!("context compaction: {status}"));
            }
            _ => {}
        }
    }

    /// Ends what stands open, so that something else can be said: on the same terminal, or in the same file.
    pub(super) fn break_line(&mut self) {
        if self.last == Block::Thought {
            self.end_thought();
            // It has been shown; more of it is another one.
            self.last = Block::Notice;
        }
        self.prose.break_line(&mut self.out);
    }

    /// Shows what has run for a while without a word, and the last word of who says no more.
    pub(super) fn tick(&mut self, now: Instant) {
        let is_quiet = |at: Instant| now.duration_since(at) >= QUIET;
        if self.manner.width.is_some() && self.heard_at.is_some_and(is_quiet) {
            self.prose.show_held(&mut self.out);
            if self.prose.is_at_sentence_end() {
                self.prose.break_line(&mut self.out);
            }
        }
        while let Some(id) = self.waiting.front().cloned() {
            let Some(card) = self.cards.get(&id) else {
                self.waiting.pop_front();
                continue;
            };
            if card.shown != Shown::Not {
                self.waiting.pop_front();
                continue;
            }
            if now.duration_since(card.since) < self.manner.patience {
                break;
            }
            self.waiting.pop_front();
            self.headline(&id);
        }
    }

    /// Ends everything that stands open.
    pub(super) fn finish(&mut self, transcript: &Transcript) {
        self.block(Block::Nothing);
        let open: Vec<_> = self.waiting.drain(..).collect();
        for id in open {
            let is_open = |card: &Card| card.shown == Shown::Not;
            if self.cards.get(&id).is_some_and(is_open) {
                if let Some(call) = transcript.tool_call(&id)
                    && let Some(card) = self.cards.get_mut(&id)
                {
                    card.read(call, &self.cwd);
                }
                self.headline(&id);
            }
        }
    }

    /// Writes the last line, which says how it ended.
    pub(super) fn last_line(&mut self, words: &str, look: Look) {
        self.block(Block::Nothing);
        if self.last_was_anything() {
            self.out.push('\n');
        }
        for line in broken(words, self.manner.width) {
            self.line(&self.manner.paint.paint(look, &line));
        }
    }

    fn last_was_anything(&self) -> bool {
        self.last != Block::Nothing
    }

    /// Begins another block, with a blank line between unlike ones.
    fn block(&mut self, next: Block) {
        if self.last == next && next != Block::Thought {
            return;
        }
        match self.last {
            Block::Message => {
                self.prose.finish(&mut self.out);
                self.message = None;
            }
            Block::Thought => self.end_thought(),
            _ => {}
        }
        if next == Block::Nothing {
            return;
        }
        let is_quiet = |block| matches!(block, Block::Calls | Block::Thought | Block::Notice);
        let is_near = (is_quiet(self.last) || self.last == Block::Step) && is_quiet(next);
        if self.last != Block::Nothing && !is_near {
            self.out.push('\n');
        }
        self.last = next;
        self.headline = None;
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn message(&mut self, message: &Message) {
        let Some(id) = message.id() else { return };
        let new = self.new_text(message);
        let notes = message
            .content()
            .iter()
            .filter_map(|block| match content::block(block) {
                Piece::Text(_) => None,
                Piece::Note(note) => Some(note),
                Piece::Verbatim { caption, .. } => caption,
            });
        let notes: Vec<_> = notes.collect();
        if new.is_empty() && notes.is_empty() {
            return;
        }
        if self.last == Block::Message && self.message.as_ref() != Some(id) {
            // Another message: a paragraph of its own.
            self.prose.finish(&mut self.out);
            self.out.push('\n');
        }
        self.block(Block::Message);
        self.message = Some(id.clone());
        self.prose.push(&new, &mut self.out);
        for note in notes {
            self.prose.finish(&mut self.out);
            let note = format!("[{}]", Line(&note));
            self.line(&self.manner.paint.paint(Look::Dim, &note));
        }
    }

    /// Returns what of a message or a thought was not said before.
    fn new_text(&mut self, message: &Message) -> String {
        let Some(id) = message.id() else {
            return String::new();
        };
        let text = message.text();
        let said = self.said.entry((message.kind(), id.clone())).or_default();
        if !message.replaces() {
            said.push_str(&text);
            return text;
        }
        // Only the rest of it, if it goes on like what was said; what was said stays in any case.
        let new = match text.strip_prefix(said.as_str()) {
            Some(rest) => rest.to_owned(),
            None => format!("\n\n{text}"),
        };
        *said = text;
        new
    }

    fn think(&mut self, text: &str) {
        if self.last != Block::Thought {
            if text.trim().is_empty() {
                return;
            }
            self.block(Block::Thought);
        }
        self.thought.lines += text.matches('\n').count();
        let room = THOUGHT_CHARS_MAX.saturating_sub(self.thought.text.chars().count());
        self.thought.is_cut |= text.chars().count() > room;
        self.thought.text.extend(text.chars().take(room));
    }

    /// Shows the first line of a thought.
    fn end_thought(&mut self) {
        let thought = std::mem::take(&mut self.thought);
        let mut lines = thought
            .text
            .lines()
            .map(str::trim)
            .filter(|it| !it.is_empty());
        let first = lines.next().unwrap_or_default().replace("**", "");
        let more = match lines.next().is_some() || thought.is_cut {
            true => " …",
            false => "",
        };
        let line = self.fit(&format!("~ {}{more}", Line(&first)));
        self.line(&self.manner.paint.paint(Look::Dim, &line));
    }

    /// Shows what is new in a plan. The transcript may be ahead of the event, and each step is to be seen.
    fn plan(&mut self, update: &v2::PlanUpdate) {
        let v2::PlanUpdateContent::Items(_) = &update.plan else {
            return;
        };
        let steps: Vec<_> = content::plan(&update.plan)
            .into_iter()
            .map(|(mark, step)| (mark, step.to_owned()))
            .collect();
        let same_steps = steps.len() == self.plan.len()
            && steps
                .iter()
                .zip(&self.plan)
                .all(|(new, old)| new.1 == old.1);
        let old = std::mem::replace(&mut self.plan, steps);
        match same_steps {
            true => self.steps(&old),
            false => self.whole_plan(),
        }
    }

    /// Shows a plan that was not there before.
    fn whole_plan(&mut self) {
        if self.plan.is_empty() {
            return;
        }
        self.block(Block::Plan);
        self.line(&self.manner.paint.paint(Look::Bold, "Plan"));
        for (mark, step) in self.plan.clone() {
            let (mark, look) = mark_of(mark);
            let mark = self.manner.paint.paint(look, mark);
            let step = self.fit_behind(4, &step);
            self.line(&format!("  {mark} {step}"));
        }
    }

    /// Shows how far the plan is: the step that began, or that nothing is left.
    fn steps(&mut self, old: &[(char, String)]) {
        let all = self.plan.len();
        let steps = self.plan.iter().zip(old).enumerate();
        let changed = steps.filter(|(_, (new, old))| new.0 != old.0);
        let mut changed: Vec<_> = changed
            .map(|(at, (new, _))| (at + 1, new.clone()))
            .collect();
        if changed.is_empty() {
            return;
        }
        self.block(Block::Step);
        if self.plan.iter().all(|(mark, _)| *mark == 'x') {
            let mark = self.manner.paint.paint(Look::Good, "✓");
            self.line(&format!("{mark} All {all} steps of the plan are done"));
            return;
        }
        // A step that begins says that the one before it is done.
        if changed.iter().any(|(_, (mark, _))| *mark == '>') {
            changed.retain(|(_, (mark, _))| *mark != 'x');
        }
        for (place, (mark, step)) in changed {
            let (mark, look) = mark_of(mark);
            let mark = self.manner.paint.paint(look, mark);
            let count = self
                .manner
                .paint
                .paint(Look::Dim, &format!("{place} of {all}"));
            let step = self.fit_behind(14, &step);
            let step = self.manner.paint.paint(Look::Bold, &step);
            self.line(&format!("{mark} {step}  {count}"));
        }
    }

    fn notice(&mut self, words: &str) {
        self.block(Block::Notice);
        let line = format!("! {}", Line(words));
        self.line(&self.manner.paint.paint(Look::Dim, &line));
    }

    /// Returns text on one line, cut so that so many columns are left for what else is on it.
    fn fit_behind(&self, columns: usize, text: &str) -> String {
        let text = Line(text).to_string();
        match self.manner.width {
            Some(width) => text::beginning(&text, width.saturating_sub(columns)).into_owned(),
            None => text,
        }
    }

    /// Cuts a line to the width of the terminal.
    fn fit(&self, line: &str) -> String {
        match self.manner.width {
            Some(width) => text::beginning(line, width).into_owned(),
            None => line.to_owned(),
        }
    }
}

/// Returns the mark of a step.
fn mark_of(status: char) -> (&'static str, Look) {
    match status {
        'x' => ("✓", Look::Good),
        '>' => ("▸", Look::Running),
        '-' => ("✗", Look::Dim),
        _ => ("·", Look::Dim),
    }
}

/// Returns the text of the last message of a turn.
pub(super) fn last_message(transcript: &Transcript, id: Option<&v2::MessageId>) -> String {
    let message = id.and_then(|id| transcript.message(MessageKind::Agent, id));
    message.map(|message| message.text()).unwrap_or_default()
}

/// Breaks a line between its parts where it is too long for the terminal.
fn broken(words: &str, width: Option<usize>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in words.split(" · ") {
        let fits = |line: &String| {
            let columns = line.chars().count() + part.chars().count() + 3;
            width.is_none_or(|width| columns <= width)
        };
        match lines.last_mut() {
            Some(line) if fits(line) => line.push_str(&format!(" · {part}")),
            Some(_) => lines.push(format!("  {part}")),
            None => lines.push(part.to_owned()),
        }
    }
    lines
}
