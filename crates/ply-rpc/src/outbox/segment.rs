//! Bytes that are written in one go.

use std::ops::Deref;

use bytes::Bytes;

/// A stretch of outgoing bytes.
#[derive(Debug)]
pub(crate) enum Segment {
    /// Frames that were copied here, or one that was moved.
    Own(Vec<u8>),
    /// A part of a frame that the session's journal and other clients have too.
    Shared(Bytes),
}

impl Default for Segment {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Deref for Segment {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}
