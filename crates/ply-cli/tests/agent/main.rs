//! `ply agent` as editors run it: the real program on real pipes, with a home of its own.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod configuration;
mod ends;
mod files;
mod hello;
mod hygiene;
mod leftovers;
mod mcp;
mod models;
mod offline;
mod options;
mod permits;
mod place;
mod raw;
mod requests;
mod sandbox;
mod sessions;
mod streams;
mod surroundings;
mod tether;
mod written;
