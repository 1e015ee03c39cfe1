//! The agent.

/// The coding agent.
#[derive(Debug)]
pub struct Coder;
