//! Why the client could not go on.

use std::io;

/// Why the client could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No agent was given.
    #[error("there is no agent to talk to; give one")]
    NoAgent,
    /// The terminal cannot be used.
    #[error("the terminal cannot be used: {0}; `ply run` needs none")]
    Terminal(#[from] io::Error),
}
