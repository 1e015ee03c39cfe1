//! What a scene is made of.

use std::time::Duration;

use terminal_tests::{Key, Launch};

/// A terminal session that is recorded.
pub(super) struct Scene {
    /// The name of the moving picture, without its ending.
    pub(super) name: &'static str,
    /// What it shows, for those who cannot see it.
    pub(super) title: &'static str,
    pub(super) launch: Launch,
    pub(super) steps: Vec<Step>,
    pub(super) kept: Kept,
}

/// What becomes a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// Everything, and the still pictures beside it.
    MovingPicture,
    /// The still pictures alone.
    StillPictures,
}

/// What happens next.
pub(super) enum Step {
    /// Text is typed, key by key.
    Type(String),
    /// A key is pressed.
    Press(Key),
    /// Until a row of the screen has this text. What comes before it is part of the picture.
    WaitFor(String),
    /// The same for what takes minutes, and this many rows with the text. It is not part of the picture.
    WaitLong(String, usize),
    /// The screen stays as it is for the eye to follow.
    Hold(Duration),
    /// The screen is also kept as a still picture of this name.
    Picture(&'static str),
}

impl Step {
    pub(super) fn type_text(text: &str) -> Self {
        Step::Type(text.to_owned())
    }

    pub(super) fn wait_for(text: &str) -> Self {
        Step::WaitFor(text.to_owned())
    }

    pub(super) fn wait_long(text: &str, rows: usize) -> Self {
        Step::WaitLong(text.to_owned(), rows)
    }
}
