//! The least an agent and its client must do: split lines, read and write the official types, block on reads and writes.
//!
//! There is no dispatch, no table of pending requests, no cancellation, no history and no limit; both ends know what comes next.

mod agent;
mod client;

pub(super) use agent::serve as agent;
pub(super) use client::run;

/// What is asked for permission, and all that the client looks for in it.
const QUESTION: &str = "Run the tests";
