//! What one thing of a transcript looks like: a message, a card, a plan.
//!
//! A [`Block`] keeps the lines it was laid out to, in parts, until what it shows has changed.
//! Messages are laid out part by part, as they come into sight; all else is one part of bounded size.

mod card;
mod event;
mod exploration;
mod fixed;
mod message;
mod output;
mod plan;
mod terminal;
mod unit;
mod user;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ply_client::Transcript;
use ply_client::transcript::{Entry, MessageKind};
use ply_client::v2;
use ratatui::text::{Line, Span};

use self::message::Flowing;
pub(crate) use self::{
    fixed::{Fixed, spinner_frame},
    message::named_in,
    unit::{FoldKind, Unit},
};
use crate::diff::DiffStyle;
use crate::highlight;
use crate::markdown::Pen;
use crate::paths::Paths;
use crate::transcript_view::End;

/// How things are to be shown, apart from colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    /// Counts up while something runs, so that it is seen to move.
    pub(crate) tick: u64,
    pub(crate) diff_style: DiffStyle,
    pub(crate) show_thoughts: bool,
    /// Where paths are seen from.
    pub(crate) paths: Paths,
    /// Whether the last plan is left out, because it is shown elsewhere.
    pub(crate) hides_last_plan: bool,
    /// The tool call of the open question, which shows all of it.
    pub(crate) asked: Option<v2::ToolCallId>,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            tick: 0,
            diff_style: DiffStyle::default(),
            show_thoughts: true,
            paths: Paths::default(),
            hides_last_plan: false,
            asked: None,
        }
    }
}

/// How much of a block its reader wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Fold {
    /// As much as it calls for.
    #[default]
    Unset,
    /// All of it, within bounds.
    Open,
    /// One line.
    Closed,
}

impl Fold {
    pub(crate) fn toggled(self) -> Self {
        match self {
            Self::Unset | Self::Closed => Self::Open,
            Self::Open => Self::Closed,
        }
    }
}

/// What a block is made from.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) transcript: &'a Transcript,
    pub(crate) look: &'a Look,
    pub(crate) fold: Fold,
    /// How the turn before it ended.
    pub(crate) end: Option<&'a End>,
    /// How long it took, in milliseconds, if that was seen.
    pub(crate) took_ms: Option<u64>,
}

/// The lines of a unit.
pub(crate) struct Block {
    /// What the lines were made from, in short.
    print: u64,
    body: Body,
}

enum Body {
    Empty,
    Fixed(Fixed),
    Flowing(Flowing),
}

impl Block {
    pub(crate) fn new() -> Self {
        Self {
            print: 0,
            body: Body::Empty,
        }
    }

    /// Brings the parts up to date.
    pub(crate) fn refresh(&mut self, unit: Unit, scene: Scene<'_>, pen: &mut Pen<'_>) {
        if unit.is_hidden(scene.transcript, scene.look) {
            self.body = Body::Empty;
            self.print = 0;
            return;
        }
        let print = print(unit, scene);
        let is_same = self.print == print && !matches!(self.body, Body::Empty);
        self.print = print;
        let Some(entry) = scene.transcript.entry(unit.start) else {
            return;
        };
        if let Entry::Message(message) = entry
            && message::is_flowing(message.kind, scene.fold)
        {
            if !is_same {
                let gap = unit.has_gap(scene.transcript);
                self.body = Body::Flowing(Flowing::new(message.kind, gap));
            }
            if let Body::Flowing(flowing) = &mut self.body {
                flowing.feed(message, pen);
            }
            return;
        }
        if is_same {
            return;
        }
        let mut fixed = fixed(unit, entry, scene, pen);
        if let Some(end) = scene.end {
            fixed.insert_end(end, pen);
        }
        if unit.has_gap(scene.transcript) {
            fixed.insert_gap();
        }
        pen.work.laid_out_lines += fixed.lines.len();
        self.body = Body::Fixed(fixed);
    }

    /// Returns the number of parts.
    pub(crate) fn len(&self) -> usize {
        match &self.body {
            Body::Empty => 0,
            Body::Fixed(_) => 1,
            Body::Flowing(flowing) => flowing.len(),
        }
    }

    /// Returns the lines of a part.
    pub(crate) fn lines(
        &mut self,
        part: usize,
        unit: Unit,
        transcript: &Transcript,
        pen: &mut Pen<'_>,
    ) -> &[Line<'static>] {
        match &mut self.body {
            Body::Fixed(fixed) if part == 0 => &fixed.lines,
            Body::Flowing(flowing) => {
                let message = transcript.entry(unit.start).and_then(Entry::as_message);
                message.map_or(&[], |message| flowing.lines(part, message, pen))
            }
            _ => &[],
        }
    }

    /// Returns what stands before every line of a part, besides what the lines hold.
    pub(crate) fn bar(&self, part: usize, pen: &Pen<'_>) -> Option<Span<'static>> {
        match &self.body {
            Body::Flowing(flowing) => flowing.bar(part, pen.theme),
            _ => None,
        }
    }

    /// Returns the line and the column of the mark that moves while something runs.
    pub(crate) fn spinner(&self) -> Option<(usize, u16)> {
        match &self.body {
            Body::Fixed(fixed) => fixed.spinner,
            _ => None,
        }
    }
}

fn fixed(unit: Unit, entry: &Entry, scene: Scene<'_>, pen: &mut Pen<'_>) -> Fixed {
    if unit.is_group() {
        return exploration::lay_out(unit, scene, pen);
    }
    match entry {
        Entry::Message(message) => match message.kind {
            MessageKind::User => user::lay_out(message, scene.fold, pen),
            MessageKind::Agent | MessageKind::Thought => {
                message::thought_line(message, unit.is_growing(scene.transcript), pen)
            }
        },
        Entry::ToolCall(call) => card::lay_out(call, scene, pen),
        Entry::Terminal(terminal) => terminal::lay_out(terminal, scene.fold, pen),
        Entry::Plan(plan) => plan::lay_out(plan, scene.fold, pen),
        Entry::Compaction(compaction) => event::compaction(compaction, scene.fold, pen),
        Entry::Unknown(update) => event::unknown(update, pen),
        _ => Fixed::default(),
    }
}

/// Returns a number that differs when the lines would.
fn print(unit: Unit, scene: Scene<'_>) -> u64 {
    let transcript = scene.transcript;
    let mut hasher = DefaultHasher::new();
    (
        unit.start,
        unit.end,
        scene.fold,
        scene.look.diff_style,
        scene.end,
        scene.took_ms,
    )
        .hash(&mut hasher);
    let flows = match transcript.entry(unit.start) {
        Some(Entry::Message(message)) => message::is_flowing(message.kind, scene.fold),
        _ => false,
    };
    for place in unit.start..unit.end {
        let stamp = transcript.stamp(place).unwrap_or_default();
        stamp.rewritten_at.hash(&mut hasher);
        if !flows {
            stamp.changed_at.hash(&mut hasher);
            unit.is_growing(transcript).hash(&mut hasher);
        }
    }
    if let Some(Entry::ToolCall(call)) = transcript.entry(unit.start) {
        (scene.look.asked.as_ref() == Some(&call.id)).hash(&mut hasher);
        terminal::print(call, transcript, &mut hasher);
        // Diffs are plain until then.
        highlight::is_loaded().hash(&mut hasher);
    }
    hasher.finish()
}
