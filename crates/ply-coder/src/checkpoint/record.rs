//! What a turn did to files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::store::Id;

/// What there is at a path, as far as it can be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Was {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// What is in it.
        content: Id,
        /// Its rights, such as `0o644`.
        rights: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it points to.
        target: String,
    },
    /// Something that is not kept: a large file, a pipe, what may not be read.
    Unkept {
        /// Its size in bytes.
        bytes: u64,
        /// When it was modified: seconds since 1970, and nanoseconds.
        modified: (i64, i64),
    },
}

/// What a turn did to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Changed {
    /// The file, absolute and without links.
    pub(super) path: PathBuf,
    pub(super) before: Was,
    pub(super) after: Was,
}

impl Changed {
    /// Says whether both sides can be brought back.
    pub(super) fn is_kept(&self) -> bool {
        let kept = |was: &Was| !matches!(was, Was::Unkept { .. });
        kept(&self.before) && kept(&self.after)
    }
}

/// What a turn did to files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Its place among the turns of the session that changed files.
    pub(super) number: u64,
    /// How the prompt began.
    pub(super) prompt: String,
    /// The id of the prompt's message, by which a fork knows the turns that it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// Whether the user took it back.
    #[serde(default)]
    pub(super) undone: bool,
    pub(super) changed: Vec<Changed>,
    /// The directories that it made.
    pub(super) made: Vec<PathBuf>,
    /// The directories that it removed.
    #[serde(default)]
    pub(super) removed: Vec<PathBuf>,
}

impl Record {
    pub(super) fn new(number: u64, prompt: impl Into<String>) -> Self {
        Self {
            number,
            prompt: prompt.into(),
            message: None,
            undone: false,
            changed: Vec::new(),
            made: Vec::new(),
            removed: Vec::new(),
        }
    }

    /// Says whether it says nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.made.is_empty() && self.removed.is_empty()
    }
}
