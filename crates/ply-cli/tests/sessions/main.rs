//! `ply sessions` as users run it: the real program, on real stores.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod export;
mod ls;
mod place;
mod rm;
mod show;
mod store;
mod streams;
mod tale;
mod terminal;
