//! The tool `edit_file`.
