//! Sessions of a hub whose agents are played by the tests.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod background;
mod deaths;
mod extensions;
mod idle;
mod reopened;
mod services;
mod stage;
