//! The one place for unsafe code.
