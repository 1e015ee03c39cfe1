//! Cuts a growing Markdown text into segments that can be laid out one by one.
//!
//! The cuts depend on whole lines only and never on how the text arrived, so a text that was read in
//! chunks has the same segments as one that was there at once. A segment is a block of the top level
//! or an item of a list, never much longer than [`SEGMENT_BYTES_MAX`]; fenced code, also inside lists,
//! is cut every [`CODE_LINES`] lines.

use std::ops::Range;

use super::line::{Fence, Marker, Source};

/// Bytes after which a segment ends with the line.
pub(super) const SEGMENT_BYTES_MAX: usize = 8 * 1024;
/// Lines of code in a segment.
pub(super) const CODE_LINES: usize = 64;

/// A part of the text that is laid out by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) kind: Kind,
    /// Its whole lines.
    pub(super) range: Range<usize>,
    /// Columns by which its lines are indented in the list around it.
    pub(super) indent: usize,
    /// Whether a blank line stands before it.
    pub(super) gap: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Text {
        /// The first lines of the table that this segment goes on with.
        head: Option<Range<usize>>,
        /// Its number in the list, which may be another than the one written.
        number: Option<u64>,
    },
    Code {
        /// What stands after the fence.
        language: Range<usize>,
        /// Which part of the code this is.
        ordinal: usize,
    },
}

/// What a line does to the segments.
#[derive(Debug)]
pub(super) enum Step {
    /// Nothing of it is shown.
    Skip,
    /// It belongs to the last segment.
    Extend,
    /// It begins a segment.
    New(Segment),
}

/// What is known after some lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Scan {
    mode: Mode,
    list: Option<List>,
    blank: bool,
    /// Size of the open segment.
    bytes: usize,
    /// The line before, if it could be the head of a table.
    before: Option<Range<usize>>,
    table: Option<Range<usize>>,
}

#[derive(Debug, Clone, Default)]
enum Mode {
    #[default]
    Closed,
    Paragraph,
    Quote,
    Code {
        fence: Fence,
        language: Range<usize>,
        indent: usize,
        gap: bool,
        lines: usize,
    },
}

#[derive(Debug, Clone, Copy)]
struct List {
    /// The column in which the text of its items begins.
    content: usize,
    ordered: bool,
    next: u64,
}

impl Scan {
    /// Takes the next line. `continues` says that it goes on with a line that was cut.
    pub(super) fn step(&mut self, text: &str, range: Range<usize>, continues: bool) -> Step {
        let line = Source::new(text.get(range.clone()).unwrap_or_default());
        if matches!(self.mode, Mode::Code { .. }) {
            return self.code(&line, range, continues);
        }
        if continues {
            return match self.mode {
                Mode::Closed => self.open(Mode::Paragraph, range, 0, None),
                _ => self.extend(&line, range),
            };
        }
        if line.is_blank() {
            self.mode = Mode::Closed;
            self.blank = true;
            return Step::Skip;
        }
        if let Some((fence, info)) = line.fence()
            && (line.indent <= 3 || self.list.is_some())
        {
            self.list = self.list.filter(|list| line.indent >= list.content);
            self.mode = Mode::Code {
                fence,
                language: range.start + info.start..range.start + info.end,
                indent: line.indent,
                gap: std::mem::take(&mut self.blank),
                lines: 0,
            };
            return Step::Skip;
        }
        match self.list {
            Some(list) if line.indent >= list.content => self.inside(&line, range),
            _ => self.beside(&line, range),
        }
    }

    /// A line inside of an item.
    fn inside(&mut self, line: &Source<'_>, range: Range<usize>) -> Step {
        match self.mode {
            Mode::Closed => self.open(Mode::Paragraph, range, line.indent, None),
            _ => self.extend(line, range),
        }
    }

    /// A line of the top level.
    fn beside(&mut self, line: &Source<'_>, range: Range<usize>) -> Step {
        let in_text = !matches!(self.mode, Mode::Closed);
        let is_underline = in_text && self.list.is_none() && line.is_underline();
        if line.is_rule() && !is_underline || line.is_heading() {
            self.list = None;
            return self.open(Mode::Closed, range, 0, None);
        }
        if let Some(marker) = line.marker()
            && line.indent < 4
            && (self.list.is_some() || !in_text || marker.interrupts)
        {
            return self.item(line, &marker, range);
        }
        if line.is_quote() {
            self.list = None;
            return match self.mode {
                Mode::Quote => self.extend(line, range),
                _ => self.open(Mode::Quote, range, 0, None),
            };
        }
        if in_text {
            return self.extend(line, range);
        }
        self.list = None;
        self.open(Mode::Paragraph, range, 0, None)
    }

    fn item(&mut self, line: &Source<'_>, marker: &Marker, range: Range<usize>) -> Step {
        let ordered = marker.number.is_some();
        let same = self.list.filter(|list| list.ordered == ordered);
        let number = match same {
            Some(list) => Some(list.next),
            None => marker.number,
        };
        self.list = Some(List {
            content: line.indent + marker.columns,
            ordered,
            next: number.unwrap_or(0).saturating_add(1),
        });
        self.open(Mode::Paragraph, range, 0, number.filter(|_| ordered))
    }

    fn open(
        &mut self,
        mode: Mode,
        range: Range<usize>,
        indent: usize,
        number: Option<u64>,
    ) -> Step {
        self.mode = mode;
        self.bytes = range.len();
        self.before = Some(range.clone());
        self.table = None;
        Step::New(Segment {
            kind: Kind::Text { head: None, number },
            range,
            indent,
            gap: std::mem::take(&mut self.blank),
        })
    }

    fn extend(&mut self, line: &Source<'_>, range: Range<usize>) -> Step {
        let before = self.before.replace(range.clone());
        if let Some(before) = before.filter(|_| self.table.is_none() && line.is_table_rule()) {
            self.table = Some(before.start..range.end);
        }
        self.bytes += range.len();
        if self.bytes <= SEGMENT_BYTES_MAX {
            return Step::Extend;
        }
        self.bytes = range.len();
        Step::New(Segment {
            kind: Kind::Text {
                // A head that fills a segment by itself would be read again with every row.
                head: self
                    .table
                    .clone()
                    .filter(|head| head.len() <= SEGMENT_BYTES_MAX / 4),
                number: None,
            },
            range,
            indent: self.list.map_or(0, |list| list.content.min(line.indent)),
            gap: false,
        })
    }

    fn code(&mut self, line: &Source<'_>, range: Range<usize>, continues: bool) -> Step {
        let Mode::Code {
            fence,
            language,
            indent,
            gap,
            lines,
        } = &mut self.mode
        else {
            return Step::Skip;
        };
        if !continues && line.closes(fence) && (line.indent <= 3 || *indent > 0) {
            self.mode = Mode::Closed;
            return Step::Skip;
        }
        let ordinal = *lines / CODE_LINES;
        let is_first = (*lines).is_multiple_of(CODE_LINES);
        *lines += 1;
        if !is_first {
            return Step::Extend;
        }
        Step::New(Segment {
            kind: Kind::Code {
                language: language.clone(),
                ordinal,
            },
            range,
            indent: *indent,
            gap: std::mem::take(gap),
        })
    }
}
