//! A tour: the client shows itself, key by key, with a caption for each step.
//!
//! The keys go where a user's would. Only the program around the client knows what the tour is about.

use std::time::Duration;

/// A step of a tour.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TourStep {
    /// What is said about it.
    pub caption: String,
    /// What happens, in order.
    pub acts: Vec<TourAct>,
}

impl TourStep {
    /// Returns a step.
    pub fn new(caption: impl Into<String>, acts: Vec<TourAct>) -> Self {
        let caption = caption.into();
        Self { caption, acts }
    }
}

/// Something that happens in a tour.
#[derive(Debug, Clone)]
pub enum TourAct {
    /// A text is typed.
    Type(String),
    /// A key is pressed.
    Press(TourKey),
    /// The tour waits for a moment, though not for ever.
    WaitFor(TourMoment),
    /// The tour waits for the reader.
    Hold(Duration),
    /// A program is run elsewhere: the name, its arguments, its environment.
    Run(TourProgram),
}

/// A key of a tour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TourKey {
    /// Enter.
    Enter,
    /// Esc.
    Esc,
    /// A character.
    Char(char),
    /// A character with Alt.
    Alt(char),
}

/// A moment that a tour waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TourMoment {
    /// The agent waits for a prompt.
    Ready,
    /// A question can be answered.
    Question,
    /// No question is open.
    NoQuestion,
}

/// A program that a tour runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TourProgram {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Variables besides the client's own.
    pub environment: Vec<(String, String)>,
}

impl TourProgram {
    /// Returns a program with the client's environment.
    pub fn new(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            words: words.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
        }
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }
}
