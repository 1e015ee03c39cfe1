//! The hub with real processes that are killed at any moment.

#![allow(
    clippy::indexing_slicing,
    reason = "tests fail by panicking, and a missing member of a message reads as null"
)]

pub mod agent;
pub mod bench;
pub mod editor;
pub mod factory;
pub mod fast;
pub mod loops;
pub mod rig;
pub mod world;
