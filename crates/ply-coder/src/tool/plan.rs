//! The tool `plan`.
