//! The tool `read_file`.
