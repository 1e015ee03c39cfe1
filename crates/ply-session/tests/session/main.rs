//! The tests of the crate, in one program: linking one is quicker than linking many.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod background;
mod cancel;
mod close;
mod compactions;
mod dismissals;
mod invariants;
mod prompts;
mod questions;
mod records;
mod regression;
mod reopen;
mod states;
mod steering;
mod support;
mod terminals;
mod tool_calls;
