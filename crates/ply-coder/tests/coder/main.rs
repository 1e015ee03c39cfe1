//! The tests of the crate, in one program: linking one is quicker than linking many.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod corpus;
mod files_buffers;
mod files_change;
mod files_read;
mod model;
mod model_answers;
mod model_failures;
mod model_requests;
mod paths_hostile;
mod paths_races;
mod permission_commands;
mod permission_modes;
mod permission_properties;
mod permission_sh;
mod permission_shell;
mod permission_store;
mod sandbox_borders;
mod sandbox_confines;
mod sandbox_escapes;
mod sandbox_guarded;
mod sandbox_sockets;
mod sandbox_support;
mod sandbox_unattended;
mod shell_background;
mod shell_commands;
mod shell_support;
mod shell_tools;
mod support;
