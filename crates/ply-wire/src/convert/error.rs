//! Errors: both versions share the codes, so only the types change.

use crate::{v1, v2};

/// Turns a version 2 error into a version 1 error.
///
/// Nothing is lost: codes travel as numbers, also -32022, which version 1 has no name for.
#[must_use]
pub fn down(error: &v2::Error) -> v1::Error {
    let mut out = v1::Error::new(i32::from(error.code), error.message.clone());
    out.data.clone_from(&error.data);
    out
}

/// Turns a version 1 error into a version 2 error.
///
/// Nothing is lost. A version 1 agent may leave out the `sessionId` that version 2 wants in the
/// data of -32002; only the caller knows which session it asked about.
#[must_use]
pub fn up(error: &v1::Error) -> v2::Error {
    let mut out = v2::Error::new(i32::from(error.code), error.message.clone());
    out.data.clone_from(&error.data);
    out
}
