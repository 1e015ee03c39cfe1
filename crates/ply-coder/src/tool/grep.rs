//! The tool `grep`.
