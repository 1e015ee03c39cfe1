//! `ply agents`, with a registry on the loopback interface and with stand-ins for npm and node.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod archives;
mod login;
mod packages;
mod place;
mod registry;
