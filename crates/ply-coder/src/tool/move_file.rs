//! The tool `move_file`.
