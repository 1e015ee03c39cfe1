//! The tool `think`.
