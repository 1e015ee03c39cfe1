//! `ply check` as a program: what it writes, and how it ends.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod clients;
mod trace;
mod usage;

/// The program.
pub(crate) const PLY: &str = env!("CARGO_BIN_EXE_ply");
