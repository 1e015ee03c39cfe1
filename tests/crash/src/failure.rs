//! What a rig finds.

use std::fmt;

/// A promise that was broken, or a rig that cannot go on.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Which promise.
    pub breach: Breach,
    /// What was expected and what was found.
    pub words: String,
}

/// What was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breach {
    /// Something that was told is not there.
    Lost,
    /// Something is not there although what follows it is.
    Gap,
    /// Something is there twice.
    Duplicate,
    /// Anything else.
    Other,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(breach: Breach, words: impl Into<String>) -> Self {
        let words = words.into();
        Self { breach, words }
    }

    pub(crate) fn other(words: impl Into<String>) -> Self {
        Self::new(Breach::Other, words)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.breach {
            Breach::Lost => "lost",
            Breach::Gap => "gap",
            Breach::Duplicate => "duplicate",
            Breach::Other => "broken",
        };
        write!(f, "{what}: {}", self.words)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::other(error.to_string())
    }
}
