//! The tool `shell`.
