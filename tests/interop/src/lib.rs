//! The official Rust SDK as a peer for the interop tests.
//!
//! [`SdkClient`] is a client made with the SDK: it starts any agent program, speaks version 1 or 2 to it, and keeps what
//! happened in a [`Record`]. The program `sdk_agent` of this package is an agent made with the SDK, and `ply_agent` one
//! with the same behaviour made with Ply.

mod client;
mod down;
mod record;
mod story;

pub use client::{Choice, End, Error, SdkClient, Settings, Version};
pub use down::serve_behind;
pub use record::{Event, Record};
