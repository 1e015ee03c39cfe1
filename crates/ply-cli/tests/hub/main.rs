//! The hub as editors and shells use it: the real program, its real socket, its real store.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod attach;
mod ending;
mod place;
mod through;
mod upgrade;
mod watch;
