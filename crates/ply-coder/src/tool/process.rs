//! The tool `process`.
