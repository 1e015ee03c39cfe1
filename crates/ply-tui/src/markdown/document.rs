//! A text and the lines it was laid out to, segment by segment.

use ratatui::text::Line;

use super::code::{self, Code};
use super::line::{End, end_of};
use super::scan::{Kind, Scan, Segment, Step};
use super::{Pen, render};

/// A Markdown text that grows. It keeps lines, never the text itself.
#[derive(Default)]
pub(crate) struct Document {
    scan: Scan,
    /// Up to where the text was cut into segments.
    read: usize,
    /// Whether the line at that place goes on with one that was cut.
    continues: bool,
    pieces: Vec<Piece>,
    /// Whether the last piece is there for an unfinished line only.
    is_last_open: bool,
    /// Up to where the text was when it was last read.
    end: usize,
}

struct Piece {
    segment: Segment,
    /// Where it ends with the unfinished line that belongs to it.
    open_end: usize,
    laid: Option<Laid>,
}

/// The lines of a segment.
#[derive(Default)]
pub(super) struct Laid {
    pub(super) lines: Vec<Line<'static>>,
    /// Up to where the text was when they were laid out.
    pub(super) end: usize,
    /// How far the code was read, if it is code.
    pub(super) code: Option<Code>,
}

impl Document {
    /// Reads what was appended since. The text must begin with what it was before.
    pub(crate) fn feed(&mut self, text: &str) {
        if text.len() == self.end {
            return;
        }
        if std::mem::take(&mut self.is_last_open) {
            self.pieces.pop();
        }
        // The unfinished line may turn out to belong to another segment.
        if let Some(piece) = self.pieces.last_mut() {
            piece.open_end = piece.segment.range.end;
        }
        loop {
            let (end, continues) = match end_of(text, self.read) {
                End::Whole(end) => (end, false),
                End::Cut(end) => (end, true),
                End::Open => break,
            };
            let step = self.scan.step(text, self.read..end, self.continues);
            self.take(step, end);
            self.read = end;
            self.continues = continues;
        }
        if self.read < text.len() {
            let mut scan = self.scan.clone();
            match scan.step(text, self.read..text.len(), self.continues) {
                Step::Skip => {}
                Step::Extend => {
                    if let Some(piece) = self.pieces.last_mut() {
                        piece.open_end = text.len();
                    }
                }
                Step::New(segment) => {
                    self.is_last_open = true;
                    self.push(segment);
                }
            }
        }
        self.end = text.len();
    }

    /// Returns the number of segments.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the lines of a segment of the text that was read last.
    pub(crate) fn lines(
        &mut self,
        place: usize,
        text: &str,
        pen: &mut Pen<'_>,
    ) -> &[Line<'static>] {
        let Some(piece) = self.pieces.get(place) else {
            return &[];
        };
        match &piece.segment.kind {
            Kind::Code { .. } => self.lay_out_code(place, text, pen),
            Kind::Text { .. } => self.lay_out_text(place, text, pen),
        }
        let laid = self.pieces.get(place).and_then(|piece| piece.laid.as_ref());
        laid.map(|laid| laid.lines.as_slice()).unwrap_or_default()
    }

    fn take(&mut self, step: Step, end: usize) {
        match step {
            Step::Skip => {}
            Step::Extend => {
                if let Some(piece) = self.pieces.last_mut() {
                    piece.segment.range.end = end;
                    piece.open_end = end;
                }
            }
            Step::New(segment) => self.push(segment),
        }
    }

    fn push(&mut self, mut segment: Segment) {
        segment.gap &= !self.pieces.is_empty();
        self.pieces.push(Piece {
            open_end: segment.range.end,
            segment,
            laid: None,
        });
    }

    fn lay_out_text(&mut self, place: usize, text: &str, pen: &mut Pen<'_>) {
        let Some(piece) = self.pieces.get_mut(place) else {
            return;
        };
        let end = piece.open_end;
        if piece.laid.as_ref().is_some_and(|laid| laid.end == end) {
            return;
        }
        let source = text.get(piece.segment.range.start..end).unwrap_or_default();
        let mut lines = piece.first_lines();
        render::segment(&piece.segment, source, text, pen, &mut lines);
        pen.work.laid_out_lines += lines.len();
        let code = None;
        piece.laid = Some(Laid { lines, end, code });
    }

    fn lay_out_code(&mut self, place: usize, text: &str, pen: &mut Pen<'_>) {
        // Code can only be read in order. What stands before it was cut into the pieces before.
        let mut first = place;
        while first > 0 && !self.is_code_known(first) {
            first -= 1;
        }
        for place in first..=place {
            let before = place
                .checked_sub(1)
                .and_then(|before| self.pieces.get(before));
            let before = before.and_then(Piece::code_at_end).cloned();
            let Some(piece) = self.pieces.get_mut(place) else {
                return;
            };
            let laid = piece.laid.take();
            let mut laid = laid.unwrap_or_else(|| Laid {
                lines: piece.first_lines(),
                ..Laid::default()
            });
            code::lay_out(&piece.segment, piece.open_end, text, before, &mut laid, pen);
            piece.laid = Some(laid);
        }
    }

    /// Returns whether a piece of code was begun, or can be without those before it.
    fn is_code_known(&self, place: usize) -> bool {
        let Some(piece) = self.pieces.get(place) else {
            return true;
        };
        match &piece.segment.kind {
            Kind::Code { ordinal, .. } if code::depends_on_before(*ordinal) => {
                let laid = piece.laid.as_ref();
                laid.is_some_and(|laid| laid.code.is_some())
            }
            _ => true,
        }
    }
}

impl Piece {
    fn first_lines(&self) -> Vec<Line<'static>> {
        vec![Line::default(); usize::from(self.segment.gap)]
    }

    /// Returns the state after the last line, if all of it was read.
    fn code_at_end(&self) -> Option<&Code> {
        let code = self.laid.as_ref()?.code.as_ref()?;
        (code.read == self.segment.range.end).then_some(code)
    }
}
