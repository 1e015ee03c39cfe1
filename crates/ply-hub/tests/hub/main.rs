//! A hub on a real socket, and its clients.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod ending;
mod place;
mod questions;
mod sessions;
mod support;
