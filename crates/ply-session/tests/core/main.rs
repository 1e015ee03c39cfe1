//! The core of a session by cases: each names the fault that was found or the rule that holds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::field_reassign_with_default,
    reason = "tests fail by panicking; settings can only be made by changing the default"
)]

mod client;
mod inputs;
mod journal;
mod world;

mod adopted;
mod barriers;
mod behind;
mod close;
mod created;
mod failed;
mod operations;
mod questions;
mod queue;
mod requests;
mod settings;
mod stuck;
mod unseen;
