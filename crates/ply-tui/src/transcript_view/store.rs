//! Blocks that were laid out, as long as they may be needed again.

use std::collections::HashMap;

use ply_client::Transcript;
use ply_client::transcript::Entry;
use ratatui::text::{Line, Span};

use super::Folds;
use super::ends::Ends;
use super::place::Place;
use super::times::Times;
use crate::block::{Block, Look, Scene, Unit};
use crate::markdown::{Pen, Work};
use crate::theme::Theme;

/// Blocks that are kept. A screen shows fewer; the rest is for scrolling to and fro.
const BLOCKS_MAX: usize = 256;

/// The blocks, and what they are laid out for.
pub(super) struct Store {
    blocks: HashMap<usize, Kept>,
    width: usize,
    theme: Theme,
    pub(super) look: Look,
    pub(super) folds: Folds,
    pub(super) ends: Ends,
    times: Times,
    pub(super) work: Work,
    /// Counts frames and moves: within one of them the transcript stays as it is.
    step: u64,
}

struct Kept {
    block: Block,
    unit: Unit,
    /// When it was last brought up to date.
    step: u64,
}

impl Store {
    pub(super) fn new() -> Self {
        Self {
            blocks: HashMap::new(),
            width: 0,
            theme: Theme::plain(),
            look: Look::default(),
            folds: Folds::default(),
            ends: Ends::default(),
            times: Times::default(),
            work: Work::default(),
            step: 0,
        }
    }

    /// Returns whether there was a frame, and with it a width.
    pub(super) fn is_drawn(&self) -> bool {
        self.width > 0
    }

    pub(super) fn begin_frame(&mut self, width: usize, theme: &Theme, look: &Look) {
        if self.width != width || self.theme != *theme || self.look.paths != look.paths {
            self.blocks.clear();
            self.width = width;
            self.theme = theme.clone();
        }
        self.look = look.clone();
        self.work.begin_frame();
        self.begin_step();
    }

    /// Forgets that blocks are up to date, as the transcript may have changed.
    pub(super) fn begin_step(&mut self) {
        self.step += 1;
    }

    pub(super) fn end_frame(&mut self) {
        if self.blocks.len() <= BLOCKS_MAX {
            return;
        }
        let mut steps: Vec<u64> = self.blocks.values().map(|kept| kept.step).collect();
        steps.sort_unstable();
        let oldest = steps
            .get(steps.len() - BLOCKS_MAX / 2)
            .copied()
            .unwrap_or(self.step);
        // What this frame needed is kept, however much that is.
        let oldest = oldest.min(self.step);
        self.blocks.retain(|_, kept| kept.step >= oldest);
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the number of parts of a unit.
    pub(super) fn parts(&mut self, transcript: &Transcript, unit: Unit) -> usize {
        self.block(transcript, unit).0.len()
    }

    /// Returns the number of lines of a part.
    pub(super) fn height(&mut self, transcript: &Transcript, unit: Unit, part: usize) -> usize {
        let (block, mut pen) = self.block(transcript, unit);
        block.lines(part, unit, transcript, &mut pen).len()
    }

    pub(super) fn line(&mut self, transcript: &Transcript, place: Place) -> Option<&Line<'static>> {
        let unit = Unit::at(transcript, place.unit)?;
        let (block, mut pen) = self.block(transcript, unit);
        block
            .lines(place.part, unit, transcript, &mut pen)
            .get(place.line)
    }

    /// Returns what is drawn besides the line at a place: what stands before it, and the column of a
    /// mark that moves.
    pub(super) fn marks(
        &mut self,
        transcript: &Transcript,
        place: Place,
    ) -> (Option<Span<'static>>, Option<u16>) {
        let Some(unit) = Unit::at(transcript, place.unit) else {
            return (None, None);
        };
        let (block, pen) = self.block(transcript, unit);
        let spinner = block.spinner().filter(|(line, _)| *line == place.line);
        (
            block.bar(place.part, &pen),
            spinner.map(|(_, column)| column),
        )
    }

    fn block(&mut self, transcript: &Transcript, unit: Unit) -> (&mut Block, Pen<'_>) {
        let fold = self.folds.of(unit, transcript);
        let step = self.step;
        let mut pen = Pen {
            width: self.width,
            theme: &self.theme,
            work: &mut self.work,
        };
        let kept = self.blocks.entry(unit.start).or_insert_with(|| Kept {
            block: Block::new(),
            unit,
            step: 0,
        });
        if kept.step != step || kept.unit != unit {
            if let Some(Entry::ToolCall(call)) = transcript.entry(unit.start) {
                self.times.note(unit.start, &call.status, self.look.tick);
            }
            let scene = Scene {
                transcript,
                look: &self.look,
                fold,
                end: self.ends.before(unit),
                took_ms: self.times.took_ms(unit.start),
            };
            kept.block.refresh(unit, scene, &mut pen);
            kept.step = step;
            kept.unit = unit;
        }
        (&mut kept.block, pen)
    }
}
