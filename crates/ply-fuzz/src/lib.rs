//! The bodies of the fuzz targets: each takes any bytes and panics when a promise is broken.
//!
//! `fuzz/fuzz_targets/` calls them under libFuzzer; `tests/corpus.rs` replays `fuzz/corpus/` through them.

mod engine;
mod frames;
mod messages;
mod translate;

pub use engine::engine;
pub use frames::{envelope, frames};
pub use messages::{v1_messages, v2_messages};
pub use translate::translate;

/// The body of a fuzz target.
pub type Body = fn(&[u8]);

/// Every fuzz target by name, in the order of the layers.
pub const TARGETS: &[(&str, Body)] = &[
    ("frames", frames),
    ("envelope", envelope),
    ("v1_messages", v1_messages),
    ("v2_messages", v2_messages),
    ("translate", translate),
    ("engine", engine),
];
