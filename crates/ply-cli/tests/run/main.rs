//! `ply run` as users and scripts run it: the real program, real agents, real signals and terminals.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod attachments;
mod built_in;
mod continuing;
mod exits;
mod formats;
mod hostile;
mod offers;
mod permissions;
mod place;
mod signals;
mod surroundings;
mod terminal;
mod usage;
