//! The files of a session: confined to its roots, with the client's unsaved buffers.

/// The files of a session.
#[derive(Debug)]
pub struct Workspace;
