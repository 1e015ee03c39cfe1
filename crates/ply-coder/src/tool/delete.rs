//! The tool `delete`.
