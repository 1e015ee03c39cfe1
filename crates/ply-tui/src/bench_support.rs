//! What benchmarks need of the screens. Not part of the interface.

use ply_client::Transcript;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::diff::{DiffStyle, LINE_BYTES_BRIEF, Sheet, diff_lines};
use crate::highlight;
use crate::markdown::markdown_lines;
use crate::paths::Paths;
use crate::theme::Theme;
use crate::transcript_view::{Look, Scroll, TranscriptView};

/// A transcript on a screen of its own.
pub struct Screen {
    view: TranscriptView,
    buffer: Buffer,
    theme: Theme,
    look: Look,
}

impl Screen {
    /// Returns an empty screen.
    #[must_use]
    pub fn new(width: u16, height: u16) -> Self {
        Self {
            view: TranscriptView::new(),
            buffer: Buffer::empty(Rect::new(0, 0, width, height)),
            theme: Theme::dark(),
            look: Look::default(),
        }
    }

    /// Draws a frame, and returns whether the next would show more.
    pub fn draw(&mut self, transcript: &Transcript) -> bool {
        self.buffer.reset();
        self.look.tick += 1;
        let (area, theme, look) = (self.buffer.area, &self.theme, &self.look);
        self.view
            .render(transcript, area, &mut self.buffer, theme, look);
        self.view.is_unfinished()
    }

    /// Scrolls by lines, up if negative, and returns whether the end is on the screen.
    pub fn scroll(&mut self, transcript: &Transcript, lines: i32) -> bool {
        self.view.scroll(transcript, Scroll::Lines(lines));
        self.view.is_at_end()
    }

    /// Jumps to a prompt, up if negative, and returns how much is new below.
    pub fn jump(&mut self, transcript: &Transcript, prompts: i32) -> usize {
        let by = match prompts {
            i32::MIN..0 => Scroll::PreviousPrompt,
            0 => Scroll::End,
            1.. => Scroll::NextPrompt,
        };
        self.view.scroll(transcript, by);
        self.view.new_below(transcript)
    }

    /// Scrolls by screens, or to the top.
    pub fn page(&mut self, transcript: &Transcript, pages: Option<i32>) {
        self.view
            .scroll(transcript, pages.map_or(Scroll::Top, Scroll::Page));
    }

    /// Opens or closes what a row shows, or all of a kind.
    pub fn fold(&mut self, transcript: &Transcript, row: Option<u16>) {
        match row {
            Some(row) => {
                self.view.toggle_fold_at(transcript, row);
            }
            None => self.view.toggle_folds(transcript),
        }
    }

    /// Returns the text of rows.
    pub fn copy(&mut self, transcript: &Transcript, first: u16, last: u16) -> String {
        self.view.text_between(transcript, first, last)
    }

    /// Returns what was drawn.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

/// Loads the syntaxes now instead of when the first code is drawn.
pub fn load_syntaxes() {
    highlight::load();
}

/// Returns the number of lines that a Markdown text takes.
#[must_use]
pub fn markdown(text: &str, width: u16) -> usize {
    markdown_lines(text, width, &Theme::dark()).len()
}

/// Returns the number of lines that a diff takes.
#[must_use]
pub fn diff(old: &str, new: &str, width: u16) -> usize {
    let sheet = Sheet {
        width,
        style: DiffStyle::Unified,
        theme: &Theme::dark(),
        paths: &Paths::default(),
        rows_max: 1_000,
        line_bytes_max: LINE_BYTES_BRIEF,
    };
    diff_lines("file", Some(old), new, &sheet).len()
}
