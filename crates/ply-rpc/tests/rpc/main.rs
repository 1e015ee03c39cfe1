//! The tests of the crate, in one program: linking one is quicker than linking many.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod cancelling;
mod closing;
mod direct;
mod framing;
mod lines;
mod order;
mod regression;
mod requests;
mod support;
