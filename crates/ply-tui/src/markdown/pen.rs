//! What laying out needs, and what it has cost.

use crate::theme::Theme;

/// Bytes of code that are highlighted for one frame, which takes a few milliseconds.
const HIGHLIGHT_BYTES_PER_FRAME: usize = 4 * 1024;

/// What lines are laid out with.
pub(crate) struct Pen<'a> {
    /// Columns that a line may have.
    pub(crate) width: usize,
    pub(crate) theme: &'a Theme,
    pub(crate) work: &'a mut Work,
}

/// The work of one frame: what may still be done, and what was.
#[derive(Debug, Default)]
pub(crate) struct Work {
    highlight_bytes_left: usize,
    /// Whether something is shown in a plainer way than it will be in a later frame.
    pub(crate) is_unfinished: bool,
    /// Bytes of Markdown that were parsed, over all frames.
    pub(crate) parsed_bytes: usize,
    /// Lines that were laid out, over all frames.
    pub(crate) laid_out_lines: usize,
}

impl Work {
    pub(crate) fn unlimited() -> Self {
        Self {
            highlight_bytes_left: usize::MAX,
            ..Self::default()
        }
    }

    pub(crate) fn begin_frame(&mut self) {
        self.highlight_bytes_left = HIGHLIGHT_BYTES_PER_FRAME;
        self.is_unfinished = false;
    }

    /// Returns whether a line of so many bytes may be highlighted in this frame.
    pub(super) fn may_highlight(&mut self, bytes: usize) -> bool {
        // A line has its own cost, however short it is.
        let left = self.highlight_bytes_left.checked_sub(bytes + 16);
        // The last line may be longer than what is left, or a very long one would wait for ever.
        let may = self.highlight_bytes_left > 0;
        self.highlight_bytes_left = left.unwrap_or(0);
        may
    }
}

impl<'a> Pen<'a> {
    /// Returns a pen for lines that are narrower or look different.
    pub(crate) fn with<'b>(&'b mut self, width: usize, theme: &'b Theme) -> Pen<'b>
    where
        'a: 'b,
    {
        Pen {
            width,
            theme,
            work: self.work,
        }
    }
}
