//! What stands in a text as one character, and what is sent for it.

use std::path::{Path, PathBuf};

/// The first of the characters that stand for pieces: a private area that no script uses.
const MARKS: u32 = 0xf_0000;
/// The end of that area.
const MARKS_END: u32 = 0xf_fffe;

/// Something in a text that is moved over and deleted as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A large paste.
    Paste(String),
    /// A file of the project, relative to its directory.
    File(PathBuf),
    /// An image on disk.
    Image {
        /// Where it is.
        path: PathBuf,
        /// What it is.
        mime: &'static str,
    },
}

impl Piece {
    /// Returns what is shown for it, harmless.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Paste(text) => match text.lines().count() {
                1 => format!("[pasted {} characters]", text.chars().count()),
                lines => format!("[pasted {lines} lines]"),
            },
            Self::File(path) => format!("@{}", ply_client::text::path(path)),
            Self::Image { path, .. } => {
                let name = path.file_name().map_or(path.as_path(), Path::new);
                format!("[image {}]", ply_client::text::path(name))
            }
        }
    }

    pub(super) fn plain(&self) -> String {
        match self {
            Self::Paste(text) => text.clone(),
            Self::File(path) => format!("@{}", path.display()),
            Self::Image { path, .. } => path.display().to_string(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Paste(text) => text.len(),
            Self::File(_) | Self::Image { .. } => 0,
        }
    }
}

/// What a prompt is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    Text(String),
    /// A file, relative to the directory of the session.
    Link(PathBuf),
    /// An image, read when it is sent.
    Image {
        path: PathBuf,
        mime: &'static str,
    },
}

/// A prompt that is ready to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) blocks: Vec<Block>,
}

impl Outgoing {
    pub(super) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    pub(super) fn push_text(&mut self, text: &str) {
        match self.blocks.last_mut() {
            Some(Block::Text(last)) => last.push_str(text),
            _ => self.blocks.push(Block::Text(text.to_owned())),
        }
    }
}

pub(super) fn mark(place: usize) -> Option<char> {
    let char = MARKS + u32::try_from(place).ok()?;
    char::from_u32(char).filter(|char| is_mark(*char))
}

pub(super) fn place_of(char: char) -> Option<usize> {
    is_mark(char).then(|| usize::try_from(u32::from(char) - MARKS).ok())?
}

pub(super) fn is_mark(char: char) -> bool {
    (MARKS..MARKS_END).contains(&u32::from(char))
}
