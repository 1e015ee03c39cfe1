//! The tool `list_dir`.
