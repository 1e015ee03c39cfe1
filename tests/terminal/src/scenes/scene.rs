//! What a scene is made of.

use std::path::PathBuf;
use std::time::Duration;

use crate::{Key, Launch};

/// A terminal session that is recorded.
#[derive(Debug)]
pub struct Scene {
    /// The name of the moving picture, without its ending.
    pub name: &'static str,
    /// What it shows, for those who cannot see it.
    pub title: &'static str,
    /// The program, and the size of its terminal.
    pub launch: Launch,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// What becomes a file.
    pub kept: Kept,
}

/// What becomes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Everything, and the still pictures beside it.
    MovingPicture,
    /// The still pictures alone.
    StillPictures,
}

/// What happens next.
#[derive(Debug)]
pub enum Step {
    /// Text is typed, key by key.
    Type(String),
    /// A key is pressed.
    Press(Key),
    /// Until a row of the screen has this text. What comes before it is part of the picture.
    WaitFor(String),
    /// The same for what takes minutes, and this many rows with the text. It is not part of the picture.
    WaitLong(String, usize),
    /// Until a file has this text, for what the next lines look at and no screen tells. It is not part of the picture.
    WaitForFile(PathBuf, &'static str),
    /// The screen stays as it is for the eye to follow.
    Hold(Duration),
    /// The screen is also kept as a still picture of this name.
    Picture(&'static str),
}

impl Step {
    /// Returns the step that types a text.
    #[must_use]
    pub fn type_text(text: &str) -> Self {
        Step::Type(text.to_owned())
    }

    /// Returns the step that waits for a text.
    #[must_use]
    pub fn wait_for(text: &str) -> Self {
        Step::WaitFor(text.to_owned())
    }

    /// Returns the step that waits long for so many rows with a text.
    #[must_use]
    pub fn wait_long(text: &str, rows: usize) -> Self {
        Step::WaitLong(text.to_owned(), rows)
    }
}
