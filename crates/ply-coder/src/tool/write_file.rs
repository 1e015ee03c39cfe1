//! The tool `write_file`.
