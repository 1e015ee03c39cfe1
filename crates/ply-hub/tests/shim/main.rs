//! The shim between an editor and a real server: whenever the connection is cut, the editor sees what it would have seen.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod cuts;
mod driver;
mod editor;
mod rules;
